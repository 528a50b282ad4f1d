// Strongly connected components.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "support/csr.h"

namespace support {

// Move the nodes of a component, down to its first one, from those that are open.
inline void close_component(int32_t first, int32_t number, Vector<int32_t>& open, Vector<int32_t>& component) {
  for (int32_t member = -1; member != first;) {
    member = open.back();
    open.pop_back();
    component[member] = number;
  }
}

// Return the nodes of each component, numbered so that edges lead to the same component or to a smaller number.
// `offsets` says where the edges of each node begin, [N + 1]; `target_of(e)` is the target of an edge.
template <class TargetOf>
Groups components(std::span<const int32_t> offsets, TargetOf target_of, Budget& budget) {
  // Tarjan 1972, without recursion: `low` is the earliest node on the path that a node leads back to.
  constexpr int32_t kUnseen = -1;
  const auto num_nodes = static_cast<int32_t>(offsets.size()) - 1;
  Vector<int32_t> component(num_nodes, kUnseen, budget), order(num_nodes, kUnseen, budget), low(num_nodes, 0, budget),
      next(num_nodes, 0, budget), path(budget), open(budget);
  int32_t visited = 0, count = 0;
  for (int32_t root = 0; root < num_nodes; ++root) {
    if (order[root] != kUnseen) continue;
    path.push_back(root);
    while (!path.empty()) {
      const int32_t node = path.back();
      if (order[node] == kUnseen) {
        order[node] = low[node] = visited++;
        next[node] = offsets[node];
        open.push_back(node);
      }
      budget.spend(4);
      bool descends = false;
      for (; next[node] < offsets[node + 1]; ++next[node]) {
        const int32_t target = target_of(next[node]);
        if (order[target] == kUnseen) {
          path.push_back(target);
          descends = true;
          break;
        }
        if (component[target] == kUnseen) low[node] = std::min(low[node], low[target]);
      }
      if (descends) continue;
      path.pop_back();
      if (low[node] < order[node]) continue;
      close_component(node, count++, open, component);
    }
  }
  return grouped(count, component.size(), [&](size_t node) { return component[node]; }, budget);
}

}  // namespace support
