#include "tokenfst/pushdown/pop_distances.h"

#include <algorithm>
#include <utility>

#include "tokenfst/pushdown/saturation.h"

namespace tokenfst {

Kinds PopDistances::found_kinds(const PushdownTables& tables, bool by_node, Budget& budget) {
  Kinds each(tables, budget);
  if (by_node) return each;
  return Kinds(tables, PushSets(tables, Pushes(tables, each, budget), each.nodes(), budget), budget);
}

PopDistances::PopDistances(const PushdownTables& tables, Budget& budget, bool by_node)
    : tables_(tables),
      kinds_(found_kinds(tables, by_node, budget)),
      pushes_(tables, kinds_, budget),
      columns_(kinds_, tables.num_symbols, budget),
      push_set_of_(budget),
      lowest_(0, 0, kFar, budget),
      landing_offsets_(static_cast<size_t>(pushes_.size()) + 1, 0, budget),
      landings_(budget) {
  const PushSets sets(tables, pushes_, kinds_.nodes(), budget);
  for (int32_t kind = 0; kind < kinds_.size(); ++kind) push_set_of_.push_back(sets.of(kind));
  Saturation saturation(kinds_, kinds_.of(tables.end_state()), columns_, pushes_, sets, tables.num_symbols, budget);
  saturation.run();
  lowest_ = std::move(saturation.lowest());
  int64_t size = 0;
  saturation.for_each_landing([&](int32_t push, const Landing&) { ++landing_offsets_[push], ++size; });
  int32_t end = 0;
  for (int32_t& offset : landing_offsets_) end += std::exchange(offset, end);
  landings_.resize(size);
  Vector<int32_t> at(landing_offsets_.begin(), landing_offsets_.end(), budget);
  saturation.for_each_landing([&](int32_t push, const Landing& landing) { landings_[at[push]++] = landing; });
  budget.spend(4 * size + pushes_.size());
}

void PopDistances::onto(std::span<const int32_t> vector, int32_t symbol, std::span<int32_t> by_push_set,
                        std::span<int32_t> found) const {
  std::ranges::fill(by_push_set, kFar);
  for (const PopColumns::Popped& popped : columns_.of(symbol)) {
    const int32_t behind = vector[popped.kind];
    if (behind >= kFar) continue;
    const auto column = lowest_[popped.column];
    for (size_t set = 0; set < by_push_set.size(); ++set)
      by_push_set[set] = std::min(by_push_set[set], column[set] + behind);
  }
  for (int32_t kind = 0; kind < kinds_.size(); ++kind) {
    const int32_t child = kinds_.child(kind, symbol);
    found[kind] = std::min(by_push_set[push_set_of_[kind]], child == kDead ? kFar : vector[child]);
  }
}

}  // namespace tokenfst
