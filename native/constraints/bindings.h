// The binding functions of the extension `constraints._native`.
#pragma once

#include <nanobind/nanobind.h>

namespace constraints {

namespace nb = nanobind;

void bind_strings(nb::module_& m);

}  // namespace constraints
