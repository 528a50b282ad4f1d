// Masks of a lazy automaton that hold the tokens that can be completed within a budget.
//
//     Reach         how far the end is after each token that a mask allows, less the cost counted for the part of the
//                   stack that the mask's walk did not look at. Tokens are runs of ranks with one distance. While a
//                   count is far from its least number, states that are alike but for it share a reach, less their own
//                   distance
//     MasksWithin   finds and keeps these, by mask, state and the context of that stack, and the words made from them:
//                   budgets between two successive distances have the same words
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tokenfst/lazy/cached_masks.h"
#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/reach.h"

namespace tokenfst {

// The effect of a token at the start of a text, if it is not that of its bytes.
struct FirstToken {
  int32_t token;
  NumberedConfiguration target;  // its state is kDead if the token is not allowed
};

using MaskOf = std::function<MaskPointer(const NumberedConfiguration&)>;

class MasksWithin {
 public:
  // `mask_of` returns the mask of a configuration.
  MasksWithin(WalkContext context, TextLibrary& texts, DistanceSource& source, MaskOf mask_of, Budget& budget)
      : context_(context),
        vocabulary_(*texts.vocabulary()),
        mask_of_(std::move(mask_of)),
        distances_(source, context.stacks, budget),
        finder_(context, texts, distances_, budget),
        reaches_(budget) {}
  MasksWithin(const MasksWithin&) = delete;
  MasksWithin& operator=(const MasksWithin&) = delete;

  // Return the distance from a configuration, counting the end token.
  int32_t distance(const NumberedConfiguration& at) {
    distances_.follow();
    return distances_.distance(at.state, at.top);
  }
  // Return whether a state shares its reach with others (`DistanceSource::is_even`).
  bool is_even(int32_t state) { return distances_.is_even(state, vocabulary_.longest()); }
  // Return whether all tokens after which the text can end from a configuration are known to be less than `limit` from
  // the end.
  bool is_ample(const NumberedConfiguration& at, int64_t limit) {
    return distances_.bound(at.state, at.top) < std::min<int64_t>(limit, kFar);
  }
  // Write the allowed tokens that are less than `limit` from the end. Return whether all of them are. The reach is kept
  // for the state `kept`.
  bool write(const NumberedConfiguration& at, int32_t kept, int64_t limit, std::span<const FirstToken> first,
             std::span<uint32_t> out);
  void clear();

 private:
  struct Key {
    const CachedMask* mask;
    int32_t state, context;
    bool operator==(const Key&) const = default;
  };

  struct Kept {
    MaskPointer mask;
    Reach reach;
    std::vector<Words> words{};  // by level, empty if it has not been asked for
  };

  // Return the context of the part of a stack that the walk of a mask did not look at.
  Context below(const CachedMask& mask, int32_t top) const;
  // Return the reach of a configuration, and the cost that is to be added to its distances. Valid until the next call.
  std::pair<Kept*, int32_t> kept_reach(const NumberedConfiguration& at, int32_t kept,
                                       std::span<const FirstToken> first);
  Words words_within(const Kept& kept, int32_t limit) const;

  WalkContext context_;
  const Vocabulary& vocabulary_;
  const MaskOf mask_of_;
  StackDistances distances_;
  ReachFinder finder_;
  support::Map<Key, Kept, support::Hash> reaches_;
  size_t num_words_ = 0;
};

}  // namespace tokenfst
