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

// A component and the edges in it, with its nodes numbered from 0.
struct Component {
  std::span<const int32_t> nodes;
  Vector<Way> ways;
};

// Return a bound for all nodes: the longest edge of every node, and the longest way that leaves.
int32_t sum_of_edges(const Component& component, std::span<const int32_t> longest, Budget& budget) {
  const int32_t after = std::ranges::max(longest);
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

// Bound the ways from the nodes of a component; `longest` has those that leave it at once.
void cut(const Component& component, std::span<int32_t> longest, int num_cuts, Budget& budget) {
  if (num_cuts == kMostCuts) {
    std::ranges::fill(longest, sum_of_edges(component, longest, budget));
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
  to_head[head] = kNoWay;
  find(others, without, num_cuts + 1, budget);
  find(others, to_head, num_cuts + 1, budget);
  for (const Way& way : from_head) lengthen(longest[head], way.distance, without[way.target]);
  for (size_t node = 0; node < longest.size(); ++node) {
    if (static_cast<int32_t>(node) == head) continue;
    longest[node] = without[node];
    if (to_head[node] != kNoWay) lengthen(longest[node], to_head[node], longest[head]);
  }
}

void find(std::span<const Way> ways, std::span<int32_t> longest, int num_cuts, Budget& budget) {
  const auto num_nodes = static_cast<int32_t>(longest.size());
  const support::Groups leaving =
      support::grouped(num_nodes, ways.size(), [&](size_t way) { return ways[way].source; }, budget);
  const support::Groups components =
      support::components(leaving.offsets, [&](int32_t at) { return ways[leaving.order[at]].target; }, budget);
  Vector<int32_t> component_of(num_nodes, kNoWay, budget), place(num_nodes, 0, budget), own(budget);
  for (int32_t number = 0; number < components.num_keys(); ++number) {
    Component component{components[number], Vector<Way>(budget)};
    const auto num_own = static_cast<int32_t>(component.nodes.size());
    for (int32_t at = 0; at < num_own; ++at) {
      component_of[component.nodes[at]] = number;
      place[component.nodes[at]] = at;
    }
    own.clear();
    for (int32_t at = 0; at < num_own; ++at) {
      own.push_back(longest[component.nodes[at]]);
      for (const int32_t way : leaving[component.nodes[at]]) {
        const auto& [source, target, distance] = ways[way];
        if (component_of[target] != number) {
          lengthen(own.back(), distance, longest[target]);
        } else if (target != source) {
          component.ways.push_back({at, place[target], distance});
        }
      }
    }
    if (num_own > 1) cut(component, own, num_cuts, budget);
    for (int32_t at = 0; at < num_own; ++at) longest[component.nodes[at]] = own[at];
    budget.spend(8 * num_own);
  }
}

}  // namespace

void find_longest_ways(std::span<const Way> ways, std::span<int32_t> longest, Budget& budget) {
  find(ways, longest, 0, budget);
}

}  // namespace tokenfst
