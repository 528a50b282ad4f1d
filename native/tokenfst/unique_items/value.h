// Value: a JSON value as `uniqueItems` compares it (JSON Schema, validation, section 6.4.3).
//
//     Decimal   a whole number of any size, for exponents
//     Value     a string, number, word, array or object. Equality is that of JSON Schema: 1.0 is 1, escapes and the
//               order of members make no difference, and `false` is not 0
//
// Values are immutable and shared. They may be nested as deeply as a text is long, so nothing here recurses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokenfst::unique_items {

struct Decimal {
  bool is_negative = false;
  std::string digits;  // without zeros at the beginning; empty for zero

  // Read the digits of a number; zeros at the beginning are dropped.
  Decimal(bool negative, std::string_view written);
  explicit Decimal(int64_t number);
  Decimal plus(const Decimal& other) const;

  friend bool operator==(const Decimal&, const Decimal&) = default;
};

enum class Kind : uint8_t { kString, kNumber, kWord, kArray, kObject };

struct Value;
using ValuePointer = std::shared_ptr<const Value>;

struct Value {
  Kind kind;
  // The characters of a string, in UTF-8, with halves of surrogate pairs as three bytes; a word; or the digits of a
  // number, without zeros at either end.
  std::string text;
  bool is_negative = false;
  Decimal shift{0};  // the exponent of a number's last digit
  // Of an array; or the values of an object. Mutable, since a destructor empties the values that nothing else owns.
  mutable std::vector<ValuePointer> items;
  std::vector<std::string> names;  // of an object's members, ascending
  uint64_t hash = 0;

  static ValuePointer string(std::string text);
  static ValuePointer word(std::string text);
  // Return a number other than zero: its digits times ten to the power of `shift`.
  static ValuePointer number(bool is_negative, std::string digits, Decimal shift);
  static ValuePointer zero();
  static ValuePointer array(std::vector<ValuePointer> items);
  // Return an object. Its members must have different names.
  static ValuePointer object(std::vector<std::pair<std::string, ValuePointer>> members);

  Value(Kind value_kind, std::string value_text) : kind(value_kind), text(std::move(value_text)) {}
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value();

  // Return the value of an object's member; null if there is none.
  const ValuePointer* member(std::string_view name) const;

  friend bool operator==(const Value& left, const Value& right);
};

}  // namespace tokenfst::unique_items
