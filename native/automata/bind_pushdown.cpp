// Bindings of grammars: productive exits, the automata of rules, and pushdown automata.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "automata/bindings.h"
#include "automata/fixpoint.h"
#include "automata/pushdown/coaccessible.h"
#include "automata/pushdown/pushdown_tables.h"
#include "automata/pushdown/rule_tables.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

void require_state(int32_t state, int32_t num_states) { require_within(state, 0, num_states, "state"); }

// Rules that call each other.

auto productive_exits_of(int32_t num_states, int32_t num_exits, Records<Edge> edges, Records<Return> returns,
                         Values<int32_t> starts, Records<RuleEnd> ends, Budget& budget) {
  require(num_states >= 0 && num_exits >= 0, "there are no negative numbers of states or exits");
  require_countable(static_cast<size_t>(num_states) + static_cast<size_t>(num_exits), "states and exits");
  require_countable(edges.size() + ends.size(), "edges");
  require_countable(returns.size(), "returns");
  require_edges(edges, num_states);
  require_within(starts, 0, num_states, "start");
  for (const Return& call : returns) {
    require_state(call.source, num_states), require_state(call.target, num_states);
    require_within(call.exit, 0, num_exits, "exit");
  }
  for (const RuleEnd& end : ends) {
    require_state(end.state, num_states);
    require_within(end.exit, 0, num_exits, "exit");
  }
  const RuleGraph<std::span<const Edge>> graph{num_states, num_exits, edges, returns, ends};
  const Vector<uint8_t> found = unlocked([&] { return productive_exits(graph, starts, budget); });
  return flags(found);
}

auto rule_tables_of(int32_t num_states, Records<Range> ranges, Records<Edge> epsilon, int32_t num_rules,
                    int32_t num_labels, int64_t max_states, Budget& budget) {
  require(num_states >= 2 && 0 <= num_rules && 2 * int64_t{num_rules} <= num_labels,
          "there are two states at least, and a label for each start and end of a rule");
  require_countable(kFirstLabel + static_cast<size_t>(num_labels), "labels");
  require_ranges(ranges, num_states, num_labels);
  require_edges(epsilon, num_states);
  for (const Range& range : ranges) {
    const int32_t label = range.low - kFirstLabel;
    const bool is_start = 0 <= label && label < num_rules, is_end = num_rules <= label && label < 2 * num_rules;
    require(is_start == (range.source == 0) && range.target != 0 && is_end == (range.target == 1) && range.source != 1,
            "state 0 leads to the starts of rules, and state 1 is reached from their ends");
  }
  for (const Edge& edge : epsilon) {
    require(std::min(edge.source, edge.target) > 1, "an epsilon arc leads from or to one of the first two states");
  }
  const RuleParts parts{num_states, num_rules, num_labels, ranges, epsilon};
  RuleTables found = unlocked([&] { return rule_tables(parts, max_states, budget); });
  const size_t num_found = found.rule_of.size(), num_classes = found.num_classes;
  return std::tuple(array_of(found.byte_class), owned(std::move(found.next), {num_found, num_classes}),
                    array(std::move(found.rule_of)), array(std::move(found.rule_start)), records(found.others));
}

// Pushdown automata.

void require_steps(const PushdownTables& tables) {
  const auto num_cells = static_cast<size_t>(tables.num_states) * tables.num_columns();
  require_offsets(tables.step_offsets, num_cells, tables.steps.size(), "`step_offsets`");
  for (const PushdownStep& step : tables.steps) {
    require_state(step.target, tables.num_states);
    require_within(step.pops, 0, tables.sequences.size(), "sequence");
    require_within(step.pushes, 0, tables.sequences.size(), "sequence");
  }
}

void require_parents(Values<int32_t> parent) {
  require(!parent.empty() && parent[0] == 0, "the empty sequence is its own parent");
  for (size_t sequence = 1; sequence < parent.size(); ++sequence) {
    require_within(parent[sequence], 0, static_cast<int64_t>(sequence), "parent");
  }
}

void require_trie(Values<int32_t> parent, Values<int32_t> symbol, int32_t num_symbols) {
  require(!parent.empty() && parent.size() == symbol.size(), "there is no empty sequence, or not a symbol for each");
  require_parents(parent);
  for (size_t sequence = 1; sequence < parent.size(); ++sequence) {
    require_within(symbol[sequence], 0, num_symbols, "symbol");
  }
}

PushdownTables pushdown_tables(int32_t num_states, int32_t start, Values<uint8_t> byte_class, int32_t num_classes,
                               int32_t num_labels, int32_t num_symbols, Values<int32_t> step_offsets,
                               Values<int32_t> pops, Values<int32_t> pushes, Values<int32_t> targets,
                               Values<int32_t> parent, Values<int32_t> symbol, int32_t max_configurations,
                               Budget& budget) {
  require(num_states > 0 && num_labels >= 0 && num_symbols >= 0 && max_configurations >= 1, "a number is too small");
  require(byte_class.size() == 256, "`byte_class` has a class for each byte");
  require(1 <= num_classes && num_classes <= 256 && num_labels < (1 << 30), "there are too many columns");
  require_within(byte_class, 0, num_classes, "class");
  require_state(start, num_states);
  require(pops.size() == targets.size() && pushes.size() == targets.size(), "a step pops, pushes and leads somewhere");
  require_countable(targets.size(), "steps");
  require_countable(parent.size(), "sequences");
  require_trie(parent, symbol, num_symbols);
  budget.charge(sizeof(PushdownStep) * targets.size() + sizeof(int32_t) * step_offsets.size());
  PushdownTables tables;
  tables.num_states = num_states, tables.start = start, tables.max_configurations = max_configurations;
  tables.num_classes = num_classes, tables.num_labels = num_labels, tables.num_symbols = num_symbols;
  std::ranges::copy(byte_class, tables.byte_class.begin());
  tables.step_offsets.assign(step_offsets.begin(), step_offsets.end());
  tables.steps.reserve(targets.size());
  for (size_t step = 0; step < targets.size(); ++step) {
    tables.steps.push_back({pops[step], pushes[step], targets[step]});
  }
  tables.sequences = sequences_of(parent, symbol, budget);
  require_steps(tables);
  return tables;
}

