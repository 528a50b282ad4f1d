// Masks as packed words: bit `i & 31` of word `i >> 5` is token i, the layout that inference engines share.
//
//     ClassMasks   makes masks from classes instead of tokens: the ranks of each class are a few runs, so a mask with
//                  few tokens is made by setting the bits of the allowed runs, and one with most tokens by clearing the
//                  others
//     MaskCache    a bounded cache of masks
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "support/bounded_cache.h"
#include "tokenfst/classes.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

using Words = std::vector<uint32_t>;

// Copy a mask into a row that may be longer; the words past the mask are cleared.
void copy_mask(std::span<const uint32_t> mask, std::span<uint32_t> out);

class ClassMasks {
 public:
  // Runs must cover all ranks in order. The masks take about 8 bytes for each class and each run.
  ClassMasks(const Vocabulary& vocabulary, std::span<const ClassRun> runs, int32_t num_classes);

  // Return the mask of the tokens of some classes; kNever is skipped, and kEnd is the class of the end tokens.
  Words mask(std::span<const int32_t> allowed) const;

 private:
  struct Ranks {
    int32_t first, end;
  };
  std::span<const Ranks> ranks(int32_t number) const {
    return {ranks_.data() + offsets_[number], ranks_.data() + offsets_[number + 1]};
  }
  void flip(int32_t number, std::span<uint32_t> words) const;

  const Vocabulary& vocabulary_;
  std::vector<int32_t> offsets_;  // [K + 1], where the runs of each class begin
  std::vector<Ranks> ranks_;
  std::vector<int32_t> sizes_;  // [K], how many tokens each class has
};

// The level of a mask without a budget.
constexpr int64_t kNoLevel = -1;

// A state, and the level of a budget.
struct MaskKey {
  int64_t state, level;
  bool operator==(const MaskKey&) const = default;
};

class MaskCache {
 public:
  // Keep at most `max_masks` masks. If there are no more states than that, masks without a level are found without a
  // lock.
  MaskCache(size_t max_masks, int64_t num_states);
  ~MaskCache();

  // Write a mask if it is kept; return whether it is. Safe to call from several threads, as is `keep`.
  bool copy(const MaskKey& key, std::span<uint32_t> out) const;
  // Keep a mask and write it.
  void keep(const MaskKey& key, Words&& words, std::span<uint32_t> out);

 private:
  bool has_slot(const MaskKey& key) const { return key.level == kNoLevel && !slots_.empty(); }

  std::vector<std::atomic<const Words*>> slots_;  // by state
  support::SharedCache<MaskKey, Words> masks_;
};

}  // namespace tokenfst
