// Finds which tokens may bring a run to which state, and how many more tokens it takes from there to the end of the
// text.
//
// A run is in a state m of the product and was brought there by a token u. It continues with any token if a piece ends
// here, and otherwise with tokens that may follow u. So whether it can be completed depends on u only if ending the
// piece here does not complete it. The least numbers of tokens are found backwards from the ends of texts, one token at
// a time:
//
//     a state is free at d   its text may end, or after a boundary some token leads to a run with d - 1 to go: then
//                            every run in it has at most d to go, whatever u is
//     a run (m, u) has d     m is free at d, or some token that may follow u leads to a run with d - 1 to go
//
// The runs that tokens of one class bring to one state form a cell. A cell keeps a number for each token.
//
// Afterwards, classes are split until every edge leads all tokens of its class to runs with the same number of tokens
// to go; edges whose runs have no end are removed. The remaining edges never lead into a dead end.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tokenfst/canonical/edges.h"

namespace tokenfst::canonical {

// In place of a number of tokens, if no end can be reached.
constexpr int32_t kNoEnd = std::numeric_limits<int32_t>::max();

struct LiveEdge {
  int32_t number, target;
  int32_t least;  // the least number of tokens to go after the edge
};

// Edges that lead to an end, by source and then by class; classes count from 0.
struct LiveEdges {
  std::vector<int32_t> offsets;  // [M + 1]
  std::vector<LiveEdge> edges;
  std::vector<int32_t> class_of;  // [V], -1 for tokens in none
  int32_t num_classes;
  int32_t start;  // the number of tokens of the shortest text, kNoEnd if there is none

  std::span<const LiveEdge> of(int32_t state) const {
    return {edges.data() + offsets[state], edges.data() + offsets[state + 1]};
  }
};

// Return the edges that lead to an end. `closing` is the number of tokens to go where the text may end: 1 with an end
// token, 0 without.
LiveEdges live_edges(const CanonicalEdges& edges, const CanonicalProduct& product, const Pairs& pairs, int32_t closing,
                     Budget& budget);

}  // namespace tokenfst::canonical
