// Masks into logits: a value written wherever a bit of a mask is 0.
//
// Logits are handled as bits: a float of any type and its minus infinity are integers of the same width here. The time
// goes into writing, so words with all bits set are skipped, and words with none are filled, past the caches if there
// are very many logits. For all others, a table gives for each byte of a mask the bits to keep of eight logits, so that
// compilers vectorize it on every processor.
//
// Rejected: testing each logit's bit (GCC vectorizes this for some widths and some instruction sets, and takes ten
// times as long for the others).
#pragma once

#include <cstdint>
#include <span>

namespace decoding {

template <class Logit>
struct Blending {
  Logit value;     // the value written
  bool streaming;  // whether past the caches (`support/streaming.h`)
};

// Bit i of `words` is for logit i; there are bits for all logits.
void blend(std::span<const int32_t> words, const Blending<int16_t>& how, std::span<int16_t> logits);
void blend(std::span<const int32_t> words, const Blending<int32_t>& how, std::span<int32_t> logits);
void blend(std::span<const int32_t> words, const Blending<int64_t>& how, std::span<int64_t> logits);

}  // namespace decoding
