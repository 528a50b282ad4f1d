#include "tokenfst/unique_items/number.h"

#include <algorithm>
#include <cctype>

namespace tokenfst::unique_items {

namespace {

std::string_view digits_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
  return text.substr(at, end - at);
}

// Return whether an incomplete exponent may become a number.
bool may_become(const Exponent& exponent, const Decimal& needed) {
  if (exponent.sign != '-' && needed.is_negative) return !exponent.sign && exponent.digits.empty();
  if (exponent.sign == '-' && !needed.is_negative && !needed.digits.empty()) return false;
  return needed.digits.starts_with(
      exponent.digits.substr(std::min(exponent.digits.find_first_not_of('0'), exponent.digits.size())));
}

}  // namespace

Number::Number(std::string_view written) {
  size_t at = is_negative_ = written.starts_with('-');
  const auto whole = digits_at(written, at);
  digits_ = whole, at += whole.size();
  if (at < written.size() && written[at] == '.') {
    const auto fraction = digits_at(written, ++at);
    digits_ += fraction, at += fraction.size();
    shift_ = -static_cast<int64_t>(fraction.size());
  }
  digits_.erase(0, std::min(digits_.find_first_not_of('0'), digits_.size()));
  num_significant_ = digits_.find_last_not_of('0') + 1;
  if (at == written.size()) return;
  // It is an E.
  const bool has_sign = ++at < written.size() && (written[at] == '+' || written[at] == '-');
  exponent_ = {has_sign ? written[at] : char{0}, written.substr(at + has_sign)};
}

ValuePointer Number::value() const {
  if (!num_significant_) return Value::zero();
  Decimal shift(own_shift());
  if (exponent_) shift = shift.plus({exponent_->sign == '-', exponent_->digits});
  return Value::number(is_negative_, digits_.substr(0, num_significant_), std::move(shift));
}

bool Number::may_be(const Value& value) const {
  if (value.kind != Kind::kNumber) return false;
  const std::string_view digits = value.text, own = std::string_view(digits_).substr(0, num_significant_);
  if (digits.empty()) return own.empty();
  if (is_negative_ != value.is_negative) return false;
  if (!exponent_) return digits_.size() <= digits.size() ? digits.starts_with(digits_) : own == digits;
  return own == digits && may_become(*exponent_, value.shift.plus(Decimal(-own_shift())));
}

}  // namespace tokenfst::unique_items
