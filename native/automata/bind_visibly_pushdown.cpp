// Bindings of visibly pushdown grammars: their layout, the automata made from it, and counted paths.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "automata/bindings.h"
#include "automata/visibly_pushdown/compile.h"
#include "automata/visibly_pushdown/fragments.h"
#include "automata/visibly_pushdown/paths.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// Layouts.

// Requires pairs of states to lie within one rule each; rules are runs of states.
class RulesOfStates {
 public:
  explicit RulesOfStates(const VisiblyPushdownLayout& layout) : num_states_(layout.num_states) {
    const auto& starts = layout.starts;
    require(!starts.empty() && starts.front() == kLastState + 1, "there is no first rule, or it begins elsewhere");
    for (size_t rule = 1; rule < starts.size(); ++rule)
      require(starts[rule - 1] < starts[rule], "`starts` do not ascend");
    require(starts.back() < num_states_, "a rule has no state");
    rule_of_.resize(num_states_, kNone);
    for (size_t rule = 0; rule < starts.size(); ++rule) {
      const int32_t end = rule + 1 < starts.size() ? starts[rule + 1] : num_states_;
      std::fill(rule_of_.begin() + starts[rule], rule_of_.begin() + end, static_cast<int32_t>(rule));
    }
  }
  int32_t operator[](int32_t state) const {
    require(kLastState < state && state < num_states_, "a state is out of range");
    return rule_of_[state];
  }
  void require_edge(int32_t source, int32_t target) const {
    require((*this)[source] == (*this)[target], "an arc leads from one rule to another");
  }

 private:
  int32_t num_states_;
  std::vector<int32_t> rule_of_;
};

void require_fragments(const VisiblyPushdownLayout& layout) {
  const size_t num_fragments = layout.fragment_states.size();
  require_offsets(layout.fragment_arc_offsets, num_fragments, layout.fragment_arcs.size(), "`fragment_arc_offsets`");
  require_offsets(layout.fragment_epsilon_offsets, num_fragments, layout.fragment_epsilon.size(),
                  "`fragment_epsilon_offsets`");
  for (int32_t fragment = 0; fragment < layout.num_fragments(); ++fragment) {
    const int32_t num_states = layout.fragment_states[fragment];
    require(num_states >= 2, "a fragment has a start and an end");
    require_ranges(layout.arcs_of(fragment), num_states, layout.num_labels);
    require_edges(layout.epsilon_of(fragment), num_states);
    const auto is_apart = [](const auto& arc) { return arc.source != 1 && arc.target != 0; };
    require(std::ranges::all_of(layout.arcs_of(fragment), is_apart) &&
                std::ranges::all_of(layout.epsilon_of(fragment), is_apart),
            "an arc of a fragment leads into its start or out of its end");
  }
}

void require_calls(const VisiblyPushdownLayout& layout, const RulesOfStates& rules) {
  const auto num_targets = static_cast<int64_t>(layout.targets.size());
  for (const Call& call : layout.calls) {
    require_within(call.rule, 1, layout.num_rules(), "rule that is called");
    const int64_t num_exits = layout.first_exit[call.rule + 1] - layout.first_exit[call.rule];
    require(0 <= call.first_target && call.first_target + num_exits <= num_targets, "a call has no targets");
    for (int32_t target : layout.targets_of(call)) {
      if (target != kNone) rules.require_edge(call.source, target);
    }
    rules.require_edge(call.source, call.source);
  }
  for (const RuleEnd& end : layout.ends) {
    require_within(end.exit, 0, layout.num_exits(), "exit");
    const int32_t rule = rules[end.state];
    require(layout.first_exit[rule] <= end.exit && end.exit < layout.first_exit[rule + 1],
            "a rule ends in an exit of another one");
  }
}

void require_counters(const VisiblyPushdownLayout& layout, const RulesOfStates& rules) {
  const auto num_numbers = static_cast<int64_t>(layout.numbers.size());
  for (const Counter& counter : layout.counters) {
    rules.require_edge(counter.entered, counter.end);
    require_within(counter.fragment, 0, layout.num_fragments(), "fragment");
    const int64_t num_states = layout.fragment_states[counter.fragment];
    require_within(counter.entry, 0, num_states, "entry");
    require(counter.low >= 0 && counter.high >= kNone, "a bound is negative");
    require(0 <= counter.first_number && counter.first_number + num_states <= num_numbers, "a counter has no numbers");
  }
}

void require_numbers(std::span<const CountedState> numbers) {
  for (const CountedState& number : numbers) {
    require(number.is_counted == 0 || number.is_counted == 1, "a state is counted once or not at all");
    require(0 <= number.least && 0 <= number.most, "a number is negative");
  }
}

