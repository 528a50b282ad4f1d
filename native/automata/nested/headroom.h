// Headroom in a network whose rules end in more than one way; `automata/pushdown/headroom.h` defines the term.
//
// Where a rule may end in several ways, the headroom of a state is the least over its paths to any end, and the
// headroom of a symbol is the greatest over the exits after which its text continues: then, however a rule ends, there
// is room for what follows. A path from a state to one end of its rule, with room h, is
//
//     bytes     to a state that has such a path
//     a call    whose rule has a path with room h - 1 to an exit after which there is such a path, and whose symbol
//               needs at most h
//
// The last condition makes this two nested fixpoints: with every symbol allowed, paths are found backwards from the
// ends; symbols that turn out to need more than h are removed, and paths are found anew. With one exit for each rule no
// symbol is ever removed, and this is the plain problem. So from a configuration with room there is always a step to
// another one that is nearer to the end.
#pragma once

#include "automata/nested/assembly.h"

namespace automata {

struct NestedHeadroom {
  Vector<int32_t> of_state, of_symbol;
};

NestedHeadroom headrooms(const AssembledStates& states, const AssembledSteps& steps, Budget& budget);

}  // namespace automata
