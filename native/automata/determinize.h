// The subset construction: from a non-deterministic automaton with epsilon arcs to a deterministic one.
//
// A state of the result is the sorted set of the states that a symbol led to, before epsilon arcs are followed; equal
// sets are one state. Epsilon arcs are followed once, when a set is expanded. Distinct sets with the same epsilon
// closure become separate states, which minimization merges. (Rabin & Scott 1959; Hopcroft, Motwani & Ullman 2.3.5 and
// 2.5.5.)
//
// OpenFst's `rmepsilon` and `determinize` do the same, and the tests compare with them. For patterns of everyday size
// they take ten times as long, mostly for objects and streams at the boundary, and every compilation includes this
// step.
#pragma once

#include <span>

#include "automata/arcs.h"

namespace automata {

struct Nfa {
  int32_t num_states;
  int32_t num_symbols;  // symbols are below this number
  std::span<const Arc> arcs;
  std::span<const Edge> epsilon;
  int32_t end;  // the only final state; the start is state 0
};

// Return the deterministic automaton, whose state 0 is the start. Throw LimitExceeded past `max_states`.
Transitions determinize(const Nfa& nfa, int64_t max_states, Budget& budget);

}  // namespace automata
