// Masks as packed words: bit `i & 31` of word `i >> 5` is token i, the layout that inference engines share.
//
//     ClassMasks   makes masks from classes and not from tokens: the ranks of each class are a few runs, so a mask that
//                  allows little sets the bits of the allowed runs, and one that allows most clears the others
//     MaskCache    masks that were asked for before; the oldest go first
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "tokenfst/classes.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

using Words = std::vector<uint32_t>;

// Copies a mask into a row that may be longer; what is past the mask is cleared.
void copy_mask(std::span<const uint32_t> mask, std::span<uint32_t> out);

class ClassMasks {
 public:
  // Runs cover all ranks in order.
  ClassMasks(const Vocabulary& vocabulary, std::span<const Run> runs, int32_t num_classes);

  // The mask of the tokens of some classes; kNever among them is passed over, kEnd stands for the end tokens.
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

// A state, and what else a mask depends on, a level of a budget say.
struct MaskKey {
  int64_t state, level;
  bool operator==(const MaskKey&) const = default;
};

struct MaskKeyHash {
  size_t operator()(const MaskKey& key) const;
};

class MaskCache {
 public:
  explicit MaskCache(size_t most) : most_(most) {}

  // The mask, null where it is not kept. Safe to call from several threads, as is `keep`.
  std::shared_ptr<const Words> find(const MaskKey& key) const;
  std::shared_ptr<const Words> keep(const MaskKey& key, Words&& words);

 private:
  const size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<MaskKey, std::shared_ptr<const Words>, MaskKeyHash> masks_;
  std::deque<MaskKey> order_;
};

}  // namespace tokenfst
