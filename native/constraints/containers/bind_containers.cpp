// Bindings of the states of arrays and objects, of objects whose names come in any order, and of rules that read them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "constraints/bindings.h"
#include "constraints/containers/any_order.h"
#include "constraints/containers/container_states.h"
#include "constraints/containers/rule_writer.h"

namespace constraints {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// A set of names is an int in Python, with a bit for each name.
NameSet names_of(nb::handle number) {
  NameSet names;
  const nb::bytes written = nb::cast<nb::bytes>(number.attr("to_bytes")(sizeof(names.words), "little"));
  const auto* bytes = static_cast<const uint8_t*>(written.data());
  for (size_t at = 0; at < sizeof(names.words); ++at) names.words[at / 8] |= uint64_t{bytes[at]} << 8 * (at % 8);
  return names;
}

nb::object number_of(const NameSet& names) {
  std::array<uint8_t, sizeof(names.words)> bytes{};
  for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<uint8_t>(names.words[at / 8] >> 8 * (at % 8));
  return nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type))
      .attr("from_bytes")(nb::bytes(bytes.data(), bytes.size()), "little");
}

std::vector<NameSet> sets_of(nb::handle numbers) {
  std::vector<NameSet> found;
  for (nb::handle number : numbers) found.push_back(names_of(number));
  return found;
}

std::vector<VectorOutcome> outcomes_of(nb::handle pairs) {
  std::vector<VectorOutcome> found;
  for (nb::handle pair : pairs) found.push_back({nb::cast<int32_t>(pair[0]), nb::cast<int32_t>(pair[1])});
  for (const VectorOutcome& outcome : found) {
    require(outcome.value >= 0 && outcome.vector >= 0, "an outcome has a value and a vector");
  }
  return found;
}

// Derivatives computed by a Python object; see `constraints.json_schema.containers.all_orders`.
class GivenDerivatives : public Derivatives {
 public:
  explicit GivenDerivatives(nb::handle source) : source_(source) {}

  Described described(int32_t vector) override {
    const nb::object found = source_.attr("described")(vector);
    Described said{sets_of(found[0]), sets_of(found[1]), names_of(found[2]), {}};
    for (nb::handle other : nb::cast<nb::list>(found[3])) {
      said.others.push_back({nb::cast<int32_t>(other[0]), outcomes_of(other[1])});
    }
    return said;
  }
  std::vector<VectorOutcome> outcomes(int32_t vector, int32_t name, const NameSet& remaining) override {
    return outcomes_of(source_.attr("ways")(vector, name, number_of(remaining)));
  }
  int32_t exit(int32_t vector, const NameSet& remaining) override {
    return nb::cast<int32_t>(source_.attr("exit")(vector, number_of(remaining)));
  }

 private:
  const nb::handle source_;
};

std::pair<ContainerStates, bool> any_order_of(nb::handle source, int32_t start, int32_t num_names, nb::handle returning,
                                              int64_t most) {
  require(start >= 0, "vectors are numbered from 0");
  require_within(num_names, 0, kMaxListed + 1, "number of names");
  GivenDerivatives given(source);
  AnyOrder made(start, num_names, names_of(returning), given);
  const bool is_all = made.make(most);
  return {std::move(made.states), is_all};
}

using GivenMove = std::pair<int32_t, std::vector<std::pair<int32_t, int32_t>>>;

void add_state(ContainerStates& states, const std::vector<GivenMove>& moves, const std::vector<int32_t>& skips,
               int32_t exit) {
  for (const auto& [name, outcomes] : moves) {
    for (const auto& [value, target] : outcomes) states.add_outcome({value, target});
    states.finish_move(name);
  }
  for (int32_t target : skips) states.add_skip(target);
  states.finish_state(exit);
}

int32_t checked(const ContainerStates& states, int32_t state) {
  require_within(state, 0, states.num_states(), "state");
  return state;
}

nb::list moves_of(const ContainerStates& states, int32_t state) {
  nb::list found;
  for (int32_t number = 0; number < states.num_moves(checked(states, state)); ++number) {
    const ContainerStates::Move move = states.move(state, number);
    nb::list outcomes;
    for (const Outcome& outcome : move.outcomes) outcomes.append(nb::make_tuple(outcome.value, outcome.target));
    found.append(nb::make_tuple(move.name, outcomes));
  }
  return found;
}

// `names` returns the parts of a name, none for an item. `value` returns how the values with some numbers are read;
// each of these values is an outcome, with a target of its own.
class ContainerWriter : public RuleWriter<ContainerStates> {
 public:
  ContainerWriter(const ContainerStates& states, nb::callable names, nb::callable value, std::set<int32_t> unreadable,
                  nb::handle call, Marks marks)
      : RuleWriter(states, call, std::move(marks)),
        names_(std::move(names)),
        value_(std::move(value)),
        unreadable_(std::move(unreadable)),
        lead_to_end_(states.lead_to_end(unreadable_)) {}

 private:
  void add_moves(int32_t state, int32_t source) override {
    for (int32_t number = 0; number < states_.num_moves(state); ++number) {
      const ContainerStates::Move move = states_.move(state, number);
      targets_.clear();
      values_here_.clear();
      for (const Outcome& outcome : move.outcomes) {
        if (!lead_to_end_[outcome.target] || unreadable_.contains(outcome.value)) continue;
        targets_.push_back(after(outcome.target));
        values_here_.push_back(outcome.value);
      }
      if (!targets_.empty()) add_member(source, names(move.name), value());
    }
  }