void require_layout(const VisiblyPushdownLayout& layout) {
  const RulesOfStates rules(layout);
  require(layout.num_labels >= 0, "there are no negative numbers of labels");
  require(layout.first_exit.size() == layout.starts.size() + 1 && layout.first_exit[0] == 0 && layout.first_exit[1] > 0,
          "`first_exit` has a number for each rule and one more");
  for (int32_t rule = 0; rule < layout.num_rules(); ++rule) {
    require(layout.first_exit[rule] <= layout.first_exit[rule + 1], "`first_exit` does not ascend");
  }
  require_countable(kFirstLabel + static_cast<size_t>(layout.num_labels) + 2 * layout.starts.size() +
                        static_cast<size_t>(layout.num_exits()),
                    "symbols");
  require_offsets(layout.text_offsets, layout.chains.size(), layout.text.size(), "`text_offsets`");
  for (const Edge& chain : layout.chains) rules.require_edge(chain.source, chain.target);
  for (const Edge& edge : layout.epsilon) rules.require_edge(edge.source, edge.target);
  require_fragments(layout);
  for (const Copy& copy : layout.copies) {
    require_within(copy.fragment, 0, layout.num_fragments(), "fragment");
    rules.require_edge(copy.source, copy.target);
  }
  require_calls(layout, rules);
  for (const Prepared& prepared : layout.prepared) {
    require_within(prepared.rule, 1, layout.num_rules(), "prepared rule");
    require_within(prepared.fragment, 0, layout.num_fragments(), "fragment");
  }
  require_counters(layout, rules);
  require_numbers(layout.numbers);
}

template <class Records>
auto copied(const Records& records) {
  require_countable(records.size(), "an array");
  return std::vector(records.begin(), records.end());
}

VisiblyPushdownLayout layout_of(int32_t num_states, int32_t num_labels, Values<int32_t> starts,
                                Values<int32_t> first_exit, Values<uint8_t> text, Values<int32_t> text_offsets,
                                Records<Edge> chains, Values<int32_t> fragment_states,
                                Values<int32_t> fragment_arc_offsets, Records<Range> fragment_arcs,
                                Values<int32_t> fragment_epsilon_offsets, Records<Edge> fragment_epsilon,
                                Records<Copy> copies, Records<Edge> epsilon, Records<Call> calls,
                                Values<int32_t> targets, Records<RuleEnd> ends, Records<Prepared> prepared,
                                Records<Counter> counters, Records<CountedState> numbers, Budget& budget) {
  budget.charge(text.size() + 16 * fragment_arcs.size() +
                8 * (chains.size() + fragment_epsilon.size() + epsilon.size()) +
                12 * (copies.size() + calls.size() + numbers.size()) + 4 * targets.size() +
                4 * static_cast<size_t>(std::max(num_states, 0)));
  VisiblyPushdownLayout layout;
  layout.num_states = num_states, layout.num_labels = num_labels;
  layout.starts = copied(starts), layout.first_exit = copied(first_exit);
  layout.text = copied(text), layout.text_offsets = copied(text_offsets), layout.chains = copied(chains);
  layout.fragment_states = copied(fragment_states);
  layout.fragment_arc_offsets = copied(fragment_arc_offsets), layout.fragment_arcs = copied(fragment_arcs);
  layout.fragment_epsilon_offsets = copied(fragment_epsilon_offsets),
  layout.fragment_epsilon = copied(fragment_epsilon);
  layout.copies = copied(copies), layout.epsilon = copied(epsilon);
  layout.calls = copied(calls), layout.targets = copied(targets), layout.ends = copied(ends);
  layout.prepared = copied(prepared), layout.counters = copied(counters), layout.numbers = copied(numbers);
  require_layout(layout);
  return layout;
}

// Automata.

ByteTables regular_of(const VisiblyPushdownLayout& layout, int64_t max_states, int64_t dense_bytes, Budget& budget) {
  require(layout.num_rules() == 1 && layout.counters.empty(), "there are several rules, or something is counted");
  return unlocked([&] { return regular(layout, max_states, dense_bytes, budget); });
}

// Return the fault (0 for none) and the two rules concerned, whether there is a text, and the tables of the automaton.
auto compile_of(const VisiblyPushdownLayout& layout, int64_t max_states, Budget& budget) {
  require(layout.counters.empty(), "something is counted");
  VisiblyPushdownAutomaton found = unlocked([&] { return compile(layout, max_states, budget); });
  const auto [fault, rule, other] = found.fault;
  return std::tuple(std::tuple(static_cast<int32_t>(fault), rule, other), found.has_text, array_of(found.byte_class),
                    array(std::move(found.step_offsets)), array(std::move(found.pops)), array(std::move(found.pushes)),
                    array(std::move(found.targets)), records(found.symbols), array(std::move(found.headroom)),
                    array(std::move(found.symbol_headroom)));
}

// Counted paths.

void require_paths(const ByteTables& automaton, size_t num_counted) {
  require(automaton.num_labels == 0, "the automaton has labels");
  require(num_counted == automaton.final.size(), "each state is counted or not");
}

auto path_numbers_of(const ByteTables& automaton, Values<bool> is_counted, Budget& budget) {
  require_paths(automaton, is_counted.size());
  const std::span<const uint8_t> counted(reinterpret_cast<const uint8_t*>(is_counted.data()), is_counted.size());
  const PathNumbers found = unlocked([&] { return path_numbers(automaton, counted, budget); });
  return std::tuple(found.is_exact, array_of(found.least), array_of(found.most));
}

