// StateFunctions: partial functions on the states of a byte automaton, the effects for an automaton without a stack.
//
// A byte automaton with states Q gives every byte string w a partial function f_w: Q -> Q, and f_wc = delta_c o f_w.
#pragma once

#include <span>

#include "support/matrix.h"
#include "tokenfst/character_steps.h"
#include "tokenfst/functions.h"

namespace tokenfst {

// StateTargets as the targets of functions.
class StateTargets {
 public:
  StateTargets(const StepTable& table, Budget& budget);

  int32_t after(int32_t state, int32_t column) const { return table_(state, column); }
  int32_t after_character(int32_t state, Pending pending) { return characters_.after(state, pending); }
  const Loops& loops(int32_t state) const { return loops_[state]; }
  std::span<const uint32_t> live(int32_t state) const { return live_[state]; }

 private:
  const StepTable table_;
  CharacterSteps characters_;
  Vector<Loops> loops_;             // [Q]
  support::Matrix<uint32_t> live_;  // [Q, columns as bits]
};

using StateFunctions = Functions<StateTargets>;

}  // namespace tokenfst
