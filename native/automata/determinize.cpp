#include "automata/determinize.h"

#include <algorithm>

#include "automata/targets_by_symbol.h"
#include "support/csr.h"
#include "support/interner.h"

namespace automata {

namespace {

using support::Groups;
using support::Interner;

}  // namespace

Transitions determinize(const Nfa& nfa, int64_t max_states, Budget& budget) {
  const Groups arcs =
      support::grouped(nfa.num_states, nfa.arcs.size(), [&](size_t a) { return nfa.arcs[a].source; }, budget);
  const Groups epsilon =
      support::grouped(nfa.num_states, nfa.epsilon.size(), [&](size_t e) { return nfa.epsilon[e].source; }, budget);
  Transitions found(budget);
  Interner<int32_t> sets(budget);
  TargetsBySymbol<int32_t> targets(nfa.num_symbols, budget);
  Vector<int32_t> seen(nfa.num_states, kNone, budget), gathered(nfa.num_states, kNone, budget), closure(budget);
  int32_t stamp = 0;
  sets.push(0);
  sets.close();
  for (int32_t state = 0; state < sets.size(); ++state) {
    if (sets.size() > max_states)
      throw support::LimitExceeded(support::Limit::kStates, static_cast<double>(max_states));
    const auto members = sets[state];
    closure.assign(members.begin(), members.end());
    for (int32_t member : closure) seen[member] = state;
    found.final.push_back(false);
    for (size_t at = 0; at < closure.size(); ++at) {
      const int32_t member = closure[at];
      if (member == nfa.end) found.final[state] = true;
      for (int32_t e : epsilon[member]) {
        const int32_t target = nfa.epsilon[e].target;
        if (seen[target] == state) continue;
        seen[target] = state;
        closure.push_back(target);
      }
      for (int32_t a : arcs[member]) targets.add(nfa.arcs[a].symbol, nfa.arcs[a].target);
      budget.spend(4 + static_cast<int64_t>(epsilon[member].size() + 4 * arcs[member].size()));
    }
    targets.drain([&](int32_t symbol, auto visit_targets) {
      visit_targets([&](int32_t target) {
        if (gathered[target] == stamp) return;
        gathered[target] = stamp;
        sets.push(target);
      });
      ++stamp;
      std::ranges::sort(sets.open());
      found.arcs.push_back({state, symbol, sets.close().number});
    });
  }
  return found;
}

}  // namespace automata
