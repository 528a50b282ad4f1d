// Counted paths: the texts of an automaton that enter a bounded number of counted states.
//
//     least, most    the least and the greatest number of counted states entered between a state and the end
//
// After c counted states have been entered, the text can be completed from a state if some number between its least and
// its most lies between `low - c` and `high - c`. This is exact if one of the bounds is no restriction, or if every
// number between least and most is that of some text. (`automata/visibly_pushdown/paths.py` explains what this is used
// for.)
#pragma once

#include <span>

#include "automata/byte_tables.h"
#include "automata/visibly_pushdown/layout.h"

namespace automata {

struct CountedRange {
  int32_t low, high;  // the least and greatest number of counted states entered; kNone for no bound
};

// Return whether a text can be completed from a state after `count` counted states have been entered.
inline bool leads_on(int64_t count, CountedRange range, int32_t least, int32_t most) {
  return (range.high == kNone || count + least <= range.high) && count + most >= range.low;
}

struct PathNumbers {
  bool is_exact;                // whether every number between a state's least and its most is that of some text
  Vector<int32_t> least, most;  // [Q]
};

// Return the numbers of an automaton without labels, each of whose cycles contains a counted state.
PathNumbers path_numbers(const ByteTables& automaton, std::span<const uint8_t> is_counted, Budget& budget);

// Write the paths out: the minimal automaton of the texts from `start` on. `states` holds the numbers of each state.
ByteTables expanded_paths(const ByteTables& automaton, std::span<const CountedState> states, int32_t start,
                          CountedRange range, int64_t dense_bytes, Budget& budget);

}  // namespace automata
