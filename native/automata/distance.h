// Breadth-first distances and orders over the edges of a graph.
//
// A graph is any range of records with a source and a target, such as arcs, ranges or edges.
#pragma once

#include <cstdint>
#include <ranges>

#include "automata/arcs.h"
#include "support/csr.h"

namespace automata {

// Group the edges by target.
template <class Edges>
support::Groups entering(int32_t num_states, const Edges& edges, Budget& budget) {
  return support::grouped(num_states, edges.size(), [&](size_t e) { return edges[e].target; }, budget);
}

// The result of a search against the direction of edges.
struct BreadthFirst {
  Vector<int32_t> distance;  // the least number of edges from each state to a goal, kNone where none can be reached
  Vector<int32_t> order;     // the states that lead to a goal, the nearest first
};

template <class Edges, class Goals>
BreadthFirst breadth_first(int32_t num_states, const Edges& edges, Goals goals, Budget& budget) {
  const support::Groups into = entering(num_states, edges, budget);
  BreadthFirst search{Vector<int32_t>(num_states, kNone, budget), Vector<int32_t>(budget)};
  auto& [distance, order] = search;
  order.reserve(num_states);
  for (int32_t state : goals) {
    if (distance[state] != kNone) continue;
    distance[state] = 0;
    order.push_back(state);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    const int32_t state = order[at];
    budget.spend(1 + static_cast<int64_t>(into[state].size()));
    for (int32_t edge : into[state]) {
      const int32_t before = edges[edge].source;
      if (distance[before] != kNone) continue;
      distance[before] = distance[state] + 1;
      order.push_back(before);
    }
  }
  return search;
}

// Return the least number of edges from each state to one of the goals, kNone where none can be reached.
template <class Edges, class Goals>
Vector<int32_t> distances(int32_t num_states, const Edges& edges, Goals goals, Budget& budget) {
  return breadth_first(num_states, edges, goals, budget).distance;
}

// Return the states from which no cycle can be reached, each after all states that it has edges to (Kahn 1962).
template <class Edges>
Vector<int32_t> bottom_up(int32_t num_states, const Edges& edges, Budget& budget) {
  const support::Groups into = entering(num_states, edges, budget);
  Vector<int32_t> left(num_states, 0, budget), order(budget);  // edges to states that are not in the order yet
  for (const auto& edge : edges) ++left[edge.source];
  order.reserve(num_states);
  for (int32_t state = 0; state < num_states; ++state) {
    if (left[state] == 0) order.push_back(state);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    budget.spend(1 + static_cast<int64_t>(into[order[at]].size()));
    for (int32_t edge : into[order[at]]) {
      if (--left[edges[edge].source] == 0) order.push_back(edges[edge].source);
    }
  }
  return order;
}

// Return the states whose flag is set.
inline auto flagged(const Vector<uint8_t>& flags) {
  return std::views::iota(0, static_cast<int32_t>(flags.size())) |
         std::views::filter([&](int32_t state) { return flags[state] != 0; });
}

}  // namespace automata
