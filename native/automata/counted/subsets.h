// The subset construction with one counter: sets of states whose elements inside loops all share one count.
//
// A set is identified as in `automata/determinize.h`, by the states that a byte led to before epsilon arcs are
// followed. Epsilon arcs are followed for a register value r, from 1 up; the least value at which some mark would be
// decided differently ends the interval for which the outcome holds, and the next interval begins there. During the
// closure an element inside a loop has a kind: its count is still r, or r + 1 after another iteration, or 1 after
// entering the loop. After a byte all elements inside loops must agree on one kind, which becomes the action of the
// arc.
//
// Two paths to one state with different counts are compatible if one count allows everything that the other does: the
// lower count if only the upper bound matters, the higher one if only the lower bound does.
#pragma once

#include <optional>
#include <span>

#include "automata/arcs.h"

namespace automata {

// The effect of an epsilon arc on the count.
enum class Mark : int32_t { kPlain, kEnter, kIterate, kExit };

struct MarkedEdge {
  int32_t source, target;
  Mark mark;
};

// Which of two elements with different counts in one state can do everything that the other can.
enum class Prefers : int32_t { kNeither, kFewer, kMore };

struct Loop {
  int32_t low, high;  // the least number of iterations, from 1 up, and the greatest; kNone for no bound
  Prefers prefers;
};

// A non-deterministic automaton from state 0 to state 1. Arcs and plain edges stay inside a loop, or outside of loops;
// edges with other marks enter a loop, begin another iteration, and leave it.
struct MarkedNfa {
  int32_t num_symbols;
  std::span<const Arc> arcs;
  std::span<const MarkedEdge> epsilon;
  std::span<const int32_t> loop_of;  // [N], the loop that each state is in, or kNone
  std::span<const Loop> loops;
};

// An arc that may be taken while the register is between `low` and `high`.
struct GuardedTransition {
  int32_t source, symbol, low, high, target;
  int32_t action;  // n >= 0 adds n to the register, ~n sets it to n
  bool operator==(const GuardedTransition&) const = default;
};

// Two loops that would need separate counts at the same time.
struct Clash {
  int32_t first, second;
};

struct CountedTransitions {
  Vector<int32_t> final_from;  // [Q], the least register value with which each state is final, or kNone
  Vector<GuardedTransition> arcs;
};

// The deterministic automaton, whose state 0 is the start; or the loops that clash; or neither, if there would be more
// than `max_states`, or sets of states that take more than `max_bytes`.
struct CountedSubsets {
  std::optional<CountedTransitions> automaton;
  std::optional<Clash> clash;
};
CountedSubsets counted_subsets(const MarkedNfa& nfa, int64_t max_states, int64_t max_bytes, Budget& budget);

}  // namespace automata
