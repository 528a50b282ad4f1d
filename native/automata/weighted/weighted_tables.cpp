#include "automata/weighted/weighted_tables.h"

#include <algorithm>
#include <cmath>

namespace automata {

Cost either(Semiring semiring, Cost left, Cost right) {
  const Cost least = std::min(left, right), other = std::max(left, right);
  if (semiring == Semiring::kTropical || other == kInfinite) return least;
  const double apart = static_cast<double>(other - least) / kUnitsPerOne;
  return least - std::llround(std::log1p(std::exp(-apart)) * kUnitsPerOne);
}

size_t WeightedTables::num_bytes() const {
  return offsets.size() * sizeof(int32_t) + arcs.size() * (sizeof(ByteArc) + sizeof(Cost)) +
         final.size() * sizeof(Cost);
}

int32_t WeightedTables::find(int32_t state, int32_t symbol) const {
  const auto own = arcs_of(state);
  const auto found = std::ranges::lower_bound(own, symbol, {}, &ByteArc::high);
  if (found == own.end() || found->low > symbol) return -1;
  return offsets[state] + static_cast<int32_t>(found - own.begin());
}

Cost WeightedTables::weight(std::span<const uint8_t> text) const {
  if (final.empty()) return kInfinite;
  Cost total = initial;
  int32_t state = 0;
  for (uint8_t byte : text) {
    const int32_t arc = find(state, byte);
    if (arc < 0) return kInfinite;
    total = sum(total, cost[arc]);
    state = arcs[arc].target;
  }
  return final[state] == kInfinite ? kInfinite : sum(total, final[state]);
}

void WeightedBuilder::add(const ByteArc& arc, Cost arc_cost) {
  const bool is_first = arcs.size() == static_cast<size_t>(offsets.back());
  if (!is_first && arc.high < kFirstLabel) {
    ByteArc& before = arcs.back();
    if (before.high + 1 == arc.low && before.target == arc.target && cost.back() == arc_cost) {
      before.high = arc.high;
      return;
    }
  }
  arcs.push_back(arc);
  cost.push_back(arc_cost);
}

}  // namespace automata
