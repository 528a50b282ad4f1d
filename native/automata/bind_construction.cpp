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
  require(network.byte_class.size() == 256, "`byte_class` has a class for each byte");
  require_within(network.byte_class, 0, network.num_classes, "class");
  require_within(network.next, kNone, network.num_states, "state");
  require_within(network.by_label, kNone, network.num_states, "state");
  require_within(network.rule_of, 0, network.num_rules, "rule");
  require_within(network.rule_start, 0, network.num_states, "state");
  require_within(network.start_rule, 0, network.num_rules, "rule");
  require(network.in_words.size() == network.rule_start.size(), "`in_words` is about each rule");
  require(network.lexer.size() == network.rule_start.size(), "`lexer` is about each rule");
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

PushdownConstruction construct_of(Values<uint8_t> byte_class, Grid<int32_t> next, Grid<int32_t> by_label,
                                  Values<bool> final, Values<int32_t> rule_of, Values<int32_t> rule_start,
                                  int32_t start_rule, Values<int32_t> call_offsets, Records<RuleCall> calls,
                                  Values<int32_t> word_offsets, Records<WordEnd> words, Values<bool> in_words,
                                  Values<int32_t> lexer, int32_t num_lazy, bool side_by_side,
                                  int32_t max_configurations, int64_t max_states, int64_t max_ways, Budget& budget) {
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
                            byte_class,
                            next.values,
                            by_label.values,
                            {reinterpret_cast<const uint8_t*>(final.data()), final.size()},
                            rule_of,
                            rule_start,
                            call_offsets,
                            calls,
                            word_offsets,
                            words,
                            {reinterpret_cast<const uint8_t*>(in_words.data()), in_words.size()},
                            lexer};
  require_network(network);
  const ConstructionOptions options{side_by_side, max_configurations, max_states, max_ways};
  return unlocked([&] { return construct(network, options, budget); });
}

auto with_shared_of(Records<ColumnStep> steps, Records<SharedSteps> shared, int32_t num_states, Budget& budget) {
  require(num_states >= 0, "there are no negative numbers of states");
  require_countable(steps.size(), "steps");
  require_countable(shared.size(), "pairs of states");
  for (const ColumnStep& step : steps) require_within(step.state, 0, num_states, "state");
  for (const auto& [state, other] : shared) {
    require_within(state, 0, num_states, "state");
    require_within(other, 0, num_states, "state");
  }
  return records(unlocked([&] { return with_shared(steps, shared, num_states, budget); }));
}

auto moves_of_steps(Records<ColumnStep> steps, Budget& budget) {
  return records(unlocked([&] { return moves_of(steps, budget); }));
}

template <auto Member>
auto offsets_of(nb::handle_t<PushdownConstruction> self) {
  return view_of((nb::cast<const PushdownConstruction&>(self).*Member).offsets, self);
}
template <auto Member>
auto numbers_of(nb::handle_t<PushdownConstruction> self) {
  return view_of((nb::cast<const PushdownConstruction&>(self).*Member).numbers, self);
}

}  // namespace

void bind_construction(nb::module_& m) {
  nb::class_<PushdownConstruction>(m, "PushdownConstruction",
                                   "The states of a pushdown automaton as sets of elements, and their steps.")
      .def_prop_ro("unbounded", [](const PushdownConstruction& found) { return static_cast<int32_t>(found.unbounded); })
      .def_ro("unbounded_state", &PushdownConstruction::unbounded_state)
      .def_prop_ro("unbounded_elements", &numbers_of<&PushdownConstruction::unbounded_elements>)
      .def_ro("start", &PushdownConstruction::start)
      .def_ro("end", &PushdownConstruction::end)
      .def_prop_ro("rule_of", &shown<&PushdownConstruction::rule_of>)
      .def_prop_ro("element_offsets", &offsets_of<&PushdownConstruction::elements>)
      .def_prop_ro("elements", &numbers_of<&PushdownConstruction::elements>)
      .def_prop_ro("came_from", &shown<&PushdownConstruction::came_from>)
      .def_prop_ro("too_many", &shown<&PushdownConstruction::too_many>)
      .def_prop_ro("steps", &shown<&PushdownConstruction::steps>)
      .def_prop_ro("shared", &shown<&PushdownConstruction::shared>)
      .def_prop_ro("parent", &shown<&PushdownConstruction::parent>)
      .def_prop_ro("last", &shown<&PushdownConstruction::last>)
      .def_prop_ro("state_kind", &shown<&PushdownConstruction::state_kind>)
      .def_prop_ro("symbol_kind", &shown<&PushdownConstruction::symbol_kind>)
      .def_prop_ro("below_offsets", &offsets_of<&PushdownConstruction::below>)
      .def_prop_ro("below", &numbers_of<&PushdownConstruction::below>)
      .def_prop_ro("headroom", &shown<&PushdownConstruction::headroom>)
      .def_prop_ro("symbol_headroom", &shown<&PushdownConstruction::symbol_headroom>);
  m.def("construct", &construct_of, "byte_class"_a, "next"_a, "by_label"_a, "final"_a, "rule_of"_a, "rule_start"_a,
        "start_rule"_a, "call_offsets"_a, "calls"_a, "word_offsets"_a, "words"_a, "in_words"_a, "lexer"_a, "num_lazy"_a,
        "side_by_side"_a, "max_configurations"_a, "max_states"_a, "max_ways"_a, "budget"_a,
        "Run the subset construction over the configurations of a network of rules.");
  m.def("with_shared", &with_shared_of, "steps"_a, "shared"_a, "num_states"_a, "budget"_a,
        "Return the sorted steps, including those that states share with others, `[E, 5]`.");
  m.def("moves_of", &moves_of_steps, "steps"_a, "budget"_a,
        "Return the sorted moves of sorted steps: the steps without their columns, `[n, 4]`.");
}

}  // namespace automata
