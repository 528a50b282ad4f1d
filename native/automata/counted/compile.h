// Compiles a layout with counted loops into the minimal deterministic automaton with a register.
//
//     determinize    sets of states whose elements share one count          automata/counted/subsets.h
//     trim           guards are restricted to the values from which an end can be reached, if the layout is a product
//     minimize       an interval of bytes, a guard and an action together are a symbol; ending is one more symbol for
//                    each least value, leading to one extra state
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
  bool is_product;  // whether some counts may lead nowhere
};

// Holds the automaton; or two loops that would need separate counts at the same time; or neither, if it takes more
// states or bytes than allowed, or if a product needs so many separate counts that nothing is gained.
struct CountedAutomaton {
  std::optional<CountedTables> tables;
  std::optional<Clash> clash;
};
CountedAutomaton compile(const CountedLayout& layout, int64_t max_states, int64_t max_bytes, Budget& budget);

}  // namespace automata
