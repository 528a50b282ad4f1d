#include "tokenfst/lazy/longest_paths.h"

#include <algorithm>

#include "support/components.h"
#include "tokenfst/distance_vectors.h"

namespace tokenfst {

namespace {

using support::Budget;
using support::Vector;

// A cut doubles the work, since the paths to the head and those to the goals are found separately.
constexpr int kMaxCuts = 4;

// Lengthen `own` to a path that continues with one of length `rest`, if there is such a path.
void lengthen(int32_t& own, int32_t distance, int32_t rest) {
  if (rest != kNoPath) own = std::max(own, sum(distance, rest));
}

void find(std::span<const WeightedEdge> edges, std::span<int32_t> longest, int num_cuts, Budget& budget);

// A component: its nodes, the edges between them by their places among the nodes, and the bounds.
struct Component {
  std::span<const int32_t> nodes;
  Vector<WeightedEdge> edges;
  Vector<int32_t> longest;
};

// Return a bound for all nodes: the longest edge of every node, and the longest path that leaves.
int32_t sum_of_edges(const Component& component, Budget& budget) {
  const int32_t after = std::ranges::max(component.longest);
  if (after == kNoPath) return kNoPath;
  Vector<int32_t> own(component.nodes.size(), 0, budget);
  for (const WeightedEdge& edge : component.edges) own[edge.source] = std::max(own[edge.source], edge.distance);
  int32_t found = after;
  for (const int32_t distance : own) found = sum(found, distance);
  return found;
}

int32_t head_of(const Component& component, Budget& budget) {
  Vector<int32_t> num_entering(component.nodes.size(), 0, budget);
  for (const WeightedEdge& edge : component.edges) ++num_entering[edge.target];
  return static_cast<int32_t>(std::ranges::max_element(num_entering) - num_entering.begin());
}

// Bound the paths from the nodes of a component. On entry, its bounds are those of the paths that leave it at once.
void cut(Component& component, int num_cuts, Budget& budget) {
  Vector<int32_t>& longest = component.longest;
  if (num_cuts == kMaxCuts) {
    std::ranges::fill(longest, sum_of_edges(component, budget));
    return;
  }
  const int32_t head = head_of(component, budget);
  Vector<WeightedEdge> others(budget), from_head(budget);
  Vector<int32_t> without(longest.begin(), longest.end(), budget), to_head(longest.size(), kNoPath, budget);
  without[head] = kNoPath;
  for (const WeightedEdge& edge : component.edges) {
    if (edge.target == head) {
      to_head[edge.source] = std::max(to_head[edge.source], edge.distance);
    } else {
      (edge.source == head ? from_head : others).push_back(edge);
    }
  }
  find(others, without, num_cuts + 1, budget);
  find(others, to_head, num_cuts + 1, budget);
  for (const WeightedEdge& edge : from_head) lengthen(longest[head], edge.distance, without[edge.target]);
  for (int32_t node = 0; node < static_cast<int32_t>(longest.size()); ++node) {
    if (node == head) continue;
    longest[node] = without[node];
    if (to_head[node] != kNoPath) lengthen(longest[node], to_head[node], longest[head]);
  }
}

// The components of a graph, and the place of each node in its own.
struct Division {
  const support::Groups leaving, components;
  Vector<int32_t> component_of, place;

  Division(std::span<const WeightedEdge> edges, int32_t num_nodes, Budget& budget)
      : leaving(support::grouped(
            num_nodes, edges.size(), [&](size_t edge) { return edges[edge].source; }, budget)),
        components(support::components(
            leaving.offsets, [&](int32_t at) { return edges[leaving.order[at]].target; }, budget)),
        component_of(num_nodes, 0, budget),
        place(num_nodes, 0, budget) {
    for (int32_t number = 0; number < components.num_keys(); ++number) {
      for (int32_t at = 0; at < static_cast<int32_t>(components[number].size()); ++at) {
        component_of[components[number][at]] = number;
        place[components[number][at]] = at;
      }
    }
  }
};

void find(std::span<const WeightedEdge> edges, std::span<int32_t> longest, int num_cuts, Budget& budget) {
  const Division division(edges, static_cast<int32_t>(longest.size()), budget);
  for (int32_t number = 0; number < division.components.num_keys(); ++number) {
    Component own{division.components[number], Vector<WeightedEdge>(budget), Vector<int32_t>(budget)};
    for (const int32_t node : own.nodes) {
      own.longest.push_back(longest[node]);
      for (const int32_t at : division.leaving[node]) {
        const auto& [source, target, distance] = edges[at];
        if (division.component_of[target] != number) {
          lengthen(own.longest.back(), distance, longest[target]);
        } else if (target != source) {
          own.edges.push_back({division.place[source], division.place[target], distance});
        }
      }
    }
    if (own.nodes.size() > 1) cut(own, num_cuts, budget);
    for (const int32_t node : own.nodes) longest[node] = own.longest[division.place[node]];
    budget.spend(8 * static_cast<int64_t>(own.nodes.size()));
  }
}

}  // namespace

void find_longest_paths(std::span<const WeightedEdge> edges, std::span<int32_t> longest, Budget& budget) {
  find(edges, longest, 0, budget);
}

}  // namespace tokenfst
