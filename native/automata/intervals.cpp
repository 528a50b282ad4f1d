#include "automata/intervals.h"

namespace automata {

Intervals over_intervals(std::span<const Range> ranges, int32_t num_labels, Budget& budget) {
  Intervals found{Vector<int32_t>(256 + num_labels, budget), Vector<Arc>(budget)};
  cut_bytes(ranges, found.of);
  for (int32_t label = kFirstLabel; label < kFirstLabel + num_labels; ++label)
    found.of[label] = found.of[label - 1] + 1;
  size_t num_arcs = 0;
  for (const Range& range : ranges) num_arcs += found.of[range.high] - found.of[range.low] + 1;
  budget.spend(static_cast<int64_t>(ranges.size() + num_arcs));
  found.arcs.reserve(num_arcs);
  for (const Range& range : ranges) {
    for (int32_t symbol = found.of[range.low]; symbol <= found.of[range.high]; ++symbol) {
      found.arcs.push_back({range.source, symbol, range.target});
    }
  }
  return found;
}

}  // namespace automata
