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
#include <memory>
#include <span>
#include <vector>

#include "tokenfst/lazy/cached_masks.h"
#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/walk.h"

namespace tokenfst {

// The effect of a token at the start of a text, if it is not that of its bytes.
struct FirstToken {
  int32_t token;
  NumberedConfiguration target;  // its state is kDead if the token is not allowed
};

struct Reach {
  struct Run {
    int32_t first, end, distance;  // ranks
  };
  struct First {
    int32_t token, distance;  // kFar if it is not allowed
  };

  Reach(MaskPointer mask, Budget& budget) : mask(std::move(mask)), runs(budget), first(budget), levels(budget) {}

  MaskPointer mask;
  Vector<Run> runs;
  Vector<First> first;       // overrides `runs` for these tokens
  Vector<int32_t> levels;    // the different distances, ascending
  std::vector<Words> masks;  // by level, empty if it has not been asked for
};

class MasksWithin {
 public:
  MasksWithin(WalkContext context, const Vocabulary& vocabulary, DistanceSource& source, Budget& budget)
      : context_(context),
        vocabulary_(vocabulary),
        budget_(budget),
        distances_(source, context.stacks, budget),
        reaches_(budget) {}

  // How far the end is from a configuration, counting the end token.
  int32_t distance(const NumberedConfiguration& at) {
    distances_.follow();
    return distances_.distance(at.state, at.top);
  }
  // Whether a state shares its reach with others (`DistanceSource::is_even`).
  bool is_even(int32_t state) { return distances_.is_even(state, vocabulary_.longest()); }
  // Write the tokens of a mask that are less than `limit` from the end. Return whether all of its tokens are. The reach
  // is kept for the state `kept`.
  bool write(const MaskPointer& mask, const NumberedConfiguration& at, int32_t kept, int64_t limit,
             std::span<const FirstToken> first, std::span<uint32_t> out);
  void clear();

 private:
  struct Key {
    const CachedMask* mask;
    int32_t state, context;
    bool operator==(const Key&) const = default;
  };

  // The context of the part of a stack that the walk of a mask did not look at.
  Context below(const CachedMask& mask, int32_t top) const;
  Reach find(const MaskPointer& mask, const NumberedConfiguration& at, int32_t cost, std::span<const FirstToken> first);
  Words words_within(const Reach& reach, int32_t limit) const;

  WalkContext context_;
  const Vocabulary& vocabulary_;
  Budget& budget_;
  StackDistances distances_;
  support::Map<Key, Reach, support::Hash> reaches_;
  size_t num_masks_ = 0;
};

}  // namespace tokenfst
