// Shortest distances to a goal for states with a register, by breadth-first search over intervals.
//
// With a bound of 100,000 each state has 100,000 register values, but neighbouring values mostly have the same
// distance: with tokens of up to 20 letters, `[a-z]{50000,100000}` has some 2,500 distinct ones. So the search uses
// intervals of values instead of single values:
//
//     piece    a state with an interval of register values, all of one distance
//
// The predecessors of a piece across an edge that adds n are the values n lower, within the edge's guard; across an
// edge that sets the register to n, they are all values in the guard, provided that n is in the piece. Predecessors
// without a distance become pieces of the next level. Neighbouring pieces of one level are joined before the search
// continues.
//
// The distances are exact. Values in no piece do not lead to a goal, and edges can be restricted to those that do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "automata/arcs.h"

namespace automata {

// An edge that may be taken while the register is between `low` and `high`.
struct GuardedEdge {
  int32_t source, low, high, target;
  int32_t action;  // n >= 0 adds n to the register, ~n sets it to n
  bool operator==(const GuardedEdge&) const = default;
};

// An interval of register values, empty if `low` is above `high`.
struct Interval {
  int32_t low, high;
  bool is_empty() const { return low > high; }
};

// Return the values from which an edge leads to values between `low` and `high`.
inline Interval before(const GuardedEdge& edge, int32_t low, int32_t high) {
  if (edge.action >= 0) return {std::max(edge.low, low - edge.action), std::min(edge.high, high - edge.action)};
  return low <= ~edge.action && ~edge.action <= high ? Interval{edge.low, edge.high} : Interval{0, -1};
}

// A state while the register is between `low` and `high`.
struct StateValues {
  int32_t state, low, high;
};

struct RegisterPiece {
  int32_t state, low, high, distance;
};

// The part of an edge for which the register is between `low` and `high`.
struct EdgePart {
  int32_t edge, low, high;
};

// The distance for every state and register value, given where it changes from one value to the next.
struct DistanceSteps {
  static constexpr int32_t kFar = std::numeric_limits<int32_t>::max();  // where no goal can be reached

  std::vector<int64_t> key;    // ascending: state x (R + 1) + the least value of a run; each state begins with 0
  std::vector<int32_t> value;  // the distance of the run
};

// The default limit on pieces: 16 MiB of them.
constexpr size_t kMaxPieces = size_t{1} << 20;

// Return the pieces in order of distance, or nothing if there are more than `max_pieces`. Register values are at most
// `max_register`.
std::optional<Vector<RegisterPiece>> pieces_by_distance(int32_t num_states, int32_t max_register,
                                                        std::span<const GuardedEdge> edges,
                                                        std::span<const StateValues> goals, size_t max_pieces,
                                                        Budget& budget);

// Return the distances of pieces, and of the values that are in none.
DistanceSteps distance_steps(int32_t num_states, int32_t max_register, std::span<const RegisterPiece> pieces,
                             Budget& budget);

// Return the pieces by state and in order, with neighbours joined whatever their distances.
Vector<StateValues> joined(std::span<const RegisterPiece> pieces, Budget& budget);

// Return the parts of edges that lead to values from which a goal can be reached, in the order of the edges; nothing if
// there are more than `max_parts`. `live` is the result of `joined`.
std::optional<Vector<EdgePart>> live_parts(int32_t num_states, std::span<const GuardedEdge> edges,
                                           std::span<const StateValues> live, size_t max_parts, Budget& budget);

}  // namespace automata
