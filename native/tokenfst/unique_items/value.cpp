#include "tokenfst/unique_items/value.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "support/hash.h"

namespace tokenfst::unique_items {

namespace {

using support::mixed;

std::string without_leading_zeros(std::string_view digits) {
  return std::string(digits.substr(std::min(digits.find_first_not_of('0'), digits.size())));
}

// Return whether one number without a sign is less than another; a longer one is greater.
bool is_less(const std::string& left, const std::string& right) {
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

// Return the digits of a sum, or of the difference of the greater number and the other one.
std::string added(const std::string& greater, const std::string& other, bool is_difference) {
  std::string result(greater.size() + 1, '0');
  int carry = 0;
  for (size_t at = 0; at < result.size(); ++at) {
    const int own = at < greater.size() ? greater[greater.size() - 1 - at] - '0' : 0;
    const int more = at < other.size() ? other[other.size() - 1 - at] - '0' : 0;
    const int digit = own + (is_difference ? -more : more) + carry;
    carry = digit < 0 ? -1 : digit / 10;
    result[result.size() - 1 - at] = static_cast<char>('0' + (digit + 10) % 10);
  }
  return result;
}

uint64_t mixed_text(uint64_t hash, std::string_view text) {
  return support::mixed_bytes(mixed(hash, text.size()), text.data(), text.size());
}

ValuePointer hashed(std::shared_ptr<Value> value) {
  uint64_t hash = mixed_text(static_cast<uint64_t>(value->kind) + 1, value->text);
  hash = mixed_text(mixed(hash, value->is_negative), value->shift.digits);
  hash = mixed(hash, value->shift.is_negative);
  for (const std::string& name : value->names) hash = mixed_text(hash, name);
  for (const ValuePointer& item : value->items) hash = mixed(hash, item->hash);
  value->hash = hash;
  return value;
}

// Return whether two values are equal but for their items, which are as many.
bool are_alike(const Value& left, const Value& right) {
  return left.hash == right.hash && left.kind == right.kind && left.is_negative == right.is_negative &&
         left.items.size() == right.items.size() && left.text == right.text && left.shift == right.shift &&
         left.names == right.names;
}

}  // namespace

Decimal::Decimal(bool negative, std::string_view written) : digits(without_leading_zeros(written)) {
  is_negative = negative && !digits.empty();
}

Decimal::Decimal(int64_t number) : Decimal(number < 0, std::to_string(std::llabs(number))) {}

Decimal Decimal::plus(const Decimal& other) const {
  const bool is_difference = is_negative != other.is_negative;
  const bool is_greater = !is_less(digits, other.digits);
  const Decimal &greater = is_greater ? *this : other, &lesser = is_greater ? other : *this;
  return Decimal(greater.is_negative, added(greater.digits, lesser.digits, is_difference));
}

ValuePointer Value::string(std::string text) { return hashed(std::make_shared<Value>(Kind::kString, std::move(text))); }

ValuePointer Value::word(std::string text) { return hashed(std::make_shared<Value>(Kind::kWord, std::move(text))); }

ValuePointer Value::zero() { return hashed(std::make_shared<Value>(Kind::kNumber, "")); }

ValuePointer Value::number(bool is_negative, std::string digits, Decimal shift) {
  auto made = std::make_shared<Value>(Kind::kNumber, std::move(digits));
  made->is_negative = is_negative;
  made->shift = std::move(shift);
  return hashed(std::move(made));
}

ValuePointer Value::array(std::vector<ValuePointer> items) {
  auto made = std::make_shared<Value>(Kind::kArray, "");
  made->items = std::move(items);
  return hashed(std::move(made));
}

ValuePointer Value::object(std::vector<std::pair<std::string, ValuePointer>> members) {
  std::ranges::sort(members, {}, &std::pair<std::string, ValuePointer>::first);
  auto made = std::make_shared<Value>(Kind::kObject, "");
  for (auto& [name, value] : members) {
    made->names.push_back(std::move(name));
    made->items.push_back(std::move(value));
  }
  return hashed(std::move(made));
}

Value::~Value() {
  std::vector<ValuePointer> waiting = std::move(items);
  while (!waiting.empty()) {
    const ValuePointer last = std::move(waiting.back());
    waiting.pop_back();
    if (last.use_count() > 1 || last->items.empty()) continue;
    // No other owner is left, and none can appear; the fence orders their accesses before ours.
    std::atomic_thread_fence(std::memory_order_acquire);
    std::ranges::move(last->items, std::back_inserter(waiting));
    last->items.clear();
  }
}

const ValuePointer* Value::member(std::string_view name) const {
  const auto found = std::ranges::lower_bound(names, name);
  return found != names.end() && *found == name ? &items[found - names.begin()] : nullptr;
}

bool operator==(const Value& left, const Value& right) {
  if (&left == &right) return true;
  if (!are_alike(left, right)) return false;
  std::vector<std::pair<const Value*, const Value*>> waiting;
  const auto wait_for_items = [&](const Value& one, const Value& other) {
    for (size_t at = 0; at < one.items.size(); ++at) {
      if (one.items[at] != other.items[at]) waiting.emplace_back(one.items[at].get(), other.items[at].get());
    }
  };
  wait_for_items(left, right);
  while (!waiting.empty()) {
    const auto [one, other] = waiting.back();
    waiting.pop_back();
    if (!are_alike(*one, *other)) return false;
    wait_for_items(*one, *other);
  }
  return true;
}

}  // namespace tokenfst::unique_items
