// The subset construction: from a non-deterministic automaton with epsilon arcs to a deterministic one.
//
// A state of the result is the sorted set of the states that a symbol led to, before following epsilon arcs; equal sets
// are one state. Epsilon arcs are followed when a set is expanded, once. Sets that differ only by that are states too
// many, which minimization merges. (Rabin & Scott 1959; Hopcroft, Motwani & Ullman 2.3.5 and 2.5.5.)
//
// OpenFst's `rmepsilon` and `determinize` do the same and are what the tests compare with. For patterns of everyday
// size they cost ten times as much, most of it in objects and streams at the boundary, and this step is in every
// compilation.
#pragma once

#include <span>

#include "automata/arcs.h"

namespace automata {

struct Nfa {
  int32_t num_states;
  int32_t num_symbols;  // symbols are below it
  std::span<const Arc> arcs;
  std::span<const Edge> epsilon;
  int32_t end;  // the one final state; the start is state 0
};

// The deterministic automaton, whose state 0 is the start. Throws LimitExceeded past `max_states`.
Transitions determinize(const Nfa& nfa, int64_t max_states, Budget& budget);

}  // namespace automata
