// Upper bounds on the distance to the end of the text after one token.
//
// With a budget above that bound, all tokens of a mask can be completed, and no distance has to be found for it. A
// token leads through some rules; where one is called, the bound of the caller counts from the state after the call:
//
//     of_outer_   an upper bound on the distance from an outer state to any exit of its rule that it reaches
//     beyond_     an upper bound on the distance to the exits of a rule after a token that begins there: from some
//                 state of the rule, or from rules that are called one inside the other while the token has bytes left
//
// All paths are those that distances count (`tokenfst/lazy/exit_distances.h`). In a rule with flags, such a path meets
// no state twice while the flags stay the same, and sets each flag at most once. So it is bounded by the longest path
// to an arc that sets a flag or to an exit and, for each flag, the longest one from such an arc to the next or to an
// exit (`tokenfst/lazy/longest_paths.h`).
//
// There is no bound for grammars with detours, or for rules with flags and several exits, because the search for
// distances may reach only some of those exits.
//
// Rejected: bounds by state (the states that a token leads to are found only by walking over it).
#pragma once

#include "tokenfst/lazy/exit_distances.h"
#include "tokenfst/lazy/longest_paths.h"
#include "tokenfst/lazy/nfa.h"

namespace tokenfst {

class UpperBounds {
 public:
  // `longest_token` is its number of bytes.
  UpperBounds(const LazyNfa& nfa, ExitDistances& exits, int32_t longest_token, Budget& budget);

  // Return an upper bound on the distance from a state without flags to any exit that it reaches.
  int32_t of_state(int32_t state) const;
  // Return the same bound for the states after the call of a state.
  int32_t after_call(int32_t state) const;
  // Return an upper bound on the distance to the exits of a rule after a token that begins there.
  int32_t beyond(int32_t rule) const { return beyond_[rule]; }

 private:
  struct Nested {
    int32_t caller, called;
    int32_t after;  // the bound of the state after the call
    auto operator<=>(const Nested&) const = default;
  };

  int32_t num_rules() const { return static_cast<int32_t>(beyond_.size()); }
  int32_t end_of(int32_t rule) const { return rule + 1 < num_rules() ? nfa_.starts_[rule + 1] : nfa_.num_outer(); }
  bool has_flags(int32_t rule) const;
  void find_states(int32_t rule);
  Vector<WeightedEdge> edges_of(int32_t rule);
  void bound_paths(int32_t rule);
  int32_t sum_of_flags(int32_t rule);
  void find_insides();
  Vector<Nested> nested_calls();
  bool calls_early(int32_t rule);
  void find_beyond(int32_t longest_token);

  const LazyNfa& nfa_;
  ExitDistances& exits_;
  const InsideDistances& inside_;
  Budget& budget_;
  Vector<int32_t> of_outer_;
  Vector<int32_t> beyond_;  // by rule
};

}  // namespace tokenfst
