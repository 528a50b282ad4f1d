// Cached masks: the stored form of the tokens that configurations allow.
//
//     CachedMask         a mask relative to words that many masks share: the tokens whose bits are flipped; and how
//                        many symbols of the stack were looked at to find it
//     MaskWriter         writes masks as words, and keeps the words of those that are written often
//     ContextMaskCache   masks by state; and by context, a state and as much of the stack as was looked at, since
//                        symbols below that make no difference
//
// Rejected: keeping all masks as words (with 128,000 tokens, 16 KiB each, even to allow a single token); evicting the
// oldest mask (contexts share parts): RE2, too, forgets all of its states at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tokenfst/lazy/machine.h"
#include "tokenfst/masks.h"

namespace tokenfst {

struct CachedMask {
  std::shared_ptr<const Words> base;  // null for no token
  Vector<int32_t> flips;
  bool is_final;
  int32_t depth;
  bool owns_base = false;  // whether `base` was made for this mask
  // All words of a mask that is written often; empty otherwise (`MaskWriter`).
  mutable Words words{};
  mutable int32_t num_written = 0;

  void write(std::span<uint32_t> out) const;
  bool allows(int32_t token) const;
  // Return the number of bytes of the words that were made for this mask alone; and of the mask with these words.
  size_t num_word_bytes() const { return owns_base ? sizeof(uint32_t) * base->size() : 0; }
  size_t num_bytes() const { return sizeof(CachedMask) + sizeof(int32_t) * flips.size() + num_word_bytes(); }
};
using MaskPointer = std::shared_ptr<const CachedMask>;

// A state and a kept stack, as one number.
struct NumberedConfiguration {
  int32_t state, top;

  bool operator==(const NumberedConfiguration&) const = default;
  int64_t number() const { return int64_t{top} << 32 | static_cast<uint32_t>(state); }
};

// Writes masks as words. A mask with many flips that is written often gets words of its own, since copying them takes
// less time than flipping bits; only a limited number of masks do.
class MaskWriter {
 public:
  explicit MaskWriter(size_t words_per_mask) : words_per_mask_(words_per_mask) {}

  void write(const CachedMask& mask, std::span<uint32_t> out);
  // Forget the masks, which have been dropped.
  void clear() { num_hot_ = 0; }
  // Return the number of bytes of the words that are kept, which no budget counts.
  size_t num_bytes() const { return sizeof(uint32_t) * words_per_mask_ * num_hot_; }

 private:
  const size_t words_per_mask_;
  size_t num_hot_ = 0;  // masks that have words
};

class ContextMaskCache {
 public:
  explicit ContextMaskCache(Budget& budget) : masks_(budget), contexts_(budget), deeper_(budget) {}

  // Return the mask of a state; null if it is not kept.
  const MaskPointer& find(int64_t state) const;
  MaskPointer find_context(const NumberedConfiguration& at, const Stacks& stacks) const;
  void keep(int64_t state, MaskPointer mask);
  void keep_context(const NumberedConfiguration& at, const Stacks& stacks, MaskPointer mask);
  void clear();
  size_t num_states() const { return masks_.size(); }
  size_t num_contexts() const { return contexts_.size(); }
  // Return the number of bytes of the words that were made for single masks, which no budget counts; and of all masks.
  size_t num_word_bytes() const { return num_word_bytes_; }
  size_t num_bytes() const { return num_bytes_; }

 private:
  // A state or a context, and one more symbol.
  struct Deeper {
    int32_t context, symbol;
    bool operator==(const Deeper&) const = default;
  };
  static constexpr int32_t kNone = -1, kBottom = -1;

  support::Map<int64_t, MaskPointer, support::Hash> masks_;
  // Contexts by number; those of a state alone extend kNone in `deeper_`.
  Vector<MaskPointer> contexts_;
  support::Map<Deeper, int32_t, support::Hash> deeper_;
  size_t num_word_bytes_ = 0, num_bytes_ = 0;
};

}  // namespace tokenfst
