#include "tokenfst/lazy/longest_ways.h"

#include <algorithm>

#include "support/components.h"
#include "tokenfst/distance_vectors.h"

namespace tokenfst {

namespace {

using support::Budget;
using support::Vector;

// A cut doubles the work, since the ways to the head and those to the goals are found apart.
constexpr int kMostCuts = 4;

// Lengthen `own` to a way that continues with one of some length, if there is such a way.
void lengthen(int32_t& own, int32_t distance, int32_t rest) {
  if (rest != kNoWay) own = std::max(own, sum(distance, rest));
}

void find(std::span<const Way> ways, std::span<int32_t> longest, int num_cuts, Budget& budget);

// A component: its nodes, the edges between them by their places among the nodes, and the bounds.
struct Component {
  std::span<const int32_t> nodes;
  Vector<Way> ways;
  Vector<int32_t> longest;
};

// Return a bound for all nodes: the longest edge of every node, and the longest way that leaves.
int32_t sum_of_edges(const Component& component, Budget& budget) {
  const int32_t after = std::ranges::max(component.longest);
  if (after == kNoWay) return kNoWay;
  Vector<int32_t> own(component.nodes.size(), 0, budget);
  for (const Way& way : component.ways) own[way.source] = std::max(own[way.source], way.distance);
  int32_t found = after;
  for (const int32_t distance : own) found = sum(found, distance);
  return found;
}

int32_t head_of(const Component& component, Budget& budget) {
  Vector<int32_t> num_entering(component.nodes.size(), 0, budget);
  for (const Way& way : component.ways) ++num_entering[way.target];
  return static_cast<int32_t>(std::ranges::max_element(num_entering) - num_entering.begin());
}

// Bound the ways from the nodes of a component. Its bounds are those of the ways that leave it at once.
void cut(Component& component, int num_cuts, Budget& budget) {
  Vector<int32_t>& longest = component.longest;
  if (num_cuts == kMostCuts) {
    std::ranges::fill(longest, sum_of_edges(component, budget));
    return;
  }
  const int32_t head = head_of(component, budget);
  Vector<Way> others(budget), from_head(budget);
  Vector<int32_t> without(longest.begin(), longest.end(), budget), to_head(longest.size(), kNoWay, budget);
  without[head] = kNoWay;
  for (const Way& way : component.ways) {
    if (way.target == head) {
      to_head[way.source] = std::max(to_head[way.source], way.distance);
    } else {
      (way.source == head ? from_head : others).push_back(way);
    }
  }
  find(others, without, num_cuts + 1, budget);
  find(others, to_head, num_cuts + 1, budget);
  for (const Way& way : from_head) lengthen(longest[head], way.distance, without[way.target]);
  for (int32_t node = 0; node < static_cast<int32_t>(longest.size()); ++node) {
    if (node == head) continue;
    longest[node] = without[node];
    if (to_head[node] != kNoWay) lengthen(longest[node], to_head[node], longest[head]);
  }
}

// The components of a graph, and the place of each node in its own.
struct Division {
  const support::Groups leaving, components;
  Vector<int32_t> component_of, place;

  Division(std::span<const Way> ways, int32_t num_nodes, Budget& budget)
      : leaving(support::grouped(
            num_nodes, ways.size(), [&](size_t way) { return ways[way].source; }, budget)),
        components(support::components(
            leaving.offsets, [&](int32_t at) { return ways[leaving.order[at]].target; }, budget)),
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

void find(std::span<const Way> ways, std::span<int32_t> longest, int num_cuts, Budget& budget) {
  const Division division(ways, static_cast<int32_t>(longest.size()), budget);
  for (int32_t number = 0; number < division.components.num_keys(); ++number) {
    Component own{division.components[number], Vector<Way>(budget), Vector<int32_t>(budget)};
    for (const int32_t node : own.nodes) {
      own.longest.push_back(longest[node]);
      for (const int32_t at : division.leaving[node]) {
        const auto& [source, target, distance] = ways[at];
        if (division.component_of[target] != number) {
          lengthen(own.longest.back(), distance, longest[target]);
        } else if (target != source) {
          own.ways.push_back({division.place[source], division.place[target], distance});
        }
      }
    }
    if (own.nodes.size() > 1) cut(own, num_cuts, budget);
    for (const int32_t node : own.nodes) longest[node] = own.longest[division.place[node]];
    budget.spend(8 * static_cast<int64_t>(own.nodes.size()));
  }
}

}  // namespace

void find_longest_ways(std::span<const Way> ways, std::span<int32_t> longest, Budget& budget) {
  find(ways, longest, 0, budget);
}

}  // namespace tokenfst
