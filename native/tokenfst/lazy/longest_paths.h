// Upper bounds on the lengths of simple paths to any of a graph's goals. Finding the longest simple path is NP-hard.
//
// A strongly connected component is cut at its head, the node that most of its edges lead to. A simple path meets the
// head at most once, so it is no longer than the longest one without the head, or than the longest one to the head plus
// the longest one from there. Without its head, the component falls into smaller ones, which are cut in turn. The bound
// is exact where all cycles meet in one node and the paths to it and from it share no other node, as in a loop over the
// members of an object. In components that are left after `kMaxCuts` cuts, the longest edge of every node is counted.
#pragma once

#include <cstdint>
#include <span>

#include "support/budget.h"

namespace tokenfst {

// The distance is at least 0.
struct WeightedEdge {
  int32_t source, target, distance;
};

constexpr int32_t kNoPath = -1;

// Bound the paths from each node. On entry, `longest` is 0 for goals and kNoPath for other nodes; on return, it is the
// bound, at most kFar, or kNoPath where no goal is reached.
void find_longest_paths(std::span<const WeightedEdge> edges, std::span<int32_t> longest, support::Budget& budget);

}  // namespace tokenfst
