// Headroom in a grammar whose rules have several exits; `automata/pushdown/headroom.h` defines the term.
//
// The headroom of a state is the least over its paths to any exit. The headroom of a symbol is the greatest over the
// exits after which its text continues, so that there is room for the continuation however the rule ends. A path from
// a state to one exit of its rule, with room h, is
//
//     bytes     to a state that has such a path
//     a call    of a rule that has a path with room h - 1 to an exit after which there is such a path, and whose
//               symbol needs at most h
//
// The last condition makes this two nested fixpoints. With every symbol allowed, paths are found backwards from the
// exits; symbols that need more than h are removed, and paths are found again. With one exit for each rule no symbol
// is removed, and this is the plain problem. So from a configuration with room there is always a step to another one
// with room that is nearer to the end.
#pragma once

#include "automata/visibly_pushdown/assembly.h"

namespace automata {

struct ExitHeadroom {
  Vector<int32_t> of_state, of_symbol;
};

ExitHeadroom headrooms(const AssembledStates& states, const AssembledSteps& steps, Budget& budget);

}  // namespace automata
