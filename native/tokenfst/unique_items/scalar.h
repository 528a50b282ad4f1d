// Scalar: the current string, number or word of a JSON text, as far as it has been read, and what it may still become.
//
// Which values a number may become follows from its digits without zeros at either end, which no exponent changes. Once
// a number or string cannot become some value, it never will, whatever follows.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tokenfst/unique_items/number.h"
#include "tokenfst/unique_items/value.h"

namespace tokenfst::unique_items {

// Thrown for an exponent that is too long to be remembered, or a search that is too long.
struct TooLong : std::runtime_error {
  TooLong(const std::string& what, int64_t most, const std::string& counted);
};

class Scalar {
 public:
  // The most digits of an exponent.
  static constexpr size_t kMaxExponent = 1000;

  // There is no current scalar.
  Scalar() = default;
  // Return the string that a quotation mark begins.
  static Scalar string() { return Scalar(Is::kString, ""); }
  // Return the number or word that a text begins.
  static Scalar plain(std::string_view text) { return Scalar(Is::kPlain, text); }

  explicit operator bool() const { return is_ != Is::kNothing; }
  bool is_number() const;
  bool is_string() const { return is_ == Is::kString; }
  // Return whether this is a string, outside of escapes.
  bool is_in_text() const { return is_string() && rest_.empty(); }
  // Return whether the next byte is part of an escape even if it is a quotation mark.
  bool escapes() const { return !rest_.empty() && rest_.back() == '\\'; }

  // Read one more byte, which does not end the scalar.
  void read(uint8_t byte);
  // Read more of a string without quotation marks and backslashes, outside of escapes.
  void read_text(std::string_view text) { done_ += text; }
  // Return the value of a scalar that ends here. Throw TooLong if an exponent has too many digits.
  ValuePointer value() const;

  // Return whether a string may still become a text.
  bool may_be_text(std::string_view text) const;
  // Return the next byte if a string becomes a text without an escape at this place; none if the text is complete.
  std::optional<uint8_t> next_byte(std::string_view text) const;
  // Return a number without the zeros at its end, and zero without the digits of its exponent, which change nothing;
  // any other scalar as it is.
  Scalar without_last_zeros() const;

  uint64_t hash() const;
  friend bool operator==(const Scalar&, const Scalar&) = default;

  // Return the text read so far; and the letters of an escape that is not complete, or that is the first half of a
  // surrogate pair whose second half may follow.
  std::string_view done() const { return done_; }
  std::string_view rest() const { return rest_; }

 private:
  enum class Is : uint8_t { kNothing, kString, kPlain };
  Scalar(Is is, std::string_view done) : is_(is), done_(done) {}

  void read_escape(char letter);
  void read_second_half();
  void end_half();
  void unescape();

  Is is_ = Is::kNothing;
  std::string done_, rest_;
};

// Tells which values the current scalar may become; a number is parsed once for many of them.
class Outlook {
 public:
  explicit Outlook(const Scalar& scalar);
  bool may_be(const Value& value) const;

 private:
  const Scalar& scalar_;
  std::optional<Number> number_;
};

}  // namespace tokenfst::unique_items
