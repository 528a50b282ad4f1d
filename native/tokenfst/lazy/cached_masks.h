// Cached masks: the tokens that configurations allow, found by walks.
//
//     CachedMask         a mask relative to words that many masks share: the tokens whose bits are to be flipped; and
//                        how many symbols of the stack were looked at
//     MaskFinder         finds the mask of a configuration. For a text-like state it does not walk over all tokens: the
//                        mask is the words of a text (`lazy/texts.h`), plus a walk over the rests of other tokens; or
//                        the mask of another state, plus the differences. Where some bytes may not begin a text,
//                        `[^/].*`, or lead elsewhere, tokens that begin with these are walked over. A state that counts
//                        differs from one whose
//                        bounds are far away in the tokens that are long enough to reach them; these are few, and the
//                        other state is that of many counts
//     MaskWriter         writes masks as words, and keeps the words of those that are written often
//     ContextMaskCache   masks by state; and by context, a state and as much of the stack as was looked at, since
//                        symbols below that make no difference
//
// Rejected: keeping all masks as words (16 KiB to be written for each of them with 128,000 tokens, to allow one);
// evicting the oldest mask (contexts share parts): RE2, too, forgets all of its states at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tokenfst/lazy/walk.h"
#include "tokenfst/masks.h"

namespace tokenfst {

struct CachedMask {
  std::shared_ptr<const Words> base;  // null for no token
  Vector<int32_t> flips;
  bool is_final;
  int32_t depth;
  // All words of a mask that is written often; empty otherwise (`MaskWriter`).
  mutable Words words{};
  mutable bool was_written = false;

  void write(std::span<uint32_t> out) const;
  bool allows(int32_t token) const;
  size_t num_bytes() const { return sizeof(CachedMask) + 4 * flips.size() + (base ? 4 * base->size() : 0); }
};
using MaskPointer = std::shared_ptr<const CachedMask>;

// A state and a stack, as one number to callers.
struct Configuration {
  int32_t state, top;

  static Configuration of(int64_t number) {
    return {static_cast<int32_t>(number & 0xFFFFFFFF), static_cast<int32_t>(number >> 32)};
  }
  int64_t number() const { return int64_t{top} << 32 | static_cast<uint32_t>(state); }
};

// How many masks were found in each way: by a walk over all tokens, as the differences from another mask, or as the
// words of a text that loops, that has a length, or that covers what follows.
struct MaskCounts {
  int64_t walked = 0, differing = 0, looping = 0, chained = 0, covered = 0;
};

class MaskFinder {
 public:
  MaskFinder(WalkContext context, TextLibrary& texts, Budget& budget)
      : context_(context),
        texts_(texts),
        vocabulary_(*texts.vocabulary()),
        budget_(budget),
        tokens_(budget) {}

  // The mask of a configuration; `mask_of` finds the masks of other configurations with the same stack.
  MaskPointer find(const Configuration& at, const std::function<MaskPointer(const Configuration&)>& mask_of);
  const MaskCounts& counts() const { return counts_; }

 private:
  Place place(const Configuration& at) const { return {at.state, at.top, context_.stacks.num_kept()}; }
  // Begins to collect tokens; returns whether the text may end.
  bool begin(const Configuration& at);
  WalkedTokens walked_tokens(bool whole) const;
  void walk(const TokenTrie& tokens, const Configuration& at);
  void walk_all(const CharacterSet& skipped, const Configuration& at);
  MaskPointer mask(std::shared_ptr<const Words> base, const Configuration& at, int32_t depth = 0);

  MaskPointer walked(const Configuration& at);
  MaskPointer text_mask(const TextLike& text, const Configuration& at,
                        const std::function<MaskPointer(const Configuration&)>& mask_of);
  MaskPointer differing(const Configuration& at, int32_t other, const MaskPointer& mask);
  MaskPointer near_bounds(const Configuration& at, const std::function<MaskPointer(const Configuration&)>& mask_of);
  MaskPointer with_changes(const MaskPointer& known, const Configuration& at);
  MaskPointer covered(const Configuration& at, int32_t least, const support::ByteSet& excluded = {});
  MaskPointer looping(const Text& text, const Configuration& at);
  MaskPointer chained(const Text& text, const Configuration& at, const support::ByteSet& excluded = {});
  MaskPointer with_excluded_bytes(const TextLike& text, const Configuration& at);
  MaskPointer completed(const Words& words, const CharacterSet& set, const support::ByteSet& excluded,
                        const Configuration& at);
  int32_t loop_behind(const TextLike& text, int32_t state);
  int32_t loop_alike(const Text& text, int32_t state);
  int32_t after_character(const Text& text, int32_t before, int32_t state);
  template <class Visit>
  bool for_each_rest(const Text& text, const support::ByteSet& bytes, Visit visit);

  WalkContext context_;
  TextLibrary& texts_;
  const Vocabulary& vocabulary_;
  Budget& budget_;
  // The mask that is being made.
  Vector<int32_t> tokens_;
  Looked looked_{};
  bool is_final_ = false;
  MaskCounts counts_;
};

// Writes masks as words. A mask with many flips that is written a second time gets words of its own, as long as there
// are few of these: copying them takes less time than flipping bits.
class MaskWriter {
 public:
  explicit MaskWriter(size_t words_per_mask) : words_per_mask_(words_per_mask) {}

  void write(const CachedMask& mask, std::span<uint32_t> out);
  // Forgets the masks, which have been dropped.
  void clear() { num_hot_ = 0; }

 private:
  const size_t words_per_mask_;
  size_t num_hot_ = 0;  // masks that have words
};

class ContextMaskCache {
 public:
  explicit ContextMaskCache(Budget& budget) : masks_(budget), contexts_(budget), deeper_(budget) {}

  // The mask of a state; null if it is not kept.
  const MaskPointer& find(int64_t state) const;
  MaskPointer find_context(const Configuration& at, const Stacks& stacks) const;
  void keep(int64_t state, MaskPointer mask);
  void keep_context(const Configuration& at, const Stacks& stacks, MaskPointer mask);
  void clear();
  size_t num_states() const { return masks_.size(); }
  size_t num_contexts() const { return contexts_.size(); }
  // The number of bytes of the masks, some of which share words.
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
  size_t num_bytes_ = 0;
};

}  // namespace tokenfst
