// CountedTables: a deterministic automaton over bytes with a register, for repetitions with large bounds.
//
// The register counts the iterations of the loop that the text is in, from 0 to `max_register`. An arc has a guard, an
// interval that the register must lie in, and an action. Arcs of one state and class are in order and do not overlap.
// (`automata/counted/__init__.py` describes how such an automaton is made.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "automata/byte_tables.h"

namespace automata {

struct CountedArc {
  int32_t low, high;  // the least and the greatest register value
  int32_t target;
  int32_t action;  // n >= 0 adds n to the register, ~n sets it to n

  int32_t after(int32_t value) const { return action >= 0 ? value + action : ~action; }
};

struct CountedTables {
  int32_t start = kNone;  // with 0 in the register
  int32_t max_register = 0;
  int32_t num_classes = 0;
  ByteClasses byte_class{};
  std::vector<int32_t> offsets;  // [Q x C + 1], where the arcs of state q by class c begin, at q x C + c
  std::vector<CountedArc> guarded_arcs;
  std::vector<int32_t>
      final_from;  // [Q], a text may end with at least this in the register; kNone where it may not end

  int32_t num_states() const { return static_cast<int32_t>(final_from.size()); }
  size_t num_bytes() const {
    return byte_class.size() + 4 * (offsets.size() + final_from.size()) + sizeof(CountedArc) * guarded_arcs.size();
  }
  std::span<const CountedArc> arcs(int32_t state, int32_t column) const {
    const size_t cell = static_cast<size_t>(state) * num_classes + column;
    return {guarded_arcs.data() + offsets[cell], guarded_arcs.data() + offsets[cell + 1]};
  }

  // A state, or kNone, and the value of the register there.
  struct Configuration {
    int32_t state, value;
  };
  // Return the configuration that a byte leads to from a configuration whose state is not kNone.
  Configuration step(Configuration configuration, uint8_t byte) const;
  bool accepts(std::span<const uint8_t> text) const;
};

}  // namespace automata
