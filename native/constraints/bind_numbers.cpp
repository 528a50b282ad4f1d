// Bindings of formulas about numbers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/arrays.h"
#include "constraints/bindings.h"
#include "constraints/kleene.h"

namespace constraints {

namespace {

using namespace bindings;
using namespace nanobind::literals;

Truth truth_of(nb::handle value) {
  if (value.is_none()) return Truth::kUnknown;
  return nb::cast<bool>(value) ? Truth::kTrue : Truth::kFalse;
}

int32_t negation_of(KleeneFormula& formula, int32_t part) {
  require_within(part, 0, formula.num_steps(), "step");
  return formula.negation(part);
}

template <int32_t (KleeneFormula::*join)(std::span<const int32_t>)>
int32_t joined(KleeneFormula& formula, const std::vector<int32_t>& parts) {
  require_within(parts, 0, formula.num_steps(), "step");
  return (formula.*join)(parts);
}

int32_t place_of(KleeneFormula& formula, int32_t cut, int32_t places) {
  require_within(cut, 0, INT32_MAX, "cut");
  return formula.place(cut, places);
}

int32_t multiple_of(KleeneFormula& formula, int32_t step) {
  require_within(step, 0, INT32_MAX, "step");
  return formula.multiple(step);
}

using KnownTuple = nb::typed<nb::tuple, nb::typed<nb::tuple, int, nb::ellipsis>, std::optional<bool>,
                             std::optional<bool>, nb::typed<nb::tuple, std::optional<bool>, nb::ellipsis>>;

std::optional<bool> value_of(const KleeneFormula& formula, const KnownTuple& known) {
  require(formula.num_steps() > 0, "a formula has a step");
  require(known.size() == 4, "what is known has four parts");
  const nb::tuple places = nb::cast<nb::tuple>(known[0]), multiples = nb::cast<nb::tuple>(known[3]);
  require(places.size() >= static_cast<size_t>(formula.num_cuts()), "a place is missing");
  require(multiples.size() >= static_cast<size_t>(formula.num_multiples()), "a multiple is missing");
  std::vector<int32_t> at;
  at.reserve(places.size());
  for (nb::handle place : places) at.push_back(nb::cast<int32_t>(place));
  std::vector<Truth> held;
  held.reserve(multiples.size());
  for (nb::handle multiple : multiples) held.push_back(truth_of(multiple));
  const Truth found = formula({at, truth_of(known[1]), truth_of(known[2]), held});
  return found == Truth::kUnknown ? std::nullopt : std::optional(found == Truth::kTrue);
}

}  // namespace

void bind_numbers(nb::module_& m) {
  nb::class_<KleeneFormula>(
      m, "KleeneFormula",
      "A formula in Kleene's logic, as a list of steps. Each method that adds a step returns its number.")
      .def(nb::init<>())
      .def("constant", &KleeneFormula::constant, "value"_a, "Add a constant.")
      .def("place", &place_of, "cut"_a, "places"_a,
           "Add the statement that the place at a cut is in a set of places, given as bits.")
      .def("integer", &KleeneFormula::integer, "Add the statement that the number is an integer.")
      .def("plain", &KleeneFormula::plain,
           "Add the statement that the number is written without fraction and exponent.")
      .def("multiple", &multiple_of, "step"_a, "Add the statement that the number is a multiple of a step.")
      .def("negation", &negation_of, "part"_a, "Add the negation of an earlier step.")
      .def("every", &joined<&KleeneFormula::every>, "parts"_a, "Add the conjunction of earlier steps.")
      .def("some", &joined<&KleeneFormula::some>, "parts"_a, "Add the disjunction of earlier steps.")
      .def(
          "__call__", &value_of, "known"_a,
          "Return the truth of the last step, or None if it is unknown. `known` has the possible places at each cut, "
          "as bits; whether the number is an integer; whether it is plain; and whether it is a multiple of each step.");
}

}  // namespace constraints
