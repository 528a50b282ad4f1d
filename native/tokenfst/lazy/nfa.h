// LazyNfa: a visibly pushdown grammar as one nondeterministic automaton, whose arcs are read one state at a time.
//
// A grammar that has been laid out (`automata/visibly_pushdown/layout.h`) consists of chains of bytes, copies of
// fragments, epsilon arcs, calls and ends. Each of these is stored once, however often a fragment is copied, and arcs
// are made as they are needed. States that lead to no end are left out: each state that is kept is coaccessible. States
// are numbered in this order: those of the layout itself (outer states), those inside chains, those inside copies, and
// those of blocks and those with flags:
//
//     flagged  a state of a rule with guarded arcs, and the flags that are set; without any, it is the state itself
//              (`tokenfst/lazy/flagged_states.h`)
//     detached a state inside a chain as part of a rule of its own, which ends where the chain does. So all sets of
//              flags share the states that read the rest of a text, and the state that follows lies on the stack
//     block    the states of a counter's fragment after a given number of units. It is made when the unit before it
//              first ends, so a bound costs nothing where it is not reached. Numbers so far from their bounds that no
//              token can tell them apart share one block: kBelow, if all bounds are far ahead; kWithin, between bounds
//
// Bytes that no arc distinguishes are one class.
#pragma once

#include <cstdint>
#include <span>

#include "automata/byte_tables.h"
#include "automata/visibly_pushdown/layout.h"
#include "support/csr.h"
#include "tokenfst/lazy/flagged_states.h"

namespace tokenfst {

using automata::ByteClasses;
// In place of a number of units, where it is so far from its bounds that no token can tell how far.
constexpr int32_t kBelow = -1, kWithin = -2;
// The exit of a detached chain; other exits are numbered across all rules.
constexpr int32_t kDetachedExit = INT32_MAX;

// An arc over classes of bytes.
struct ClassArc {
  int32_t low, high, target;
};

class LazyNfa {
 public:
  LazyNfa(const automata::VisiblyPushdownLayout& layout, Budget& budget);

  // Return whether the language is not empty.
  bool has_text() const { return has_text_; }
  // Return whether sets of states are exact: no caller refuses an exit that its callee may reach.
  bool is_exact() const { return is_exact_; }

  const ByteClasses& byte_class() const { return byte_class_; }
  int32_t num_classes() const { return num_classes_; }
  // Return the number of states, without those of blocks and those with flags; and with all that have been made so far.
  int32_t num_fixed_states() const { return first_block_; }
  int32_t num_states() const { return first_block_ + kPage * static_cast<int32_t>(block_of_page_.size()); }
  // Return about how many bytes the states that have been made take.
  size_t num_made_bytes() const {
    return support::bytes_of(blocks_, block_of_page_, flagged_pages_) + flagged_.num_bytes() + flag_sets_.num_bytes();
  }
  // Forget them.
  void forget_made_states();
  // Append a description of a state that outlives made states; return the described state, which this may make, and
  // pass over its description.
  void describe(int32_t state, Vector<int32_t>& out) const;
  int32_t described(std::span<const int32_t>& description);
  bool counts() const { return !counters_.empty(); }
  std::span<const int32_t> starts() const { return starts_; }

  // Append the arcs of a state; this may make states.
  void arcs_of(int32_t state, Vector<ClassArc>& arcs);
  // Append the targets of a state's epsilon arcs and of its open guarded arcs; this may make states.
  void epsilon_of(int32_t state, Vector<int32_t>& targets);
  // Return whether a state reads something, calls or ends.
  bool is_kept(int32_t state) const;

  // Return whether a state lies inside a chain or a copy, reads something, and has no epsilon arcs.
  bool is_plain(int32_t state) const;
  // Return, for a state inside a copy of a deterministic fragment without epsilon arcs, the state of the fragment,
  // numbered across all fragments; otherwise kNone. Within their copies, states of one number behave alike.
  int32_t twin_number(int32_t state) const;
  int32_t num_fragment_states() const { return first_of_fragment_.back(); }

