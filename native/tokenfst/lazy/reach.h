// Reach: the distance to the end after each token that a configuration allows.
//
//     Reach         the distances: for tokens of a text by their number of characters, although most lengths have the
//                   same distance; for all others as runs of ranks with one distance, and as single tokens
//     ReachFinder   finds them, in one of three ways: for a state that loops on text, or reads text of limited length,
//                   walks over the rests of tokens from each link of its chain (`tokenfst/lazy/chains.h`); for a state
//                   from which most characters lead to one that loops, the reach of that one and a walk over what
//                   differs; for any other state, a walk over all tokens. A text that stays between the bounds of a
//                   count does not change the distance either
#pragma once

#include <cstdint>
#include <functional>

#include "tokenfst/lazy/cached_masks.h"
#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/walk.h"

namespace tokenfst {

// In place of the distance after a token that is not allowed.
constexpr int32_t kRefused = INT32_MAX;

// Where several parts cover a token, the last one counts. After some tokens, the distance may not be known:
// it is kFar then.
struct Reach {
  struct Base {
    const Words* words;  // of a text, which outlives the reach
    int32_t distance;
  };
  struct Run {
    int32_t first, end, distance;  // ranks
  };
  struct Token {
    int32_t token, distance;
  };

  explicit Reach(Budget& budget)
      : bases(budget),
        runs(budget),
        tokens(budget),
        changes(budget),
        first(budget),
        levels(budget) {}

  Vector<Base> bases;  // each has all tokens of the next
  Vector<Run> runs;
  Vector<Token> tokens;
  Vector<Run> changes;     // what differs from the state that the rest was found for
  Vector<Token> first;     // tokens at the start of a text
  Vector<int32_t> levels;  // the different distances, ascending

  // Make all distances greater by a number, and find the levels.
  void add(int32_t cost);
};

// `Machine::alike` of the states that a walk meets.
class AlikeStates {
 public:
  AlikeStates(Machine& machine, Budget& budget) : machine_(machine), known_(budget) {}

  Machine::Alike operator[](int32_t state) {
    const auto known = known_.find(state);
    return known != known_.end() ? known->second : known_.emplace(state, machine_.alike(state)).first->second;
  }
  void clear() { known_.clear(); }

 private:
  Machine& machine_;
  support::Map<int32_t, Machine::Alike, support::Hash> known_;
};

class ReachFinder {
 public:
  ReachFinder(WalkContext context, TextLibrary& texts, StackDistances& distances, Budget& budget)
      : context_(context),
        texts_(texts),
        vocabulary_(*texts.vocabulary()),
        distances_(distances),
        budget_(budget),
        alike_(context.machine, budget) {}

  // Return the distances after all tokens. `reach_of` returns those of another configuration.
  Reach find(const NumberedConfiguration& at, const std::function<Reach(const NumberedConfiguration&)>& reach_of);

 private:
  // Return whether two states are alike whatever the token, even where no token has a text.
  bool for_all_tokens(const Machine::Alike& alike) const {
    return alike.longest && alike.longest >= vocabulary_.longest();
  }
  Place place(const NumberedConfiguration& at) const { return {at.state, at.top, context_.stacks.num_kept()}; }
  bool find_chained(const NumberedConfiguration& at, Reach& found);
  void find_differing(const NumberedConfiguration& at, int32_t other, Reach& found);
  void walk(const CharacterSet& skipped, bool whole, const NumberedConfiguration& at, Reach& found);
  void walk(const TokenTrie& rests, const NumberedConfiguration& at, Reach& found);

  WalkContext context_;
  TextLibrary& texts_;
  const Vocabulary& vocabulary_;
  StackDistances& distances_;
  Budget& budget_;
  AlikeStates alike_;
};

}  // namespace tokenfst
