// How merges make each token: the tree of its two halves, and when its last merge comes.
//
// A token can be made in only one way. While nothing inside a stretch of bytes has merged with what is outside, the
// merges inside are those that the stretch alone would see, because the order of merges in one place does not depend on
// another. So a token that comes out of any text is one that merges make of its bytes alone, and by the same merges.
// What the encoder does is known when it has been run once over each token:
//
//     left, right   the two tokens that the last merge joins, kNoToken for a single byte
//     rank          the place of the last merge in the encoder's order
//     clock         the greatest rank among all merges of the token: when it is made
//
// Merges happen in ascending order of rank, except that one with a low rank may only become possible late: it happens
// at once, while the clock stands where it is. In most vocabularies rank and clock are equal; in Llama 3's they differ
// for 107 tokens.
//
// A token that merges do not make of its own bytes is not `made`; neither is the second of two tokens with equal bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tokenfst/vocabulary.h"

namespace tokenfst::canonical {

constexpr int32_t kNoToken = -1;

// One entry of an encoder's list: two tokens and what they make.
struct Merge {
  int32_t left, right, result;
};

struct Derivation {
  int32_t left = kNoToken, right = kNoToken, rank = -1, clock = -1;
  int32_t made = false;
};

// The first of some merges that does not make a token of two others by their bytes, all three of which write something;
// as many as there are if all do.
size_t first_wrong(const Vocabulary& vocabulary, std::span<const Merge> merges);

// Runs the encoder's merges over every token, `[V]`. Without a list, any two tokens merge that spell a token, the token
// with the least id first.
std::vector<Derivation> derivations(const Vocabulary& vocabulary, std::optional<std::span<const Merge>> merges,
                                    Budget& budget);

}  // namespace tokenfst::canonical
