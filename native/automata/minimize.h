// Minimization: the smallest deterministic automaton of a language, in the time of a sort.
//
// Valmari's algorithm ("Fast brief practical DFA minimization", Information Processing Letters 112, 2012) refines two
// partitions in turn, states into blocks and transitions into cords, always looking at the smaller part of what was
// split: O(A log Q) for A transitions, and partial automata need no dead state. States that cannot be reached, or from
// which no end can be, are left out before.
#pragma once

#include "automata/arcs.h"

namespace automata {

struct Minimal {
  int32_t start;  // kNone where nothing is accepted
  Transitions automaton;
};

// The minimal trim automaton of what deterministic transitions accept from state 0.
Minimal minimize(const Transitions& automaton, Budget& budget);

}  // namespace automata
