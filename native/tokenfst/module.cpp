// The extension `tokenfst._native`.
#include "bindings/errors.h"
#include "tokenfst/bindings.h"

NB_MODULE(_native, m) {
  nanobind::module_::import_("automata._native");  // defines the types that functions here take
  bindings::prepare(m);
  tokenfst::bind_vocabulary(m);
  tokenfst::bind_classes(m);
  tokenfst::bind_counted(m);
  tokenfst::bind_automata(m);
  tokenfst::bind_pushdown_tables(m);
  tokenfst::bind_pushdown_automata(m);
  tokenfst::bind_lazy(m);
  tokenfst::bind_canonical(m);
  tokenfst::bind_costs(m);
  tokenfst::bind_unique_items(m);
}
