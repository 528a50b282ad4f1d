// NfaFragment: an automaton from its state 0 to its state 1, to be copied between two states of a layout.
#pragma once

#include <vector>

#include "automata/byte_tables.h"

namespace automata {

struct NfaFragment {
  int32_t num_states;
  std::vector<Range> arcs;  // labels are numbered from kFirstLabel up
  std::vector<Edge> epsilon;
  std::vector<int32_t> state_of;  // [Q], the state of the fragment that each state of the automaton becomes
};

// Return the fragment of the texts from `start` on: that state is state 0 if no arc leads back to it, and final states
// that no arc leaves are state 1.
NfaFragment nfa_fragment(const ByteTables& automaton, int32_t start, Budget& budget);

}  // namespace automata
