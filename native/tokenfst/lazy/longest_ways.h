// How long the ways through a graph to any of its goals are at most, if they meet no node twice.
//
// Finding the longest way itself is NP-hard. A strongly connected component is cut at its head, the node that most of
// its edges lead to. A way meets the head at most once, so it is no longer than the longest one without the head, or
// than the longest one to the head plus the longest one from there. Without its head, the component falls into smaller
// ones, which are cut in turn. The bound is exact where all cycles meet in one node and the ways to it and from it
// share none, as in a loop over the members of an object. In components that are left after `kMostCuts` cuts, the
// longest edge of every node is counted.
#pragma once

#include <cstdint>
#include <span>

#include "support/budget.h"

namespace tokenfst {

// An edge, with a length of at least 0.
struct Way {
  int32_t source, target, distance;
};

constexpr int32_t kNoWay = -1;

// Bound the ways from each node. `longest`, by node: 0 for goals and kNoWay for others; afterwards the bound, kFar at
// most, and kNoWay where no goal is reached.
void find_longest_ways(std::span<const Way> ways, std::span<int32_t> longest, support::Budget& budget);

}  // namespace tokenfst
