#include "automata/determinize.h"

#include <algorithm>
#include <utility>

#include "automata/targets_by_symbol.h"
#include "support/csr.h"
#include "support/interner.h"

namespace automata {

namespace {

// The arcs or edges that leave each state, stored contiguously.
template <class Leading>
struct Rows {
  Vector<int32_t> offsets;
  Vector<Leading> leading;

  std::span<const Leading> operator[](int32_t state) const {
    return {leading.data() + offsets[state], leading.data() + offsets[state + 1]};
  }
};

template <class Edges, class Leading>
auto rows_of(int32_t num_states, const Edges& edges, Leading leading, Budget& budget) {
  support::Groups groups =
      support::grouped(num_states, edges.size(), [&](size_t e) { return edges[e].source; }, budget);
  using Record = decltype(leading(edges[0]));
  Rows<Record> rows{std::move(groups.offsets), Vector<Record>(budget)};
  rows.leading.reserve(edges.size());
  for (int32_t edge : groups.order) rows.leading.push_back(leading(edges[edge]));
  return rows;
}

// The targets of one symbol are mostly found in ascending or in descending order.
void sort(std::span<int32_t> members) {
  if (std::ranges::is_sorted(members, std::ranges::greater())) {
    std::ranges::reverse(members);
  } else {
    std::ranges::sort(members);
  }
}

// Return the representative of each state. A state without arcs and with one epsilon arc is represented by its target;
// otherwise each alternative of `(a|b|...)+` would end in a state of its own, and all of them would begin every word.
template <class Arcs, class Edges>
Vector<int32_t> representatives(const Nfa& nfa, const Arcs& arcs, const Edges& epsilon, Budget& budget) {
  Vector<int32_t> found(nfa.num_states, kNone, budget), passed(budget);
  for (int32_t first = 0; first < nfa.num_states; ++first) {
    int32_t state = first;
    for (; found[state] == kNone; state = epsilon[state][0]) {
      found[state] = state;  // where a cycle ends
      if (state == nfa.end || !arcs[state].empty() || epsilon[state].size() != 1) break;
      passed.push_back(state);
    }
    for (const int32_t each : passed) found[each] = found[state];
    budget.spend(1 + static_cast<int64_t>(passed.size()));
    passed.clear();
  }
  return found;
}

}  // namespace

Transitions determinize(const Nfa& nfa, int64_t max_states, Budget& budget) {
  const auto arcs =
      rows_of(nfa.num_states, nfa.arcs, [](const Arc& arc) { return OutArc{arc.symbol, arc.target}; }, budget);
  const auto epsilon = rows_of(nfa.num_states, nfa.epsilon, [](const Edge& edge) { return edge.target; }, budget);
  const Vector<int32_t> stands_for = representatives(nfa, arcs, epsilon, budget);
  Transitions found(budget);
  support::Interner<int32_t> sets(budget);
  TargetsBySymbol<int32_t> targets(nfa.num_symbols, budget);
  Vector<int32_t> seen(nfa.num_states, kNone, budget), gathered(nfa.num_states, kNone, budget), closure(budget);
  int32_t stamp = 0;
  sets.push(0);
  sets.close();
  for (int32_t state = 0; state < sets.size(); ++state) {
    support::require_at_most(sets.size(), max_states);
    const auto members = sets[state];
    closure.assign(members.begin(), members.end());
    for (int32_t member : closure) seen[member] = state;
    found.final.push_back(false);
    for (size_t at = 0; at < closure.size(); ++at) {
      const int32_t member = closure[at];
      if (member == nfa.end) found.final[state] = true;
      for (int32_t to : epsilon[member]) {
        const int32_t target = stands_for[to];
        if (seen[target] == state) continue;
        seen[target] = state;
        closure.push_back(target);
      }
      for (const auto [symbol, target] : arcs[member]) targets.add(symbol, stands_for[target]);
      budget.spend(4 + static_cast<int64_t>(epsilon[member].size() + 4 * arcs[member].size()));
    }
    targets.drain([&](int32_t symbol, auto visit_targets) {
      visit_targets([&](int32_t target) {
        if (gathered[target] == stamp) return;
        gathered[target] = stamp;
        sets.push(target);
      });
      ++stamp;
      sort(sets.open());
      found.arcs.push_back({state, symbol, sets.close().number});
    });
  }
  return found;
}

}  // namespace automata
