// How far one token may lead from the end of the text, at most.
//
// With a budget above that bound, all tokens of a mask can be completed, and no distance has to be found for it. A
// stack is as far from the end as its rules together, and each rule at most as far as its farthest state:
//
//     longest_   for an outer state, the longest way to an exit of its rule, or to an arc that sets a flag
//     within     for a rule, how far any of its states is from any exit that it reaches
//     beyond     how far from such an exit a token leads at most that begins in the rule and calls others: `within` of
//                the rule and of those it calls, and of those these call, while the token has bytes left
//
// All ways are those that distances count (`lazy/nfa_distances.h`). In a rule with flags, such a way meets no state
// twice while the flags stay the same, and sets each flag at most once. So it is bounded by the longest way to an arc
// that sets a flag and, for each flag, the longest one from such an arc to the next; of a cycle, all states are counted.
//
// There is no bound for grammars with detours, nor for rules with flags and several exits, of which distances may find
// some only.
//
// Rejected: bounds by state (the states that a token leads to are found only by walking over it).
#pragma once

#include <functional>
#include <span>

#include "tokenfst/lazy/distances.h"
#include "tokenfst/lazy/inside_distances.h"
#include "tokenfst/lazy/nfa.h"

namespace tokenfst {

class UpperBounds {
 public:
  // The distances to the exits of a rule, of an outer state or of the start of a rule. Valid until the next call.
  using Distances = std::function<std::span<const int32_t>(int32_t)>;

  // `longest_token`: its number of bytes.
  UpperBounds(const LazyNfa& nfa, const InsideDistances& inside, const Distances& of_state, const Distances& of_rule,
              int32_t longest_token, Budget& budget);

  const Bound& operator[](int32_t rule) const { return bounds_[rule]; }

 private:
  struct Way {
    int32_t source, target, distance;
  };
  struct Nested {
    int32_t caller, called;
    auto operator<=>(const Nested&) const = default;
  };

  int32_t num_rules() const { return static_cast<int32_t>(bounds_.size()); }
  int32_t end_of(int32_t rule) const { return rule + 1 < num_rules() ? nfa_.starts_[rule + 1] : nfa_.num_outer(); }
  bool has_flags(int32_t rule) const;
  Vector<Way> ways_of(int32_t rule);
  void find_longest_ways(int32_t rule, std::span<const Way> ways);
  void find_longest_inside();
  int32_t sum_of_flags(int32_t rule);
  void find_beyond(int32_t longest_token);

  const LazyNfa& nfa_;
  const InsideDistances& inside_;
  const Distances of_state_, of_rule_;
  Budget& budget_;
  Vector<int32_t> longest_;   // by outer state
  Vector<Bound> bounds_;      // by rule
};

}  // namespace tokenfst
