// StateFunctions: partial functions on the states of a byte automaton, the effects of an automaton without a stack.
//
// A byte automaton with states Q gives every byte string w a partial function f_w: Q -> Q, and f_wc = delta_c o f_w. A
// function is a span of (source, target) pairs with ascending sources; equal ones are one number (hash-consing), and a
// function followed by a byte is found once. Number 0 is the identity, kDead the function without pairs.
#pragma once

#include <span>

#include "support/interner.h"
#include "support/matrix.h"
#include "tokenfst/character_steps.h"

namespace tokenfst {

class StateFunctions {
 public:
  static constexpr bool kHasLoops = true;

  struct Pair {
    int32_t source, target;
    bool operator==(const Pair&) const = default;
  };

  StateFunctions(const StepTable& table, Budget& budget);

  int32_t after(int32_t function, int32_t column) {
    const int32_t known = after_[function][column];
    return known == kUnknown ? compose(function, column) : known;
  }
  int32_t after_character(int32_t function, Pending pending) {
    const int32_t known = after_character_[function][pending];
    return known == kUnknown ? pass(function, pending) : known;
  }
  const Loops& loops(int32_t function) const { return loops_[function]; }

  std::span<const Pair> pairs(int32_t function) const { return pairs_[function]; }

 private:
  int32_t compose(int32_t function, int32_t column);
  int32_t pass(int32_t function, Pending pending);
  // The number of the function whose pairs have been written, kDead if there are none.
  int32_t closed();

  const StepTable table_;
  Budget& budget_;
  CharacterSteps characters_;
  Vector<Loops> state_loops_;  // [Q]
  support::Interner<Pair> pairs_;
  support::Matrix<int32_t> after_;            // [F, C]
  support::Matrix<int32_t> after_character_;  // [F, pending]
  Vector<Loops> loops_;                       // [F]
};

}  // namespace tokenfst
