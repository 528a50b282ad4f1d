// The subset construction with one counter: sets of states whose elements inside loops all hold the same count.
//
// A set is made and found again as in `automata/determinize.h`: the states that a byte led to, before following epsilon
// arcs. Epsilon arcs are followed for a value r of the register, from 1 up; the least value at which some mark would be
// decided in another way ends the interval for which the outcome stands, and the next one begins there. On the way an
// element inside a loop has a kind: its count is still r, or r + 1 since it went round, or 1 since it came in. After a
// byte all elements inside loops must agree on one kind, which is then the action of the arc.
//
// Two ways to one state with different counts agree where one can do all that the other can: the lower count where only
// the upper bound matters, the higher one where only the lower bound does.
#pragma once

#include <optional>
#include <span>

#include "automata/arcs.h"

namespace automata {

// What an epsilon arc does to the count.
enum class Mark : int32_t { kPlain, kEnter, kIterate, kExit };

struct MarkedEdge {
  int32_t source, target;
  Mark mark;
};

// Which of two elements with different counts in one state can do all that the other can.
enum class Prefers : int32_t { kNeither, kFewer, kMore };

struct Loop {
  int32_t low, high;  // how often it is gone round at least, from 1 up, and at most; kNone for no bound
  Prefers prefers;
};

// A non-deterministic automaton from state 0 to state 1. Arcs and plain edges stay inside of a loop, or outside; edges
// with other marks enter one, stay inside, and leave it.
struct MarkedNfa {
  int32_t num_symbols;
  std::span<const Arc> arcs;
  std::span<const MarkedEdge> epsilon;
  std::span<const int32_t> loop_of;  // [N], the loop that each state is inside of, or kNone
  std::span<const Loop> loops;
};

// An arc that is taken while the register is between `low` and `high`.
struct GuardedTransition {
  int32_t source, symbol, low, high, target;
  int32_t action;  // n >= 0 adds n to the register, ~n sets it to n
  bool operator==(const GuardedTransition&) const = default;
};

// Two loops that would need counts of their own at the same time.
struct Clash {
  int32_t first, second;
};

struct CountedTransitions {
  Vector<int32_t> final_from;  // [Q], the least register value with which each state is final, or kNone
  Vector<GuardedTransition> arcs;
};

// The deterministic automaton, whose state 0 is the start; or what clashes; or neither, where there would be more than
// `max_states`, or sets of states that take more than `max_bytes`.
struct CountedSubsets {
  std::optional<CountedTransitions> automaton;
  std::optional<Clash> clash;
};
CountedSubsets counted_subsets(const MarkedNfa& nfa, int64_t max_states, int64_t max_bytes, Budget& budget);

}  // namespace automata
