// Functions: partial functions on the states of an automaton, the effects that the walk over a trie tracks.
//
// A function is a span of (source, target) pairs with ascending sources; equal functions have one number
// (hash-consing), and a function followed by a byte is computed once. Number 0 is the identity, kDead the function
// without pairs. `Targets` defines what states may become:
//
//     Targets::after(target, column)             the target after a byte of that class, kDead for none
//     Targets::after_character(target, pending)  the same after any valid rest of a character; kMixed if they differ
//     Targets::loops(target)                     the bytes and characters that leave a target unchanged
//     Targets::live(target)                      the columns that do not lead to kDead immediately, as bits
//
// Targets 0 to the number of states - 1 are the states themselves.
#pragma once

#include <cstdint>
#include <span>

#include "support/bits.h"
#include "support/interner.h"
#include "support/matrix.h"
#include "tokenfst/character_steps.h"

namespace tokenfst {

using automata::Edge;

template <class Targets>
class Functions {
 public:
  static constexpr bool kHasLoops = true;

  Functions(Targets& targets, int32_t num_states, int32_t num_columns, Budget& budget)
      : targets_(targets),
        budget_(budget),
        pairs_(budget),
        after_(0, num_columns, kUnknown, budget),
        after_character_(0, support::kNumPending, kUnknown, budget),
        loops_(budget),
        live_(support::words_for(num_columns), 0, budget) {
    for (int32_t state = 0; state < num_states; ++state) pairs_.push({state, state});
    closed();
  }

  int32_t after(int32_t function, int32_t column) {
    const int32_t known = after_[function][column];
    return known == kUnknown ? compose(function, column) : known;
  }
  int32_t after_character(int32_t function, Pending pending) {
    const int32_t known = after_character_[function][pending];
    return known == kUnknown ? pass(function, pending) : known;
  }
  const Loops& loops(int32_t function) const { return loops_[function]; }

  std::span<const Edge> pairs(int32_t function) const { return pairs_[function]; }

 private:
  int32_t compose(int32_t function, int32_t column) {
    // By number, since spans move when others are written.
    const size_t size = pairs_[function].size();
    budget_.spend(static_cast<int64_t>(2 * size) + 16);
    for (size_t at = 0; at < size; ++at) {
      const Edge pair = pairs_[function][at];
      const int32_t target = targets_.after(pair.target, column);
      if (target >= 0) pairs_.push({pair.source, target});
    }
    const int32_t found = closed();
    return after_[function][column] = found;
  }

  int32_t pass(int32_t function, Pending pending) {
    const size_t size = pairs_[function].size();
    budget_.spend(static_cast<int64_t>(2 * size) + 16);
    for (size_t at = 0; at < size; ++at) {
      const Edge pair = pairs_[function][at];
      const int32_t target = targets_.after_character(pair.target, pending);
      if (target == kMixed) {
        pairs_.discard();
        return after_character_[function][pending] = kMixed;
      }
      if (target >= 0) pairs_.push({pair.source, target});
    }
    const int32_t found = closed();
    return after_character_[function][pending] = found;
  }

  // Return the number of the function whose pairs have been written, kDead if there are none.
  int32_t closed() {
    if (pairs_.open().empty()) return kDead;
    const auto [number, is_new] = pairs_.close();
    if (!is_new) return number;
    // Known immediately: which columns no target can take, and what all targets loop on.
    Loops loops = Loops::all();
    std::ranges::fill(live_, 0u);
    for (const Edge& pair : pairs_[number]) {
      loops &= targets_.loops(pair.target);
      const std::span<const uint32_t> live = targets_.live(pair.target);
      for (size_t word = 0; word < live_.size(); ++word) live_[word] |= live[word];
    }
    after_.add_row(kDead);
    after_character_.add_row(kUnknown);
    loops_.push_back(loops);
    const auto row = after_[number];
    for (size_t column = 0; column < row.size(); ++column) {
      if (support::has_bit(live_, static_cast<uint32_t>(column))) row[column] = kUnknown;
    }
    budget_.spend(static_cast<int64_t>(pairs_[number].size()) * 4 + static_cast<int64_t>(row.size()));
    return number;
  }

  Targets& targets_;
  Budget& budget_;
  support::Interner<Edge> pairs_;
  support::Matrix<int32_t> after_;            // [F, C]
  support::Matrix<int32_t> after_character_;  // [F, pending]
  Vector<Loops> loops_;                       // [F]
  Vector<uint32_t> live_;                     // scratch of `closed`
};

}  // namespace tokenfst
