// Bindings of automata with a stack, of their states, and of distances.
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <ranges>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/bind_checks.h"
#include "tokenfst/bindings.h"
#include "tokenfst/pushdown/automaton.h"
#include "tokenfst/token_classes.h"

namespace tokenfst {

namespace {

using namespace bindings;
using namespace nanobind::literals;
using SharedVocabulary = std::shared_ptr<const Vocabulary>;
using SharedTables = std::shared_ptr<const PushdownTables>;
using SharedDistance = std::shared_ptr<StackDistance>;
using SharedAutomaton = std::shared_ptr<PushdownAutomaton>;

// States.

int32_t number_of(nb::handle object, const char* what) {
  const auto number = taken<int64_t>(object, "a state or a symbol is not a number");
  require_within(number, 0, INT32_MAX, what);
  return static_cast<int32_t>(number);
}

// A tuple of any length.
template <class T>
using Several = nb::typed<nb::tuple, T, nb::ellipsis>;

void make_state(PushdownState* self,
                const nb::typed<nb::iterable, std::pair<int, nb::typed<nb::iterable, int>>>& configurations) {
  std::vector<Configuration> found;
  for (nb::handle each : nb::iter(configurations)) {
    const nb::tuple pair(each);
    require(pair.size() == 2, "a configuration is a state and the symbols of a stack");
    Configuration& configuration = found.emplace_back(number_of(pair[0], "state"), Stack());
    for (nb::handle symbol : nb::iter(pair[1])) configuration.stack.push(number_of(symbol, "symbol"));
  }
  require(!found.empty(), "a state has a configuration");
  new (self) PushdownState(std::move(found));
}

Several<std::pair<int, Several<int>>> configurations_of(const PushdownState& state) {
  nb::list found;
  for (const Configuration& each : state.configurations()) {
    nb::list symbols;
    for (int32_t symbol : each.stack.symbols()) symbols.append(symbol);
    found.append(nb::make_tuple(each.state, nb::tuple(symbols)));
  }
  return nb::tuple(found);
}

Several<std::pair<int, int>> tops_of(const PushdownState& state) {
  nb::list found;
  for (const Configuration& each : state.configurations()) {
    found.append(nb::make_tuple(each.state, each.stack.empty() ? -1 : each.stack.top()->symbol()));
  }
  return nb::tuple(found);
}

// Return the topmost symbols of a stack as text, the topmost one last.
std::string shown(const Stack& stack) {
  constexpr int kShown = 8;
  std::vector<int32_t> symbols;
  const Stack::Cell* cell = stack.top();
  for (; cell && symbols.size() < kShown; cell = cell->below()) symbols.push_back(cell->symbol());
  std::string text(cell ? "..." : "");
  for (int32_t symbol : std::views::reverse(symbols)) {
    if (!text.empty()) text += ' ';
    text += std::to_string(symbol);
  }
  return text;
}

std::string shown_state(const PushdownState& state) {
  constexpr size_t kShown = 4;
  std::string text("<");
  for (const Configuration& each : state.configurations().first(std::min(state.size(), kShown))) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(each.state);
    text += " [";
    text += shown(each.stack);
    text += ']';
  }
  text += state.size() > kShown ? ", ...>" : ">";
  return text;
}

void bind_states(nb::module_& m) {
  nb::class_<PushdownState, StateObject>(m, "PushdownState", "A position of a text in an automaton with a stack.")
      .def("__init__", &make_state, "configurations"_a)
      .def_prop_ro("configurations", &configurations_of,
                   "The configurations: states, each with the symbols of its stack, the topmost one last.")
      .def_prop_ro(
          "tops", &tops_of,
          "The states of the configurations, each with the topmost symbol of its stack, or -1 if the stack is empty.")
      .def("__len__", &PushdownState::size)
      .def("__hash__", [](const PushdownState& state) { return static_cast<int64_t>(state.hash()); })
      .def(
          "__eq__", [](const PushdownState& left, const PushdownState& right) { return left == right; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", &shown_state)
      .def("__copy__", [](nb::handle_t<PushdownState> self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle_t<PushdownState> self, nb::handle) { return nb::borrow(self); }, "memo"_a)
      .def(
          "__reduce__",
          [](nb::handle_t<PushdownState> self) {
            return std::pair(nb::borrow(self.type()),
                             nb::make_tuple(configurations_of(nb::cast<const PushdownState&>(self))));
          },
          nb::sig("def __reduce__(self) -> tuple[type, tuple[object]]"));
}

// Distances.

SharedDistance make_distance(SharedTables tables, int64_t max_bytes, int64_t max_context_bytes) {
  require(max_bytes >= 0 && max_context_bytes >= 0, "a limit is negative");
  return std::make_shared<StackDistance>(
      std::move(tables), StackDistance::Capacity{max_bytes, static_cast<size_t>(max_context_bytes)}, check_signals);
}

// The next context and its cost, by context and symbol; the rest, by context and column; the column of each move; and
// the distance from the start.
using Table = nb::ndarray<nb::numpy, int32_t>;

std::optional<std::tuple<Table, Table, Table, Table, int32_t>> by_context(StackDistance& distance,
                                                                          int32_t max_contexts) {
  auto found = unlocked([&] { return distance.by_context(max_contexts); });
  if (!found) return std::nullopt;
  const auto rows = static_cast<size_t>(found->num_contexts);
  const size_t symbols = found->next.size() / rows, columns = found->rest.size() / rows;
  return std::tuple(owned(std::move(found->next), {rows, symbols}), owned(std::move(found->cost), {rows, symbols}),
                    owned(std::move(found->rest), {rows, columns}), array(std::move(found->rest_of)), found->first);
}

// Automata.

void require_state(const PushdownAutomaton& automaton, const PushdownState& state) {
  require(automaton.has_state(state), "the state is none of the automaton's");
}

// Require that each move pops exactly the symbols that lead to its node. Distances rely on it.
void require_exact_pops(const PushdownTables& tables) {
  const Depths depths = depths_of(tables);
  for (int32_t node : depths.order) {
    for (const auto& edge : tables.edges_of(node)) {
      for (const auto& move : tables.moves_of(edge.outcome)) {
        require(move.pops == depths.least[node] && move.pops == depths.most[node],
                "a move pops other symbols than lead to it");
      }
    }
  }
}

SharedAutomaton make_automaton(SharedVocabulary vocabulary, SharedTables tables, Values<int32_t> run_end,
                               Values<int32_t> run_class, SharedDistance distance, int32_t max_depth,
                               int64_t max_masks) {
  require(max_masks > 0 && max_depth >= PushdownAutomaton::kNoMaxDepth, "some masks are kept");
  require(&distance->tables() == tables.get(), "the distances are of other tables");
  auto runs = runs_of(run_end, run_class, tables->num_classes);
  require_covered(runs, *vocabulary);
  require_exact_pops(*tables);
  PushdownAutomaton::Parts parts{std::move(tables), std::make_shared<const std::vector<ClassRun>>(std::move(runs)),
                                 std::move(distance), max_depth, static_cast<size_t>(max_masks)};
  return std::make_shared<PushdownAutomaton>(std::move(vocabulary), std::move(parts));
}

SharedAutomaton within(const PushdownAutomaton& automaton, int32_t max_depth) {
  require(max_depth >= PushdownAutomaton::kNoMaxDepth, "a depth is negative");
  PushdownAutomaton::Parts parts = automaton.parts();
  parts.max_depth = max_depth;
  return std::make_shared<PushdownAutomaton>(automaton.shared_vocabulary(), std::move(parts));
}

[[noreturn]] void raise_too_many(const PushdownAutomaton& automaton) {
  const nb::object error = nb::module_::import_("automata.errors").attr("TooManyConfigurations");
  PyErr_Format(error.ptr(),
               "the text has more derivations side by side than the %d that are carried (`max_configurations`)",
               automaton.tables().max_configurations);
  throw nb::python_error();
}

std::optional<PushdownState> advance(const PushdownAutomaton& automaton, const PushdownState& state, int64_t token) {
  require_state(automaton, state);
  if (token < 0 || token >= automaton.vocabulary().size()) return std::nullopt;
  auto advanced = automaton.advance(state, static_cast<int32_t>(token));
  if (advanced.too_many) raise_too_many(automaton);
  return std::move(advanced.state);
}

bool is_final(const PushdownAutomaton& automaton, const PushdownState& state) {
  require_state(automaton, state);
  return automaton.is_final(state);
}

int64_t min_tokens(const PushdownAutomaton& automaton, const PushdownState& state) {
  require_state(automaton, state);
  if (const auto known = automaton.min_tokens(state, false)) return *known;
  return unlocked([&] { return *automaton.min_tokens(state, true); });
}

void fill_within(PushdownAutomaton& automaton, const PushdownState& state, Output<int32_t> out, int64_t remaining) {
  require_state(automaton, state);
  const auto words = words_of(automaton, out);
  if (automaton.fill(state, remaining, words, false)) return;
  unlocked([&] { automaton.fill(state, remaining, words, true); });
}

void fill_bitmask(PushdownAutomaton& automaton, const PushdownState& state, Output<int32_t> out) {
  fill_within(automaton, state, out, kUnlimited);
}

}  // namespace

void bind_pushdown_automata(nb::module_& m) {
  bind_states(m);
  nb::class_<StackDistance>(m, "StackDistance",
                            "The least number of tokens from a state with a stack to the end of the text.")
      .def(nb::new_(&make_distance), "tables"_a, "max_bytes"_a, "max_context_bytes"_a)
      .def("by_context", &by_context, "max_contexts"_a,
           "Return the distances for all contexts that occur with any stack, or None if there are more than "
           "`max_contexts`.");
  nb::class_<PushdownAutomaton, Automaton> automaton(m, "PushdownCore", "An automaton over tokens with a stack.");
  def_runs(automaton, [](const PushdownAutomaton& self) -> const auto& { return *self.parts().runs; })
      .def(nb::new_(&make_automaton), "vocabulary"_a, "tables"_a, "run_end"_a, "run_class"_a, "distance"_a,
           "max_depth"_a, "max_masks"_a)
      .def("within", &within, "max_depth"_a,
           "Return the same automaton with a stack of at most `max_depth` symbols; -1 for no limit.")
      .def_prop_ro("start", [](const PushdownAutomaton& a) { return a.start(); })
      .def_prop_ro("end_state", [](const PushdownAutomaton& a) { return a.end(); })
      .def_prop_ro("tables", [](const PushdownAutomaton& a) { return a.parts().tables; })
      .def_prop_ro("distance", [](const PushdownAutomaton& a) { return a.parts().distance; })
      .def_prop_ro("num_bytes", &PushdownAutomaton::num_bytes)
      .def_prop_ro(
          "token_class", [](const PushdownAutomaton& a) { return array(class_of_tokens(a.vocabulary(), a.runs())); },
          nb::rv_policy::move, "The class of every token, `[V]`.")
      // Called at every step, so arguments have no names: matching them takes nanobind longer than the step itself.
      .def("is_final", &is_final, "Return whether the text may end in a state.")
      .def("advance", &advance,
           "Return the state after a state and one more token, or None if the token is not allowed.")
      .def("fill_bitmask", &fill_bitmask, "Write the mask of a state.")
      .def("fill_within", &fill_within, "Write the mask of a state within a budget of tokens.")
      .def("min_tokens", &min_tokens,
           "Return the least number of tokens from a state to the end of the text, without a limit on the stack.")
      .def(
          "allows_any",
          [](const PushdownAutomaton& automaton, const PushdownState& state) {
            require_state(automaton, state);
            return automaton.allows_any(state);
          },
          "state"_a, "Return whether a state allows a token or the end.");
}

}  // namespace tokenfst
