// MaskFinder: finds the mask of a configuration.
//
// For a text-like state it does not walk over all tokens: the mask is the words of a text (`tokenfst/lazy/texts.h`),
// plus the tokens that a walk over the rests of the others finds; or the mask of another state, plus the differences.
// Where some bytes may not begin a text, `[^/].*`, or lead elsewhere, tokens that begin with these are walked over. A
// state that counts differs from one whose bounds are far away only in tokens that are long enough to reach a bound.
// These are few, and many counts share the other state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tokenfst/lazy/cached_masks.h"
#include "tokenfst/lazy/walk.h"

namespace tokenfst {

// How many masks were found in each way: by a walk over all tokens; as the differences from another mask; or as the
// words of a text, for a loop on it, for a chain of states of limited length, or for a cover.
struct MaskCounts {
  int64_t walked = 0, differing = 0, looping = 0, chained = 0, covered = 0;
};

class MaskFinder {
 public:
  // `counts` are those to continue from.
  MaskFinder(WalkContext context, TextLibrary& texts, Budget& budget, const MaskCounts& counts)
      : context_(context),
        texts_(texts),
        vocabulary_(*texts.vocabulary()),
        budget_(budget),
        tokens_(budget),
        counts_(counts) {}

  // Return the mask of a configuration; `mask_of` finds the masks of other configurations with the same stack.
  MaskPointer find(const NumberedConfiguration& at,
                   const std::function<MaskPointer(const NumberedConfiguration&)>& mask_of);
  const MaskCounts& counts() const { return counts_; }

 private:
  Place place(const NumberedConfiguration& at) const { return {at.state, at.top, context_.stacks.num_kept()}; }
  // Begin to collect tokens; return whether the text may end.
  bool begin(const NumberedConfiguration& at);
  WalkedTokens walked_tokens(bool whole) const;
  void walk(const TokenTrie& tokens, const NumberedConfiguration& at);
  void walk_all(const CharacterSet& skipped, const NumberedConfiguration& at);
  MaskPointer mask(std::shared_ptr<const Words> base, const NumberedConfiguration& at, int32_t depth = 0);

  MaskPointer walked(const NumberedConfiguration& at);
  MaskPointer text_mask(const TextLike& text, const NumberedConfiguration& at,
                        const std::function<MaskPointer(const NumberedConfiguration&)>& mask_of);
  MaskPointer differing(const NumberedConfiguration& at, int32_t other, const MaskPointer& mask);
  MaskPointer near_bounds(const NumberedConfiguration& at,
                          const std::function<MaskPointer(const NumberedConfiguration&)>& mask_of);
  MaskPointer with_changes(const MaskPointer& known, const NumberedConfiguration& at);
  MaskPointer covered(const NumberedConfiguration& at, int32_t least, const support::ByteSet& excluded = {});
  MaskPointer looping(const NumberedConfiguration& at);
  MaskPointer chained(const Text& text, const NumberedConfiguration& at, const support::ByteSet& excluded = {});
  MaskPointer with_excluded_bytes(const TextLike& text, const NumberedConfiguration& at);
  MaskPointer completed(const Words& words, const CharacterSet& set, const support::ByteSet& excluded,
                        const NumberedConfiguration& at);
  template <class Visit>
  bool for_each_rest(const Text& text, const support::ByteSet& bytes, Visit visit);

  WalkContext context_;
  TextLibrary& texts_;
  const Vocabulary& vocabulary_;
  Budget& budget_;
  // The mask under construction.
  Vector<int32_t> tokens_;
  Looked looked_{};
  bool is_final_ = false;
  MaskCounts counts_;
};

}  // namespace tokenfst
