// Bindings of weighted automata over bytes.
#include <nanobind/stl/pair.h>

#include <cstdlib>

#include "automata/bindings.h"
#include "automata/weighted/weighted_determinize.h"
#include "automata/weighted/weighted_product.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

Semiring semiring_of(bool is_log) { return is_log ? Semiring::kLog : Semiring::kTropical; }

void require_costs(std::span<const int64_t> costs) { require_within(costs, -kFarCost, kFarCost + 1, "cost"); }

WeightedTables weighted_of(int32_t num_states, Records<Range> arcs, Values<int64_t> arc_cost, Records<Edge> epsilon,
                           Values<int64_t> epsilon_cost, int32_t num_labels, bool is_log, int64_t max_states,
                           Budget& budget) {
  require(num_states >= 2, "an NFA has a start and an end");
  require_num_labels(num_labels);
  require_ranges(arcs, num_states, num_labels);
  require_edges(epsilon, num_states);
  require(arcs.size() == arc_cost.size() && epsilon.size() == epsilon_cost.size(), "every arc has a cost");
  require_costs(arc_cost);
  require_costs(epsilon_cost);
  return unlocked([&] {
    const WeightedNfa nfa{num_states, arcs, arc_cost, epsilon, epsilon_cost};
    const Semiring semiring = semiring_of(is_log);
    return finished_tables(determinized(nfa, semiring, max_states, budget), num_labels, semiring, budget);
  });
}

WeightedTables product_of(const WeightedTables& left, Values<int32_t> left_labels, const WeightedTables& right,
                          Values<int32_t> right_labels, bool difference, bool is_log, int64_t max_states,
                          Budget& budget) {
  require(left.num_states() && right.num_states(), "a side of a product has no state");
  require(left_labels.size() == right_labels.size(), "both sides have the labels of the product");
  require_within(left_labels, kNone, left.num_labels, "label");
  require_within(right_labels, kNone, right.num_labels, "label");
  return unlocked([&] {
    WeightedBuilder pairs =
        weighted_product({left, left_labels}, {right, right_labels}, difference, max_states, budget);
    const auto num_labels = static_cast<int32_t>(left_labels.size());
    return finished_tables(std::move(pairs), num_labels, semiring_of(is_log), budget);
  });
}

WeightedTables of_arrays(int64_t initial, Values<int32_t> offsets, Records<ByteArc> arcs, Values<int64_t> cost,
                         Values<int64_t> final, int32_t num_labels) {
  require_countable(final.size(), "final");
  require_offsets(offsets, final.size(), arcs.size(), "`offsets`");
  require(arcs.size() == cost.size(), "every arc has a cost");
  const auto num_states = static_cast<int32_t>(final.size());
  require_num_labels(num_labels);
  require_costs({&initial, 1});
  require_costs(cost);
  for (int64_t end : final) {
    if (end != kInfinite) require_costs({&end, 1});
  }
  for (const ByteArc& arc : arcs) {
    const Range range{0, arc.low, arc.high, 0};
    require_ranges({&range, 1}, 1, num_labels);
    require_within(arc.target, 0, num_states, "state");
  }
  WeightedTables tables;
  tables.initial = initial, tables.num_labels = num_labels;
  tables.offsets.assign(offsets.begin(), offsets.end());
  tables.arcs.assign(arcs.begin(), arcs.end());
  tables.cost.assign(cost.begin(), cost.end());
  tables.final.assign(final.begin(), final.end());
  require_ascending(tables);
  return tables;
}

auto walk(const WeightedTables& tables, int32_t state, const nb::bytes& text) {
  require_within(state, 0, tables.num_states(), "state");
  Cost total = 0;
  for (uint8_t byte : bytes_of(text)) {
    const int32_t arc = tables.find(state, byte);
    if (arc < 0) return std::pair(kNone, Cost{0});
    total = sum(total, tables.cost[arc]);
    state = tables.arcs[arc].target;
  }
  return std::pair(state, total);
}

}  // namespace

void bind_weighted(nb::module_& m) {
  nb::class_<WeightedTables>(m, "WeightedTables", "A deterministic automaton over bytes and labels with costs.")
      .def_static("of", &of_arrays, "initial"_a, "offsets"_a, "arcs"_a, "cost"_a, "final"_a, "num_labels"_a)
      .def_ro("initial", &WeightedTables::initial)
      .def_ro("num_labels", &WeightedTables::num_labels)
      .def_prop_ro("num_states", &WeightedTables::num_states)
      .def_prop_ro("num_bytes", &WeightedTables::num_bytes)
      .def_prop_ro("offsets", &shown<&WeightedTables::offsets>)
      .def_prop_ro("arcs", &shown<&WeightedTables::arcs>)
      .def_prop_ro("cost", &shown<&WeightedTables::cost>)
      .def_prop_ro("final", &shown<&WeightedTables::final>)
      .def(
          "weight", [](const WeightedTables& tables, const nb::bytes& text) { return tables.weight(bytes_of(text)); },
          "text"_a, "Return the cost of a whole text in units, or the greatest int64 if it is not accepted.")
      .def("walk", &walk, "state"_a, "text"_a,
           "Return the state after a text, or -1, and the cost of the arcs that lead to it.")
      .def(
          "find",
          [](const WeightedTables& tables, int32_t state, int32_t symbol) {
            require_within(state, 0, tables.num_states(), "state");
            return tables.find(state, symbol);
          },
          "state"_a, "symbol"_a, "Return the index of the arc of a state over a symbol, or -1.");
  m.def("weighted", &weighted_of, "num_states"_a, "arcs"_a, "arc_cost"_a, "epsilon"_a, "epsilon_cost"_a, "num_labels"_a,
        "is_log"_a, "max_states"_a, "budget"_a,
        "Return the minimal weighted automaton of an NFA from state 0 to state 1.");
  m.def("weighted_product", &product_of, "left"_a, "left_labels"_a, "right"_a, "right_labels"_a, "difference"_a,
        "is_log"_a, "max_states"_a, "budget"_a,
        "Return the minimal intersection or difference of two weighted automata.");
}

}  // namespace automata
