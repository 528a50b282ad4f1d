// Vectors of distances to the end of the text, numbered in order of appearance.
//
// The effect of a stack on distances is a vector: how far the end is from each place where the text may continue once
// the stack's symbols are popped. Vectors that differ by a constant share one number, and the constant is counted
// separately: symbols deep in a stack cost the same whatever is done above them, so usually there are few different
// vectors. There may be infinitely many, for example with two recursive rules that differ in the cost of a return.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "support/interner.h"

namespace tokenfst {

// More than any distance; the sum of three still fits in an int32.
constexpr int32_t kFar = 1 << 29;

// Return the sum of two distances, or kFar if that is less.
inline int32_t sum(int32_t one, int32_t other) { return std::min(one + other, kFar); }

// A context: the number of a vector, and a constant to be added to it.
struct Context {
  int32_t number, cost;
};

// The context from which no end can be reached.
constexpr Context kNoContext{-1, kFar};

class DistanceVectors {
 public:
  explicit DistanceVectors(support::Budget& budget) : vectors_(budget) {}

  int32_t size() const { return vectors_.size(); }
  std::span<const int32_t> operator[](int32_t number) const { return vectors_[number]; }
  // Return the number of a vector minus its least entry, and that entry; kNoContext if every entry is far.
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
