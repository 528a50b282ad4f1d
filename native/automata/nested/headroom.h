// Headroom in a network whose rules end in more than one way; what it means is said in `automata/pushdown/headroom.h`.
//
// Where a rule may end in several ways, the number for a state is the least over its ways to any end, and the number
// for a symbol is the greatest over the exits that its text goes on after: then, however a rule ends, there is room for
// what follows. A way from a state to one end of its rule, with room h, is
//
//     bytes     to a state that has such a way
//     a call    whose rule has a way with room h - 1 to an exit after which there is such a way, and whose symbol has
//               at most the number h
//
// The last makes it two fixpoints, one in the other: with every symbol allowed, ways are found from the ends backwards;
// symbols that turn out to need more than h are taken out, and ways are found anew. With one exit for each rule nothing
// is ever taken out, and it is the plain problem. So from a configuration with room there is always a step to another
// one that is nearer to the end.
#pragma once

#include "automata/nested/assembly.h"

namespace automata {

struct NestedHeadroom {
  Vector<int32_t> of_state, of_symbol;
};

NestedHeadroom headrooms(const Places& places, const PlaceSteps& steps, Budget& budget);

}  // namespace automata
