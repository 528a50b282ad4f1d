// The binding functions of the extension `constraints._native`.
#pragma once

#include <nanobind/nanobind.h>

namespace constraints {

namespace nb = nanobind;

void bind_formulas(nb::module_& m);
void bind_connectives(nb::module_& m);
void bind_folding(nb::module_& m);
void bind_restriction(nb::module_& m);
void bind_plain(nb::module_& m);
void bind_containers(nb::module_& m);
void bind_strings(nb::module_& m);
void bind_numbers(nb::module_& m);

}  // namespace constraints
