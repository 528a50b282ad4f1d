// The subset construction with costs: a state of the result is a set of states, each with the cost that its paths have
// beyond what has been paid (its residual).
//
//     pay early       of all paths to a set the common part is the cost of the arc: the least cost in the tropical
//                     semiring, the sum in the log semiring; what is left are the residuals
//     epsilon arcs    are followed when a set is expanded, with their costs, by a queue of states whose
//                     cost has changed
//
// (Mohri, "Finite-state transducers in language and speech processing", Computational Linguistics 23, 1997.) In the
// tropical semiring it ends if any two states that one text leads to, and that loop over the same text, have the same
// cost for this loop (the twins property). Otherwise residuals may grow without end, and the limit of states is what
// stops it. For an unambiguous trim automaton without the property it never ends.
#pragma once

#include <span>

#include "automata/weighted/weighted_tables.h"

namespace automata {

struct WeightedNfa {
  int32_t num_states;  // 0 is the start, 1 the end
  std::span<const Range> arcs;
  std::span<const Cost> arc_cost;
  std::span<const Edge> epsilon;
  std::span<const Cost> epsilon_cost;
};

// Throw LimitExceeded past `max_states`, and std::domain_error if a cycle of epsilon arcs lowers costs without bound.
WeightedBuilder determinized(const WeightedNfa& nfa, Semiring semiring, int64_t max_states, Budget& budget);

}  // namespace automata
