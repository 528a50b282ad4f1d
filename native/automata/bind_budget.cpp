// Bindings of support/budget.h.
#include <algorithm>

#include "automata/bindings.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "support/budget.h"

namespace automata {

using namespace nanobind::literals;
using support::Budget;

void bind_budget(nb::module_& m) {
  nb::class_<Budget>(
      m, "Budget",
      "The memory and time that one compilation may take, and its cancellation. Used by one thread at a time.")
      .def(
          "__init__",
          [](Budget* self, int64_t max_bytes, double max_seconds, Budget* watched) {
            if (!(max_bytes >= 0) || !(max_seconds >= 0)) throw nb::value_error("a limit is negative");
            new (self) Budget(max_bytes, max_seconds, bindings::check_signals);
            self->watch(watched);
          },
          "max_bytes"_a, "max_seconds"_a, "watched"_a = nb::none(), nb::keep_alive<1, 4>(),
          "Limit memory and time. If `watched` runs out of time or is cancelled, it stops this work too.")
      .def("check", &Budget::poll, "Raise if the time is up, if the work was cancelled, or if a signal handler raises.")
      .def(
          "spend",
          [](Budget& self, int64_t steps) {
            bindings::require(steps >= 0, "steps are not negative");
            self.spend(steps);
          },
          "steps"_a, "Account for elementary steps made outside of the core; raise as `check` does.")
      .def("charge", &Budget::charge, "num_bytes"_a,
           "Account for memory taken outside of the core; raise if that exceeds the limit.")
      .def(
          "release",
          [](Budget& self, size_t num_bytes) {
            bindings::require(num_bytes <= static_cast<size_t>(std::max<int64_t>(self.used_bytes(), 0)),
                              "more memory is given back than was taken");
            self.release(num_bytes);
          },
          "num_bytes"_a, "Account for memory that is given back.")
      .def("cancel", &Budget::cancel,
           "Make `check`, and any work in progress, raise Cancelled. May be called from any thread.")
      .def_prop_ro("used_bytes", &Budget::used_bytes)
      .def_prop_ro("peak_bytes", &Budget::peak_bytes)
      .def_prop_ro("max_bytes", &Budget::max_bytes);
}

}  // namespace automata
