#include "tokenfst/unique_items/scalar.h"

#include "support/hash.h"

namespace tokenfst::unique_items {

namespace {

// The letters of \u0041.
constexpr size_t kLong = 6;

// Return a number with commas between thousands.
std::string with_commas(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string found;
  for (size_t at = 0; at < digits.size(); ++at) {
    if (at && (digits.size() - at) % 3 == 0) found += ',';
    found += digits[at];
  }
  return found;
}

bool is_first_half(uint32_t code) { return 0xD800 <= code && code < 0xDC00; }
bool is_second_half(uint32_t code) { return 0xDC00 <= code && code < 0xE000; }

bool is_word(std::string_view written) {
  return written.starts_with('t') || written.starts_with('f') || written.starts_with('n');
}

char unescaped(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return letter;
  }
}

// Return the code of a long escape.
uint32_t code_of(std::string_view escape) {
  return static_cast<uint32_t>(std::stoul(std::string(escape.substr(2, kLong - 2)), nullptr, 16));
}

// Return a character in UTF-8; halves of surrogate pairs are written as three bytes.
std::string encoded(uint32_t code) {
  const auto continued = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), continued(code)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), continued(code >> 6), continued(code)};
  return {static_cast<char>(0xF0 | code >> 18), continued(code >> 12), continued(code >> 6), continued(code)};
}

// Return the first character of a text in UTF-8, as `encoded` writes it.
uint32_t first_code(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<uint8_t>(text[at])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return lead;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return lead;  // no character
  uint32_t code = lead & (0x7Fu >> length);
  for (size_t at = 1; at < length; ++at) code = code << 6 | (byte(at) & 0x3F);
  return code;
}

// Return the long escape of a character, with small letters.
std::string escape_of(uint32_t code) {
  if (code >= 0x10000) {
    const uint32_t above = code - 0x10000;
    return escape_of(0xD800 + (above >> 10)) + escape_of(0xDC00 + (above & 0x3FF));
  }
  std::string escape = "\\u0000";
  for (size_t digit = 0; digit < 4; ++digit) escape[kLong - 1 - digit] = "0123456789abcdef"[code >> 4 * digit & 0xF];
  return escape;
}

std::string lowered(std::string_view escape) {
  std::string found(escape);
  for (char& letter : found) {
    if ('A' <= letter && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return found;
}

}  // namespace

bool Scalar::is_number() const { return is_ == Is::kPlain && !is_word(done_); }

TooLong::TooLong(const std::string& what, int64_t most, const std::string& counted)
    : std::runtime_error(what + " more than " + with_commas(most) + " " + counted) {}

void Scalar::read(uint8_t byte) {
  const char letter = static_cast<char>(byte);
  if (is_string() && (letter == '\\' || !rest_.empty())) {
    read_escape(letter);
  } else {
    done_ += letter;
  }
}

void Scalar::read_escape(char letter) {
  const size_t length = rest_.size() + 1;
  if (length == 2 && letter != 'u') {
    done_ += unescaped(letter), rest_.clear();
  } else if (length == kLong + 1 && letter != '\\') {
    end_half(), read(static_cast<uint8_t>(letter));
  } else if (length == kLong + 2 && letter != 'u') {
    end_half(), rest_ = '\\', read(static_cast<uint8_t>(letter));
  } else {
    rest_ += letter;
    if (length == kLong) unescape();
    if (length == 2 * kLong) read_second_half();
  }
}

// Turn a complete long escape into its character; a first half of a pair waits.
void Scalar::unescape() {
  const uint32_t code = code_of(rest_);
  if (is_first_half(code)) return;
  done_ += encoded(code), rest_.clear();
}

void Scalar::read_second_half() {
  const std::string second = rest_.substr(kLong);
  const uint32_t code = code_of(second);
  if (is_second_half(code)) {
    done_ += encoded(0x10000 + ((code_of(rest_) - 0xD800) << 10) + code - 0xDC00), rest_.clear();
  } else {
    end_half(), rest_ = second, unescape();
  }
}

// Turn the half that waits into a character of its own.
void Scalar::end_half() { done_ += encoded(code_of(rest_)), rest_.clear(); }

ValuePointer Scalar::value() const {
  if (is_string()) return Value::string(rest_.size() < kLong ? done_ : done_ + encoded(code_of(rest_)));
  if (is_word(done_)) return Value::word(done_);
  const Number number(done_);
  if (number.has_digits() && number.exponent() && number.exponent()->digits.size() > kMaxExponent) {
    throw TooLong("an exponent in an array whose items must differ has", kMaxExponent, "digits");
  }
  return number.value();
}

Outlook::Outlook(const Scalar& scalar) : scalar_(scalar) {
  if (scalar.is_number()) number_.emplace(scalar.done());
}

bool Outlook::may_be(const Value& value) const {
  if (number_) return number_->may_be(value);
  if (scalar_.is_string()) return value.kind == Kind::kString && scalar_.may_be_text(value.text);
  return value.kind == Kind::kWord && value.text.starts_with(scalar_.done());
}

bool Scalar::may_be_text(std::string_view text) const {
  if (!text.starts_with(done_)) return false;
  if (rest_.empty()) return true;
  const std::string_view following = text.substr(done_.size());
  if (!following.empty() && escape_of(first_code(following)).starts_with(lowered(rest_))) return true;
  if (rest_.size() <= kLong) return false;
  // The first half may also be a character of its own, and what follows it another.
  Scalar apart = *this;
  apart.end_half();
  apart.rest_ = rest_.substr(kLong);
  return apart.may_be_text(text);
}

std::optional<uint8_t> Scalar::next_byte(std::string_view text) const {
  if (text.size() <= done_.size()) return std::nullopt;
  return static_cast<uint8_t>(text[done_.size()]);
}

Scalar Scalar::without_last_zeros() const {
  Scalar found = *this;
  if (!is_number()) return found;
  if (const Number number(done_); number.exponent() && !number.has_digits()) {
    found.done_ = "0e";
    if (number.exponent()->sign) found.done_ += number.exponent()->sign;
  } else {
    found.done_.erase(found.done_.find_last_not_of('0') + 1);
  }
  return found;
}

uint64_t Scalar::hash() const {
  const uint64_t hash = support::mixed_bytes(static_cast<uint64_t>(is_), done_.data(), done_.size());
  return support::mixed_bytes(hash, rest_.data(), rest_.size());
}

}  // namespace tokenfst::unique_items
