#include "automata/arc_rows.h"

#include <algorithm>

#include "support/csr.h"

namespace automata {

ArcRows arc_rows(int32_t num_states, std::span<const Arc> arcs, Budget& budget) {
  int32_t num_symbols = 0;
  for (const Arc& arc : arcs) num_symbols = std::max(num_symbols, arc.symbol + 1);
  ArcRows rows{Vector<int32_t>(budget), Vector<Arc>(arcs.size(), budget)};
  {
    const auto by_symbol =
        support::grouped(num_symbols, arcs.size(), [&](size_t a) { return arcs[a].symbol; }, budget).order;
    support::Groups by_state =
        support::grouped(num_states, arcs.size(), [&](size_t place) { return arcs[by_symbol[place]].source; }, budget);
    rows.offsets = std::move(by_state.offsets);
    for (size_t at = 0; at < arcs.size(); ++at) rows.arcs[at] = arcs[by_symbol[by_state.order[at]]];
  }
  return rows;
}

}  // namespace automata
