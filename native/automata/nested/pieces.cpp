#include "automata/nested/pieces.h"

#include <algorithm>

namespace automata {

namespace {

// Calls `each(label, target)` for the labels of a state.
template <class Each>
void for_labels(const ByteTables& automaton, int32_t state, Each each) {
  for (int32_t label = 0; label < automaton.num_labels; ++label) {
    const int32_t target = automaton.label_target(state, label);
    if (target != kNone) each(label, target);
  }
}

// Numbers the states of a piece, and returns whether texts begin in a state other than 0.
bool name_states(const ByteTables& automaton, const ArcsByState& arcs, int32_t start, Piece& piece) {
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
    piece.state_of.push_back(is_end[state] ? 1 : is_first ? 0 : piece.num_states++);
  }
  return starts_anew;
}

}  // namespace

Piece piece_of(const ByteTables& automaton, int32_t start, Budget& budget) {
  const ArcsByState arcs(automaton, budget);
  Piece piece{2, {}, {}, {}};
  budget.charge(sizeof(Range) * (arcs.all().size() + automaton.by_label.size()) +
                (sizeof(Edge) + sizeof(int32_t)) * automaton.num_states());
  if (name_states(automaton, arcs, start, piece)) piece.epsilon.push_back({0, piece.state_of[start]});
  piece.arcs.reserve(arcs.all().size());
  for (int32_t state = 0; state < automaton.num_states(); ++state) {
    const int32_t source = piece.state_of[state];
    for (const ByteArc& arc : arcs[state]) {
      piece.arcs.push_back({source, arc.low, arc.high, piece.state_of[arc.target]});
    }
    for_labels(automaton, state, [&](int32_t label, int32_t target) {
      piece.arcs.push_back({source, kFirstLabel + label, kFirstLabel + label, piece.state_of[target]});
    });
    if (automaton.final[state] && source != 1) piece.epsilon.push_back({source, 1});
    budget.spend(2 + static_cast<int64_t>(arcs[state].size()) + automaton.num_labels);
  }
  return piece;
}

}  // namespace automata
