// Which tokens may bring a run where, and how many more tokens it takes from there to the end of the text.
//
// A run is in a state m of the product and was brought there by a token u. It goes on by any token if a piece ends
// here, and otherwise by tokens that may follow u. So whether it can be completed depends on u, but only if a piece
// that ends here completes nothing. The least numbers of tokens are found from the ends of texts backwards, a token at
// a time:
//
//     a state is free at d   its text may end, or after a boundary some token leads to a run with d - 1 to go: then
//     every
//                            run in it has at most d to go, whatever u is
//     a run (m, u) has d     m is free at d, or some token that may follow u leads to a run with d - 1 to go
//
// The runs that tokens of one class bring to one state are a cell. A cell keeps a number for each token.
//
// When all is found, classes are split until every edge leads all tokens of its class to runs with the same number of
// tokens to go; edges whose runs have no end go. What is left never leads into a dead end.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tokenfst/canonical/edges.h"

namespace tokenfst::canonical {

// In place of a number of tokens: no end can be reached.
constexpr int32_t kNoEnd = std::numeric_limits<int32_t>::max();

struct LiveEdge {
  int32_t number, target;
  int32_t least;  // how many tokens there are to go behind the edge, at least
};

// Edges that lead to an end, by source and then by class, from class 0 up.
struct LiveEdges {
  std::vector<int32_t> offsets;  // [M + 1]
  std::vector<LiveEdge> edges;
  std::vector<int32_t> class_of;  // [V], -1 for tokens in none
  int32_t num_classes;
  int32_t start;  // how many tokens the shortest text takes, kNoEnd where there is none

  std::span<const LiveEdge> of(int32_t state) const {
    return {edges.data() + offsets[state], edges.data() + offsets[state + 1]};
  }
};

// `closing`: the number of tokens where the text may end, 1 with an end token, 0 without.
LiveEdges live_edges(const Edges& edges, const Product& product, const Pairs& pairs, int32_t closing, Budget& budget);

}  // namespace tokenfst::canonical
