// Counted paths: the texts of an automaton that enter some of its states so many times.
//
//     least, most    how many counted states are entered at least and at most from a state on, to the end
//
// From a state where c have been entered the text leads on if some number between its least and its most is between
// `low - c` and `high - c`. This is exact where one of the bounds says nothing, or where every number between least and
// most is the number of some text. (`automata/nested/paths.py` says what that is good for.)
#pragma once

#include <span>

#include "automata/byte_tables.h"
#include "automata/nested/layout.h"

namespace automata {

struct CountedRange {
  int32_t low, high;  // how many counted states are entered at least and at most; kNone for no bound
};

// Whether texts go on from a state where `count` counted states have been entered.
inline bool leads_on(int64_t count, CountedRange range, int32_t least, int32_t most) {
  return (range.high == kNone || count + least <= range.high) && count + most >= range.low;
}

struct PathNumbers {
  bool is_exact;                // whether each number between the least and the most of each state is that of some text
  Vector<int32_t> least, most;  // [Q]
};

// The numbers of an automaton without labels, none of whose ways around is without a counted state.
PathNumbers path_numbers(const ByteTables& automaton, std::span<const uint8_t> is_counted, Budget& budget);

// The paths written out: the minimal automaton of the texts from `start` on. `states` are numbers by state.
ByteTables expanded_paths(const ByteTables& automaton, std::span<const CountedState> states, int32_t start,
                          CountedRange range, int64_t dense_bytes, Budget& budget);

}  // namespace automata
