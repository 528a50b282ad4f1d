#include "tokenfst/transitions.h"

#include <algorithm>

#include "support/csr.h"
#include "tokenfst/character_steps.h"

namespace tokenfst {

void DenseTransitions::successors(int64_t state, std::vector<Successor>& found) const {
  const int32_t* row = next.data() + static_cast<size_t>(state) * num_classes;
  for (int32_t number = 0; number < num_classes; ++number) {
    if (row[number] >= 0) found.push_back({number, row[number]});
  }
}

int64_t SparseTransitions::target(int64_t state, int32_t number) const {
  const std::span own(edges.data() + offsets[state], edges.data() + offsets[state + 1]);
  const auto found = std::ranges::lower_bound(own, number, {}, &Edge::number);
  return found != own.end() && found->number == number ? found->target : kDead;
}

void SparseTransitions::successors(int64_t state, std::vector<Successor>& found) const {
  for (int64_t edge = offsets[state]; edge < offsets[state + 1]; ++edge) {
    found.push_back({edges[edge].number, edges[edge].target});
  }
}

void GuardedTransitions::find_cuts() {
  cut_offsets.assign(1, 0);
  cuts.clear();
  std::vector<int32_t> own;
  for (int64_t control_state = 0; control_state < num_control_states; ++control_state) {
    own.assign(1, 0);
    for (const Edge& edge : edges_of(control_state)) {
      own.push_back(edge.low);
      if (edge.high < max_register) own.push_back(edge.high + 1);
    }
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    cuts.insert(cuts.end(), own.begin(), own.end());
    cut_offsets.push_back(static_cast<int64_t>(cuts.size()));
  }
}

int64_t GuardedTransitions::target(int64_t state, int32_t number) const {
  const int64_t value = state / num_control_states;
  const auto own = edges_of(state % num_control_states);
  const auto after_all =
      std::ranges::upper_bound(own, std::pair<int64_t, int64_t>(number, value), {},
                               [](const Edge& edge) { return std::pair<int64_t, int64_t>(edge.number, edge.low); });
  if (after_all == own.begin()) return kDead;
  const Edge& edge = *(after_all - 1);
  return edge.number == number && value <= edge.high ? after(edge, value) : kDead;
}

void GuardedTransitions::successors(int64_t state, std::vector<Successor>& found) const {
  const int64_t value = state / num_control_states;
  for (const Edge& edge : edges_of(state % num_control_states)) {
    if (edge.low <= value && value <= edge.high) found.push_back({edge.number, after(edge, value)});
  }
}

int64_t GuardedTransitions::alike(int64_t state) const {
  const int64_t value = state / num_control_states, control_state = state % num_control_states;
  const std::span own(cuts.data() + cut_offsets[control_state], cuts.data() + cut_offsets[control_state + 1]);
  return *(std::ranges::upper_bound(own, value) - 1) * static_cast<int64_t>(num_control_states) + control_state;
}

Transitions make_transitions(int32_t num_states, int32_t num_classes, std::span<const TokenEdge> edges,
                             int64_t dense_bytes, Budget& budget) {
  const int64_t dense = int64_t{4} * num_states * num_classes;
  const int64_t sparse = 8 * (static_cast<int64_t>(num_states) + 1 + static_cast<int64_t>(edges.size()));
  budget.charge(std::min(dense <= std::max(dense_bytes, sparse) ? dense : sparse, int64_t{1} << 60));
  if (dense <= std::max(dense_bytes, sparse)) {
    DenseTransitions table{num_states, num_classes, std::vector<int32_t>(dense / 4, kDead)};
    for (const TokenEdge& edge : edges) {
      table.next[static_cast<size_t>(edge.source) * num_classes + edge.number] = edge.target;
    }
    return table;
  }
  const auto rows = support::grouped(num_states, edges.size(), [&](size_t e) { return edges[e].source; }, budget);
  SparseTransitions found{num_states, num_classes, {rows.offsets.begin(), rows.offsets.end()}, {}};
  found.edges.reserve(edges.size());
  for (int32_t e : rows.order) found.edges.push_back({edges[e].number, edges[e].target});
  return found;
}

}  // namespace tokenfst
