// The parts of the extension `automata._native`.
#pragma once

#include <nanobind/nanobind.h>

namespace automata {

namespace nb = nanobind;

void bind_budget(nb::module_& m);
void bind_byte_tables(nb::module_& m);
void bind_graphs(nb::module_& m);

}  // namespace automata
