// WeightedTables: the tables of a deterministic automaton over bytes and labels in which every text has a cost.
//
//     initial           the cost of every text, before its first byte
//     offsets  [Q + 1]  where the arcs of each state begin
//     arcs     [A]      over a run of bytes, or over one label, in ascending order within a state
//     cost     [A]      of each arc
//     final    [Q]      the cost of ending in a state, kInfinite where no text may end
//
// The cost of a text is `initial`, the cost of each arc on its only path, and the cost of ending. State 0 is the start;
// without states no text is accepted.
//
// Costs are whole numbers of units of 2^-30. So sums are exact in the tropical semiring whatever their order, and equal
// costs are equal numbers, which determinization and minimization need. Costs of the log semiring are rounded to units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/byte_tables.h"

namespace automata {

using Cost = int64_t;
constexpr Cost kInfinite = INT64_MAX;
constexpr double kUnitsPerOne = 1 << 30;
// Sums stop here, far enough from the ends of 64 bits to add two of them.
constexpr Cost kFarCost = (Cost{1} << 62) - 1;

// Return the cost of one path after the other; neither is infinite.
inline Cost sum(Cost left, Cost right) { return std::clamp(left + right, -kFarCost, kFarCost); }

enum class Semiring { kTropical, kLog };

// Return the cost of two alternatives together.
Cost either(Semiring semiring, Cost left, Cost right);

struct WeightedTables {
  Cost initial = 0;
  int32_t num_labels = 0;
  std::vector<int32_t> offsets;
  std::vector<ByteArc> arcs;
  std::vector<Cost> cost;
  std::vector<Cost> final;

  int32_t num_states() const { return static_cast<int32_t>(final.size()); }
  size_t num_bytes() const;
  std::span<const ByteArc> arcs_of(int32_t state) const {
    return {arcs.data() + offsets[state], arcs.data() + offsets[state + 1]};
  }
  // Return the arc of a state over a symbol, -1 if there is none.
  int32_t find(int32_t state, int32_t symbol) const;
  // Return the cost of a whole text, kInfinite if it is not accepted.
  Cost weight(std::span<const uint8_t> text) const;
};

// The same while it is built; `final`, `offsets` and the rest as above.
struct WeightedBuilder {
  explicit WeightedBuilder(Budget& budget) : offsets(1, 0, budget), arcs(budget), cost(budget), final(budget) {}

  // Add an arc to the last state; one that continues the arc before it extends it.
  void add(const ByteArc& arc, Cost arc_cost);
  void close(Cost final_cost) {
    final.push_back(final_cost);
    offsets.push_back(static_cast<int32_t>(arcs.size()));
  }
  int32_t num_states() const { return static_cast<int32_t>(final.size()); }

  Cost initial = 0;
  Vector<int32_t> offsets;
  Vector<ByteArc> arcs;
  Vector<Cost> cost, final;
};

// Return the trim automaton with costs as early as they can be known, minimal and numbered breadth first.
WeightedTables finished_tables(WeightedBuilder&& automaton, int32_t num_labels, Semiring semiring, Budget& budget);

}  // namespace automata
