#include "tokenfst/pushdown/kinds.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "support/csr.h"
#include "support/interner.h"

namespace tokenfst {

using support::Interner;

Kinds::Kinds(const PushdownTables& tables, Budget& budget)
    : kind_of_(budget),
      nodes_(budget),
      offsets_(budget),
      children_(budget) {
  for (int32_t node = 0; node < tables.num_nodes(); ++node) kind_of_.push_back(node), nodes_.push_back(node);
  find_children(tables, budget);
}

Kinds::Kinds(const PushdownTables& tables, const PushSets& sets, Budget& budget)
    : kind_of_(tables.num_nodes(), kUnknown, budget),
      nodes_(budget),
      offsets_(budget),
      children_(budget) {
  Interner<int32_t> known(budget);
  const auto close = [&](int32_t node) {
    const auto [number, is_new] = known.close();
    kind_of_[node] = number;
    if (is_new) nodes_.push_back(node);
  };
  const Depths depths = depths_of(tables);
  budget.spend(8 * static_cast<int64_t>(tables.children.size()) + 8 * int64_t{tables.num_nodes()});
  // Nodes that no stack selects, and the end, differ from all others.
  for (int32_t node = 0; node < tables.num_nodes(); ++node) {
    if (depths.least[node] != kDead && node != tables.end_state()) continue;
    known.push(~node);
    close(node);
  }
  for (int32_t node : std::views::reverse(depths.order)) {
    if (kind_of_[node] != kUnknown) continue;
    known.push(sets.of(node));
    const auto own = tables.children_of(node);
    for (const auto& [symbol, child] : own) known.push(symbol), known.push(kind_of_[child]);
    close(node);
    budget.spend(4 * static_cast<int64_t>(own.size()) + 16);
  }
  find_children(tables, budget);
}

void Kinds::find_children(const PushdownTables& tables, Budget& budget) {
  struct Popped {
    int32_t symbol;
    Child child;
  };
  Vector<Popped> all(budget);
  for (int32_t kind = 0; kind < size(); ++kind) {
    const auto own = tables.children_of(nodes_[kind]);
    for (const auto& [symbol, child] : own) all.push_back({symbol, {kind, kind_of_[child]}});
    budget.spend(static_cast<int64_t>(own.size()) + 1);
  }
  auto groups = support::grouped(tables.num_symbols, all.size(), [&](size_t at) { return all[at].symbol; }, budget);
  offsets_ = std::move(groups.offsets);
  children_.reserve(all.size());
  for (int32_t at : groups.order) children_.push_back(all[at].child);
}

int32_t Kinds::child(int32_t kind, int32_t symbol) const {
  const auto own = children(symbol);
  const auto found = std::ranges::lower_bound(own, kind, {}, &Child::kind);
  return found != own.end() && found->kind == kind ? found->child : kDead;
}

Pushes::Pushes(const PushdownTables& tables, const Kinds& kinds, Budget& budget) : longer_(budget), of_move_(budget) {
  for (const PushdownTables::Move& move : tables.moves) {
    int32_t push = longer_.intern({~kinds.of(move.target), kNoSymbol}).number;
    for (int32_t symbol : std::views::reverse(tables.pushed(move.push))) {
      push = longer_.intern({push, symbol}).number;
    }
    of_move_.push_back(push);
    budget.spend(8 * static_cast<int64_t>(tables.pushed(move.push).size()) + 8);
  }
}

PushSets::PushSets(const PushdownTables& tables, const Pushes& pushes, std::span<const int32_t> nodes, Budget& budget)
    : push_set_of_(budget),
      offsets_(budget),
      with_push_(budget) {
  Interner<int32_t> sets(budget);  // of pushes
  Vector<int32_t> seen_outcome(tables.num_outcomes(), kDead, budget), seen_push(pushes.size(), kDead, budget);
  Vector<int32_t> own(budget);
  const auto add = [&](int32_t node, int32_t outcome) {
    if (std::exchange(seen_outcome[outcome], node) == node) return;
    for (int32_t move = tables.outcome_offsets[outcome]; move < tables.outcome_offsets[outcome + 1]; ++move) {
      const int32_t push = pushes.of_move(move);
      if (std::exchange(seen_push[push], node) != node) own.push_back(push);
    }
  };
  for (int32_t node : nodes) {
    own.clear();
    for (const PushdownTables::Edge& edge : tables.edges_of(node)) add(node, edge.outcome);
    std::ranges::sort(own);
    push_set_of_.push_back(sets.intern(own).number);
    budget.spend(static_cast<int64_t>(tables.edges_of(node).size()) + 16 * static_cast<int64_t>(own.size()) + 8);
  }
  struct PushAndSet {
    int32_t push, set;
  };
  Vector<PushAndSet> pairs(budget);
  for (int32_t set = 0; set < sets.size(); ++set) {
    for (int32_t push : sets[set]) pairs.push_back({push, set});
  }
  auto groups = support::grouped(pushes.size(), pairs.size(), [&](size_t pair) { return pairs[pair].push; }, budget);
  num_push_sets_ = sets.size();
  offsets_ = std::move(groups.offsets);
  for (int32_t pair : groups.order) with_push_.push_back(pairs[pair].set);
}

PopColumns::PopColumns(const Kinds& kinds, int32_t num_symbols, Budget& budget)
    : offsets_(1, 0, budget),
      popped_(budget) {
  Interner<int32_t> above(budget);  // the kinds above a column
  above.intern({});                 // for the end, which no symbol leads to
  Vector<Kinds::Child> own(budget);
  for (int32_t symbol = 0; symbol < num_symbols; ++symbol) {
    own.assign(kinds.children(symbol).begin(), kinds.children(symbol).end());
    std::ranges::stable_sort(own, {}, &Kinds::Child::child);
    for (size_t begin = 0, end = 0; begin < own.size(); begin = end) {
      for (; end < own.size() && own[end].child == own[begin].child; ++end) above.push(own[end].kind);
      popped_.push_back({above.close().number, own[begin].child});
    }
    std::ranges::sort(popped_.begin() + offsets_.back(), popped_.end(), {}, &Popped::column);
    offsets_.push_back(static_cast<int32_t>(popped_.size()));
    budget.spend(1 + 16 * static_cast<int64_t>(own.size()));
  }
  size_ = above.size();
}

}  // namespace tokenfst
