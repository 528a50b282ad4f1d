#include "automata/visibly_pushdown/fragments.h"

#include <algorithm>

namespace automata {

namespace {

// Call `each(label, target)` for the labels of a state.
template <class Each>
void for_labels(const ByteTables& automaton, int32_t state, Each each) {
  for (int32_t label = 0; label < automaton.num_labels; ++label) {
    const int32_t target = automaton.label_target(state, label);
    if (target != kNone) each(label, target);
  }
}

// Number the states of a fragment, and return whether texts begin in a state other than 0.
bool name_states(const ByteTables& automaton, const ArcsByState& arcs, int32_t start, NfaFragment& fragment) {
  std::vector<uint8_t> is_end = automaton.final;
  bool starts_anew = std::ranges::any_of(arcs.all(), [&](const ByteArc& arc) { return arc.target == start; });
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    if (!arcs[state].empty()) is_end[state] = false;
    for_labels(automaton, state, [&](int32_t, int32_t target) {
      is_end[state] = false;
      starts_anew = starts_anew || target == start;
    });
  }
  starts_anew = starts_anew || is_end[start];
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    const bool is_first = state == start && !starts_anew;
    fragment.state_of.push_back(is_end[state] ? 1 : is_first ? 0 : fragment.num_states++);
  }
  return starts_anew;
}

}  // namespace

NfaFragment nfa_fragment(const ByteTables& automaton, int32_t start, Budget& budget) {
  const ArcsByState arcs(automaton, budget);
  NfaFragment fragment{2, {}, {}, {}};
  budget.charge(sizeof(Range) * (arcs.all().size() + automaton.by_label.size()) +
                (sizeof(Edge) + sizeof(int32_t)) * automaton.num_states());
  if (name_states(automaton, arcs, start, fragment)) fragment.epsilon.push_back({0, fragment.state_of[start]});
  fragment.arcs.reserve(arcs.all().size());
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    const int32_t source = fragment.state_of[state];
    for (const ByteArc& arc : arcs[state]) {
      fragment.arcs.push_back({source, arc.low, arc.high, fragment.state_of[arc.target]});
    }
    for_labels(automaton, state, [&](int32_t label, int32_t target) {
      fragment.arcs.push_back({source, kFirstLabel + label, kFirstLabel + label, fragment.state_of[target]});
    });
    if (automaton.final[state] && source != 1) fragment.epsilon.push_back({source, 1});
    budget.spend(2 + static_cast<int64_t>(arcs[state].size()) + automaton.num_labels);
  }
  return fragment;
}

}  // namespace automata
