// Compiles a visibly pushdown grammar that has been laid out: determinizes it, assembles the pushdown automaton, and
// finds its headroom.
#pragma once

#include <vector>

#include "automata/visibly_pushdown/headroom.h"

namespace automata {

// The tables of `automata/pushdown/pushdown_tables.h`, whose sequences are empty or one symbol: symbol s is sequence
// s + 1.
struct VisiblyPushdownAutomaton {
  Fault fault;             // if there is a fault, the rest is empty
  bool has_text = false;   // if not, the rest is empty
  int32_t num_states = 0;  // including the one after the end of the text; state 0 is the start
  ByteClasses byte_class{};
  std::vector<int32_t> step_offsets, pops, pushes, targets;
  std::vector<CallSymbol> symbols;
  std::vector<int32_t> headroom, symbol_headroom;
};

// Throw LimitExceeded past `max_states`.
VisiblyPushdownAutomaton compile(const VisiblyPushdownLayout& layout, int64_t max_states, Budget& budget);

}  // namespace automata
