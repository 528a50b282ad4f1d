// Number: a JSON number, as far as it has been written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokenfst/unique_items/value.h"

namespace tokenfst::unique_items {

struct Exponent {
  char sign;  // '+', '-', or 0 without one
  std::string_view digits;
};

class Number {
 public:
  // Read what has been written of a number; the text must outlive this object.
  explicit Number(std::string_view written);

  // Return the value of a number that ends here; its exponent is added, however long.
  ValuePointer value() const;
  // Return whether more digits, or an exponent, may make it the value of a number.
  bool may_be(const Value& value) const;

  bool has_digits() const { return !digits_.empty(); }
  const std::optional<Exponent>& exponent() const { return exponent_; }

 private:
  // Return the exponent of the last digit that is not zero, without the written exponent.
  int64_t own_shift() const { return shift_ + static_cast<int64_t>(digits_.size() - num_significant_); }

  bool is_negative_ = false;
  std::string digits_;          // without zeros at the beginning
  size_t num_significant_ = 0;  // digits without zeros at the end
  int64_t shift_ = 0;           // the exponent of the last digit, without the written one
  std::optional<Exponent> exponent_;
};

}  // namespace tokenfst::unique_items