  const nb::tuple& names(int32_t number) {
    const auto found = known_names_.find(number);
    if (found != known_names_.end()) return found->second;
    return known_names_.emplace(number, nb::cast<nb::tuple>(names_(number))).first->second;
  }

  // Return how the values in `values_here_` are read.
  const ReadValue& value() {
    const auto found = known_values_.find(values_here_);
    if (found != known_values_.end()) return found->second;
    nb::list numbers;
    for (int32_t number : values_here_) numbers.append(number);
    const nb::object given = value_(numbers);
    ReadValue made{static_cast<int32_t>(known_values_.size()), {}, {}};
    for (nb::handle pair : given[0]) made.languages.push_back({pair[0], outcome(pair[1])});
    for (nb::handle call : given[1]) {
      std::vector<int32_t> outcomes;
      for (nb::handle number : call[2]) outcomes.push_back(outcome(number));
      made.calls.push_back({call[0], call[1], std::move(outcomes)});
    }
    return known_values_.emplace(values_here_, std::move(made)).first->second;
  }

  int32_t outcome(nb::handle number) const {
    const auto found = nb::cast<int32_t>(number);
    require_within(found, 0, static_cast<int32_t>(values_here_.size()), "outcome");
    return found;
  }

  const nb::callable names_, value_;
  const std::set<int32_t> unreadable_;
  const std::vector<bool> lead_to_end_;
  std::vector<int32_t> values_here_;
  std::map<int32_t, nb::tuple> known_names_;
  std::map<std::vector<int32_t>, ReadValue> known_values_;
};

nb::tuple container_rule(const ContainerStates& states, nb::callable names, nb::callable value,
                         std::set<int32_t> unreadable, nb::handle call, nb::object opened, nb::object empty,
                         nb::object comma, nb::object close) {
  require(states.num_states() > 0, "there is a first state");
  for (int32_t state = 0; state < states.num_states(); ++state) {
    for (int32_t skipped : states.skips(state)) checked(states, skipped);
    for (int32_t at = 0; at < states.num_moves(state); ++at) {
      for (const Outcome& outcome : states.move(state, at).outcomes) checked(states, outcome.target);
    }
  }
  return ContainerWriter(states, std::move(names), std::move(value), std::move(unreadable), call,
                         {std::move(opened), std::move(empty), std::move(comma), std::move(close)})
      .write();
}

void bind_states(nb::module_& m) {
  nb::class_<ContainerStates>(m, "ContainerStates",
                              "The states of an array or object as it is read. Names and values are given by number.")
      .def(nb::init<>(), nb::sig("def __init__(self) -> None"), "Make an empty table.")
      .def_prop_ro("num_states", &ContainerStates::num_states)
      .def_prop_ro("num_outcomes", &ContainerStates::num_outcomes)
      .def("add", &add_state, "moves"_a, "skips"_a, "exit"_a,
           "Add the next state: its moves, each with the number of a name and the outcomes; the other states whose "
           "moves may be made there; and the exit in which the array or object may end there, or -1.")
      .def("moves", &moves_of, nb::sig("def moves(self, state: int, /) -> list[tuple[int, list[tuple[int, int]]]]"),
           "Return the moves of a state, each with the number of a name and the outcomes.")
      .def(
          "skips",
          [](const ContainerStates& states, int32_t state) {
            const auto found = states.skips(checked(states, state));
            return std::vector<int32_t>(found.begin(), found.end());
          },
          nb::sig("def skips(self, state: int, /) -> list[int]"),
          "Return the other states whose moves may be made in a state.")
      .def(
          "exit", [](const ContainerStates& states, int32_t state) { return states.exit(checked(states, state)); },
          nb::sig("def exit(self, state: int, /) -> int"), "Return the exit of a state, or -1 if there is none.");
}

}  // namespace

void bind_containers(nb::module_& m) {
  bind_states(m);
  m.attr("MAX_LISTED") = kMaxListed;
  m.def("states_in_any_order", &any_order_of, "source"_a, "start"_a, "num_names"_a, "returning"_a, "most"_a,
        nb::sig("def states_in_any_order(source: typing.Any, start: int, num_names: int, returning: int, most: int) -> "
                "tuple[ContainerStates, bool]"),
        "Return the states of an object with variants whose names come in any order, and whether these are all of its "
        "states and have at most `most` outcomes.");
  m.def(
      "container_rule", &container_rule, "states"_a, "names"_a, "value"_a, "unreadable"_a, "call"_a, "opened"_a.none(),
      "empty"_a, "comma"_a, "close"_a,
      nb::sig(
          "def container_rule(states: ContainerStates, names: collections.abc.Callable[[int], tuple[typing.Any, "
          "...]], value: collections.abc.Callable[[list[int]], tuple[list[tuple[typing.Any, int]], "
          "list[tuple[typing.Any, int, tuple[int, ...]]]]], unreadable: collections.abc.Set[int], call: type, opened: "
          "typing.Any, empty: typing.Any, "
          "comma: typing.Any, close: typing.Any) -> tuple[int, list[tuple[int, typing.Any, int]], "
          "list[tuple[int, int]], list[typing.Any], list[tuple[int, int]]]"),
      "Return the rule that reads an array or object: the number of its states, the arcs, the epsilon arcs, the calls "
      "and the ends.");
}

}  // namespace constraints
