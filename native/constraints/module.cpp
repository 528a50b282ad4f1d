// The extension `constraints._native`.
#include "bindings/errors.h"
#include "constraints/bindings.h"

NB_MODULE(_native, m) {
  nanobind::module_::import_("automata._native");  // defines the types that functions here take
  bindings::prepare(m);
  constraints::bind_formulas(m);
  constraints::bind_connectives(m);
  constraints::bind_folding(m);
  constraints::bind_restriction(m);
  constraints::bind_plain(m);
  constraints::bind_containers(m);
  constraints::bind_strings(m);
  constraints::bind_numbers(m);
}
