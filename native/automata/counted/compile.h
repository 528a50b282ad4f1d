// From a layout with counted loops to the minimal deterministic automaton with a register.
//
//     determinize    sets of states whose elements share one count          automata/counted/subsets.h
//     trim           guards are cut to the values from which an end is reached, where the layout is a product
//     minimize       an interval of bytes, a guard and an action together are a symbol; to end is one more symbol, for
//                    each least value, to one more state
//     classes        intervals of bytes with the same arcs are one class
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

// The automaton; or two loops that would need counts of their own at the same time; or neither, where it takes more
// states or bytes than allowed, or a product leads on with so many separate counts, that nothing is won.
struct CountedAutomaton {
  std::optional<CountedTables> tables;
  std::optional<Clash> clash;
};
CountedAutomaton compile(const CountedLayout& layout, int64_t max_states, int64_t max_bytes, Budget& budget);

}  // namespace automata
