#include "decoding/masks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "decoding/blend.h"
#include "decoding/budgets.h"
#include "decoding/weights.h"
#include "support/parallel.h"
#include "support/streaming.h"

namespace decoding {

namespace {

using Words = std::span<const int32_t>;

// The union of the masks of the rows that a sequence stands at.
class UnitedMask {
 public:
  UnitedMask(const Block& block, std::span<const int64_t> rows) : block_(block) {
    for (int64_t row : rows) {
      if (row != kDead) masks_.push_back(block.word(Table::kRowMask, row));
    }
    if (masks_.empty()) masks_.push_back(block.word(Table::kRowMask, kDead));
  }

  // Return a chunk, which the next call may overwrite.
  Words operator[](int64_t number) {
    bool is_first = true;
    Words found = block_.words(kEmptyChunk, kChunkWords);
    for (int64_t mask : masks_) {
      const int32_t place = block_.word(mask + number);
      if (place == kEmptyChunk) continue;
      const Words chunk = block_.words(place, kChunkWords);
      found = is_first ? chunk : united(found, chunk);
      is_first = false;
    }
    return found;
  }

 private:
  Words united(Words left, Words right) {
    for (int32_t at = 0; at < kChunkWords; ++at) own_[at] = left[at] | right[at];
    return own_;
  }

  const Block& block_;
  std::vector<int64_t> masks_;  // their places
  std::array<int32_t, kChunkWords> own_;
};

int64_t num_chunks(size_t width) { return static_cast<int64_t>((width + kChunkTokens - 1) / kChunkTokens); }

// Call `each(words, first)` for every chunk, with the number of its first logit.
template <class Logit, class Each>
void for_chunks(UnitedMask& mask, std::span<Logit> logits, Each each) {
  for (int64_t number = 0; number < num_chunks(logits.size()); ++number) {
    const auto first = static_cast<size_t>(number * kChunkTokens);
    each(mask[number], logits.subspan(first, std::min<size_t>(kChunkTokens, logits.size() - first)), first);
  }
}

// Write over the logits of a chunk's tokens that are forbidden, or whose classes do not fit.
template <class Logit>
void blend_by_class(Words words, Words classes, const std::vector<uint8_t>& fits, Logit infinity,
                    std::span<Logit> logits) {
  for (size_t token = 0; token < logits.size(); ++token) {
    if (words[token / 32] == 0) {
      const size_t end = std::min(token - token % 32 + 32, logits.size());
      std::fill(logits.begin() + static_cast<std::ptrdiff_t>(token), logits.begin() + static_cast<std::ptrdiff_t>(end),
                infinity);
      token = end - 1;
      continue;
    }
    const auto number = static_cast<uint32_t>(classes[token]);
    if (number >= fits.size() || !fits[number]) logits[token] = infinity;
  }
}

// Mask the logits of one sequence.
template <class Logit>
void mask_one(const Block& block, const SequenceBatch& at, size_t sequence, const Restriction& restriction,
              const Blending<Logit>& how, std::span<Logit> logits) {
  UnitedMask mask(block, at.rows(sequence));
  const int64_t limit = restriction.remaining.empty() ? kFar : restriction.remaining[sequence];
  const Fitting fitting = limit < kFar ? fitting_classes(block, at, sequence, limit) : Fitting{};
  if (fitting.all) {
    for_chunks(mask, logits, [&](Words words, std::span<Logit> part, size_t) { blend(words, how, part); });
    return;
  }
  const Words classes = block.words(block[Table::kClasses] + restriction.begin, static_cast<int64_t>(logits.size()));
  for_chunks(mask, logits, [&](Words words, std::span<Logit> part, size_t first) {
    blend_by_class(words, classes.subspan(first), fitting.fits, how.value, part);
  });
}

}  // namespace

void write_masks(const Memory& memory, const SequenceBatch& at, int64_t num_chunks, std::span<int32_t> out) {
  for (size_t sequence = 0; sequence < at.size; ++sequence) {
    const Block block = memory.block(at.slots[sequence]);
    UnitedMask mask(block, at.rows(sequence));
    for (int64_t number = 0; number < num_chunks; ++number) {
      const Words words = mask[number];
      std::ranges::copy(words, out.begin());
      out = out.subspan(words.size());
    }
  }
}

template <class Logit>
void mask_logits(const Memory& memory, const SequenceBatch& at, const Restriction& restriction,
                 const LogitRows<Logit>& logits, int num_threads) {
  const bool streaming = logits.rows * logits.width * sizeof(Logit) >= support::kStreamingBytes;
  const Blending<Logit> how{logits.infinity, streaming};
  support::in_parallel(at.size, num_threads, [&](size_t sequence) {
    const Block block = memory.block(at.slots[sequence]);
    mask_one(block, at, sequence, restriction, how, logits[sequence]);
    if (streaming) support::finish_streaming();
    // An automaton with costs has no stack, and so stands at one row.
    subtract_weights(block, at.rows(sequence)[0], logits.infinity, logits[sequence]);
  });
}

template void mask_logits(const Memory&, const SequenceBatch&, const Restriction&, const LogitRows<int16_t>&, int);
template void mask_logits(const Memory&, const SequenceBatch&, const Restriction&, const LogitRows<int32_t>&, int);
template void mask_logits(const Memory&, const SequenceBatch&, const Restriction&, const LogitRows<int64_t>&, int);

}  // namespace decoding
