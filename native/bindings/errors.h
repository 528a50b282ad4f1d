// Errors across the boundary: translates exceptions of the core into those of `automata.errors`.
//
// Each extension calls `prepare` once. Budgets poll signals through `check_signals`; an exception raised by a signal
// handler, such as KeyboardInterrupt, propagates through the core like any other.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <thread>

#include "support/budget.h"

namespace bindings {

namespace nb = nanobind;

// Take Python's lock by a function. If the interpreter is ending, Python ends daemon threads here, in a way that no
// destructor lets pass; the thread sleeps instead until the process has ended, as it does from Python 3.14 on.
template <class Function>
auto taken(Function take) {
  try {
    return take();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Python's lock is held while one of these exists.
class WithLock {
 public:
  WithLock() : state_(taken([] { return PyGILState_Ensure(); })) {}
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;
  ~WithLock() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// Python's lock is not held while one of these exists.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;
  ~WithoutLock() {
    taken([this] { return PyEval_RestoreThread(state_), true; });
  }

 private:
  PyThreadState* state_;
};

inline void check_signals() {
  const WithLock lock;
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
  const WithoutLock released;
  return function();
}

// Must be called first by each extension.
inline void prepare(nb::module_&) {
  nb::register_exception_translator(translate);
  // Objects that modules hold until the interpreter ends are not leaks.
  nb::set_leak_warnings(false);
}

}  // namespace bindings
