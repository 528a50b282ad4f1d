// The extension `automata._native`.
#include "automata/bindings.h"
#include "bindings/errors.h"

NB_MODULE(_native, m) {
  bindings::prepare(m);
  automata::bind_assertions(m);
  automata::bind_budget(m);
  automata::bind_collections_paused(m);
  automata::bind_conditions(m);
  automata::bind_byte_tables(m);
  automata::bind_construction(m);
  automata::bind_counted(m);
  automata::bind_graphs(m);
  automata::bind_transduce(m);
  automata::bind_visibly_pushdown(m);
  automata::bind_pushdown(m);
  automata::bind_weighted(m);
}