  // Return the call of a state, kNone for none; and the exit in which a rule ends there, kNone if it does not end.
  int32_t call_of(int32_t state) const { return outer(call_of_, state); }
  int32_t exit_of(int32_t state) const {
    return is_detached(state) && state == first_block_ - 1 ? kDetachedExit : outer(exit_of_, state);
  }
  int32_t rule_of_exit(int32_t exit) const { return rule_of_exit_[exit]; }
  int32_t num_exits(int32_t rule) const { return first_exit_[rule + 1] - first_exit_[rule]; }
  int32_t rule_of(int32_t call) const { return calls_[call].rule; }
  // Return the number of an exit within its rule.
  int32_t exit_in_rule(int32_t exit) const {
    return exit == kDetachedExit ? 0 : exit - first_exit_[rule_of_exit_[exit]];
  }
  // Return the state after the call of a state has returned by an exit of its rule, kNone if there is none. This may
  // make a state.
  int32_t target_of(int32_t state, int32_t exit_in_rule) {
    const int32_t target = targets_[calls_[call_of(state)].first_target + exit_in_rule];
    return target == automata::kNone ? target : with_flags(target, flags_of(state));
  }

  // Return, for a state with flags inside a chain, the detached state in its place and the state after the chain; for
  // any other state, kNone and kNone. This may make states.
  std::pair<int32_t, int32_t> detached(int32_t state) {
    const bool has_flags = state >= first_block_ && block_of_page_[(state - first_block_) / kPage] < 0;
    return has_flags ? detached_with_flags(state) : std::pair{automata::kNone, automata::kNone};
  }

  // Return whether a state inside a copy reads every text over the ASCII characters that JSON strings contain
  // unescaped, as in a string that may be any but some words. Return false if that takes more than one fragment.
  bool is_free(int32_t state) const;

  // Return a state that allows the same tokens of at most `longest` bytes as `state`, but without its number of units
  // if no such token can tell that number.
  int32_t far_state(int32_t state, int32_t longest);
  // Return the state two units after a state that counts, if `next` is the state one unit after it and nothing but the
  // count differs, because the least number of units has been reached and the greatest is not near; otherwise kNone.
  // This may make a block.
  int32_t one_further(int32_t state, int32_t next);
  // Return the length in bytes up to which no text exceeds the greatest number of units of a state that counts and has
  // reached the least number; 0 if it has not reached it. INT32_MAX where there is no such limit.
  int32_t bytes_within(int32_t state) const;

 private:
  friend class InsideDistances;
  friend class ExitDistances;
  friend class NfaDistances;
  friend class UpperBounds;
  // One arc between outer states that stands for several: a chain, or a copy of a fragment.
  struct Edge {
    bool is_copy;
    int32_t number;
  };
  struct Chain {
    int32_t first_state;  // inside it; the next chain's comes after the last of this one
    int32_t text_begin, target;
  };
  struct Copy {
    int32_t first_state, fragment, target;
  };
  struct Counter {
    int32_t target, fragment, entry, low, high;
    int32_t first_number;
    int32_t slack;     // the largest of the least numbers of units still ahead of a state
    bool all_endless;  // whether no state has a greatest number of units between 0 and kEndless
  };
  struct Block {
    int32_t counter;
    int32_t units;  // the number of units before it, or kBelow or kWithin
    int32_t next;   // the block after one more unit, kNone if there is none yet
    int32_t first_state;
  };
  struct Units {
    int32_t counter, units;
    bool operator==(const Units&) const = default;
  };
  // A state of a block.
  struct Counted {
    const Counter& counter;
    int32_t units, inner, block;
  };
  // The blocks that each counter has from the beginning: for no unit, kBelow and kWithin.
  static constexpr int32_t kFixedBlocks = 3;
  // Blocks have whole pages of states, so that the block of a state is found at once.
  static constexpr int32_t kPage = 16;

