// SubsetMachine: a network of nested rules made deterministic on demand, one state's row at a time.
//
// A state is a set of states of a LazyNetwork, made when it is first reached, and its row when it is first left: the
// subset construction, as far as the walks come and no farther. The rules need no copies for it, and nothing is
// minimized:
//
//     set       states that read something, call or end; equal sets are one number
//     call      entering a set whose states call a rule pushes that set, and the rule begins
//     return    entering a set whose states end a rule pops a set of calls, and goes on where they go on after that
//     exit
//
// This is the determinization of visibly pushdown automata (Alur & Madhusudan 2004, theorem 2) where the rules already
// read all that may be asked between two brackets at once. Every state of the network is coaccessible, so every set is;
// where a rule may end in a way that a caller does not want, this would not be exact (`LazyNetwork::is_exact`).
//
// A network in which two rules are called at one place, or where more is read there, is refused
// (std::invalid_argument). Whatever is thrown while a set or a row is made, all that was made before stays as it was.
#pragma once

#include <cstdint>
#include <span>

#include "support/interner.h"
#include "tokenfst/lazy/machine.h"
#include "tokenfst/lazy/network.h"

namespace tokenfst {

class SubsetMachine : public Machine {
 public:
  SubsetMachine(const automata::NestedLayout& layout, Budget& budget);

  const LazyNetwork& network() const { return network_; }
  std::span<const int32_t> members(int32_t set) const { return sets_[set]; }
  // The set where a rule begins.
  int32_t rule_start(int32_t rule) const { return rule_sets_[rule]; }
  // Without counts that are too far from their bounds for tokens to reach them.
  int32_t far_state(int32_t set, int32_t longest) override;
  // The same, where all that a set counts is as many already as there must be, and there may be any number more.
  int32_t alike(int32_t set, int32_t longest) override;
  size_t num_bytes() const override;

 private:
  // Of a set that calls: one for each exit of the rule.
  struct Returns {
    int32_t begin, count;
  };

  SubsetMachine(LazyNetwork&& network, Budget& budget);

  void expand(int32_t set) override;
  int32_t returned(int32_t symbol, int32_t exit) override;

  // The set of the states gathered, and of those that they lead to by epsilon arcs.
  int32_t closed();
  // The same for one state.
  int32_t set_behind(int32_t state);
  // Adds a state to those gathered, if it is not among them.
  void gather(int32_t state);
  void begin_gathering();
  int32_t rule_called();
  // Adds what entering a new set does, with its row and its step.
  void add_set(int32_t set);
  void fill_row();

  LazyNetwork network_;
  Budget& budget_;
  support::Interner<int32_t> sets_;
  Vector<int32_t> entries_;     // [Q], what entering each set does
  Vector<int32_t> rule_sets_;   // [R]
  Vector<Returns> returns_of_;  // [Q]
  Vector<int32_t> returns_;     // by exit: a set, kDead, or kUnknownEntry
  Vector<int32_t> single_;      // [N], the set of each state alone with its closure, kDead where it was not made
  // Scratch.
  Vector<int32_t> gathered_, marks_, targets_, row_;
  Vector<ClassArc> arcs_;
  int32_t stamp_ = 0;
};

}  // namespace tokenfst
