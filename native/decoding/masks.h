// What sequences allow, as packed masks or straight into logits.
//
// A mask is chunks, most of which several rows share and many of which are empty: no mask is made where one row is all
// that a sequence stands at, and chunks are united one at a time otherwise. Within a budget that binds, tokens are
// looked up by their classes, in the words in which the mask has any. Large batches are cut between threads, since what
// takes the time is writing logits.
//
// Rejected: making the masks of the batch first (as much memory traffic again as 16-bit logits themselves).
#pragma once

#include <span>

#include "decoding/memory.h"

namespace decoding {

// Packed masks of `num_chunks` chunks for each sequence, `[B, num_chunks * kChunkWords]`. Sequences have been checked.
void write_masks(const Memory& memory, const Sequences& at, int64_t num_chunks, std::span<int32_t> out);

// Rows of logits, as bits.
template <class Logit>
struct LogitRows {
  Logit* first;
  size_t rows, width, stride;
  Logit infinity;  // what is written: minus infinity

  std::span<Logit> operator[](size_t row) const { return {first + row * stride, width}; }
};

// What else a mask depends on.
struct Restriction {
  // How many tokens may still be written, `[B]`; empty for any number.
  std::span<const int64_t> remaining;
  int64_t begin;  // the token of the first logit
};

// Writes minus infinity over what is forbidden.
template <class Logit>
void mask_logits(const Memory& memory, const Sequences& at, const Restriction& restriction,
                 const LogitRows<Logit>& logits, int num_threads);

extern template void mask_logits(const Memory&, const Sequences&, const Restriction&, const LogitRows<int16_t>&, int);
extern template void mask_logits(const Memory&, const Sequences&, const Restriction&, const LogitRows<int32_t>&, int);
extern template void mask_logits(const Memory&, const Sequences&, const Restriction&, const LogitRows<int64_t>&, int);

}  // namespace decoding