  // Return the two parts of a state: the state without flags, and its flags. `with_flags` joins them again, and may
  // make a state.
  FlaggedState apart(int32_t state) const {
    if (state < first_block_ || flagged_.size() == 0) return {state, 0};
    const int32_t page = block_of_page_[(state - first_block_) / kPage];
    return page >= 0 ? FlaggedState{state, 0} : flagged_[kPage * (-1 - page) + (state - first_block_) % kPage];
  }
  int32_t flags_of(int32_t state) const { return apart(state).flags; }
  int32_t with_flags(int32_t state, int32_t flags);
  void add_flags(std::span<ClassArc> arcs, int32_t flags);
  std::pair<int32_t, int32_t> detached_with_flags(int32_t state);
  bool is_detached(int32_t state) const { return first_detached_ <= state && state < first_block_; }
  bool is_in_chain(int32_t state) const { return num_outer() <= state && state < chains_.back().first_state; }
  // Return the chain of a state inside a chain, and how many of its bytes have been read.
  std::pair<int32_t, int32_t> in_chain(int32_t state) const;
  int32_t outer(const Vector<int32_t>& values, int32_t state) const {
    const int32_t own = apart(state).state;
    return own < num_outer() ? values[own] : automata::kNone;
  }
  std::span<const automata::GuardedArc> guarded_arcs(int32_t state) const {
    if (guarded_.empty() || state >= num_outer()) return {};
    return {guarded_.data() + guarded_offsets_[state], guarded_.data() + guarded_offsets_[state + 1]};
  }
  // Return whether the arcs after a state's guarded arcs count as arcs of the state itself.
  bool is_direct(int32_t state) const { return !guarded_arcs(state).empty() && is_direct_[state]; }
  bool is_open(const automata::GuardedArc& arc, int32_t flags) const;
  // Return the target of a guarded arc that is open.
  int32_t target_of(const automata::GuardedArc& arc, int32_t flags);
  void append_epsilon(int32_t state, Vector<int32_t>& targets) const;
  void append_arcs(int32_t state, Vector<ClassArc>& arcs);
  void append_guarded(int32_t state, int32_t flags, Vector<ClassArc>& arcs);

  int32_t num_outer() const { return static_cast<int32_t>(call_of_.size()); }
  // Return how many tokens distances add where the text passes through an outer state.
  int32_t detour_of(int32_t state) const { return detours_.empty() ? 0 : detours_[state]; }
  std::span<const ClassArc> fragment_arcs(int32_t state) const {
    return {arcs_.data() + arc_offsets_[state], arcs_.data() + arc_offsets_[state + 1]};
  }
  std::span<const int32_t> fragment_epsilon(int32_t state) const {
    return {inner_epsilon_.data() + inner_offsets_[state], inner_epsilon_.data() + inner_offsets_[state + 1]};
  }
  std::span<const Edge> edges_of(int32_t state) const {
    return {edges_.data() + edge_offsets_[state], edges_.data() + edge_offsets_[state + 1]};
  }
  // Return the copy of a state inside a copy, and the corresponding state of the fragment.
  std::pair<int32_t, int32_t> in_copy(int32_t state) const {
    const Copy& last = copies_[last_copy_];
    if (state < last.first_state || state >= copies_[last_copy_ + 1].first_state) last_copy_ = copy_of(state);
    return {last_copy_, state - copies_[last_copy_].first_state + 2};
  }
  int32_t copy_of(int32_t state) const;
  Counted counted(int32_t state) const;
  const automata::CountedState& number(const Counter& counter, int32_t inner) const {
    return numbers_[counter.first_number + inner];
  }

