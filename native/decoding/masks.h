// The tokens that sequences allow, as packed masks or written directly into logits.
//
// A mask consists of chunks, most of which several rows share and many of which are empty: no mask is made if a
// sequence stands at only one row, and otherwise chunks are united one at a time. Within a budget that binds, tokens
// are looked up by class, in the words in which the mask has any. Large batches are split between threads, since the
// time goes into writing logits.
//
// Rejected: making the masks of the batch first (as much additional memory traffic as 16-bit logits themselves).
#pragma once

#include <span>

#include "decoding/memory.h"

namespace decoding {

// Write packed masks of `num_chunks` chunks for each sequence, `[B, num_chunks * kChunkWords]`. The batch has been
// checked.
void write_masks(const Memory& memory, const SequenceBatch& at, int64_t num_chunks, std::span<int32_t> out);

// Rows of logits, as bits.
template <class Logit>
struct LogitRows {
  Logit* first;
  size_t rows, width, stride;
  Logit infinity;  // the value written: minus infinity

  std::span<Logit> operator[](size_t row) const { return {first + row * stride, width}; }
};

// The remaining parameters of a mask.
struct Restriction {
  // How many tokens may still be written, `[B]`; empty for any number.
  std::span<const int64_t> remaining;
  int64_t begin;  // the token of the first logit
};

// Write minus infinity over forbidden logits, and subtract what the others cost.
template <class Logit>
void mask_logits(const Memory& memory, const SequenceBatch& at, const Restriction& restriction,
                 const LogitRows<Logit>& logits, int num_threads);

extern template void mask_logits(const Memory&, const SequenceBatch&, const Restriction&, const LogitRows<int16_t>&,
                                 int);
extern template void mask_logits(const Memory&, const SequenceBatch&, const Restriction&, const LogitRows<int32_t>&,
                                 int);
extern template void mask_logits(const Memory&, const SequenceBatch&, const Restriction&, const LogitRows<int64_t>&,
                                 int);

}  // namespace decoding
