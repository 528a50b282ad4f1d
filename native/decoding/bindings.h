// The binding functions of the extension `decoding._native`.
#pragma once

#include <nanobind/nanobind.h>

namespace decoding {

namespace nb = nanobind;

void bind_memory(nb::module_& m);
void bind_rows(nb::module_& m);

}  // namespace decoding
