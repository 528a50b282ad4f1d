#include "tokenfst/unique_items/reader.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace tokenfst::unique_items {

namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Return how many bytes come before the next quotation mark or backslash.
size_t num_plain(std::span<const uint8_t> text) {
  size_t at = 0;
  while (at < text.size() && text[at] != '"' && text[at] != '\\') ++at;
  return at;
}

}  // namespace

int64_t Reader::state_after(int64_t state, uint8_t byte, bool& begins_unique) {
  begins_unique = false;
  const int64_t reached = marked_->read({&byte, 1}, state);
  if (byte != '[' || reached == LazyAutomaton::kNotAllowed) return reached;
  begins_unique = marked_->read({&marks_.unique, 1}, reached) != LazyAutomaton::kNotAllowed;
  return begins_unique ? marked_->read({&marks_.repeat, 1}, reached) : reached;
}

bool Reader::read(Position& position, std::span<const uint8_t> text, std::vector<int64_t>* repeats) {
  for (size_t at = 0; at < text.size();) {
    budget_.spend(8);
    const bool is_in_text = position.memory.scalar().is_in_text();
    if (const size_t length = is_in_text ? num_plain(text.subspan(at)) : 0) {
      position.marked = marked_->read(text.subspan(at, length), position.marked);
      if (position.marked == LazyAutomaton::kNotAllowed) return false;
      position.memory.read_text({reinterpret_cast<const char*>(&text[at]), length});
      at += length;
      continue;
    }
    if (marks_.has(text[at])) return false;
    const Step before = position.memory.end_before(text[at]);
    if (!follow(position, before)) return false;
    bool begins_unique = false;
    position.marked = state_after(position.marked, text[at], begins_unique);
    if (position.marked == LazyAutomaton::kNotAllowed) return false;
    const Step with = position.memory.read(text[at], begins_unique);
    if (!follow(position, with)) return false;
    if (repeats && before == Step::kRepeats) repeats->push_back(static_cast<int64_t>(at));
    ++at;
    if (repeats && with == Step::kRepeats) repeats->push_back(static_cast<int64_t>(at));
  }
  return true;
}

// Continue with the readings that allow a step of the memory; return false if there are none.
bool Reader::follow(Position& position, Step step) {
  if (step == Step::kRepeats) {
    position.marked = marked_->read({&marks_.repeat, 1}, position.marked);
    ++position.num_repeats;
  }
  return step != Step::kRefused && position.marked != LazyAutomaton::kNotAllowed;
}

std::optional<std::string> Reader::some_text(const Position& position) {
  const auto hints = hints_.find(position.marked);
  if (hints != hints_.end()) {
    for (const std::string& text : hints->second) {
      Position reached = position;
      if (read(reached, bytes_of(text)) && !reached.memory.has_rivals()) return text;
    }
  }
  auto found = shortest_text(position);
  if (!found) return found;
  if (hints_.size() >= kMaxKept) hints_.clear();
  auto& kept = hints_[position.marked];
  kept.insert(kept.begin(), *found);
  if (kept.size() > kMaxHints) kept.pop_back();
  return found;
}

std::optional<std::string> Reader::shortest_text(const Position& position) {
  if (const auto known = texts_.find(position); known != texts_.end()) return known->second;
  auto found = searched(position);
  if (texts_.size() >= kMaxKept || num_remembered_ >= kMaxRemembered) texts_.clear(), num_remembered_ = 0;
  if (found) {
    keep(position, *found);
  } else {
    keep_one(position, std::nullopt);
  }
  return found;
}

// Keep a text, and its rests for the positions along it.
void Reader::keep(Position position, std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    keep_one(position, std::string(text.substr(at)));
    read(position, bytes_of(text.substr(at, 1)));
  }
}

void Reader::keep_one(const Position& position, std::optional<std::string> text) {
  if (texts_.emplace(position, std::move(text)).second) num_remembered_ += position.memory.size();
}

// Return whether the current scalar is a number whose fraction may continue with zeros only. However many of them there
// are, an exponent has the same effect after them.
bool Reader::repeats_zeros(const Position& position) {
  const Scalar& scalar = position.memory.scalar();
  const bool has_fraction = scalar.is_number() && scalar.done().find('.') != std::string_view::npos;
  if (!has_fraction || scalar.done().find_first_of("eE") != std::string_view::npos) return false;
  const support::ByteSet bytes = marked_->bytes_after(position.marked);
  return marked_->read(bytes_of("0"), position.marked) == position.marked &&
         std::ranges::none_of(std::string_view("123456789"), [&](char byte) { return bytes[byte]; });
}

std::optional<std::string> Reader::searched(const Position& from) {
  std::deque<std::pair<Position, std::string>> waiting{{from, ""}};
  std::unordered_set<Position, PositionHash> seen;
  std::unordered_map<Position, size_t, PositionHash> num_alike;  // without the zeros at the ends of numbers
  const auto is_new = [&](const Position& position) {
    if (!seen.insert(position).second) return false;
    if (!position.memory.scalar().is_number()) return true;
    const size_t before = num_alike[{position.marked, position.memory.without_last_zeros()}]++;
    return before == 0 || (before <= position.memory.num_rivals() && !repeats_zeros(position));
  };
  is_new(from);
  int64_t num_found = 1;
  for (; !waiting.empty(); waiting.pop_front()) {
    if (num_found > max_positions_) {
      throw TooLong("telling whether an item can still differ takes a look at", max_positions_, "positions");
    }
    const auto& [position, text] = waiting.front();
    const support::ByteSet bytes = marked_->bytes_after(position.marked);
    for (int byte = 0; byte < 256; ++byte) {
      const auto letter = static_cast<uint8_t>(byte);
      Position reached = position;
      if (!bytes[letter] || !read(reached, {&letter, 1})) continue;
      std::string longer = text + static_cast<char>(letter);
      if (!reached.memory.has_rivals()) return longer;
      if (!is_new(reached)) continue;
      waiting.emplace_back(std::move(reached), std::move(longer));
      ++num_found;
    }
  }
  return std::nullopt;
}

}  // namespace tokenfst::unique_items
