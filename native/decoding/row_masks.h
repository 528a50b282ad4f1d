// Masks of rows as chunks: most masks share most of their words, so what is equal is kept once.
//
// A mask is cut into chunks of 2,048 tokens, and a mask is the numbers of its chunks. Whole chunks of nothing and of
// everything are frequent, and rows that allow few tokens have few chunks that are neither. So a mask begins as
// nothing, or as everything where it allows more than half of the tokens, and only the chunks that its tokens are in
// are made: a hundred thousand rows that allow a few tokens each take tenths of a second.
//
// Rejected: all words of every mask (16 KiB each with 128,000 tokens; a list of 100,000 names has as many masks); runs
// or lists of tokens (no fixed number of gathers reads them).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "decoding/layout.h"
#include "decoding/rows.h"
#include "support/budget.h"

namespace decoding {

using Chunk = std::array<uint32_t, kChunkWords>;

struct RowMasks {
  std::vector<int32_t> mask_of_row;     // [E]
  std::vector<int32_t> chunks_of_mask;  // [A, C], numbers of chunks
  std::vector<Chunk> chunks;            // the empty one first; no two are equal
  std::vector<int32_t> forced;          // [E], the only token that a row allows; -1 for several, -2 for none
};

// The masks of all rows, over the tokens from `begin` to `end`; the class of each token of the vocabulary is given, and
// tokens behind it are never allowed.
RowMasks row_masks(const SparseRows& rows, std::span<const int32_t> token_class, int64_t begin, int64_t end,
                   support::Budget& budget);

}  // namespace decoding
