// Bindings of automata over tokens without a stack, and of batches of masks.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <optional>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/counted/counted_classes.h"
#include "tokenfst/finite_automaton.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using SharedVocabulary = std::shared_ptr<const Vocabulary>;
using SharedAutomaton = std::shared_ptr<FiniteAutomaton>;

void require_guard(int32_t low, int32_t high, int32_t action, int32_t max_register) {
  const int64_t after = action >= 0 ? int64_t{high} + action : ~action;
  require(0 <= low && low <= high && high <= max_register && after <= max_register,
          "a guard or an action leaves the register");
}

SharedAutomaton made(SharedVocabulary vocabulary, FiniteAutomaton::Tables tables, int64_t max_masks,
                     int64_t max_bytes) {
  require(max_masks > 0 && max_bytes >= 0, "some masks are kept");
  const FiniteAutomaton::Capacity capacity{static_cast<size_t>(max_masks), max_bytes};
  auto automaton = std::make_shared<FiniteAutomaton>(std::move(vocabulary), std::move(tables), capacity, check_signals);
  require_state(*automaton, automaton->tables().start);
  return automaton;
}

// Add the state after the end, and the transitions of the end tokens to it.
SharedAutomaton from_classes(SharedVocabulary vocabulary, int32_t start, Values<bool> final,
                             const TokenClasses& classes, int64_t dense_bytes, int64_t max_masks, Budget& budget) {
  const auto end_state = static_cast<int32_t>(final.size());
  require_countable(final.size() + 1, "final");
  require_within(start, 0, end_state, "start");
  require_covered(classes.runs, *vocabulary);
  for (const TokenEdge& edge : classes.edges) {
    require(edge.source < end_state && edge.target < end_state, "an edge leads outside of the states");
  }
  FiniteAutomaton::Tables tables{start, {final.begin(), final.end()}, {}, classes.runs, classes.num_classes};
  tables.final.push_back(true);
  unlocked([&] {
    // Edges come in order of class, and kEnd comes before all others.
    Vector<TokenEdge> edges(budget);
    for (int32_t state = 0; state <= end_state && !vocabulary->eos_ids().empty(); ++state) {
      if (tables.final[state]) edges.push_back({state, kEnd, end_state});
    }
    edges.insert(edges.end(), classes.edges.begin(), classes.edges.end());
    tables.transitions = make_transitions(end_state + 1, classes.num_classes, edges, dense_bytes, budget);
  });
  return made(std::move(vocabulary), std::move(tables), max_masks, budget.max_bytes());
}

void require_edges(std::span<const CountedEdge> edges, const automata::CountedTables& automaton) {
  for (const auto& [number, edge] : edges) {
    require(edge.source < automaton.num_states() && edge.target < automaton.num_states(),
            "an edge leads outside of the states");
    require_guard(edge.low, edge.high, edge.action, automaton.max_register);
  }
}

// Do the same for an automaton with a register.
SharedAutomaton from_counted(SharedVocabulary vocabulary, const automata::CountedTables& automaton,
                             const CountedClasses& classes, bool spells_all, int64_t max_masks, Budget& budget) {
  require(automaton.start >= 0, "the automaton has no state");
  require_covered(classes.runs, *vocabulary);
  require_edges(classes.edges, automaton);
  FiniteAutomaton::Tables tables{automaton.start, {}, {}, classes.runs, classes.num_classes};
  for (int32_t least : automaton.final_from) tables.final.push_back(least >= 0);
  tables.final.push_back(true);
  tables.transitions = unlocked([&] { return guarded_transitions(automaton, classes, spells_all, budget); });
  return made(std::move(vocabulary), std::move(tables), max_masks, budget.max_bytes());
}

FiniteAutomaton::Tables common_tables(const Vocabulary& vocabulary, int64_t start, Values<bool> final,
                                      Records<ClassRun> runs, int32_t num_classes) {
  require_countable(final.size(), "final");
  require(!final.empty() && num_classes >= kFirstClass, "there is a state after the end, and there are classes");
  require_runs(runs, num_classes, vocabulary);
  return {start, {final.begin(), final.end()}, {}, {runs.begin(), runs.end()}, num_classes};
}

SharedAutomaton dense(SharedVocabulary vocabulary, int64_t start, Values<bool> final, Records<ClassRun> runs,
                      Grid<int32_t> next, int64_t max_masks, int64_t max_bytes) {
  auto tables = common_tables(*vocabulary, start, final, runs, static_cast<int32_t>(next.columns));
  require(next.rows == final.size(), "`next` has a row for each state");
  require_within(next.values, -1, static_cast<int64_t>(final.size()), "state");
  tables.transitions = DenseTransitions{
      static_cast<int32_t>(next.rows), static_cast<int32_t>(next.columns), {next.values.begin(), next.values.end()}};
  return made(std::move(vocabulary), std::move(tables), max_masks, max_bytes);
}

