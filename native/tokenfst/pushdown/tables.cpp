#include "tokenfst/pushdown/tables.h"

#include <algorithm>

namespace tokenfst {

int32_t PushdownTables::child_of(int32_t node, int32_t symbol) const {
  const auto own = children_of(node);
  const auto found = std::ranges::lower_bound(own, symbol, {}, &Child::symbol);
  return found != own.end() && found->symbol == symbol ? found->node : kDead;
}

int32_t PushdownTables::outcome_of(int32_t node, int32_t number) const {
  const auto own = edges_of(node);
  const auto found = std::ranges::lower_bound(own, number, {}, &Edge::number);
  return found != own.end() && found->number == number ? found->outcome : kDead;
}

size_t PushdownTables::num_bytes() const {
  return 4 * (child_offsets.size() + row_offsets.size() + outcome_offsets.size() + push_offsets.size() +
              push_symbols.size()) +
         sizeof(Child) * children.size() + sizeof(Edge) * edges.size() + sizeof(Move) * moves.size();
}

namespace {

// Return the number of edges into each node from its parents, for all nodes that can be reached from a root.
std::vector<int32_t> num_edges_into(const PushdownTables& tables) {
  std::vector<int32_t> found(tables.num_nodes(), 0), reached;
  std::vector<uint8_t> is_reached(tables.num_nodes(), false);
  for (int32_t state = 0; state < tables.num_states; ++state) reached.push_back(state), is_reached[state] = true;
  for (size_t at = 0; at < reached.size(); ++at) {
    for (const auto& [symbol, child] : tables.children_of(reached[at])) {
      ++found[child];
      if (!is_reached[child]) reached.push_back(child), is_reached[child] = true;
    }
  }
  return found;
}

}  // namespace

Depths depths_of(const PushdownTables& tables) {
  std::vector<int32_t> edges_left = num_edges_into(tables);
  Depths found{{}, std::vector<int32_t>(tables.num_nodes(), kDead), std::vector<int32_t>(tables.num_nodes(), kDead)};
  int64_t left = 0;
  for (int32_t node = 0; node < tables.num_nodes(); ++node) left += edges_left[node];
  for (int32_t state = 0; state < tables.num_states; ++state) {
    found.least[state] = found.most[state] = 0;
    if (edges_left[state] == 0) found.order.push_back(state);
  }
  for (size_t at = 0; at < found.order.size(); ++at) {
    const int32_t node = found.order[at];
    for (const auto& [symbol, child] : tables.children_of(node)) {
      int32_t &least = found.least[child], &most = found.most[child];
      least = least == kDead ? found.least[node] + 1 : std::min(least, found.least[node] + 1);
      most = std::max(most, found.most[node] + 1);
      --left;
      if (--edges_left[child] == 0) found.order.push_back(child);
    }
  }
  if (left) found.order.clear();
  return found;
}

}  // namespace tokenfst
