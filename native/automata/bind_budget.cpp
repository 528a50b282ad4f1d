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
  nb::class_<Budget>(m, "Budget", "What one compilation may take, and how it is stopped. Used by one thread at a time.")
      .def(
          "__init__",
          [](Budget* self, int64_t max_bytes, double max_seconds, Budget* watched) {
            if (!(max_bytes >= 0) || !(max_seconds >= 0)) throw nb::value_error("a limit is negative");
            new (self) Budget(max_bytes, max_seconds, bindings::check_signals);
            self->watch(watched);
          },
          "max_bytes"_a, "max_seconds"_a, "watched"_a = nb::none(), nb::keep_alive<1, 4>(),
          "Bytes and seconds, and another budget that stops this work too when its time is up or it is cancelled.")
      .def("check", &Budget::poll, "Raise if the time is up, or if the work was cancelled.")
      .def(
          "spend",
          [](Budget& self, int64_t steps) {
            bindings::require(steps >= 0, "steps are not negative");
            self.spend(steps);
          },
          "steps"_a, "Account for elementary steps made outside of the core.")
      .def("charge", &Budget::charge, "num_bytes"_a, "Account for memory taken outside of the core.")
      .def(
          "release",
          [](Budget& self, size_t num_bytes) {
            bindings::require(num_bytes <= static_cast<size_t>(std::max<int64_t>(self.used_bytes(), 0)),
                              "more memory is given back than was taken");
            self.release(num_bytes);
          },
          "num_bytes"_a, "Account for memory given back.")
      .def("cancel", &Budget::cancel, "Make `check`, and whatever is under way, raise Cancelled. From any thread.")
      .def_prop_ro("used_bytes", &Budget::used_bytes)
      .def_prop_ro("peak_bytes", &Budget::peak_bytes)
      .def_prop_ro("max_bytes", &Budget::max_bytes);
}

}  // namespace automata
