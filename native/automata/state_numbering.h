// StateNumbering: numbers for states in the order in which a search reaches them.
#pragma once

#include "automata/arcs.h"

namespace automata {

struct StateNumbering {
  StateNumbering(int32_t num_states, Budget& budget) : number(num_states, kNone, budget), order(budget) {
    order.reserve(num_states);
  }
  StateNumbering(int32_t num_states, int32_t start, Budget& budget) : StateNumbering(num_states, budget) {
    if (start != kNone) reach(start);
  }
  // Give a state the next number unless it has one.
  void reach(int32_t state) {
    if (number[state] != kNone) return;
    number[state] = static_cast<int32_t>(order.size());
    order.push_back(state);
  }

  Vector<int32_t> number;  // of each state, or kNone
  Vector<int32_t> order;   // the states by number
};

}  // namespace automata
