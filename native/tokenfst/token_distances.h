// TokenDistances: the least number of tokens from each state to the end of the text, counting the end token.
//
// Without a register they are found by breadth-first search, a number for each state. With one, neighbouring register
// values mostly have the same distance, so they are found and kept as runs of values
// (`automata/counted/register_distance.h`).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "automata/counted/register_distance.h"
#include "tokenfst/transitions.h"

namespace tokenfst {

class TokenDistances {
 public:
  // `final` are the control states where a text may end. Without end tokens, the text is complete there.
  TokenDistances(const Transitions& transitions, std::span<const uint8_t> final, bool has_end_tokens, Budget& budget);

  int32_t operator[](int64_t state) const { return runs_.key.empty() ? least_[state] : of_value(state); }
  // Return the distances of all `num_states` states, written out.
  std::vector<int32_t> by_state(int64_t num_states) const;
  // Return the distances of an automaton with a register, by control state; empty without one.
  const automata::DistanceSteps& runs() const { return runs_; }

 private:
  int32_t of_value(int64_t state) const;

  std::vector<int32_t> least_;
  automata::DistanceSteps runs_;
  int64_t num_control_states_ = 1, num_values_ = 1;
};

}  // namespace tokenfst
