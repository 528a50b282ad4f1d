// Masks into logits: a value written wherever a bit of a mask is 0.
//
// Logits are bits: a float of any type and its minus infinity are integers of as many bits here. What takes the time is
// writing, so words with all bits set are passed over, and words without any are filled, past the caches where there
// are very many logits. In between, a table has for each byte of a mask the bits that are kept of eight logits, so
// compilers make vectors of it on every processor.
//
// Rejected: comparing each logit's bit (GCC makes vectors of it for some widths and some instruction sets, and takes
// ten times as long for the others).
#pragma once

#include <cstdint>
#include <span>

namespace decoding {

template <class Logit>
struct Blending {
  Logit value;     // what is written
  bool streaming;  // whether past the caches (`support/streaming.h`)
};

// Bit i of `words` is about logit i; there are bits for all logits.
void blend(std::span<const int32_t> words, const Blending<int16_t>& how, std::span<int16_t> logits);
void blend(std::span<const int32_t> words, const Blending<int32_t>& how, std::span<int32_t> logits);
void blend(std::span<const int32_t> words, const Blending<int64_t>& how, std::span<int64_t> logits);

}  // namespace decoding
