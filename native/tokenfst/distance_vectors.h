// Vectors of distances to the end of the text, numbered in the order in which they come.
//
// What a stack means for distances is a vector: how far the end is from each place where the text may continue once the
// stack's symbols are popped. Vectors that differ by a constant are one number, and the constant is counted apart: what
// lies deep in a stack costs the same whatever is done above it, so there are few different vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "support/interner.h"

namespace tokenfst {

// More than any distance; three of them still fit in an int32.
constexpr int32_t kFar = 1 << 29;

// A context: a vector by number, and what is to be added to it.
struct Context {
  int32_t number, cost;
};

// Nothing can be reached.
constexpr Context kNoContext{-1, kFar};

class DistanceVectors {
 public:
  explicit DistanceVectors(support::Budget& budget) : vectors_(budget) {}

  int32_t size() const { return vectors_.size(); }
  std::span<const int32_t> operator[](int32_t number) const { return vectors_[number]; }
  // The number of a vector less its least entry, and that entry; kNoContext where all of it is far.
  Context number(std::span<const int32_t> vector) {
    const int32_t least = std::ranges::min(vector);
    if (least >= kFar) return kNoContext;
    vectors_.discard();
    for (int32_t distance : vector) vectors_.push(distance < kFar ? distance - least : kFar);
    return {vectors_.close().number, least};
  }

 private:
  support::Interner<int32_t> vectors_;
};

}  // namespace tokenfst
