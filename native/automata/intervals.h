// Intervals: bytes that no arc distinguishes become one symbol.
//
// An automaton with `[^"]` has some twenty intervals instead of 256 bytes. Labels are separate symbols, numbered after
// the intervals.
#pragma once

#include <span>

#include "automata/arcs.h"

namespace automata {

struct Intervals {
  Vector<int32_t> of;  // [256 + L], the symbol of each byte, ascending, and then of each label
  Vector<Arc> arcs;    // over these symbols, in the order of the ranges

  int32_t num_blocks() const { return of[255] + 1; }
  int32_t num_symbols() const { return of.back() + 1; }
};

// Return the interval of each byte, in the coarsest partition that splits no range of bytes.
template <class Ranges>
void cut_bytes(const Ranges& ranges, std::span<int32_t> interval_of) {
  bool cuts[257] = {};
  for (const auto& range : ranges) {
    if (range.low < kFirstLabel) cuts[range.low] = cuts[range.high + 1] = true;
  }
  interval_of[0] = 0;
  for (int32_t byte = 1; byte < 256; ++byte) interval_of[byte] = interval_of[byte - 1] + cuts[byte];
}

// Convert arcs over ranges of bytes and over labels to arcs over intervals.
Intervals over_intervals(std::span<const Range> ranges, int32_t num_labels, Budget& budget);

}  // namespace automata
