// Upper bounds on the distances, in tokens, from the states of a LazyNfa to the exits of their rules.
//
//     inside_         how far each state inside a part is from the outer state that follows
//                     (`tokenfst/lazy/inside_distances.h`)
//     to_exit_        how far each outer state is from each exit of its rule: the least solution of the sums along
//                     arcs, and of the paths through a call by each of its exits
//     made_           the same for outer states with flags, found when it is first asked for. Of the open guarded
//                     arcs the first is followed, which leads to an end; and then the others, one by one, as long as
//                     some exit that may be possible has not been reached. Arcs that have been followed once are
//                     followed whenever the row is found again: other rows may rely on them
//
// Rejected: one number for each state, the distance to the nearest exit (whether the text can ever end may depend on
// which exit it is).
#pragma once

#include <cstdint>
#include <span>

#include "tokenfst/lazy/inside_distances.h"
#include "tokenfst/lazy/subsets.h"

namespace tokenfst {

class ExitDistances {
 public:
  ExitDistances(SubsetMachine& machine, const Trie& tokens, Budget& budget);

  const InsideDistances& inside() const { return inside_; }
  // Return the greatest number of exits of a rule, E.
  size_t most_exits() const { return most_exits_; }
  // Return the rule that a state is in, unless it is detached.
  int32_t rule_of(int32_t state) const;
  // The distances from a state to each exit of its rule, as far as they are known: those of a row, each plus `more`.
  // The row is valid until the next call.
  struct ToExit {
    std::span<const int32_t> row;
    int32_t more;
  };
  ToExit to_exit(int32_t state);
  // Return the distance from the start of a rule to one of its exits.
  int32_t through(int32_t rule, int32_t exit);

 private:
  // A state whose row is found when it is first asked for, and how many of its open guarded arcs are followed.
  struct Followed {
    int32_t state, num_arcs;
    bool is_done;
  };

  void add_rows();
  Vector<int32_t> last_states_first();
  void find_paths_to_exits();
  bool lower_by_call(std::span<int32_t> row, int32_t state);
  void find_rules_with_flags();
  void find_possible_exits();
  static uint64_t exit_bit(int32_t exit) { return exit < 64 ? uint64_t{1} << exit : 0; }
  // Return the outer state after a state, with its flags, and the distance to it.
  InsideDistances::Rest outer_after(int32_t state);
  // Return the row of an outer state.
  std::span<const int32_t> row_of(int32_t outer);
  // Return whether the row of an outer state is found when it is first asked for: if its rule has flags, since few sets
  // of flags occur.
  bool is_found_alone(int32_t outer) const;
  void find_made(int32_t state);
  int32_t advance_made(int32_t state);
  void lower_made(size_t first);
  void forget_made();
  bool fill_made(int32_t number);
  bool lacks_exit(int32_t number);
  int32_t num_open_arcs(int32_t state);
  template <class Visit>
  void each_next(int32_t state, int32_t num_arcs, Visit visit);
  template <class Visit>
  void each_successor(int32_t state, int32_t flags, int32_t num_arcs, Visit visit);
  // Lower the entries of a row to those of `target` plus `more`; return whether any has changed.
  bool lower(std::span<int32_t> row, int32_t more, int32_t target);
  bool lower_by_arcs(std::span<int32_t> row, int32_t state, int32_t flags, int32_t num_arcs);

  SubsetMachine& machine_;
  LazyNfa& nfa_;
  Budget& budget_;
  InsideDistances inside_;
  size_t most_exits_ = 1;
  support::Rows<int32_t> to_exit_;   // by outer state and exit of its rule
  Vector<uint8_t> has_flags_;        // by outer state, whether its rule has flags; none if none has
  Vector<uint64_t> possible_exits_;  // by outer state of a rule with flags, the exits that it reaches if all arcs are
                                     // open, a bit each
  support::Map<int32_t, int32_t, support::Hash> made_;          // the row of each state that is found alone
  Vector<Followed> followed_;                                   // by row
  support::Map<int32_t, int32_t, support::Hash> num_followed_;  // by state whose row was once found, if above 1
  support::Rows<int32_t> made_rows_;
};

}  // namespace tokenfst
