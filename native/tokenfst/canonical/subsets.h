// Turns runs into text states: the subset construction, with two targets for each class.
//
// The pieces of a text so far may leave several runs of the product, since it may be open whether a piece has ended;
// only one tokenization of the text can be completed from any of them. A text state is the set of the remaining runs. A
// token continues the runs that end a piece before it and, if it may follow the last token, the other runs as well:
//
//     at_boundary    the state after a class if only the runs with a boundary before it continue, or kNone
//     joined         the state after it if all runs continue, or kNone
//
// There are few runs: two, with the pre-tokenizers in use, while spaces are written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokenfst/canonical/liveness.h"

namespace tokenfst::canonical {

struct SubsetEdge {
  int32_t number;                           // a class
  int32_t at_boundary, joined;              // where it leads
  int32_t least_at_boundary, least_joined;  // the least number of tokens to go after it; kNoEnd if there is no target
};

// Text states, of which 0 is the start, and their edges.
struct Subsets {
  std::vector<int32_t> offsets;   // [S + 1], where the edges of each state begin
  std::vector<SubsetEdge> edges;  // by class within a state
  std::vector<uint8_t> final;     // [S], whether the text may end there

  int32_t size() const { return static_cast<int32_t>(final.size()); }
  std::span<const SubsetEdge> of(int32_t text_state) const {
    return {edges.data() + offsets[text_state], edges.data() + offsets[text_state + 1]};
  }
};

// Return the text states, without one for the end of the sequence. Throw LimitExceeded past `max_states`.
Subsets subsets(const LiveEdges& edges, const CanonicalProduct& product, int64_t max_states, Budget& budget);

}  // namespace tokenfst::canonical
