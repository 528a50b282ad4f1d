// The extension `decoding._native`.
#include "bindings/errors.h"
#include "decoding/bindings.h"

NB_MODULE(_native, m) {
  // These define the types that functions here take.
  nanobind::module_::import_("automata._native");
  nanobind::module_::import_("tokenfst._native");
  bindings::prepare(m);
  decoding::bind_memory(m);
  decoding::bind_rows(m);
}