bool is_deterministic_of(Values<int32_t> step_offsets, Values<int32_t> pops, Values<int32_t> parent, Budget& budget) {
  require(!step_offsets.empty(), "`step_offsets` is empty");
  require_offsets(step_offsets, step_offsets.size() - 1, pops.size(), "`step_offsets`");
  require_parents(parent);
  require_within(pops, 0, static_cast<int64_t>(parent.size()), "sequence");
  return unlocked([&] { return is_deterministic(step_offsets, pops, parent, budget); });
}

auto possibly_dead_states_of(Records<Move> moves, Values<int32_t> parent, Values<int32_t> symbol, int32_t end,
                             Values<int32_t> state_kind, Values<int32_t> symbol_kind, Values<int32_t> below_offsets,
                             Values<int32_t> below, Budget& budget) {
  const auto num_kinds = static_cast<int64_t>(below_offsets.size()) - 1;
  const auto num_symbols = static_cast<int32_t>(symbol_kind.size());
  for (size_t size : {moves.size(), parent.size(), state_kind.size(), symbol_kind.size(), below.size()}) {
    require_countable(size, "an array");
  }
  require(num_kinds >= 0, "`below_offsets` is empty");
  require_offsets(below_offsets, num_kinds, below.size(), "`below_offsets`");
  require_trie(parent, symbol, num_symbols);
  require_within(state_kind, 0, num_kinds, "kind");
  require_within(symbol_kind, 0, num_kinds, "kind");
  require_within(below, 0, num_symbols, "symbol");
  for (int64_t kind = 0; kind < num_kinds; ++kind) {
    for (int32_t at = below_offsets[kind] + 1; at < below_offsets[kind + 1]; ++at) {
      require(below[at - 1] < below[at], "symbols of a kind do not ascend");
    }
  }
  require_state(end, static_cast<int32_t>(state_kind.size()));
  for (const Move& move : moves) {
    require_state(move.state, static_cast<int32_t>(state_kind.size()));
    require_state(move.target, static_cast<int32_t>(state_kind.size()));
    require_within(move.pops, 0, static_cast<int64_t>(parent.size()), "sequence");
    require_within(move.pushes, 0, static_cast<int64_t>(parent.size()), "sequence");
  }
  const Vector<uint8_t> found = unlocked([&] {
    const Sequences sequences = sequences_of(parent, symbol, budget);
    return possibly_dead_states({moves, sequences, end, state_kind, symbol_kind, below_offsets, below}, budget);
  });
  return flags(found);
}

auto read(const PushdownTables& tables, const nb::bytes& text, Budget& budget) {
  const auto answer = unlocked([&] { return tables.read(bytes_of(text), budget); });
  return std::tuple(answer.accepts, answer.too_many_after);
}

}  // namespace

void bind_pushdown(nb::module_& m) {
  nb::class_<PushdownTables>(m, "PushdownTables", "A pushdown automaton over bytes as its table of steps.")
      .def(nb::new_(&pushdown_tables), "num_states"_a, "start"_a, "byte_class"_a, "num_classes"_a, "num_labels"_a,
           "num_symbols"_a, "step_offsets"_a, "pops"_a, "pushes"_a, "targets"_a, "parent"_a, "symbol"_a,
           "max_configurations"_a, "budget"_a)
      .def_ro("num_states", &PushdownTables::num_states)
      .def_ro("start", &PushdownTables::start)
      .def_ro("num_classes", &PushdownTables::num_classes)
      .def_ro("num_labels", &PushdownTables::num_labels)
      .def_ro("num_symbols", &PushdownTables::num_symbols)
      .def_ro("max_configurations", &PushdownTables::max_configurations)
      .def("read", &read, "text"_a, "budget"_a,
           "Return whether a text is accepted, and after how many bytes there are more configurations than may be "
           "carried, or -1.");
  m.def("is_deterministic", &is_deterministic_of, "step_offsets"_a, "pops"_a, "parent"_a, "budget"_a,
        "Return whether, in any configuration, at most one step applies to each column.");
  m.def("productive_exits", &productive_exits_of, "num_states"_a, "num_exits"_a, "edges"_a, "returns"_a, "starts"_a,
        "ends"_a, "budget"_a, "Return whether each exit is productive, `[X]`.");
  m.def("possibly_dead_states", &possibly_dead_states_of, "moves"_a, "parent"_a, "symbol"_a, "end"_a, "state_kind"_a,
        "symbol_kind"_a, "below_offsets"_a, "below"_a, "budget"_a,
        "Return whether each state is possibly dead, `[Q]`: not proved to be coaccessible whatever lies under it.");
  m.def("rule_tables", &rule_tables_of, "num_states"_a, "ranges"_a, "epsilon"_a, "num_rules"_a, "num_labels"_a,
        "max_states"_a, "budget"_a,
        "Return the byte classes, the table, the rule of each state, the start of each rule and the other arcs of the "
        "minimal automata of rules.");
}

}  // namespace automata
