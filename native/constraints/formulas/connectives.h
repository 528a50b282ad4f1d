// Connectives, made from their parts and simplified.
#pragma once

#include "constraints/formulas/formula.h"

namespace constraints {

// Return the formula that holds where another does not.
nb::object negated(const Node& part);

// Return the formula that a connective of a type makes of some parts.
nb::object rebuilt(PyTypeObject* connective, const nb::list& parts);

}  // namespace constraints
