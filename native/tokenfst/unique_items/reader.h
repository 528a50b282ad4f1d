// Reader: follows texts through the marked grammar, with a memory, and tells whether they can still continue.
//
//     Position       where a text stands: a state of the marked automaton, and the memory
//     Reader         reads bytes; searches for a text that leads to a position without rivals
//
// The marked automaton reads bytes, and marks that are not bytes of texts (`Marks`). After each `[` the first mark
// tells whether the items of the array must differ in some reading of the text. Several readings may continue side by
// side until the text tells them apart. So where an item ends that repeats an earlier one, the automaton reads the
// second mark, after which only those readings continue in which the items of the array need not differ.
//
// If neither the current item nor the current name has rivals, a text can continue: by the shortest path to the end of
// the item, for example, and there are always values left for the items after it. Otherwise a search byte by byte finds
// out whether any text leads to a position without rivals. Rivals are finitely many values, so the search is short: one
// more character makes another string. Only zeros at the end of a number could continue without end. Consider numbers
// that differ only in their trailing zeros. Any continuation gives all of them the same value or each a different one.
// With r rivals it is therefore enough to try r + 1 of them, or one if no digit but 0 can follow in the fraction.
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
  // How many items have repeated an earlier one. That is about the past of a text, not about what may follow, so
  // equality ignores it.
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

// The marks that the automaton reads besides bytes of texts.
struct Marks {
  uint8_t unique;  // an array begins whose items must differ
  uint8_t repeat;  // an item repeats an earlier one; after `[`: the memory keeps this array

  bool has(uint8_t byte) const { return byte == unique || byte == repeat; }
};

class Reader {
 public:
  // A search visits `max_positions` positions at most.
  Reader(std::shared_ptr<LazyAutomaton> marked, Marks marks, int64_t max_positions, Budget::Interrupt interrupt)
      : marked_(std::move(marked)),
        marks_(marks),
        max_positions_(max_positions),
        budget_(0, kNever, interrupt) {}

  LazyAutomaton& marked() const { return *marked_; }
  Position start() const { return {marked_->start(), {}}; }

  // Everything below requires that the caller holds the marked automaton, and throws TooLong if an exponent is too long
  // to be remembered, or a search would have to visit too many positions.

  // Read more bytes; return false if they are not allowed, or write an item twice where items must differ; the position
  // is then of no further use. `repeats` gets the places in the text where items end that repeat earlier ones.
  bool read(Position& position, std::span<const uint8_t> text, std::vector<int64_t>* repeats = nullptr);
  // Return the state of the marked automaton after one more byte, kNotAllowed if there is none.
  int64_t state_after(int64_t state, uint8_t byte, bool& begins_unique);
  // Return whether the current item or name can still differ from all earlier ones.
  bool can_continue(const Position& position) { return !position.memory.has_rivals() || some_text(position); }
  // Return a text that leads from a position with rivals to one without; none if no text does. It is found faster than
  // the shortest one, since a text that was found for other earlier items usually does so here as well.
  std::optional<std::string> some_text(const Position& position);

 private:
  static constexpr double kNever = 1e18;
  // The most texts that are tried before one is searched for; and the most positions or states whose texts are kept,
  // and the most that these positions remember, beyond which all are dropped.
  static constexpr size_t kMaxHints = 4, kMaxKept = 1 << 12, kMaxRemembered = 1 << 17;

  bool follow(Position& position, Step step);
  // Return the first, in order, of the shortest texts that lead from a position with rivals to one without; none if no
  // text does.
  std::optional<std::string> shortest_text(const Position& position);
  std::optional<std::string> searched(const Position& from);
  void keep(Position position, std::string_view text);
  void keep_one(const Position& position, std::optional<std::string> text);
  bool repeats_zeros(const Position& position);

  const std::shared_ptr<LazyAutomaton> marked_;
  const Marks marks_;
  const int64_t max_positions_;
  Budget budget_;
  std::unordered_map<Position, std::optional<std::string>, PositionHash> texts_;
  size_t num_remembered_ = 0;  // by the positions of `texts_`
  std::unordered_map<int64_t, std::vector<std::string>> hints_;
};

}  // namespace tokenfst::unique_items
