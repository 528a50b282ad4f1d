// Runs: a function on numbers that takes few different values, as records of first number, last number and value.
//
// Runs ascend, do not overlap, and differ in value from a run that they touch; a number in no run has no value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "automata/arcs.h"

namespace constraints {

using automata::kNone;
using support::Budget;
using support::Vector;

struct Run {
  int32_t first, last, target;
};

// Append a run; throw invalid_argument if it does not come after the others.
inline void add_run(Vector<Run>& runs, const Run& run) {
  if (!runs.empty() && runs.back().last >= run.first) throw std::invalid_argument("the runs of a state do not ascend");
  if (!runs.empty() && runs.back().target == run.target && runs.back().last + 1 == run.first) {
    runs.back().last = run.last;
  } else {
    runs.push_back(run);
  }
}

// Call `each` for the part of every run that lies between `first` and `last`.
template <class Each>
void for_parts(std::span<const Run> runs, int32_t first, int32_t last, Each each) {
  for (const Run& run : runs) {
    const int32_t low = std::max(run.first, first), high = std::min(run.last, last);
    if (low <= high) each(Run{low, high, run.target});
  }
}

// Return the runs of the numbers from `first` to `last`, renumbered from 0 up.
inline Vector<Run> cut(std::span<const Run> runs, int32_t first, int32_t last, Budget& budget) {
  Vector<Run> kept(budget);
  for_parts(runs, first, last,
            [&](const Run& run) { kept.push_back({run.first - first, run.last - first, run.target}); });
  return kept;
}

// Return the value of a number, kNone if it has none.
inline int32_t value_at(std::span<const Run> runs, int32_t number) {
  const auto found = std::ranges::lower_bound(runs, number, {}, &Run::last);
  return found != runs.end() && found->first <= number ? found->target : kNone;
}

}  // namespace constraints