SharedAutomaton sparse(SharedVocabulary vocabulary, int64_t start, Values<bool> final, Records<ClassRun> runs,
                       int32_t num_classes, Values<int64_t> offsets, Records<SparseTransitions::Edge> edges,
                       int64_t max_masks, int64_t max_bytes) {
  auto tables = common_tables(*vocabulary, start, final, runs, num_classes);
  require_offsets(offsets, final.size(), edges.size(), "`offsets`");
  for (size_t state = 0; state < final.size(); ++state) {
    int32_t before = -1;
    for (int64_t edge = offsets[state]; edge < offsets[state + 1]; ++edge) {
      require(before < edges[edge].number && edges[edge].number < num_classes, "the classes of a state do not ascend");
      require_within(edges[edge].target, 0, static_cast<int64_t>(final.size()), "state");
      before = edges[edge].number;
    }
  }
  tables.transitions = SparseTransitions{
      static_cast<int32_t>(final.size()), num_classes, {offsets.begin(), offsets.end()}, {edges.begin(), edges.end()}};
  return made(std::move(vocabulary), std::move(tables), max_masks, max_bytes);
}

SharedAutomaton guarded(SharedVocabulary vocabulary, int64_t start, Values<bool> final, Records<ClassRun> runs,
                        int32_t num_classes, int32_t max_register, Values<int64_t> offsets,
                        Records<GuardedTransitions::Edge> edges, int64_t max_masks, int64_t max_bytes) {
  auto tables = common_tables(*vocabulary, start, final, runs, num_classes);
  require(0 <= max_register && max_register < INT32_MAX, "the register has no such greatest value");
  require_offsets(offsets, final.size(), edges.size(), "`offsets`");
  for (size_t control_state = 0; control_state < final.size(); ++control_state) {
    std::pair<int32_t, int32_t> before{-1, -1};  // class and greatest value
    for (int64_t at = offsets[control_state]; at < offsets[control_state + 1]; ++at) {
      const auto& edge = edges[at];
      require_within(edge.number, 0, num_classes, "class");
      require_within(edge.target, 0, static_cast<int64_t>(final.size()), "control state");
      require_guard(edge.low, edge.high, edge.action, max_register);
      require(before < std::pair(edge.number, edge.low), "guards are not in order and apart");
      before = {edge.number, edge.high};
    }
  }
  GuardedTransitions form{static_cast<int32_t>(final.size()),
                          num_classes,
                          max_register,
                          {offsets.begin(), offsets.end()},
                          {edges.begin(), edges.end()},
                          {},
                          {}};
  form.find_cuts();
  tables.transitions = std::move(form);
  return made(std::move(vocabulary), std::move(tables), max_masks, max_bytes);
}

int64_t min_tokens(FiniteAutomaton& automaton, int64_t state) {
  require_state(automaton, state);
  if (!automaton.has_distances()) unlocked([&] { automaton.distances(); });
  return automaton.distances()[state];
}

auto min_tokens_runs(FiniteAutomaton& automaton) {
  require(std::holds_alternative<GuardedTransitions>(automaton.tables().transitions), "the automaton has no register");
  const automata::DistanceSteps* runs = unlocked([&] { return &automaton.distances().runs(); });
  return std::make_tuple(array_of(runs->key), array_of(runs->value));
}

// Return the transitions as arrays: a table, or offsets and edges, with a register followed by its greatest value.
nb::typed<nb::tuple, nb::any, nb::ellipsis> transitions(nb::handle_t<FiniteAutomaton> self) {
  const auto& form = nb::cast<const FiniteAutomaton&>(self).tables().transitions;
  if (const auto* table = std::get_if<DenseTransitions>(&form)) {
    const std::array<size_t, 2> shape{static_cast<size_t>(table->num_control_states),
                                      static_cast<size_t>(table->num_classes)};
    return nb::make_tuple(view(table->next.data(), {shape[0], shape[1]}, self));
  }
  if (const auto* sparse = std::get_if<SparseTransitions>(&form)) {
    return nb::make_tuple(view_of(sparse->offsets, self), view_of(sparse->edges, self));
  }
  const auto& guards = std::get<GuardedTransitions>(form);
  return nb::make_tuple(view_of(guards.offsets, self), view_of(guards.edges, self), guards.max_register);
}

auto successors(const FiniteAutomaton& automaton, int64_t state) {
  require_state(automaton, state);
  std::vector<int32_t> numbers;
  std::vector<int64_t> targets;
  for (const Successor& move : automaton.successors(state))
    numbers.push_back(move.number), targets.push_back(move.target);
  return std::make_tuple(array(std::move(numbers)), array(std::move(targets)));
}

auto token_class(const FiniteAutomaton& automaton) {
  return array(class_of_tokens(automaton.vocabulary(), automaton.tables().runs));
}

State state_of(nb::handle state) {
  if (PyLong_Check(state.ptr())) return taken<int64_t>(state, "a number is not a state");
  return taken<std::shared_ptr<const StateObject>>(state, "an object is not a state");
}