  void classify(const automata::VisiblyPushdownLayout& layout);
  void read_fragments(const automata::VisiblyPushdownLayout& layout, Budget& budget);
  void read_fragment(const automata::Fragment& fragment, int32_t first);
  void read_outer(const automata::VisiblyPushdownLayout& layout, Budget& budget);
  void read_edges(const automata::VisiblyPushdownLayout& layout, std::span<const uint8_t> alive, Budget& budget);
  void read_guarded(const automata::VisiblyPushdownLayout& layout, std::span<const uint8_t> alive, Budget& budget);
  void read_epsilon(const automata::VisiblyPushdownLayout& layout, std::span<const uint8_t> alive, Budget& budget);
  void read_calls(const automata::VisiblyPushdownLayout& layout, std::span<const uint8_t> alive);
  void number_states(const automata::VisiblyPushdownLayout& layout);
  void number_pages();
  void read_counters(const automata::VisiblyPushdownLayout& layout);

  void chain_arc(int32_t chain, int32_t place, Vector<ClassArc>& arcs) const;
  void copied_arcs(int32_t copy, int32_t inner, Vector<ClassArc>& arcs) const;
  void copied_epsilon(int32_t copy, int32_t inner, Vector<int32_t>& targets) const;
  void counted_arcs(int32_t state, Vector<ClassArc>& arcs);
  int32_t next_block(const Counted& at);
  // Return the block of a counter after a number of units; make it if there is none.
  int32_t block_of(int32_t counter, int32_t units);
  void add_block(int32_t counter, int32_t units);
  int32_t first_state(int32_t counter) const;
  // Return whether the text can be completed after entering a state of a counter's fragment after `units` units.
  bool can_continue(const Counter& counter, int32_t units, int32_t inner) const;

  ByteClasses byte_class_{};
  int32_t num_classes_ = 0;
  bool has_text_ = false, is_exact_ = true;
  Vector<int32_t> starts_, first_exit_, rule_of_exit_;
  // Fragments: their states numbered across all fragments, and the arcs and epsilon arcs.
  Vector<automata::FragmentPointer> fragments_;
  Vector<int32_t> first_of_fragment_;
  Vector<int32_t> arc_offsets_, inner_offsets_;
  Vector<ClassArc> arcs_;
  Vector<int32_t> inner_epsilon_;
  Vector<uint8_t> only_reads_;  // whether a state of a fragment reads something, and has no epsilon arcs
  // Outer states.
  Vector<int32_t> edge_offsets_, epsilon_offsets_, epsilon_;  // below 0, a counter: -1 - number
  Vector<Edge> edges_;
  Vector<int32_t> call_of_, exit_of_;
  Vector<int32_t> detours_;  // none if no state has one
  Vector<automata::Call> calls_;
  Vector<int32_t> targets_;
  Vector<Chain> chains_;  // and one more, whose first state comes after those inside the last chain
  Vector<uint8_t> text_;  // classes
  Vector<Copy> copies_;   // and one more, likewise
  // By page of states inside copies, the copy of its first one; and the last copy. Pages are a power of two of states,
  // twice as many as copies.
  Vector<int32_t> copy_pages_;
  int copy_page_bits_ = 0;
  mutable int32_t last_copy_ = 0;  // the copy that a state was last found in: the next is often in the same one
  Vector<Counter> counters_;
  Vector<automata::CountedState> numbers_;
  Vector<Block> blocks_;
  support::Map<Units, int32_t, support::Hash> made_blocks_;  // all others than the fixed ones
  // By page of states from `first_block_` up: its block; or -1 - n for page n of states with flags.
  Vector<int32_t> block_of_page_;
  int32_t first_detached_ = 0, first_block_ = 0, num_first_states_ = 0;
  // Guarded arcs by source, what they depend on, and the states with flags made so far, each page with its first
  // state.
  Vector<int32_t> guarded_offsets_;
  Vector<uint8_t> is_direct_;  // by source, whether the targets of all its guarded arcs read bytes and do nothing else
  Vector<automata::GuardedArc> guarded_;
  Vector<automata::Decision> decisions_;
  FlagSets flag_sets_;
  support::ValueInterner<FlaggedState> flagged_;
  Vector<int32_t> flagged_pages_;
};

}  // namespace tokenfst
