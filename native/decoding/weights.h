// Costs of tokens, subtracted from logits that are given as bits.
//
// A cost never forbids a token: a finite logit stays finite, although costs may be beyond the range of float16.
// Of 16-bit logits the value of minus infinity tells which of the two types they have.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "decoding/memory.h"

namespace decoding {

// Return a 16-bit float as a float, and the nearest one of a float; ties go to the even one.
inline float from_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
inline uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
float from_float16(uint16_t bits);
uint16_t to_float16(float value);

template <class Logit>
Logit minus_cost(Logit logit, float cost, Logit infinity);
template <>
inline int32_t minus_cost(int32_t logit, float cost, int32_t) {
  return std::bit_cast<int32_t>(std::bit_cast<float>(logit) - cost);
}
template <>
inline int64_t minus_cost(int64_t logit, float cost, int64_t) {
  return std::bit_cast<int64_t>(std::bit_cast<double>(logit) - double{cost});
}
template <>
inline int16_t minus_cost(int16_t logit, float cost, int16_t infinity) {
  const auto bits = static_cast<uint16_t>(logit);
  if (static_cast<uint16_t>(infinity) == 0xFF80) {
    return static_cast<int16_t>(to_bfloat16(from_bfloat16(bits) - cost));
  }
  const float found = from_float16(bits) - cost;
  return static_cast<int16_t>(to_float16(std::isfinite(found) ? std::clamp(found, -65504.0f, 65504.0f) : found));
}

// Subtract what tokens cost in a row from its logits.
template <class Logit>
void subtract_weights(const Block& block, int64_t row, Logit infinity, std::span<Logit> logits) {
  if (!block[Number::kHasWeights]) return;
  const auto weights = block.record<RowWeights>(Table::kRowWeights, row);
  const auto words = block.words(block[Table::kWeights] + 2 * int64_t{weights.begin}, 2 * int64_t{weights.size});
  for (size_t at = 0; at < words.size(); at += 2) {
    const auto token = static_cast<uint32_t>(words[at]);
    if (token >= logits.size()) throw std::invalid_argument("a weight is of a token that is not there");
    logits[token] = minus_cost(logits[token], std::bit_cast<float>(words[at + 1]), infinity);
  }
}

}  // namespace decoding
