#include "tokenfst/counted/counted_classes.h"

#include <limits>

#include "support/csr.h"
#include "tokenfst/counted/register_functions.h"
#include "tokenfst/walk.h"

namespace tokenfst {

namespace {

using automata::GuardedEdge;

// Memory is the limit on pieces and parts; this is the most that can be numbered.
constexpr size_t kNumbered = std::numeric_limits<int32_t>::max();

// Return the edges, with those of the end tokens before all others.
Vector<CountedEdge> with_end(const automata::CountedTables& automaton, std::span<const CountedEdge> edges,
                             Budget& budget) {
  const int32_t end = automaton.num_states(), most = automaton.max_register;
  Vector<CountedEdge> found(budget);
  found.reserve(static_cast<size_t>(end) + 1 + edges.size());
  for (int32_t state = 0; state < end; ++state) {
    const int32_t least = automaton.final_from[state];
    if (0 <= least && least <= most) found.push_back({kEnd, {state, least, most, end, ~most}});
  }
  found.push_back({kEnd, {end, 0, most, end, ~most}});
  found.insert(found.end(), edges.begin(), edges.end());
  budget.spend(static_cast<int64_t>(2 * found.size()) + end);
  return found;
}

// Return the states with the register values from which tokens lead to an end.
Vector<automata::StateValues> live_values(std::span<const CountedEdge> edges, int32_t num_control_states,
                                          int32_t max_register, Budget& budget) {
  Vector<GuardedEdge> inside(budget);
  Vector<automata::StateValues> ends(budget);
  for (const auto& [number, edge] : edges) {
    if (number == kEnd) {
      ends.push_back({edge.source, edge.low, edge.high});
    } else {
      inside.push_back(edge);
    }
  }
  const auto pieces = pieces_by_distance(num_control_states, max_register, inside, ends, kNumbered, budget);
  if (!pieces) throw support::LimitExceeded(support::Limit::kMemory, static_cast<double>(budget.max_bytes()));
  return joined(*pieces, budget);
}

// Return the parts of edges that lead to values from which tokens lead to an end.
Vector<CountedEdge> live_edges(std::span<const CountedEdge> edges, int32_t num_control_states, int32_t max_register,
                               Budget& budget) {
  const auto live = live_values(edges, num_control_states, max_register, budget);
  Vector<GuardedEdge> all(budget);
  all.reserve(edges.size());
  for (const CountedEdge& each : edges) all.push_back(each.edge);
  const auto parts = live_parts(num_control_states, all, live, kNumbered, budget);
  if (!parts) throw support::LimitExceeded(support::Limit::kMemory, static_cast<double>(budget.max_bytes()));
  Vector<CountedEdge> found(budget);
  found.reserve(parts->size());
  for (const auto& [at, low, high] : *parts) {
    const auto& [number, edge] = edges[at];
    found.push_back({number, {edge.source, low, high, edge.target, edge.action}});
  }
  return found;
}

// Return edges by control state, in their given order within each.
GuardedTransitions by_control_state(std::span<const CountedEdge> edges, int32_t num_control_states, int32_t num_classes,
                                    int32_t max_register, Budget& budget) {
  const auto rows =
      support::grouped(num_control_states, edges.size(), [&](size_t e) { return edges[e].edge.source; }, budget);
  // Each edge begins and ends at a cut.
  const size_t num_offsets = static_cast<size_t>(num_control_states) + 1, num_cuts = num_offsets + 2 * edges.size();
  budget.charge(sizeof(GuardedTransitions::Edge) * edges.size() + 2 * sizeof(int64_t) * num_offsets + 4 * num_cuts);
  GuardedTransitions found{
      num_control_states, num_classes, max_register, {rows.offsets.begin(), rows.offsets.end()}, {}, {}, {}};
  found.edges.reserve(edges.size());
  for (int32_t e : rows.order) {
    const auto& [number, edge] = edges[e];
    found.edges.push_back({number, edge.low, edge.high, edge.target, edge.action});
  }
  found.find_cuts();
  return found;
}

}  // namespace

CountedClasses counted_classes(const automata::CountedTables& automaton, const Vocabulary& vocabulary, Budget& budget) {
  RegisterFunctions functions(automaton, budget);
  const Classes classes = walk(vocabulary, automaton.byte_class, functions, budget);
  const auto entries = [&](int32_t effect) { return functions.entries(effect); };
  const auto edge = [](int32_t number, const GuardedEdge& entry) { return CountedEdge{number, entry}; };
  return {
      {classes.runs().begin(), classes.runs().end()}, classes.size(), records_by_class(classes, entries, edge, budget)};
}

GuardedTransitions guarded_transitions(const automata::CountedTables& automaton, const CountedClasses& classes,
                                       bool spells_all, Budget& budget) {
  const int32_t num_control_states = automaton.num_states() + 1, most = automaton.max_register;
  Vector<CountedEdge> edges = with_end(automaton, classes.edges, budget);
  if (!spells_all) edges = live_edges(edges, num_control_states, most, budget);
  return by_control_state(edges, num_control_states, classes.num_classes, most, budget);
}

bool spells_all(const automata::CountedTables& automaton, std::span<const bool> is_token_byte) {
  for (int32_t byte = 0; byte < 256; ++byte) {
    if (is_token_byte[byte]) continue;
    for (int32_t state = 0; state < automaton.num_states(); ++state) {
      if (!automaton.arcs(state, automaton.byte_class[byte]).empty()) return false;
    }
  }
  return true;
}

}  // namespace tokenfst
