#include "tokenfst/unique_items/memory.h"

#include <algorithm>
#include <atomic>
#include <ranges>
#include <utility>

#include "support/hash.h"

namespace tokenfst::unique_items {

namespace {

using support::mixed;

uint64_t hash_of(const Container& container) {
  uint64_t hash = container.outer ? container.outer->hash : 0;
  hash = mixed(hash, 2 * container.is_object + container.is_unique + 1);
  hash = mixed(hash, container.parts ? container.parts->hash : 0);
  if (container.name) hash = support::mixed_bytes(hash, container.name->data(), container.name->size());
  return hash;
}

// Return whether two lists of parts are equal.
bool are_equal(const Part* left, const Part* right) {
  for (; left != right; left = left->before.get(), right = right->before.get()) {
    if (!left || !right || left->hash != right->hash || left->name != right->name || *left->value != *right->value) {
      return false;
    }
  }
  return true;
}

bool are_equal(const Container* left, const Container* right) {
  for (; left != right; left = left->outer.get(), right = right->outer.get()) {
    if (!left || !right || left->hash != right->hash || left->is_object != right->is_object ||
        left->is_unique != right->is_unique || left->name != right->name ||
        left->rivals.size() != right->rivals.size() || left->candidates.size() != right->candidates.size() ||
        !are_equal(left->parts.get(), right->parts.get())) {
      return false;
    }
  }
  return true;
}

}  // namespace

Part::Part(std::shared_ptr<const Part> before_it, std::string own_name, ValuePointer own_value)
    : before(std::move(before_it)),
      name(std::move(own_name)),
      value(std::move(own_value)) {
  count = before ? before->count + 1 : 1;
  hash = support::mixed_bytes(mixed(before ? before->hash : 0, value->hash), name.data(), name.size());
}

Part::~Part() {
  std::shared_ptr<const Part> last = std::move(before);
  while (last && last.use_count() == 1) {
    // No other owner is left, and none can appear; the fence orders their accesses before ours.
    std::atomic_thread_fence(std::memory_order_acquire);
    last = std::move(last->before);
  }
}

Container::~Container() {
  std::shared_ptr<const Container> last = std::move(outer);
  while (last && last.use_count() == 1) {
    // As for parts.
    std::atomic_thread_fence(std::memory_order_acquire);
    last = std::move(last->outer);
  }
}

ValuePointer Container::value() const {
  if (is_object) {
    std::vector<std::pair<std::string, ValuePointer>> members;
    for (const Part* part = parts.get(); part; part = part->before.get()) members.emplace_back(part->name, part->value);
    return Value::object(std::move(members));
  }
  std::vector<ValuePointer> items(count());
  for (const Part* part = parts.get(); part; part = part->before.get()) items[part->count - 1] = part->value;
  return Value::array(std::move(items));
}

const ValuePointer* Container::next_in(const Value& candidate) const {
  if (is_object) return name ? candidate.member(*name) : nullptr;
  return count() < candidate.items.size() ? &candidate.items[count()] : nullptr;
}

bool Container::has(std::string_view own_name) const {
  for (const Part* part = parts.get(); part; part = part->before.get()) {
    if (part->name == own_name) return true;
  }
  return false;
}

// Steps.

Step Memory::end_before(uint8_t byte) {
  constexpr std::string_view kEnding = " \t\n\r,]}";
  const bool is_plain = open_ && scalar_ && !scalar_.is_string();
  return is_plain && kEnding.find(static_cast<char>(byte)) != std::string_view::npos ? end(scalar_.value())
                                                                                     : Step::kNone;
}

Step Memory::read(uint8_t byte, bool begins_unique) {
  if (!open_) {
    if (begins_unique) open(false, true);
    return Step::kNone;
  }
  if (!scalar_) return read_mark(byte, begins_unique);
  if (scalar_.is_string() && byte == '"' && !scalar_.escapes()) return end(scalar_.value());
  scalar_.read(byte), settle();
  return Step::kNone;
}

void Memory::read_text(std::string_view text) {
  scalar_.read_text(text);
  settle();
}

// Read a byte outside of scalars.
Step Memory::read_mark(uint8_t byte, bool begins_unique) {
  switch (byte) {
    case ' ':
    case '\t':
    case '\n':
    case '\r':
    case ':':
      return Step::kNone;
    case '[':
    case '{':
      open(byte == '{', begins_unique);
      return Step::kNone;
    case ']':
    case '}': {
      ValuePointer value = open_->value();
      open_ = open_->outer;
      return open_ ? end(std::move(value)) : Step::kNone;
    }
    case ',':
      separate();
      return Step::kNone;
    case '"':
      scalar_ = Scalar::string();
      break;
    default:
      scalar_ = Scalar::plain({reinterpret_cast<const char*>(&byte), 1});
  }
  settle();
  return Step::kNone;
}

// Open a container. Its candidates are what may come next in the container around it.
void Memory::open(bool is_object, bool is_unique) {
  const Kind kind = is_object ? Kind::kObject : Kind::kArray;
  auto made = std::make_shared<Container>(open_, is_object, is_unique);
  const auto add = [&](const ValuePointer* value) {
    if (value && (*value)->kind == kind) made->candidates.push_back(value->get());
  };
  if (open_) {
    if (!open_->is_object) {
      for (const Part* rival : open_->rivals) add(&rival->value);
    }
    for (const Value* candidate : open_->candidates) add(open_->next_in(*candidate));
  }
  made->hash = hash_of(*made);
  open_ = std::move(made);
}

// Replace the innermost container by a changed copy, which begins without rivals and candidates.
template <class Change>
void Memory::change(Change change) {
  auto made = std::make_shared<Container>(open_->outer, open_->is_object, open_->is_unique);
  made->parts = open_->parts, made->name = open_->name;
  change(*made);
  made->hash = hash_of(*made);
  open_ = std::move(made);
}

// Read a comma: another item or member follows.
void Memory::separate() {
  change([&](Container& made) {
    if (open_->is_object || open_->is_unique) {
      for (const Part* part = open_->parts.get(); part; part = part->before.get()) made.rivals.push_back(part);
    }
    std::ranges::copy_if(open_->candidates, std::back_inserter(made.candidates),
                         [&](const Value* candidate) { return candidate->items.size() > open_->count(); });
  });
}

// Read the end of a value or name.
Step Memory::end(ValuePointer value) {
  scalar_ = Scalar();
  return open_->is_object && !open_->name ? end_name(*value) : end_item(std::move(value));
}

Step Memory::end_name(const Value& name) {
  const auto is_same = [&](const Part* rival) { return rival->name == name.text; };
  if (std::ranges::any_of(open_->rivals, is_same)) return Step::kRefused;
  change([&](Container& made) {
    made.name = name.text;
    std::ranges::copy_if(open_->candidates, std::back_inserter(made.candidates),
                         [&](const Value* candidate) { return candidate->member(name.text) != nullptr; });
  });
  return Step::kNone;
}

Step Memory::end_item(ValuePointer value) {
  const auto is_same = [&](const Part* rival) { return *rival->value == *value; };
  const bool repeats = open_->is_unique && std::ranges::any_of(open_->rivals, is_same);
  value = shared(std::move(value));
  change([&](Container& made) {
    std::ranges::copy_if(open_->candidates, std::back_inserter(made.candidates), [&](const Value* candidate) {
      const ValuePointer* const next = open_->next_in(*candidate);
      return next && **next == *value;
    });
    made.parts = std::make_shared<Part>(open_->parts, open_->name.value_or(""), std::move(value));
    made.name.reset();
  });
  return repeats ? Step::kRepeats : Step::kNone;
}

// Return an equal value that a candidate has, if there is one, and otherwise the value itself: comparing shared values
// takes no time.
ValuePointer Memory::shared(ValuePointer value) const {
  for (const Value* candidate : open_->candidates) {
    const ValuePointer* const next = open_->next_in(*candidate);
    if (next && **next == *value) return *next;
  }
  return value;
}

// Rivals.

// Return whether the current scalar may be the name or value that comes next in a candidate.
bool Memory::may_follow(const Outlook& outlook, const Value& candidate) const {
  if (open_->is_object && !open_->name) {
    return std::ranges::any_of(candidate.names,
                               [&](const std::string& name) { return scalar_.may_be_text(name) && !open_->has(name); });
  }
  const ValuePointer* const next = open_->next_in(candidate);
  return next && outlook.may_be(**next);
}

// Drop the rivals and candidates that the current scalar cannot become.
void Memory::settle() {
  if (!has_rivals()) return;
  const Outlook outlook(scalar_);
  const auto may_be = [&](const Part* rival) {
    return open_->is_object ? scalar_.may_be_text(rival->name) : outlook.may_be(*rival->value);
  };
  const auto may_lead = [&](const Value* candidate) { return may_follow(outlook, *candidate); };
  if (std::ranges::all_of(open_->rivals, may_be) && std::ranges::all_of(open_->candidates, may_lead)) return;
  change([&](Container& made) {
    std::ranges::copy_if(open_->rivals, std::back_inserter(made.rivals), may_be);
    std::ranges::copy_if(open_->candidates, std::back_inserter(made.candidates), may_lead);
  });
}

support::ByteSet Memory::bytes_for_rivals() const {
  support::ByteSet found;
  found.add('"'), found.add('\\');
  const auto add = [&](std::string_view text) {
    const auto next = scalar_.next_byte(text);
    if (next && scalar_.may_be_text(text)) found.add(*next);
  };
  for (const Part* rival : open_->rivals) add(open_->is_object ? rival->name : rival->value->text);
  for (const Value* candidate : open_->candidates) {
    if (!open_->is_object || open_->name) {
      add((*open_->next_in(*candidate))->text);
    } else {
      for (const std::string& name : candidate->names) add(name);
    }
  }
  return found;
}

// Comparison.

Memory Memory::without_last_zeros() const {
  Memory found = *this;
  found.scalar_ = scalar_.without_last_zeros();
  return found;
}

size_t Memory::size() const {
  size_t size = 1;
  for (const Container* at = open_.get(); at; at = at->outer.get()) {
    size += at->count() + at->rivals.size() + at->candidates.size();
  }
  return size;
}

uint64_t Memory::hash() const { return mixed(open_ ? open_->hash : 0, scalar_.hash()); }

bool operator==(const Memory& left, const Memory& right) {
  return left.scalar_ == right.scalar_ && are_equal(left.open_.get(), right.open_.get());
}

}  // namespace tokenfst::unique_items
