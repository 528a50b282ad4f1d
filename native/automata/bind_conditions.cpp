// Bindings of the conditions of guarded arcs. A set of flags is a Python int with a bit for each flag.
#include <nanobind/stl/tuple.h>

#include "automata/bindings.h"
#include "automata/visibly_pushdown/flag_conditions.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"

namespace automata {

namespace {

using namespace bindings;
using namespace nanobind::literals;

// Return the bytes of a set of flags, the least significant first. Throw ValueError if it is negative.
std::vector<uint8_t> bytes_of_number(const nb::int_& number) {
  require(!(nb::object(number) < nb::object(nb::int_(0))), "a set of flags is negative");
  const uint64_t low = PyLong_AsUnsignedLongLong(number.ptr());
  std::vector<uint8_t> bytes;
  if (!PyErr_Occurred()) {
    for (uint64_t left = low; left != 0; left >>= 8) bytes.push_back(static_cast<uint8_t>(left));
    return bytes;
  }
  if (!PyErr_ExceptionMatches(PyExc_OverflowError)) nb::raise_python_error();
  PyErr_Clear();
  const auto size = (nb::cast<size_t>(number.attr("bit_length")()) + 7) / 8;
  const nb::bytes written = nb::cast<nb::bytes>(number.attr("to_bytes")(size, "little"));
  const auto own = bytes_of(written);
  return {own.begin(), own.end()};
}

std::vector<int32_t> descending(const nb::int_& flags) {
  const std::vector<uint8_t> bytes = bytes_of_number(flags);
  require_countable(8 * bytes.size(), "flags");
  std::vector<int32_t> found;
  for (size_t at = bytes.size(); at-- > 0;) {
    for (int bit = 8; bit-- > 0;) {
      if (bytes[at] >> bit & 1) found.push_back(static_cast<int32_t>(8 * at) + bit);
    }
  }
  return found;
}

nb::object number_of(std::span<const int32_t> flags) {
  const nb::object one = nb::int_(1);
  nb::object found = nb::int_(0);
  for (const int32_t flag : flags) found = found | (one << nb::int_(flag));
  return found;
}

int32_t checked(const FlagConditions& conditions, int32_t condition) {
  require_within(condition, 0, conditions.num_conditions(), "condition");
  return condition;
}

template <class Function>
int32_t limited(Function function) {
  try {
    return function();
  } catch (const TooManyDecisions&) {
    set_error("LimitExceeded", "the conditions of a rule take too many decisions");
    throw nb::python_error();
  }
}

bool holds(const FlagConditions& conditions, int32_t condition, const nb::int_& flags) {
  checked(conditions, condition);
  const std::vector<uint8_t> bytes = bytes_of_number(flags);
  while (condition > kTrue) {
    const auto& [flag, low, high] = conditions.decision(condition);
    const size_t at = static_cast<size_t>(flag) / 8;
    condition = at < bytes.size() && (bytes[at] >> flag % 8 & 1) ? high : low;
  }
  return condition == kTrue;
}

int32_t all_of(FlagConditions& conditions, const nb::int_& flags) {
  return limited([&] { return conditions.all_of(descending(flags)); });
}

int32_t not_all_of(FlagConditions& conditions, const nb::int_& flags) {
  return limited([&] { return conditions.not_all_of(descending(flags)); });
}

int32_t choice(FlagConditions& conditions, int32_t condition, int32_t then, int32_t otherwise) {
  for (const int32_t each : {condition, then, otherwise}) checked(conditions, each);
  return limited([&] { return conditions.choice(condition, then, otherwise); });
}

int32_t any_of(FlagConditions& conditions, const nb::typed<nb::iterable, int>& given) {
  int32_t found = kFalse;
  for (nb::handle each : given) found = choice(conditions, found, kTrue, nb::cast<int32_t>(each));
  return found;
}

int32_t known(FlagConditions& conditions, int32_t condition, int32_t flag, bool is_set) {
  checked(conditions, condition);
  require(flag >= 0, "a flag is negative");
  return limited([&] { return conditions.known(condition, flag, is_set); });
}

nb::typed<nb::object, int> fewest(const FlagConditions& conditions, int32_t condition) {
  if (checked(conditions, condition) == kFalse) return nb::int_(-1);
  return nb::borrow<nb::typed<nb::object, int>>(number_of(conditions.fewest(condition)));
}

nb::typed<nb::tuple, int, int, int> decision_of(const FlagConditions& conditions, int32_t condition) {
  require(checked(conditions, condition) > kTrue, "the condition is not a decision");
  const auto& [flag, low, high] = conditions.decision(condition);
  return nb::borrow<nb::typed<nb::tuple, int, int, int>>(nb::make_tuple(flag, low, high));
}

}  // namespace

void bind_conditions(nb::module_& m) {
  nb::class_<FlagConditions>(m, "Conditions", "The conditions of a rule, as decision diagrams over its flags.")
      .def(nb::init<>())
      .def("__getstate__", [](const FlagConditions& conditions) { return records(conditions.decisions()); })
      .def("__setstate__",
           [](FlagConditions& self, Records<Decision> decisions) { new (&self) FlagConditions(decisions); })
      .def("__len__", &FlagConditions::num_conditions, "Return the number of conditions, including the two constants.")
      .def("holds", &holds, "condition"_a, "flags"_a,
           "Return whether a condition holds if these flags, and no others, are set.")
      .def("all_of", &all_of, "flags"_a, "Return the condition that all given flags are set.")
      .def("not_all_of", &not_all_of, "flags"_a,
           "Return the condition that at least one of the given flags is not set.")
      .def(
          "negation",
          [](FlagConditions& conditions, int32_t condition) { return choice(conditions, condition, kFalse, kTrue); },
          "condition"_a, "Return the negation of a condition.")
      .def(
          "both",
          [](FlagConditions& conditions, int32_t one, int32_t other) { return choice(conditions, one, other, kFalse); },
          "one"_a, "other"_a, "Return the conjunction of two conditions.")
      .def("any_of", &any_of, "conditions"_a, "Return the disjunction of some conditions.")
      .def("choice", &choice, "condition"_a, "then"_a, "otherwise"_a,
           "Return the condition that equals `then` if a condition holds, and `otherwise` if it does not.")
      .def("known", &known, "condition"_a, "flag"_a, "is_set"_a,
           "Return what remains of a condition once one flag is known to be set or not.")
      .def("fewest", &fewest, "condition"_a,
           "Return a smallest set of flags with which a condition holds, or -1 if it never holds.")
      .def("decision", &decision_of, "condition"_a,
           "Return the flag that a condition tests, and the conditions it leads to if the flag is not set and if it "
           "is.");
}

}  // namespace automata
