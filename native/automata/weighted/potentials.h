// Potentials: what the rest of a text costs at least, from each state.
//
// Moving potentials to the front ("pushing", Mohri 2009, section 3.3) makes every cost known as early as it can be: an
// arc then costs what it adds to the best that was possible before it. The cost of a whole text stays the same whatever
// the potentials are. They are, in this order, the first that exist:
//
//     log        the negative logarithm of the sum over all texts that may follow (the log semiring only)
//     least      the least cost of a text that may follow
//     by hubs    the same up to the next hub, for automata with a loop that lowers the cost, such as free text in which
//                some words are rewarded: there no rest of a text costs least. The hub of such a loop is the state that
//                most of its symbols lead to, in free text the state between words. The reward of a word is then paid
//                with its first byte, and taken back with a byte that leaves the word. A loop that passes no hub and
//                lowers the cost gets a hub of its own
//
// Strongly connected components are taken from the last to the first; within one, values are improved until none
// changes.
#pragma once

#include <optional>

#include "automata/weighted/weighted_tables.h"
#include "support/csr.h"

namespace automata {

// Return the states of each component, numbered so that arcs lead to the same component or to a smaller number.
support::Groups components(const WeightedBuilder& automaton, Budget& budget);

// Return the first two kinds of potentials, of an automaton from each of whose states an end can be reached; none if
// there are none.
std::optional<Vector<Cost>> potentials(const WeightedBuilder& automaton, Semiring semiring, Budget& budget);
// Return the potentials by hubs of such an automaton that is minimal.
Vector<Cost> potentials_by_hubs(const WeightedBuilder& automaton, Budget& budget);

}  // namespace automata
