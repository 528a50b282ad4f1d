// How merges make each token: the tree of its two halves, and the time of its last merge.
//
// A token can be made in only one way. While nothing inside a stretch of bytes has merged with anything outside, the
// merges inside are those that happen in the stretch alone, because the order of merges in one place does not depend on
// another place. So a token that occurs in the encoding of any text is one that merges make of its bytes alone, and by
// the same merges. Running the encoder once over each token therefore determines:
//
//     left, right   the two tokens that the last merge joins, kNoToken for a single byte
//     rank          the position of the last merge in the encoder's order
//     clock         the greatest rank among all merges of the token: the time when it is made
//
// Merges happen in ascending order of rank, except that a merge with a low rank may only become possible late: then it
// happens immediately, while the clock stands still. In most vocabularies rank and clock are equal; in Llama 3's they
// differ for 107 tokens.
//
// A token that merges do not make from its own bytes is not `made`; neither is the second of two tokens with equal
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tokenfst/vocabulary.h"

namespace tokenfst::canonical {

constexpr int32_t kNoToken = -1;

// One entry of an encoder's list: two tokens and the token that they make.
struct Merge {
  int32_t left, right, result;
};

struct Derivation {
  int32_t left = kNoToken, right = kNoToken, rank = -1, clock = -1;
  int32_t made = false;
};

// Return the index of the first merge that does not make a token of the bytes of two others, all three non-empty; the
// number of merges if there is none.
size_t first_wrong(const Vocabulary& vocabulary, std::span<const Merge> merges);

// Run the encoder's merges over every token, `[V]`. Without a list, any two tokens that spell a token merge, the token
// with the least id first.
std::vector<Derivation> derivations(const Vocabulary& vocabulary, std::optional<std::span<const Merge>> merges,
                                    Budget& budget);

}  // namespace tokenfst::canonical
