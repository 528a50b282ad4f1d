// The binding functions of the extension `automata._native`.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "automata/arcs.h"
#include "bindings/arrays.h"

namespace automata {

namespace nb = nanobind;

// Require that arcs lead between existing states, each over a range of bytes or over one label.
inline void require_ranges(std::span<const Range> ranges, int32_t num_states, int32_t num_labels) {
  bindings::require_countable(ranges.size(), "ranges");
  for (const Range& range : ranges) {
    const bool is_label = range.low >= kFirstLabel;
    const bool in_order = is_label ? range.low == range.high && range.high - kFirstLabel < num_labels
                                   : 0 <= range.low && range.low <= range.high && range.high < kFirstLabel;
    bindings::require(in_order, [&] {
      return "an arc from " + std::to_string(range.low) + " to " + std::to_string(range.high) +
             " is over no bytes or label";
    });
    bindings::require(0 <= range.source && range.source < num_states && 0 <= range.target && range.target < num_states,
                      "an arc leads outside of the states");
  }
}

inline void require_edges(std::span<const Edge> edges, int32_t num_states) {
  bindings::require_countable(edges.size(), "epsilon arcs");
  for (const Edge& edge : edges) {
    bindings::require(0 <= edge.source && edge.source < num_states && 0 <= edge.target && edge.target < num_states,
                      "an epsilon arc leads outside of the states");
  }
}

// Require that the arcs of each state ascend and do not overlap.
template <class Tables>
void require_ascending(const Tables& tables) {
  for (int32_t state = 0; state < tables.num_states(); ++state) {
    const auto own = tables.arcs_of(state);
    for (size_t at = 1; at < own.size(); ++at)
      bindings::require(own[at - 1].high < own[at].low, "the arcs of a state do not ascend");
  }
}

void bind_assertions(nb::module_& m);
void bind_budget(nb::module_& m);
void bind_collections_paused(nb::module_& m);
void bind_conditions(nb::module_& m);
void bind_byte_tables(nb::module_& m);
void bind_construction(nb::module_& m);
void bind_counted(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_transduce(nb::module_& m);
void bind_visibly_pushdown(nb::module_& m);
void bind_pushdown(nb::module_& m);
void bind_weighted(nb::module_& m);

}  // namespace automata
