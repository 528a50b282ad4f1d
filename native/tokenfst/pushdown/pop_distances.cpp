#include "tokenfst/pushdown/pop_distances.h"

#include <algorithm>
#include <utility>

#include "support/count.h"
#include "tokenfst/pushdown/saturation.h"

namespace tokenfst {

Kinds PopDistances::found_kinds(const PushdownTables& tables, bool by_node, Budget& budget) {
  Kinds each(tables, budget);
  if (by_node) return each;
  return Kinds(tables, PushSets(tables, Pushes(tables, each, budget), each.nodes(), budget), budget);
}

namespace {

// Sort what `for_each(take)` gives into rows, in its order within a row. Each row begins at its offset.
template <class T, class ForEach>
void sort_into_rows(size_t num_rows, Vector<int32_t>& offsets, Vector<T>& values, ForEach for_each, Budget& budget) {
  offsets.assign(num_rows + 1, 0);
  int64_t size = 0;
  for_each([&](int32_t row, const T&) { ++offsets[row], ++size; });
  support::as_count(static_cast<size_t>(size));
  int32_t end = 0;
  for (int32_t& offset : offsets) end += std::exchange(offset, end);
  values.resize(static_cast<size_t>(size));
  Vector<int32_t> at(offsets.begin(), offsets.end(), budget);
  for_each([&](int32_t row, const T& value) { values[at[row]++] = value; });
  budget.spend(4 * size + static_cast<int64_t>(num_rows));
}

}  // namespace

PopDistances::PopDistances(const PushdownTables& tables, Budget& budget, bool by_node)
    : tables_(tables),
      kinds_(found_kinds(tables, by_node, budget)),
      pushes_(tables, kinds_, budget),
      columns_(kinds_, tables.num_symbols, budget),
      push_set_of_(budget),
      crossing_offsets_(budget),
      crossings_(budget) {
  const PushSets sets(tables, pushes_, kinds_.nodes(), budget);
  num_push_sets_ = sets.size();
  for (int32_t kind = 0; kind < kinds_.size(); ++kind) push_set_of_.push_back(sets.of(kind));
  Saturation saturation(kinds_, kinds_.of(tables.end_state()), columns_, pushes_, sets, tables.num_symbols, budget);
  saturation.run();
  sort_into_rows(
      columns_.size(), crossing_offsets_, crossings_, [&](auto take) { saturation.for_each_crossing(take); }, budget);
}

int32_t PopDistances::lowest(int32_t column, int32_t push_set) const {
  const auto own = crossings(column);
  const auto found = std::ranges::lower_bound(own, push_set, {}, &Crossing::push_set);
  return found != own.end() && found->push_set == push_set ? found->cost : kFar;
}

void PopDistances::onto(std::span<const int32_t> vector, int32_t symbol, std::span<int32_t> by_push_set,
                        std::span<int32_t> found) const {
  std::ranges::fill(by_push_set, kFar);
  for (const PopColumns::Popped& popped : columns_.of(symbol)) {
    const int32_t behind = vector[popped.kind];
    if (behind >= kFar) continue;
    for (const Crossing& crossing : crossings(popped.column))
      by_push_set[crossing.push_set] = std::min(by_push_set[crossing.push_set], crossing.cost + behind);
  }
  for (int32_t kind = 0; kind < kinds_.size(); ++kind) found[kind] = by_push_set[push_set_of_[kind]];
  for (const auto& [kind, child] : kinds_.children(symbol)) found[kind] = std::min(found[kind], vector[child]);
}

}  // namespace tokenfst
