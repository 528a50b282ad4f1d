// Masks of rows as chunks: most masks share most of their words, so equal chunks are stored once.
//
// A mask is cut into chunks of 2,048 tokens and stored as the numbers of its chunks. Empty chunks are frequent, and
// rows that allow few tokens have few others. A mask begins as the empty one or as one of the last masks before it,
// whichever differs less, and only the chunks with tokens that differ are made: rows of one automaton are much alike,
// and those of any JSON object take a tenth of the flips. A hundred thousand rows that allow a few tokens each take
// tenths of a second. Where one class has most tokens, as that of plain text has, its bits are flipped a word at a
// time.
//
// Rejected: all words of every mask (16 KiB each with 128,000 tokens; a list of 100,000 names has that many masks);
// runs or lists of tokens (they cannot be read by a fixed number of gathers); a mask of all tokens to begin with
// (chunks that no row may have).
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
  std::vector<int32_t> forced;          // [E], the only token that a row allows; kSeveralAllowed or kNothingAllowed
};

// Return the masks of all rows, over the tokens from `begin` to `end`. `token_class` is the class of each token of the
// vocabulary; tokens beyond it are never allowed.
RowMasks row_masks(const SparseRows& rows, std::span<const int32_t> token_class, int64_t begin, int64_t end,
                   support::Budget& budget);

}  // namespace decoding
