// The deterministic automaton of a text with assertions, by one subset construction.
//
// A state of the result is a map from states of the skeleton to the conditions under which they have been reached
// (`automata/assertions/lookaround.py` describes the construction).
#pragma once

#include "automata/assertions/conditions.h"
#include "automata/assertions/skeleton.h"

namespace automata {

// A deterministic automaton over classes of characters. State 0 is the start.
struct CharacterAutomaton {
  Vector<int32_t> offsets;  // [Q + 1]
  Vector<OutArc> arcs;      // each state's by symbol
  Vector<uint8_t> final;    // [Q]
};

// Throw LimitExceeded past `max_states`, and TooManyAlternatives.
CharacterAutomaton subsets(const Skeleton& skeleton, int64_t max_states, Budget& budget);

}  // namespace automata
