// Which tokens may be adjacent in an encoder's output for one piece of text.
//
// The merges produce a sequence of tokens if and only if they produce each token from its own bytes and each two
// neighbours from theirs (Berglund, Martens & van der Merwe 2024): the first merge across a boundary would happen at
// that boundary whatever lies further away. So it is enough to know the pairs (u, v) in which some merge takes an end
// of u and a beginning of v before the merges inside u and v do.
//
//     ends of u          u, its right half, the right half of that, ... down to the last byte; each exists from its own
//                        clock to the clock of the token that it is the right half of
//     beginnings of v    v, its left half, ... down to the first byte
//
// The merge of x and y to w interferes if x is an end of u and y a beginning of v, and both still exist at the clock of
// w. Clocks are equal only if the same merge happens in two places, of which the left one is first: so inside u a merge
// at the clock of w comes before it, and inside v after it. (Merges that become possible while the clock stands still
// compare their ranks; see `tokenfst/canonical/derivations.h`.)
//
// Left halves form a forest with bytes as roots: y is the parent of all v that it is the left half of. With the
// children of each token in descending order of clock, and tokens numbered in depth-first order (`position`), the
// tokens v of which y is a beginning that still exists at the clock of w are y and the first part of its subtree:
// adjacent positions. So the tokens that must not follow u are a union of intervals of positions, one for each merge
// whose left part is an end of u; with Tekken's 131,072 tokens there are 23 on average and 729 at most, before
// overlapping ones are joined.
//
// Rejected: a table of pairs (V x V); trying pairs by running the encoder (exact; the tests do so).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tokenfst/canonical/derivations.h"

namespace tokenfst::canonical {

struct Interval {
  int32_t first, end;
};

// The tokens that must not follow each token inside a piece.
struct Pairs {
  std::vector<int32_t> position;    // [V], the place of each token in depth-first order; those not made come last
  std::vector<int32_t> token_at;    // [V], the token at each position
  std::vector<int64_t> offsets;     // [V + 1], where the intervals of each token begin
  std::vector<Interval> intervals;  // disjoint and ascending for each token

  int32_t num_tokens() const { return static_cast<int32_t>(position.size()); }
  std::span<const Interval> after(int32_t token) const {
    return {intervals.data() + offsets[token], intervals.data() + offsets[token + 1]};
  }
  bool may_follow(int32_t left, int32_t right) const { return is_outside(after(left), position[right]); }

  // Return whether a position is in none of some intervals.
  static bool is_outside(std::span<const Interval> intervals, int32_t place) {
    const auto behind = std::ranges::upper_bound(intervals, place, {}, &Interval::first);
    return behind == intervals.begin() || place >= (behind - 1)->end;
  }
};

Pairs pairs(std::span<const Derivation> derivations, Budget& budget);

}  // namespace tokenfst::canonical
