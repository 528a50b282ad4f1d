// LazyNetwork: a network of nested rules as one non-deterministic automaton, from which arcs are read one state at a
// time.
//
// A network that has been laid out (`automata/nested/layout.h`) is chains of bytes, copies of pieces, epsilon arcs,
// calls and ends. Each of these is here once, however often a piece is copied, and arcs are made as they are needed.
// What leads to no end is left out: each state that is kept is coaccessible. States are those of the network, then
// those inside of chains, inside of copies, and those of blocks:
//
//     block    the states of a piece that is counted in, behind so many units. It is made when the unit before it is
//     first
//              ended, so a bound costs nothing where it is not reached. Numbers that are so far from their bounds that
//              no token can tell have one block in common: kBelow, all bounds are far ahead; kWithin, between them
//
// Bytes that no arc tells apart are one class.
#pragma once

#include <cstdint>
#include <span>

#include "automata/byte_tables.h"
#include "automata/nested/layout.h"
#include "support/csr.h"

namespace tokenfst {

using automata::ByteClasses;
using support::Budget;
using support::Vector;

// In place of a number of units: so few, or so many, that no token can tell how far from the bounds they are.
constexpr int32_t kBelow = -1, kWithin = -2;

// An arc over classes of bytes.
struct ClassArc {
  int32_t low, high, target;
};

class LazyNetwork {
 public:
  LazyNetwork(const automata::NestedLayout& layout, Budget& budget);

  // Whether some text is read.
  bool has_text() const { return has_text_; }
  // Whether sets of states are exact: no caller refuses an exit that its callee may come to.
  bool is_exact() const { return is_exact_; }

  const ByteClasses& byte_class() const { return byte_class_; }
  int32_t num_classes() const { return num_classes_; }
  // Without those of blocks, and with those that there are so far.
  int32_t num_fixed_states() const { return first_block_; }
  int32_t num_states() const { return first_block_ + static_cast<int32_t>(blocks_.size()) * block_size_; }
  bool counts() const { return !counters_.empty(); }
  std::span<const int32_t> starts() const { return starts_; }

  // Appends the arcs of a state; a block may be made.
  void arcs_of(int32_t state, Vector<ClassArc>& arcs);
  // Appends the states that its epsilon arcs lead to.
  void epsilon_of(int32_t state, Vector<int32_t>& targets) const;
  // Whether a state reads something, calls or ends.
  bool is_kept(int32_t state) const;

  // The call of a state, kNone for none; the exit that a rule ends in there, kNone if it does not.
  int32_t call_of(int32_t state) const { return state < num_outer() ? call_of_[state] : automata::kNone; }
  int32_t exit_of(int32_t state) const { return state < num_outer() ? exit_of_[state] : automata::kNone; }
  int32_t num_exits(int32_t rule) const { return first_exit_[rule + 1] - first_exit_[rule]; }
  int32_t rule_of(int32_t call) const { return calls_[call].rule; }
  // The number of an exit within its rule.
  int32_t exit_in_rule(int32_t exit) const { return exit - first_exit_[rule_of_exit_[exit]]; }
  // Where the text goes on after a call came back by an exit of its rule, kNone for nowhere.
  int32_t target_of(int32_t call, int32_t exit_in_rule) const {
    return targets_[calls_[call].first_target + exit_in_rule];
  }

  // The state that allows what a state allows, of tokens of at most `longest` bytes, and has no number of units where
  // no such token can tell it.
  int32_t far_state(int32_t state, int32_t longest) const;
  // Whether, where a state counts, there are as many units already as there must be, and may be any more.
  bool misses_none(int32_t state) const;

  size_t num_bytes() const;