ByteTables expanded_paths_of(const ByteTables& automaton, Records<CountedState> numbers, int32_t start, int32_t low,
                             int32_t high, int64_t dense_bytes, Budget& budget) {
  require_paths(automaton, numbers.size());
  require_numbers(numbers);
  require_within(start, 0, automaton.num_states(), "start");
  require(low >= 0 && high >= kNone && low < kEndless && high < kEndless, "a bound is out of range");
  return unlocked([&] { return expanded_paths(automaton, numbers, start, {low, high}, dense_bytes, budget); });
}

auto fragment_of_automaton(const ByteTables& automaton, int32_t start, Budget& budget) {
  require_within(start, 0, automaton.num_states(), "start");
  NfaFragment fragment = nfa_fragment(automaton, start, budget);
  return std::tuple(fragment.num_states, records(fragment.arcs), records(fragment.epsilon),
                    array(std::move(fragment.state_of)));
}

}  // namespace

void bind_visibly_pushdown(nb::module_& m) {
  nb::class_<VisiblyPushdownLayout>(m, "VisiblyPushdownLayout",
                                    "A visibly pushdown grammar as one nondeterministic automaton.")
      .def(nb::new_(&layout_of), "num_states"_a, "num_labels"_a, "starts"_a, "first_exit"_a, "text"_a, "text_offsets"_a,
           "chains"_a, "fragment_states"_a, "fragment_arc_offsets"_a, "fragment_arcs"_a, "fragment_epsilon_offsets"_a,
           "fragment_epsilon"_a, "copies"_a, "epsilon"_a, "calls"_a, "targets"_a, "ends"_a, "prepared"_a, "counters"_a,
           "numbers"_a, "budget"_a)
      .def_ro("num_states", &VisiblyPushdownLayout::num_states)
      .def_ro("num_labels", &VisiblyPushdownLayout::num_labels)
      .def_prop_ro("starts", &shown<&VisiblyPushdownLayout::starts>)
      .def_prop_ro("first_exit", &shown<&VisiblyPushdownLayout::first_exit>)
      .def_prop_ro("text", &shown<&VisiblyPushdownLayout::text>)
      .def_prop_ro("text_offsets", &shown<&VisiblyPushdownLayout::text_offsets>)
      .def_prop_ro("chains", &shown<&VisiblyPushdownLayout::chains>)
      .def_prop_ro("fragment_states", &shown<&VisiblyPushdownLayout::fragment_states>)
      .def_prop_ro("fragment_arc_offsets", &shown<&VisiblyPushdownLayout::fragment_arc_offsets>)
      .def_prop_ro("fragment_arcs", &shown<&VisiblyPushdownLayout::fragment_arcs>)
      .def_prop_ro("fragment_epsilon_offsets", &shown<&VisiblyPushdownLayout::fragment_epsilon_offsets>)
      .def_prop_ro("fragment_epsilon", &shown<&VisiblyPushdownLayout::fragment_epsilon>)
      .def_prop_ro("copies", &shown<&VisiblyPushdownLayout::copies>)
      .def_prop_ro("epsilon", &shown<&VisiblyPushdownLayout::epsilon>)
      .def_prop_ro("calls", &shown<&VisiblyPushdownLayout::calls>)
      .def_prop_ro("targets", &shown<&VisiblyPushdownLayout::targets>)
      .def_prop_ro("ends", &shown<&VisiblyPushdownLayout::ends>)
      .def_prop_ro("prepared", &shown<&VisiblyPushdownLayout::prepared>)
      .def_prop_ro("counters", &shown<&VisiblyPushdownLayout::counters>)
      .def_prop_ro("numbers", &shown<&VisiblyPushdownLayout::numbers>);
  m.def("compile_regular", &regular_of, "layout"_a, "max_states"_a, "dense_bytes"_a, "budget"_a,
        "Return the minimal automaton of a layout of one rule.");
  m.def("compile_visibly_pushdown", &compile_of, "layout"_a, "max_states"_a, "budget"_a,
        "Return the fault, whether there is a text, and the classes, the steps, the symbols and the headroom of the "
        "pushdown automaton of a layout.");
  m.def("path_numbers", &path_numbers_of, "automaton"_a, "is_counted"_a, "budget"_a,
        "Return whether numbers of counted states are exact, and the least and the most from each state, `[Q]` each.");
  m.def("expanded_paths", &expanded_paths_of, "automaton"_a, "numbers"_a, "start"_a, "low"_a, "high"_a, "dense_bytes"_a,
        "budget"_a, "Return the minimal automaton of the texts with a number of counted states in a range.");
  m.def("nfa_fragment", &fragment_of_automaton, "automaton"_a, "start"_a, "budget"_a,
        "Return the number of states, the arcs and the epsilon arcs of a fragment, and its state for each of the "
        "automaton's.");
}

}  // namespace automata
