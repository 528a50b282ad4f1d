// The binding functions of the extension `tokenfst._native`.
#pragma once

#include <nanobind/nanobind.h>

namespace tokenfst {

namespace nb = nanobind;

void bind_vocabulary(nb::module_& m);
void bind_classes(nb::module_& m);
void bind_counted(nb::module_& m);
void bind_automata(nb::module_& m);
void bind_pushdown_tables(nb::module_& m);
void bind_pushdown_automata(nb::module_& m);
void bind_lazy(nb::module_& m);
void bind_canonical(nb::module_& m);
void bind_costs(nb::module_& m);
void bind_unique_items(nb::module_& m);

}  // namespace tokenfst
