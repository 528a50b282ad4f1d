// Minimization: the smallest deterministic automaton of a language, in O(A log Q) for A transitions and Q states over a
// fixed alphabet.
//
// Valmari's algorithm ("Fast brief practical DFA minimization", Information Processing Letters 112, 2012) refines two
// partitions in turn, of states into blocks and of transitions into cords, always processing the smaller part of a
// split; partial automata need no dead state. States that are not accessible or not coaccessible are removed first.
// Then equivalent states from which no cycle is reachable are merged, from the final states backwards (Revuz,
// "Minimisation of acyclic deterministic automata in linear time", Theoretical Computer Science 92, 1992): for a finite
// language that is the minimal automaton already, in a third of the time.
//
// The first blocks are the states that agree in their distance from the end of a text and in the distances that their
// arcs lead to, as equivalent states do. Often no two states agree, and nothing is left to refine.
#pragma once

#include "automata/arcs.h"

namespace automata {

struct Minimal {
  int32_t start;  // kNone if nothing is accepted
  Transitions automaton;
};

// Return the minimal trim automaton of the language that deterministic transitions accept from state 0.
Minimal minimize(const Transitions& automaton, Budget& budget);

}  // namespace automata
