// ArcRows: transitions sorted by state and then by symbol, in two counting passes unless they are in this order
// already.
#pragma once

#include <span>

#include "automata/arcs.h"

namespace automata {

struct ArcRows {
  Vector<int32_t> offsets;  // [Q + 1], where the arcs of each state begin
  Vector<Arc> arcs;

  int32_t num_states() const { return static_cast<int32_t>(offsets.size()) - 1; }
  std::span<const Arc> operator[](int32_t state) const {
    return {arcs.data() + offsets[state], arcs.data() + offsets[state + 1]};
  }
};

ArcRows arc_rows(int32_t num_states, Vector<Arc> arcs, Budget& budget);

}  // namespace automata
