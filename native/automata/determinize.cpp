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

class SubsetConstruction {
 public:
  SubsetConstruction(const Nfa& nfa, Budget& budget)
      : nfa_(nfa),
        budget_(budget),
        arcs_(rows_of(
            nfa.num_states, nfa.arcs, [](const Arc& arc) { return OutArc{arc.symbol, arc.target}; }, budget)),
        epsilon_(rows_of(
            nfa.num_states, nfa.epsilon, [](const Edge& edge) { return edge.target; }, budget)),
        stands_for_(representatives(nfa, arcs_, epsilon_, budget)),
        found_(budget),
        sets_(budget),
        targets_(nfa.num_symbols, budget),
        seen_(nfa.num_states, kNone, budget),
        gathered_(nfa.num_states, kNone, budget),
        closure_(budget) {
    sets_.push(0);
    sets_.close();
  }

  Transitions explore(int64_t max_states) {
    for (int32_t state = 0; state < sets_.size(); ++state) {
      support::require_at_most(sets_.size(), max_states);
      found_.final.push_back(gather_targets(state));
      add_arcs(state);
    }
    return std::move(found_);
  }

 private:
  // Gather the targets of the epsilon closure of a set by symbol; return whether the end is in the closure.
  bool gather_targets(int32_t state) {
    const auto members = sets_[state];
    closure_.assign(members.begin(), members.end());
    for (int32_t member : closure_) seen_[member] = state;
    bool is_final = false;
    for (size_t at = 0; at < closure_.size(); ++at) {
      const int32_t member = closure_[at];
      is_final = is_final || member == nfa_.end;
      for (int32_t to : epsilon_[member]) {
        const int32_t target = stands_for_[to];
        if (seen_[target] == state) continue;
        seen_[target] = state;
        closure_.push_back(target);
      }
      for (const auto [symbol, target] : arcs_[member]) targets_.add(symbol, stands_for_[target]);
      budget_.spend(4 + static_cast<int64_t>(epsilon_[member].size() + 4 * arcs_[member].size()));
    }
    return is_final;
  }
  // Add the arcs of a set to the sets of the targets gathered.
  void add_arcs(int32_t state) {
    targets_.drain([&](int32_t symbol, auto visit_targets) {
      visit_targets([&](int32_t target) {
        if (gathered_[target] == stamp_) return;
        gathered_[target] = stamp_;
        sets_.push(target);
      });
      ++stamp_;
      sort(sets_.open());
      found_.arcs.push_back({state, symbol, sets_.close().number});
    });
  }

  const Nfa& nfa_;
  Budget& budget_;
  const Rows<OutArc> arcs_;
  const Rows<int32_t> epsilon_;
  const Vector<int32_t> stands_for_;
  Transitions found_;
  support::Interner<int32_t> sets_;
  TargetsBySymbol<int32_t> targets_;
  Vector<int32_t> seen_, gathered_;  // the last set whose closure has each state, and the last symbol that leads there
  Vector<int32_t> closure_;
  int32_t stamp_ = 0;
};

}  // namespace

Transitions determinize(const Nfa& nfa, int64_t max_states, Budget& budget) {
  return SubsetConstruction(nfa, budget).explore(max_states);
}

}  // namespace automata
