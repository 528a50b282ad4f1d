// Distances to the end of the text from the configurations of a LazyNfa that is determinized on demand.
//
// For each state there is an upper bound on the number of tokens from it to each exit of its rule
// (`tokenfst/lazy/exit_distances.h`). A set is as far from an exit as the nearest of its states, and a context gives
// the distance of the end of the text from each exit of the rule on top, or of each of the rules that were called
// together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/value_interner.h"
#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/exit_distances.h"
#include "tokenfst/lazy/upper_bounds.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

class NfaDistances : public DistanceSource {
 public:
  NfaDistances(SubsetMachine& machine, const Vocabulary& vocabulary, Budget& budget);

  // The whole text ends by the first exit, followed by the end token.
  Context bottom() const override { return {0, 1}; }
  int32_t distance(int32_t context, int32_t set) override;
  Context above(int32_t context, int32_t called) override;
  bool is_even(int32_t set, int32_t longest) override;
  int32_t bound_of_state(int32_t set) override { return bound_of_set(set).beyond; }
  Bound bound_of_symbol(int32_t symbol) override;

 private:
  struct OnTop {
    int32_t vector, joint;
    bool operator==(const OnTop&) const = default;
  };

  // Return the context of the vector in `vector_`. `joint` is the joint call on top (`SubsetMachine::joint_call`), or
  // kNone.
  Context number(int32_t joint);
  // Return the distance from a state on a stack of a context.
  int32_t to_end(int32_t context, int32_t state);
  // Return the place of a rule's first exit in the vectors of a joint call.
  int32_t first_exit(int32_t joint, int32_t rule) const;
  const UpperBounds& bounds();
  int32_t in_rule(int32_t state) const;
  // Return the bounds of a set as a symbol of the stack, and as a state.
  Bound bound_of_set(int32_t set);

  SubsetMachine& machine_;
  LazyNfa& nfa_;
  Budget& budget_;
  const int32_t longest_token_;
  ExitDistances exits_;
  // From the exits of the rule on top, [E]; or from those of several, [E] each.
  DistanceVectors vectors_;
  support::ValueInterner<OnTop> contexts_;  // by number
  std::vector<Vector<int32_t>> distances_;  // by context and set; kUnseen if it has not been asked for
  Vector<Bound> known_bounds_;              // by set; kUnseen if it has not been asked for
  std::optional<UpperBounds> bounds_;
  Vector<int32_t> vector_;  // scratch
};

}  // namespace tokenfst
