// The extension `decoding._native`.
#include "bindings/errors.h"
#include "decoding/bindings.h"

NB_MODULE(_native, m) {
  nanobind::module_::import_("automata._native");  // defines the types that functions here take
  bindings::prepare(m);
  decoding::bind_memory(m);
  decoding::bind_rows(m);
}
