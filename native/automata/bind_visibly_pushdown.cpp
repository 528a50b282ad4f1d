// Bindings of visibly pushdown grammars: their layouts, the automata compiled from them, and counted paths.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "automata/bindings.h"
#include "automata/visibly_pushdown/compile.h"
#include "automata/visibly_pushdown/flag_conditions.h"
#include "automata/visibly_pushdown/fragments.h"
#include "automata/visibly_pushdown/layout_builder.h"
#include "automata/visibly_pushdown/paths.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// Layouts.

// Maps states to rules, and requires that arcs stay within one rule. The states of a rule are consecutive.
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
  size_t all_states = 0;
  for (const FragmentPointer& fragment : layout.fragments) {
    all_states += static_cast<size_t>(fragment->num_states());
    require_countable(all_states, "states of `fragments`");
    require(fragment->max_symbol() - kFirstLabel < layout.num_labels, "a label of a fragment is out of range");
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
    const int64_t num_states = layout.fragments[counter.fragment]->num_states();
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

// The greatest number of flags of a rule.
constexpr int32_t kMaxFlags = 1 << 16;

void require_guarded(const VisiblyPushdownLayout& layout, const RulesOfStates& rules) {
  int64_t num_conditions = 2;
  for (const Decision& decision : layout.decisions) {
    require_within(decision.flag, 0, kMaxFlags, "flag");
    require_within(decision.low, 0, num_conditions, "condition");
    require_within(decision.high, 0, num_conditions, "condition");
    ++num_conditions;
  }
  for (const GuardedArc& arc : layout.guarded) {
    rules.require_edge(arc.source, arc.target);
    require_within(arc.sets, kNone, kMaxFlags, "flag");
    require_within(arc.condition, 0, num_conditions, "condition");
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
  require_guarded(layout, rules);
  require_numbers(layout.numbers);
}

template <class Records>
auto copied(const Records& records) {
  require_countable(records.size(), "an array");
  return std::vector(records.begin(), records.end());
}

FragmentPointer fragment_of(int32_t num_states, Records<Range> arcs, Records<Edge> epsilon, Budget& budget) {
  require(num_states >= 2, "a fragment has a start and an end");
  require_ranges(arcs, num_states, std::numeric_limits<int32_t>::max() - kFirstLabel);
  require_edges(epsilon, num_states);
  const auto is_apart = [](const auto& arc) { return arc.source != 1 && arc.target != 0; };
  require(std::ranges::all_of(arcs, is_apart) && std::ranges::all_of(epsilon, is_apart),
          "an arc of a fragment leads into its start or out of its end");
  return unlocked([&] { return std::make_shared<const Fragment>(num_states, arcs, epsilon, budget); });
}

using Fragments = nb::typed<nb::sequence, Fragment>;

VisiblyPushdownLayout layout_of(int32_t num_states, int32_t num_labels, Values<int32_t> starts,
                                Values<int32_t> first_exit, Values<uint8_t> text, Values<int32_t> text_offsets,
                                Records<Edge> chains, const Fragments& fragments, Records<Copy> copies,
                                Records<Edge> epsilon, Records<Call> calls, Values<int32_t> targets,
                                Records<RuleEnd> ends, Records<Prepared> prepared, Records<Counter> counters,
                                Records<CountedState> numbers, Budget& budget) {
  VisiblyPushdownLayout layout;
  layout.num_states = num_states, layout.num_labels = num_labels;
  layout.starts = copied(starts), layout.first_exit = copied(first_exit);
  layout.text = copied(text), layout.text_offsets = copied(text_offsets), layout.chains = copied(chains);
  for (nb::handle fragment : fragments) layout.fragments.push_back(nb::cast<FragmentPointer>(fragment));
  layout.copies = copied(copies), layout.epsilon = copied(epsilon);
  layout.calls = copied(calls), layout.targets = copied(targets), layout.ends = copied(ends);
  layout.prepared = copied(prepared), layout.counters = copied(counters), layout.numbers = copied(numbers);
  require_layout(layout);
  budget.charge(num_bytes(layout));
  return layout;
}

// Convert an element of a list to a T. Throw TypeError if it is of another type.
template <class T>
T as(nb::handle value) {
  T found;
  if (!nb::try_cast(value, found)) throw nb::type_error("a list of a rule has an element of another type");
  return found;
}

// Makes a layout from the lists of rules. A language, identified by its address, is converted to a reading once.
class LayoutWriter {
 public:
  using Arcs = nb::typed<nb::sequence, std::tuple<int, nb::object, int>>;
  using Pairs = nb::typed<nb::sequence, std::tuple<int, int>>;
  using Calls = nb::typed<nb::sequence, std::tuple<int, int, nb::typed<nb::tuple, int, nb::ellipsis>>>;
  using Guarded = nb::typed<nb::sequence, std::tuple<int, int, int, int>>;
  using Pieces = nb::typed<nb::callable, nb::any(nb::any)>;

  int32_t num_states() const { return made_.layout().num_states; }
  void rule(int32_t num_exits) {
    require_countable(static_cast<size_t>(made_.layout().num_exits()) + static_cast<uint32_t>(num_exits), "exits");
    made_.rule(num_exits);
  }
  int32_t states(int32_t count) {
    require(count >= 0, "a rule has states");
    return made_.states(count);
  }
  // Lay arcs between states, which are numbered from `first`. `pieces` lists the pieces of a language that is met for
  // the first time.
  void arcs(const Arcs& arcs, int32_t first, const Pieces& pieces, Budget& budget) {
    for (nb::handle arc : arcs) {
      const auto [source, language, target] = as<std::tuple<int32_t, nb::handle, int32_t>>(arc);
      const auto known = known_.find(language.ptr());
      const int32_t reading = known == known_.end() ? described(language, pieces(language)) : known->second;
      made_.read(at(first, source), reading, at(first, target));
      budget.spend(8);
    }
    made_.charge(budget);
  }
  void epsilon(const Pairs& arcs, int32_t first, Budget& budget) {
    for (nb::handle arc : arcs) {
      const auto [source, target] = as<std::pair<int32_t, int32_t>>(arc);
      made_.epsilon(at(first, source), at(first, target));
      budget.spend(4);
    }
  }
  // Lay calls. `place` gives the place of each rule in the layout. Negative targets stand for none.
  void calls(const Calls& calls, int32_t first, Values<int32_t> place, Budget& budget) {
    std::vector<int32_t> targets;
    for (nb::handle call : calls) {
      const auto [source, rule, to] = as<std::tuple<int32_t, int32_t, nb::tuple>>(call);
      require_within(rule, 0, static_cast<int64_t>(place.size()), "rule that is called");
      targets.clear();
      for (nb::handle target : to) {
        const auto state = as<int32_t>(target);
        targets.push_back(state < 0 ? kNone : at(first, state));
      }
      made_.call(at(first, source), place[rule], targets);
      budget.spend(8);
    }
  }
  // Lay guarded arcs, each with the flag that it sets, or -1, and its condition.
  void guarded(const Guarded& arcs, int32_t first, const FlagConditions& conditions, Budget& budget) {
    const auto before = static_cast<int32_t>(made_.layout().decisions.size());
    const auto moved = [&](int32_t condition) { return condition > kTrue ? condition + before : condition; };
    for (const auto& [flag, low, high] : conditions.decisions()) made_.decision({flag, moved(low), moved(high)});
    for (nb::handle arc : arcs) {
      const auto [source, target, sets, condition] = as<std::tuple<int32_t, int32_t, int32_t, int32_t>>(arc);
      require_within(condition, 0, conditions.num_conditions(), "condition");
      made_.guarded({at(first, source), at(first, target), sets, moved(condition)});
      budget.spend(8);
    }
    made_.charge(budget);
  }
  void ends(const Pairs& ends, int32_t first) {
    const auto& exits = made_.layout().first_exit;
    require(exits.size() > 1, "no rule has begun");
    for (nb::handle end : ends) {
      const auto [state, exit] = as<std::pair<int32_t, int32_t>>(end);
      require_within(exit, 0, exits.back() - exits[exits.size() - 2], "exit");
      made_.end(at(first, state), exit);
    }
  }
  // Lay detours of states, which are numbered from `first`.
  void detours(const Pairs& detours, int32_t first) {
    for (nb::handle detour : detours) {
      const auto [state, tokens] = as<std::pair<int32_t, int32_t>>(detour);
      require_within(tokens, 0, kMaxDetour + 1, "detour");
      made_.detour({at(first, state), tokens});
    }
  }
  void prepared(int32_t fragment) { made_.prepared(fragment); }
  void fragment(FragmentPointer fragment) { made_.fragment(std::move(fragment)); }
  void numbers(Records<CountedState> numbers) { made_.numbers(numbers); }
  VisiblyPushdownLayout layout(int32_t num_labels, Budget& budget) {
    made_.charge(budget);
    const auto& all = made_.layout();
    for (size_t size :
         {all.text.size(), all.chains.size(), all.copies.size(), all.epsilon.size(), all.targets.size(),
          all.calls.size(), all.numbers.size(), all.guarded.size(), all.decisions.size(), all.detours.size()}) {
      require_countable(size, "an array");
    }
    require_num_labels(num_labels);
    VisiblyPushdownLayout found = std::exchange(made_, LayoutBuilder()).finish(num_labels);
    known_.clear();
    kept_.clear();
    require_layout(found);
    return found;
  }

 private:
  int32_t at(int32_t first, int32_t state) const {
    require(0 <= first && 0 <= state && state < num_states() - first, "a state is out of range");
    return first + state;
  }
  // Keep the reading of a language, and return its number. A piece is a text if it is a bytes object, a copy of a
  // fragment if it is an int, and otherwise a counter, given as a tuple.
  int32_t described(nb::handle language, nb::handle pieces) {
    std::vector<LayoutBuilder::Piece> found;
    for (nb::handle piece : pieces) {
      if (nb::isinstance<nb::bytes>(piece)) {
        found.push_back(made_.text(bytes_of(as<nb::bytes>(piece))));
      } else if (nb::isinstance<nb::int_>(piece)) {
        found.push_back(LayoutBuilder::CopyOf{as<int32_t>(piece)});
      } else {
        const auto [fragment, entry, low, high, first] =
            as<std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>>(piece);
        found.push_back(LayoutBuilder::Counted{fragment, entry, low, high, first});
      }
    }
    require(!found.empty(), "a language has pieces");
    kept_.push_back(nb::borrow(language));
    return known_[language.ptr()] = made_.reading(found);
  }

  LayoutBuilder made_;
  std::unordered_map<PyObject*, int32_t> known_;
  std::vector<nb::object> kept_;  // keeps languages alive, so that addresses stay unique
};

// Automata.

ByteTables regular_of(const VisiblyPushdownLayout& layout, int64_t max_states, int64_t dense_bytes, Budget& budget) {
  require(layout.num_rules() == 1 && layout.counters.empty() && layout.guarded.empty(),
          "there are several rules, or something is counted or guarded");
  return unlocked([&] { return regular(layout, max_states, dense_bytes, budget); });
}

auto compile_of(const VisiblyPushdownLayout& layout, int64_t max_states, Budget& budget) {
  require(layout.counters.empty() && layout.guarded.empty(), "something is counted or guarded");
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
  nb::class_<Fragment>(m, "Fragment", "An automaton from its state 0 to its state 1, which layouts share.")
      .def(nb::new_(&fragment_of), "num_states"_a, "arcs"_a, "epsilon"_a, "budget"_a)
      .def_prop_ro("num_states", &Fragment::num_states)
      .def_prop_ro("nbytes", [](const Fragment& fragment) { return fragment.num_bytes(); }, "Its size in bytes.");
  nb::class_<VisiblyPushdownLayout>(m, "VisiblyPushdownLayout",
                                    "A visibly pushdown grammar as one nondeterministic automaton.")
      .def(nb::new_(&layout_of), "num_states"_a, "num_labels"_a, "starts"_a, "first_exit"_a, "text"_a, "text_offsets"_a,
           "chains"_a, "fragments"_a, "copies"_a, "epsilon"_a, "calls"_a, "targets"_a, "ends"_a, "prepared"_a,
           "counters"_a, "numbers"_a, "budget"_a)
      .def_ro("num_states", &VisiblyPushdownLayout::num_states)
      .def_prop_ro("starts", &shown<&VisiblyPushdownLayout::starts>)
      .def_prop_ro("first_exit", &shown<&VisiblyPushdownLayout::first_exit>)
      .def_prop_ro("text", &shown<&VisiblyPushdownLayout::text>)
      .def_prop_ro("text_offsets", &shown<&VisiblyPushdownLayout::text_offsets>)
      .def_prop_ro("chains", &shown<&VisiblyPushdownLayout::chains>)
      .def_prop_ro("copies", &shown<&VisiblyPushdownLayout::copies>)
      .def_prop_ro("calls", &shown<&VisiblyPushdownLayout::calls>)
      .def_prop_ro("targets", &shown<&VisiblyPushdownLayout::targets>)
      .def_prop_ro("ends", &shown<&VisiblyPushdownLayout::ends>)
      .def_prop_ro("counters", &shown<&VisiblyPushdownLayout::counters>)
      .def_prop_ro("num_written_arcs", &num_written_arcs,
                   "The number of arcs of chains and copies, were they written out.")
      .def("reads", &reads, "byte"_a, "Return whether some chain or some fragment reads a byte.");
  nb::class_<LayoutWriter>(m, "LayoutWriter", "Makes a layout from the lists of rules.")
      .def(nb::init<>())
      .def_prop_ro("num_states", &LayoutWriter::num_states, "The number of states so far.")
      .def("rule", &LayoutWriter::rule, "num_exits"_a, "Begin a rule, to which the states that are added next belong.")
      .def("states", &LayoutWriter::states, "count"_a, "Add states, and return the number of the first one.")
      .def("arcs", &LayoutWriter::arcs, "arcs"_a, "first"_a, "pieces"_a, "budget"_a,
           "Lay arcs between states, numbered from `first`. `pieces` lists the texts, fragments and counters of a "
           "language.")
      .def("epsilon", &LayoutWriter::epsilon, "arcs"_a, "first"_a, "budget"_a,
           "Lay epsilon arcs between states, numbered from `first`.")
      .def("calls", &LayoutWriter::calls, "calls"_a, "first"_a, "place"_a, "budget"_a,
           "Lay calls of rules. `place` gives the place of each rule in the layout.")
      .def("guarded", &LayoutWriter::guarded, "arcs"_a, "first"_a, "conditions"_a, "budget"_a,
           "Lay guarded arcs, and add all decisions of `conditions` to the layout.")
      .def("ends", &LayoutWriter::ends, "ends"_a, "first"_a, "Lay the ends of the rule that was begun last.")
      .def("detours", &LayoutWriter::detours, "detours"_a, "first"_a,
           "Lay states with how many more tokens distances count where the text passes through them.")
      .def("prepared", &LayoutWriter::prepared, "fragment"_a,
           "Declare that the rule that was begun last is one fragment.")
      .def("fragment", &LayoutWriter::fragment, "fragment"_a, "Add the next fragment.")
      .def("numbers", &LayoutWriter::numbers, "numbers"_a, "Add the numbers of the states of a counted fragment.")
      .def("layout", &LayoutWriter::layout, "num_labels"_a, "budget"_a,
           "Return the layout, and begin a new, empty one.");
  m.def("compile_regular", &regular_of, "layout"_a, "max_states"_a, "dense_bytes"_a, "budget"_a,
        "Return the minimal automaton of a layout with one rule.");
  m.def("compile_visibly_pushdown", &compile_of, "layout"_a, "max_states"_a, "budget"_a,
        "Return the fault (its kind, 0 for none, and the two rules concerned), whether there is a text, and the byte "
        "classes, the steps, the symbols and the headroom of the pushdown automaton of a layout.");
  m.def("path_numbers", &path_numbers_of, "automaton"_a, "is_counted"_a, "budget"_a,
        "Return whether the numbers of counted states have no gaps, and the least and the greatest number from each "
        "state to an end, `[Q]` each.");
  m.def("expanded_paths", &expanded_paths_of, "automaton"_a, "numbers"_a, "start"_a, "low"_a, "high"_a, "dense_bytes"_a,
        "budget"_a,
        "Return the minimal automaton of the texts from `start` that enter between `low` and `high` counted states.");
  m.def("nfa_fragment", &fragment_of_automaton, "automaton"_a, "start"_a, "budget"_a,
        "Return the number of states, the arcs and the epsilon arcs of the fragment of an automaton, and the "
        "fragment's state for each state of the automaton.");
}

}  // namespace automata
