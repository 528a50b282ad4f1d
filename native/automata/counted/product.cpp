#include "automata/counted/product.h"

#include <algorithm>

namespace automata {

PairedArcs paired(std::span<const Range> ranges, std::span<const MarkedEdge> epsilon, const ByteTables& automaton,
                  Budget& budget) {
  const int32_t size = automaton.num_states();
  const ArcsByState arcs(automaton, budget);
  PairedArcs found;
  for (const Range& range : ranges) {
    const size_t before = found.ranges.size();
    for (int32_t state = 0; state < size; ++state) {
      for (const ByteArc& arc : arcs[state]) {
        const int32_t low = std::max(range.low, arc.low), high = std::min(range.high, arc.high);
        if (low <= high) {
          found.ranges.push_back({range.source * size + state, low, high, range.target * size + arc.target});
        }
      }
    }
    budget.spend(size + static_cast<int64_t>(arcs.all().size()));
    // Twice, because the vector grows by doubling.
    budget.charge(2 * sizeof(Range) * (found.ranges.size() - before));
  }
  budget.charge(sizeof(MarkedEdge) * epsilon.size() * size);
  found.epsilon.reserve(epsilon.size() * size);
  for (const MarkedEdge& edge : epsilon) {
    for (int32_t state = 0; state < size; ++state) {
      found.epsilon.push_back({edge.source * size + state, edge.target * size + state, edge.mark});
    }
    budget.spend(size);
  }
  return found;
}

}  // namespace automata
