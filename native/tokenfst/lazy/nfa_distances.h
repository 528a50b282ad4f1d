// How far the ends of rules are from the states of a LazyNfa, which is determinized on demand.
//
// For each state there is an upper bound on the number of tokens from it to each exit of its rule. A set is as far from
// an exit as the nearest of its states, and a context gives the distance of the end of the text from each exit of the
// rule on top, or of each of the rules that were called together.
//
//     inside_         how far each state inside a part is from the outer state that follows (`lazy/inside_distances.h`)
//     to_exit_        how far each state is from each exit of its rule: the least solution of the sums along arcs, and
//                     of the paths through a call by each of its exits
//     made_           the same for states of rules with flags, found when it is first asked for. Of the open guarded
//                     arcs the first is followed, which leads to an end; and then the others, one by one, as long as
//                     some exit that may be possible has not been reached
//
// Rejected: one number for each state, the distance to the nearest exit (whether the text can ever end may depend on
// which exit it is).
#pragma once

#include <cstdint>
#include <optional>

#include "support/value_interner.h"
#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/inside_distances.h"
#include "tokenfst/lazy/subsets.h"
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
  Vector<int32_t> last_states_first();
  void find_ways_to_exits();
  bool lower_inside_chains();
  bool lower_inside_copies();
  bool lower_by_call(std::span<int32_t> row, int32_t state);
  // How far a state is from each exit of its rule, as far as is known. Valid until the next call.
  std::span<const int32_t> to_exit(int32_t state);
  void find_rules_with_flags();
  void find_possible_exits();
  static uint64_t exit_bit(int32_t exit) { return exit < 64 ? uint64_t{1} << exit : 0; }
  // Whether the row of a state is found when it is first asked for: for states of rules with flags, since few sets of
  // flags occur, and for states that are made on demand.
  bool is_found_alone(int32_t state) const;
  void find_made(int32_t state);
  void forget_made();
  bool fill_made(int32_t number);
  bool lacks_exit(int32_t number);
  int32_t num_open_arcs(int32_t state);
  template <class Visit>
  void each_next(int32_t state, int32_t num_arcs, Visit visit);
  template <class Visit>
  void each_way(int32_t state, int32_t flags, int32_t num_arcs, Visit visit);
  // The context of the vector in `vector_`. `joint` is the joint call on top (`SubsetMachine::joint_call`), or kNone.
  Context number(int32_t joint);
  // How far the end is from a state on a stack of a context.
  int32_t to_end(int32_t context, int32_t state);
  // The place of a rule's first exit in the vectors of a joint call.
  int32_t first_exit(int32_t joint, int32_t rule) const;
  int32_t rule_of(int32_t state) const;
  const UpperBounds& bounds();
  int32_t in_rule(int32_t state) const;
  // The bounds of a set as a symbol of the stack, and as a state.
  Bound bound_of_set(int32_t set);
  // Lower the entries of a row to those of `target` plus `more`; return whether any has changed.
  bool lower(std::span<int32_t> row, int32_t more, int32_t target);
  bool lower_by_arcs(std::span<int32_t> row, int32_t state, int32_t flags, int32_t num_arcs);

  SubsetMachine& machine_;
  LazyNfa& nfa_;
  Budget& budget_;
  InsideDistances inside_;
  support::Matrix<int32_t> to_exit_;  // [N, E], E the most exits that a rule has
  Vector<uint8_t> has_flags_;         // by outer state, whether its rule has flags; none if none has
  Vector<uint64_t> possible_exits_;   // by outer state of a rule with flags, the exits that it reaches if all arcs are
                                      // open, a bit each
  support::Map<int32_t, int32_t, support::Hash> made_;  // the row of each state that is found alone
  // Of each of these rows, how many of the open guarded arcs are followed.
  struct Followed {
    int32_t state, num_arcs;
    bool is_done;
  };
  Vector<Followed> followed_;
  support::Matrix<int32_t> made_rows_;
  // From the exits of the rule on top, [E]; or from those of several, [E] each.
  DistanceVectors vectors_;
  struct OnTop {
    int32_t vector, joint;
    bool operator==(const OnTop&) const = default;
  };
  support::ValueInterner<OnTop> contexts_;  // by number
  std::vector<Vector<int32_t>> distances_;  // by context and set; kUnseen if it has not been asked for
  Vector<Bound> known_bounds_;              // by set; kUnseen if it has not been asked for
  const int32_t longest_token_;
  std::optional<UpperBounds> bounds_;
  Vector<int32_t> vector_;  // scratch
};

}  // namespace tokenfst
