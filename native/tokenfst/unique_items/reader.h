// Reader: follows texts through the marked grammar, with a memory, and tells whether they can still continue.
//
//     Position       where a text stands: a state of the marked automaton, and the memory
//     Reader         reads bytes; searches for a way to where nothing under way has rivals
//
// The marked automaton reads bytes, and marks that are not bytes of texts (`Marks`). After each `[` the first mark
// tells whether the items of the array must differ in some reading of the text. There may be several readings, side by
// side, until the text tells them apart. So where an item ends that was there, the automaton reads the second mark:
// readings continue in which items of the array need not differ.
//
// A text can continue where nothing has rivals: then the shortest way to the end of the item is one, and what comes
// after an item is never out of values. Where something has rivals, a search byte by byte finds out whether any way
// leads to where there are none. Rivals are finitely many values, so the search is short: one more character makes
// another string. Only zeros at the end of a number could continue without end. Take numbers that differ in how many
// zeros they end in so far: whatever text follows, it makes either one value of all of them, or as many values as there
// are numbers. So it is enough to look at one more of them than there are rivals, and at one where no other digit can
// follow in the fraction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/budget.h"
#include "tokenfst/lazy/automaton.h"
#include "tokenfst/unique_items/memory.h"

namespace tokenfst::unique_items {

struct Position {
  int64_t marked;
  Memory memory;
  // How many items have ended that were there. It tells what a text has done, and not what may follow.
  int64_t num_repeats = 0;

  uint64_t hash() const { return support::mixed(memory.hash(), static_cast<uint64_t>(marked)); }
  friend bool operator==(const Position& left, const Position& right) {
    return left.marked == right.marked && left.memory == right.memory;
  }
};

// For maps of the standard library.
struct PositionHash {
  size_t operator()(const Position& position) const { return static_cast<size_t>(position.hash()); }
};

// What the marked automaton reads besides texts.
struct Marks {
  uint8_t unique;  // an array begins whose items must differ
  uint8_t repeat;  // an item ends that was there; and after `[`, that the array is remembered

  bool has(uint8_t byte) const { return byte == unique || byte == repeat; }
};

class Reader {
 public:
  // The most positions that one search looks at is `max_positions`.
  Reader(std::shared_ptr<LazyAutomaton> marked, Marks marks, int64_t max_positions, Budget::Interrupt interrupt)
      : marked_(std::move(marked)),
        marks_(marks),
        max_positions_(max_positions),
        budget_(0, kNever, interrupt) {}

  LazyAutomaton& marked() const { return *marked_; }
  Position start() const { return {marked_->start(), {}}; }

  // Everything below requires that the caller holds the marked automaton. Throw TooLong if an exponent is too long to
  // be remembered, or a search would have to look at too many positions.

  // Read more bytes; return false if they are not allowed, or write an item twice where items must differ. Then the
  // position is spoilt. `repeats` gets the places in the text where items end that were there.
  bool read(Position& position, std::span<const uint8_t> text, std::vector<int64_t>* repeats = nullptr);
  // The state of the marked automaton after one more byte, kNotAllowed if there is none.
  int64_t state_after(int64_t state, uint8_t byte, bool& begins_unique);
  // Whether what is under way can end as something that was not there.
  bool goes_on(const Position& position);
  // The first of the shortest texts that lead from a position with rivals to where there are none; none if none does.
  std::optional<std::string> way_out(const Position& position);

 private:
  static constexpr double kNever = 1e18;
  // The number of ways that are tried before one is searched for, and of those that are kept; full, they are emptied.
  static constexpr size_t kMaxHints = 4, kMaxKept = 1 << 12;

  bool follow(Position& position, Step step);
  std::optional<std::string> searched(const Position& from);
  void keep(Position position, std::string_view way);
  bool repeats_zeros(const Position& position);
  bool has_hint(const Position& position);

  const std::shared_ptr<LazyAutomaton> marked_;
  const Marks marks_;
  const int64_t max_positions_;
  Budget budget_;
  std::unordered_map<Position, std::optional<std::string>, PositionHash> ways_;
  std::unordered_map<int64_t, std::vector<std::string>> hints_;
};

}  // namespace tokenfst::unique_items
