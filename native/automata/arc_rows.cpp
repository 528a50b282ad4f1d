#include "automata/arc_rows.h"

#include <algorithm>
#include <utility>

#include "support/csr.h"

namespace automata {

namespace {

bool is_before(const Arc& left, const Arc& right) {
  return left.source < right.source || (left.source == right.source && left.symbol < right.symbol);
}

Vector<Arc> sorted(int32_t num_states, const Vector<Arc>& arcs, Budget& budget) {
  int32_t num_symbols = 0;
  for (const Arc& arc : arcs) num_symbols = std::max(num_symbols, arc.symbol + 1);
  const auto by_symbol =
      support::grouped(num_symbols, arcs.size(), [&](size_t a) { return arcs[a].symbol; }, budget).order;
  const auto by_state =
      support::grouped(
          num_states, arcs.size(), [&](size_t place) { return arcs[by_symbol[place]].source; }, budget)
          .order;
  Vector<Arc> found(budget);
  found.reserve(arcs.size());
  for (int32_t place : by_state) found.push_back(arcs[by_symbol[place]]);
  return found;
}

}  // namespace

ArcRows arc_rows(int32_t num_states, Vector<Arc> arcs, Budget& budget) {
  budget.spend(static_cast<int64_t>(arcs.size()) + num_states);
  if (!std::ranges::is_sorted(arcs, is_before)) arcs = sorted(num_states, arcs, budget);
  ArcRows rows{Vector<int32_t>(static_cast<size_t>(num_states) + 1, 0, budget), std::move(arcs)};
  for (const Arc& arc : rows.arcs) ++rows.offsets[arc.source + 1];
  for (int32_t state = 0; state < num_states; ++state) rows.offsets[state + 1] += rows.offsets[state];
  return rows;
}

}  // namespace automata
