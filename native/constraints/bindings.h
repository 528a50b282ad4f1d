// The parts of the extension `constraints._native`.
#pragma once

#include <nanobind/nanobind.h>

namespace constraints {

namespace nb = nanobind;

}  // namespace constraints
