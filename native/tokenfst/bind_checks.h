// Helpers shared by the bindings of automata over tokens: checks, steps, and columns of records.
#pragma once

#include <nanobind/stl/optional.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "tokenfst/automaton.h"
#include "tokenfst/classes.h"

namespace tokenfst {

namespace nb = nanobind;

// Require that a state is one of an automaton whose states are numbers.
template <class Numbered>
void require_state(const Numbered& automaton, int64_t state) {
  bindings::require(automaton.has_state(state),
                    [&] { return "state " + std::to_string(state) + " is not one of the automaton's"; });
}

// Return a state, or nothing for -1, which means that the token is not allowed.
inline std::optional<int64_t> if_allowed(int64_t state) { return state == -1 ? std::nullopt : std::optional(state); }

// Return the state after a state and one more token, or nothing if the token is not allowed.
template <class Numbered>
std::optional<int64_t> advance_numbered(const Numbered& automaton, int64_t state, int64_t token) {
  require_state(automaton, state);
  if (token < 0 || token >= automaton.vocabulary().size()) return std::nullopt;
  return if_allowed(automaton.advance(state, static_cast<int32_t>(token)));
}

inline void require_words(const Automaton& automaton, size_t width) {
  const size_t needed = automaton.vocabulary().num_words();
  bindings::require(width >= needed, [&] {
    return "a mask takes " + std::to_string(needed) + " words, and there are " + std::to_string(width);
  });
}

// Return a row as the words of a mask. Throw ValueError if it is too short.
inline std::span<uint32_t> words_of(const Automaton& automaton, const bindings::Output<int32_t>& row) {
  require_words(automaton, row.size());
  return {reinterpret_cast<uint32_t*>(row.data()), row.size()};
}

// Write the mask of a state, holding Python's lock if the mask is cached, and releasing it otherwise.
template <class Numbered>
void fill_numbered(Numbered& automaton, int64_t state, bindings::Output<int32_t> row, int64_t remaining) {
  require_state(automaton, state);
  const auto words = words_of(automaton, row);
  if (automaton.fill_known(state, remaining, words)) return;
  bindings::unlocked([&] { automaton.fill(state, remaining, words); });
}

inline void require_covered(std::span<const ClassRun> runs, const Vocabulary& vocabulary) {
  const int32_t end = runs.empty() ? 0 : runs.back().end;
  bindings::require(end == vocabulary.num_ranks(), "the runs of classes do not cover the vocabulary");
}

// Require runs of classes that cover all ranks in order.
inline void require_runs(std::span<const ClassRun> runs, int32_t num_classes, const Vocabulary& vocabulary) {
  int32_t before = 0;
  for (const ClassRun& run : runs) {
    bindings::require(before < run.end, "runs do not ascend");
    bindings::require_within(run.number, 0, num_classes, "class");
    before = run.end;
  }
  require_covered(runs, vocabulary);
}

// Return runs of classes from their columns. Require that they ascend.
inline std::vector<ClassRun> runs_of(std::span<const int32_t> run_end, std::span<const int32_t> run_class,
                                     int32_t num_classes) {
  bindings::require(run_end.size() == run_class.size(), "a run has an end and a class");
  std::vector<ClassRun> runs;
  int32_t before = 0;
  for (size_t run = 0; run < run_end.size(); ++run) {
    bindings::require(before < run_end[run], "runs do not ascend");
    bindings::require_within(run_class[run], 0, num_classes, "class");
    runs.push_back({before = run_end[run], run_class[run]});
  }
  return runs;
}

// Convert an object to a T. Throw TypeError if it is of another type.
template <class T>
T taken(nb::handle object, const char* otherwise) {
  T value{};
  if (!nb::try_cast(object, value)) throw nb::type_error(otherwise);
  return value;
}

// Return one member of each record.
template <class Record>
std::vector<int32_t> column(const std::vector<Record>& records, int32_t Record::* member) {
  std::vector<int32_t> found;
  found.reserve(records.size());
  for (const Record& record : records) found.push_back(record.*member);
  return found;
}

// Define the properties `run_end` and `run_class`; `runs(self)` returns the runs of classes.
template <class Class, class... Extra, class GetRuns>
nb::class_<Class, Extra...>& def_runs(nb::class_<Class, Extra...>& type, GetRuns runs) {
  return type
      .def_prop_ro(
          "run_end",
          [runs](const Class& self) { return bindings::array(column<ClassRun>(runs(self), &ClassRun::end)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "run_class",
          [runs](const Class& self) { return bindings::array(column<ClassRun>(runs(self), &ClassRun::number)); },
          nb::rv_policy::move);
}

// Define the steps of an automaton whose states are numbers. Their arguments have no names: matching them takes
// nanobind longer than the step itself.
template <class Class, class... Extra>
nb::class_<Class, Extra...>& def_numbered_steps(nb::class_<Class, Extra...>& type) {
  return type
      .def(
          "is_final",
          [](const Class& automaton, int64_t state) {
            require_state(automaton, state);
            return automaton.is_final(state);
          },
          "Return whether the text may end in a state.")
      .def("advance", &advance_numbered<Class>,
           "Return the state after a state and one more token, or None if the token is not allowed.")
      .def(
          "fill_bitmask",
          [](Class& automaton, int64_t state, bindings::Output<int32_t> out) {
            fill_numbered(automaton, state, out, kUnlimited);
          },
          "Write the mask of a state.")
      .def("fill_within", &fill_numbered<Class>, "Write the mask of a state within a budget of tokens.");
}

}  // namespace tokenfst