 private:
  friend class NetworkDistances;
  // One arc of the network that stands for several: a chain, or a copy of a piece.
  struct Edge {
    bool is_copy;
    int32_t number;
  };
  struct Chain {
    int32_t first_state;  // inside of it; the next chain's is behind the last of this one
    int32_t text_begin, target;
  };
  struct Copy {
    int32_t first_state, piece, target;
  };
  struct Counter {
    int32_t target, piece, entry, low, high;
    int32_t first_number;
    int32_t slack;     // the largest least number of units that some state has ahead
    bool all_endless;  // whether no most number of units is between 0 and kEndless
  };
  struct Block {
    int32_t counter;
    int32_t units;  // how many are before it, or kBelow or kWithin
    int32_t next;   // the block behind one more unit, kNone where there is none yet
  };
  // A state of a block.
  struct Counted {
    const Counter& counter;
    int32_t units, inner, block;
  };
  // The blocks that each counter has from the first: that of no unit, kBelow and kWithin.
  static constexpr int32_t kFixedBlocks = 3;

  int32_t num_outer() const { return static_cast<int32_t>(call_of_.size()); }
  std::span<const ClassArc> piece_arcs(int32_t state) const {
    return {arcs_.data() + arc_offsets_[state], arcs_.data() + arc_offsets_[state + 1]};
  }
  std::span<const int32_t> piece_epsilon(int32_t state) const {
    return {inner_epsilon_.data() + inner_offsets_[state], inner_epsilon_.data() + inner_offsets_[state + 1]};
  }
  std::span<const Edge> edges_of(int32_t state) const {
    return {edges_.data() + edge_offsets_[state], edges_.data() + edge_offsets_[state + 1]};
  }
  // Of a state inside of copies: its copy, and which state of its piece it is.
  std::pair<int32_t, int32_t> in_copy(int32_t state) const;
  Counted counted(int32_t state) const;
  const automata::CountedState& number(const Counter& counter, int32_t inner) const {
    return numbers_[counter.first_number + inner];
  }

  void classify(const automata::NestedLayout& layout);
  void read_pieces(const automata::NestedLayout& layout, Budget& budget);
  void read_outer(const automata::NestedLayout& layout, Budget& budget);
  void read_edges(const automata::NestedLayout& layout, std::span<const uint8_t> alive, Budget& budget);
  void read_epsilon(const automata::NestedLayout& layout, std::span<const uint8_t> alive, Budget& budget);
  void read_calls(const automata::NestedLayout& layout, std::span<const uint8_t> alive);
  void number_states(const automata::NestedLayout& layout);
  void read_counters(const automata::NestedLayout& layout);

  void chain_arc(int32_t chain, int32_t place, Vector<ClassArc>& arcs) const;
  void copied_arcs(int32_t copy, int32_t inner, Vector<ClassArc>& arcs) const;
  void copied_epsilon(int32_t copy, int32_t inner, Vector<int32_t>& targets) const;
  void counted_arcs(int32_t state, Vector<ClassArc>& arcs);
  int32_t next_block(const Counted& at);
  int32_t first_state(int32_t counter) const;
  // Whether texts go on from a state of a counter's piece that is entered behind so many units.
  bool goes_on(const Counter& counter, int32_t units, int32_t inner) const;

  ByteClasses byte_class_{};
  int32_t num_classes_ = 0;
  bool has_text_ = false, is_exact_ = true;
  Vector<int32_t> starts_, first_exit_, rule_of_exit_;
  // Pieces: their states numbered through, those that lead to an end, arcs and epsilon arcs to such.
  Vector<int32_t> first_of_piece_;
  Vector<int32_t> arc_offsets_, inner_offsets_;
  Vector<ClassArc> arcs_;
  Vector<int32_t> inner_epsilon_;
  Vector<uint8_t> leads_on_;
  // The network.
  Vector<int32_t> edge_offsets_, epsilon_offsets_, epsilon_;  // below 0, a counter: -1 - number
  Vector<Edge> edges_;
  Vector<int32_t> call_of_, exit_of_;
  Vector<automata::Call> calls_;
  Vector<int32_t> targets_;
  Vector<Chain> chains_;  // and one more, which says where the states inside of the last one end
  Vector<uint8_t> text_;  // classes
  Vector<Copy> copies_;
  Vector<Counter> counters_;
  Vector<automata::CountedState> numbers_;
  Vector<Block> blocks_;
  int32_t first_block_ = 0, block_size_ = 1;
};

}  // namespace tokenfst