// Fill a batch of masks: one row of `out` for each pair of an automaton and a state.
void fill_bitmasks(const nb::typed<nb::sequence, Automaton>& automata,
                   const nb::typed<nb::sequence, nb::object>& states, OutputGrid<int32_t> out,
                   std::optional<Values<int64_t>> remaining, int num_threads) {
  std::vector<MaskJob> jobs;
  std::vector<nb::object> kept;  // keeps the automata alive during the call
  auto automaton = automata.begin();
  for (nb::handle state : states) {
    require(automaton != automata.end(), "there are fewer automata than states");
    kept.push_back(nb::borrow(*automaton));
    auto* each = taken<Automaton*>(kept.back(), "an object is not an automaton");
    require(each, "an object is not an automaton");
    require_words(*each, out.columns);
    jobs.push_back(
        {each, state_of(state), remaining && jobs.size() < remaining->size() ? (*remaining)[jobs.size()] : kUnlimited});
    ++automaton;
  }
  require(automaton == automata.end(), "there are more automata than states");
  require(out.rows == jobs.size() && (!remaining || remaining->size() == jobs.size()),
          "there is a row, and a budget, for each state");
  require(num_threads >= 1, "there is at least one thread");
  const std::span<uint32_t> words(reinterpret_cast<uint32_t*>(out.values.data()), out.values.size());
  unlocked([&] { fill_masks(jobs, words, out.columns, num_threads); });
}

}  // namespace

void bind_automata(nb::module_& m) {
  nb::class_<StateObject>(m, "StateObject", "A state that is more than a number.");
  nb::class_<Automaton>(m, "AutomatonCore", "An automaton over tokens.");
  m.def("fill_bitmasks", &fill_bitmasks, "automata"_a, "states"_a, "out"_a, "remaining"_a = nb::none(),
        "num_threads"_a = 1, "Write the mask of each state of a batch, a row of words each, without Python's lock.");
  nb::class_<FiniteAutomaton, Automaton> finite(m, "FiniteCore",
                                                "A deterministic automaton over tokens without a stack.");
  def_numbered_steps(finite)
      .def_static("from_classes", &from_classes, "vocabulary"_a, "start"_a, "final"_a, "classes"_a, "dense_bytes"_a,
                  "max_masks"_a, "budget"_a)
      .def_static("from_counted", &from_counted, "vocabulary"_a, "automaton"_a, "classes"_a, "spells_all"_a,
                  "max_masks"_a, "budget"_a)
      .def_static("dense", &dense, "vocabulary"_a, "start"_a, "final"_a, "runs"_a, "next"_a, "max_masks"_a,
                  "max_bytes"_a)
      .def_static("sparse", &sparse, "vocabulary"_a, "start"_a, "final"_a, "runs"_a, "num_classes"_a, "offsets"_a,
                  "edges"_a, "max_masks"_a, "max_bytes"_a)
      .def_static("guarded", &guarded, "vocabulary"_a, "start"_a, "final"_a, "runs"_a, "num_classes"_a,
                  "max_register"_a, "offsets"_a, "edges"_a, "max_masks"_a, "max_bytes"_a)
      .def_prop_ro("start", [](const FiniteAutomaton& a) { return a.tables().start; })
      .def_prop_ro("num_states", &FiniteAutomaton::num_states)
      .def_prop_ro("num_classes", [](const FiniteAutomaton& a) { return a.tables().num_classes; })
      .def_prop_ro("num_bytes", &FiniteAutomaton::num_bytes)
      .def_prop_ro("final",
                   [](nb::handle_t<FiniteAutomaton> self) {
                     return view_of_flags(nb::cast<const FiniteAutomaton&>(self).tables().final, self);
                   })
      .def_prop_ro("runs",
                   [](nb::handle_t<FiniteAutomaton> self) {
                     return view_of(nb::cast<const FiniteAutomaton&>(self).tables().runs, self);
                   })
      .def_prop_ro("transitions", &transitions,
                   "The table; or offsets and edges, and with a register its greatest value.")
      .def_prop_ro("token_class", &token_class, nb::rv_policy::move, "The class of every token, `[V]`.")
      .def("min_tokens", &min_tokens,
           "Return the least number of tokens from a state to the end of the text, counting the end token.")
      .def("successors", &successors, "state"_a,
           "Return the classes that a state allows, ascending, and the state that each leads to.")
      .def(
          "alike",
          [](const FiniteAutomaton& a, int64_t state) {
            require_state(a, state);
            return a.alike(state);
          },
          "state"_a, "Return a state with the same mask.")
      .def_prop_ro(
          "min_tokens_by_state",
          [](FiniteAutomaton& a) { return array(unlocked([&] { return a.min_tokens_by_state(); })); },
          nb::rv_policy::move)
      .def_prop_ro(
          "min_tokens_runs", &min_tokens_runs, nb::rv_policy::move,
          "With a register: `min_tokens` as runs of register values. The key of each run, control state x (R + 1) "
          "+ its least value, and the number of tokens.");
}

}  // namespace tokenfst
