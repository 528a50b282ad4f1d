// Compiles a layout with counted loops into the minimal deterministic automaton with a register.
//
//     determinize    sets of states whose elements share one count          automata/counted/subsets.h
//     trim           restrict guards to the values from which an end can be reached, if the layout is a product
//     minimize       an interval of bytes with a guard and an action is a symbol; so is ending with a least value,
//                    which leads to one additional state
//     classes        intervals of bytes with the same arcs form one class
//
// (`automata/counted/__init__.py`)
#pragma once

#include <optional>
#include <span>

#include "automata/counted/counted_tables.h"
#include "automata/counted/subsets.h"

namespace automata {

struct CountedLayout {
  std::span<const Range> ranges;
  std::span<const MarkedEdge> epsilon;
  std::span<const int32_t> loop_of;
  std::span<const Loop> loops;
  int32_t max_register;
  bool is_product;  // whether some counts may have no end
};

// Holds the automaton; or two loops that would need separate counts at the same time; or neither, if it takes more
// states or bytes than allowed, or if a product needs too many separate counts.
struct CountedAutomaton {
  std::optional<CountedTables> tables;
  std::optional<Clash> clash;
};
CountedAutomaton compile(const CountedLayout& layout, int64_t max_states, int64_t max_bytes, Budget& budget);

}  // namespace automata
