// Potentials: what the rest of a text costs at least, from each state.
//
// Moving potentials to the front ("pushing", Mohri 2009, section 3.3) makes every cost known as early as it can be: an
// arc then costs what it adds to the best that was possible before it. The cost of a whole text stays the same whatever
// the potentials are. They are, in this order, the first that exist:
//
//     log         the negative logarithm of the sum over all texts that may follow (the log semiring only)
//     least       the least cost of a text that may follow
//     to an end   the least cost of a text that may follow and passes no other state where a text may end. For automata
//                 with a cycle that lowers the cost: then no rest of a text is the best
//
// Strongly connected components are taken from the last to the first; within one, values are improved until none
// changes.
#pragma once

#include "automata/weighted/weighted_tables.h"

namespace automata {

// Return the components of an automaton, numbered so that arcs lead to the same component or to a smaller number.
Vector<int32_t> components(const WeightedBuilder& automaton, Budget& budget);

// Return the potential of each state, from each of which an end can be reached. Throw std::domain_error if a cycle
// lowers the cost and passes no state where a text may end.
Vector<Cost> potentials(const WeightedBuilder& automaton, Semiring semiring, Budget& budget);

}  // namespace automata
