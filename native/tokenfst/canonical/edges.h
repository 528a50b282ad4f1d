// The edges of tokens in the product, by class, and the tokens of each class.
//
// Classes are those of `tokenfst/token_classes.h` over the bytes of the product, which is deterministic inside tokens,
// with two changes. A token that the encoder never writes is in no class. A token that only occurs as a whole piece
// begins where a piece begins and leads to the second state of its target, in which the piece must end. Tokens that
// write nothing get classes by the labels of the constraint that represent them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokenfst/canonical/pairs.h"
#include "tokenfst/canonical/product.h"

namespace tokenfst::canonical {

// Tokens that write nothing, and the labels that represent all of them.
struct LabelledTokens {
  std::vector<int32_t> tokens, labels;
};

struct ClassEdge {
  int32_t number, target;
};

// Edges by source and then by class, and the tokens of each class; class 0 contains no token.
struct CanonicalEdges {
  std::vector<int32_t> offsets;  // [M + 1], where the edges of each state begin
  std::vector<ClassEdge> edges;
  std::vector<int32_t> member_offsets;  // [K + 1], where the tokens of each class begin
  std::vector<int32_t> members;         // ascending by position (`Pairs`) within a class
  int32_t num_tokens = 0;               // V

  int32_t num_states() const { return static_cast<int32_t>(offsets.size()) - 1; }
  int32_t num_classes() const { return static_cast<int32_t>(member_offsets.size()) - 1; }
  std::span<const ClassEdge> of(int32_t state) const {
    return {edges.data() + offsets[state], edges.data() + offsets[state + 1]};
  }
  std::span<const int32_t> members_of(int32_t number) const {
    return {members.data() + member_offsets[number], members.data() + member_offsets[number + 1]};
  }
};

// The tokens of an encoder, with their properties.
struct Tokens {
  const Vocabulary& vocabulary;
  const Pairs& pairs;
  std::span<const int32_t> words;  // those that only occur as whole pieces
  std::span<const int32_t> never;  // those that the encoder never writes
};

CanonicalEdges token_edges(const CanonicalProduct& product, const Tokens& tokens,
                           std::span<const LabelledTokens> labelled, Budget& budget);

}  // namespace tokenfst::canonical
