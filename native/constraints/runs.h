// Runs: a function on numbers with few different values, as records of first number, last number and value.
//
// Runs ascend, do not overlap, and have other values than a neighbour that they touch; a number in no run has no value.
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

// Adds a run behind the others; throws invalid_argument for one that does not lie behind them.
inline void add_run(Vector<Run>& runs, const Run& run) {
  if (!runs.empty() && runs.back().last >= run.first) throw std::invalid_argument("the runs of a state do not ascend");
  if (!runs.empty() && runs.back().target == run.target && runs.back().last + 1 == run.first) {
    runs.back().last = run.last;
  } else {
    runs.push_back(run);
  }
}

// Calls `each` for the part of every run that lies between two numbers.
template <class Each>
void for_parts(std::span<const Run> runs, int32_t first, int32_t last, Each each) {
  for (const Run& run : runs) {
    const int32_t low = std::max(run.first, first), high = std::min(run.last, last);
    if (low <= high) each(Run{low, high, run.target});
  }
}

// The runs of the numbers from `first` to `last`, which become numbers from 0 up.
inline Vector<Run> cut(std::span<const Run> runs, int32_t first, int32_t last, Budget& budget) {
  Vector<Run> kept(budget);
  for_parts(runs, first, last,
            [&](const Run& run) { kept.push_back({run.first - first, run.last - first, run.target}); });
  return kept;
}

// The value of a number, kNone where it has none.
inline int32_t value_at(std::span<const Run> runs, int32_t number) {
  const auto found = std::ranges::lower_bound(runs, number, {}, &Run::last);
  return found != runs.end() && found->first <= number ? found->target : kNone;
}

}  // namespace constraints
