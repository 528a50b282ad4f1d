// Bindings of the construction of pushdown automata from networks of rules.
#include "automata/bindings.h"
#include "automata/pushdown/construction.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

void require_network(const RuleNetwork& network) {
  require_countable(network.final.size() + 4, "states");
  const auto num_states = static_cast<size_t>(network.num_states);
  require(network.rule_of.size() == num_states && network.next.size() == num_states * network.num_classes &&
              network.by_label.size() == num_states * network.num_labels,
          "all tables have a row for each state");
  require(network.num_classes <= 256, "there are at most 256 classes");
  require_within(network.next, kNone, network.num_states, "state");
  require_within(network.by_label, kNone, network.num_states, "state");
  require_within(network.rule_of, 0, network.num_rules, "rule");
  require_within(network.rule_start, 0, network.num_states, "state");
  require_within(network.start_rule, 0, network.num_rules, "rule");
  require(network.num_lazy >= 0, "there are no negative numbers of words");
  require_offsets(network.call_offsets, num_states, network.calls.size(), "`call_offsets`");
  require_offsets(network.word_offsets, num_states, network.words.size(), "`word_offsets`");
  for (const auto& [rule, back] : network.calls) {
    require_within(rule, 0, network.num_rules, "rule");
    require_within(back, 0, network.num_states, "state");
  }
  for (const auto& [word, target] : network.words) {
    require(word >= 0, "there are no negative words");
    require_within(target, 0, network.num_states, "state");
  }
}

Construction construct_of(Grid<int32_t> next, Grid<int32_t> by_label, Values<bool> final, Values<int32_t> rule_of,
                          Values<int32_t> rule_start, int32_t start_rule, Values<int32_t> call_offsets,
                          Rows<RuleCall> calls, Values<int32_t> word_offsets, Rows<WordEnd> words, int32_t num_lazy,
                          bool side_by_side, int32_t max_configurations, int64_t max_states, int64_t max_ways,
                          Budget& budget) {
  require_countable(final.size(), "states");
  require_countable(rule_start.size(), "rules");
  require_countable(next.columns + by_label.columns + 1, "columns");
  require(max_configurations >= 1, "one configuration is carried at least");
  const RuleNetwork network{static_cast<int32_t>(final.size()),
                            static_cast<int32_t>(rule_start.size()),
                            static_cast<int32_t>(next.columns),
                            static_cast<int32_t>(by_label.columns),
                            start_rule,
                            num_lazy,
                            next.values,
                            by_label.values,
                            {reinterpret_cast<const uint8_t*>(final.data()), final.size()},
                            rule_of,
                            rule_start,
                            call_offsets,
                            calls,
                            word_offsets,
                            words};
  require_network(network);
  const ConstructionOptions options{side_by_side, max_configurations, max_states, max_ways};
  return unlocked([&] { return construct(network, options, budget); });
}

auto with_shared_of(Rows<ColumnStep> steps, Rows<SharedSteps> shared, int32_t num_states, Budget& budget) {
  require(num_states >= 0, "there are no negative numbers of states");
  require_countable(steps.size(), "steps");
  require_countable(shared.size(), "pairs of states");
  for (const ColumnStep& step : steps) require_within(step.state, 0, num_states, "state");
  for (const auto& [state, other] : shared) {
    require_within(state, 0, num_states, "state");
    require_within(other, 0, num_states, "state");
  }
  return rows(unlocked([&] { return with_shared(steps, shared, num_states, budget); }));
}

auto moves_of_steps(Rows<ColumnStep> steps, Budget& budget) {
  return rows(unlocked([&] { return moves_of(steps, budget); }));
}

const Construction& self_of(nb::handle_t<Construction> self) { return nb::cast<const Construction&>(self); }

template <auto Member>
auto values_of(nb::handle_t<Construction> self) {
  const auto& values = self_of(self).*Member;
  return view(values.data(), {values.size()}, self);
}
template <auto Member>
auto records_of(nb::handle_t<Construction> self) {
  const auto& records = self_of(self).*Member;
  constexpr size_t kWidth = sizeof(records[0]) / sizeof(int32_t);
  return view(reinterpret_cast<const int32_t*>(records.data()), {records.size(), kWidth}, self);
}
template <auto Member>
auto offsets_of(nb::handle_t<Construction> self) {
  const auto& rows = self_of(self).*Member;
  return view(rows.offsets.data(), {rows.offsets.size()}, self);
}
template <auto Member>
auto numbers_of(nb::handle_t<Construction> self) {
  const auto& rows = self_of(self).*Member;
  return view(rows.numbers.data(), {rows.numbers.size()}, self);
}

}  // namespace

void bind_construction(nb::module_& m) {
  nb::class_<Construction>(m, "Construction",
                           "The states of a pushdown automaton as sets of elements, and their steps.")
      .def_prop_ro("unbounded", [](const Construction& found) { return static_cast<int32_t>(found.unbounded); })
      .def_ro("unbounded_state", &Construction::unbounded_state)
      .def_prop_ro("unbounded_elements", &numbers_of<&Construction::unbounded_elements>)
      .def_ro("start", &Construction::start)
      .def_ro("end", &Construction::end)
      .def_prop_ro("rule_of", &values_of<&Construction::rule_of>)
      .def_prop_ro("element_offsets", &offsets_of<&Construction::elements>)
      .def_prop_ro("elements", &numbers_of<&Construction::elements>)
      .def_prop_ro("came_from", &values_of<&Construction::came_from>)
      .def_prop_ro("too_many", &values_of<&Construction::too_many>)
      .def_prop_ro("steps", &records_of<&Construction::steps>)
      .def_prop_ro("shared", &records_of<&Construction::shared>)
      .def_prop_ro("parent", &values_of<&Construction::parent>)
      .def_prop_ro("last", &values_of<&Construction::last>)
      .def_prop_ro("state_kind", &values_of<&Construction::state_kind>)
      .def_prop_ro("symbol_kind", &values_of<&Construction::symbol_kind>)
      .def_prop_ro("below_offsets", &offsets_of<&Construction::below>)
      .def_prop_ro("below", &numbers_of<&Construction::below>)
      .def_prop_ro("headroom", &values_of<&Construction::headroom>)
      .def_prop_ro("symbol_headroom", &values_of<&Construction::symbol_headroom>);
  m.def("construct", &construct_of, "next"_a, "by_label"_a, "final"_a, "rule_of"_a, "rule_start"_a, "start_rule"_a,
        "call_offsets"_a, "calls"_a, "word_offsets"_a, "words"_a, "num_lazy"_a, "side_by_side"_a,
        "max_configurations"_a, "max_states"_a, "max_ways"_a, "budget"_a,
        "The subset construction over configurations of a network of rules.");
  m.def("with_shared", &with_shared_of, "steps"_a, "shared"_a, "num_states"_a, "budget"_a,
        "Sorted steps including those that states share with others, `[E, 5]`.");
  m.def("moves_of", &moves_of_steps, "steps"_a, "budget"_a, "Sorted steps without their columns, `[n, 4]`.");
}

}  // namespace automata
