// Errors across the boundary: translates exceptions of the core into those of `automata.errors`.
//
// Each extension calls `prepare` once. Budgets poll signals through `check_signals`; an exception raised by a signal
// handler, such as KeyboardInterrupt, propagates through the core like any other.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "support/budget.h"

namespace bindings {

namespace nb = nanobind;

inline void check_signals() {
  nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Set an error of `automata.errors`, by the name of its class.
inline void set_error(const char* name, const char* message) {
  const nb::object error = nb::module_::import_("automata.errors").attr(name);
  PyErr_SetString(error.ptr(), message);
}

inline void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const support::LimitExceeded& error) {
    const char* const names[] = {"memory", "states", "seconds"};
    nb::object exceeded = nb::module_::import_("automata.errors").attr("limit_exceeded");
    nb::object made = exceeded(names[static_cast<int>(error.limit())], error.amount());
    PyErr_SetObject(made.type().ptr(), made.ptr());
  } catch (const support::Cancelled&) {
    set_error("Cancelled", "the compilation was cancelled");
  }
}

// Call a function of the core without Python's lock.
template <class Function>
auto unlocked(Function function) {
  nb::gil_scoped_release release;
  return function();
}

// Must be called first by each extension.
inline void prepare(nb::module_&) {
  nb::register_exception_translator(translate);
  // Objects that modules hold until the interpreter ends are not leaks.
  nb::set_leak_warnings(false);
}

}  // namespace bindings
