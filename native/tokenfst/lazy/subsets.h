// SubsetMachine: a visibly pushdown grammar determinized on demand, one state's row at a time.
//
// A state is a set of states of a LazyNfa, made when it is first reached, and its row when it is first left: the
// subset construction, only as far as the walks reach. Nothing is minimized:
//
//     set       states that read something, call or end; equal sets have one number
//     call      entering a set whose states call rules pushes that set, and these rules begin
//     return    entering a set whose states end rules pops a set of calls, and continues where they continue after
//               those exits
//
// This is the determinization of visibly pushdown automata (Alur & Madhusudan 2004, theorem 2). There, a state is a set
// of pairs, with the state in which the call began; here a state belongs to one rule, which is equivalent. Every state
// of a LazyNfa is coaccessible, so every set is, unless a rule can end in an exit that a caller does not accept
// (`LazyNfa::is_exact`). Such rules are copied first (`automata/visibly_pushdown/wanted_exits.h`).
//
// In an object, the listed names are alternatives to the language of all other names. So many sets differ from a set of
// one state in only one class of bytes, and their rows are made from its row.
//
// A grammar in which something else can be read where a rule is called or ends is refused (NondeterministicRules).
// Whatever is thrown while a set or a row is made, everything made before stays as it was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>

#include "support/interner.h"
#include "tokenfst/lazy/machine.h"
#include "tokenfst/lazy/nfa.h"

namespace tokenfst {

// A number for each state of a LazyNfa. States that are made later have room of their own, since there may be millions
// of the others.
class ByState {
 public:
  ByState(int32_t value, Budget& budget) : value_(value), fixed_(budget), made_(budget) {}

  // Make room for all states that exist by now.
  void follow(const LazyNfa& nfa) {
    if (fixed_.empty()) fixed_.assign(nfa.num_fixed_states(), value_);
    const auto num_made = static_cast<size_t>(nfa.num_states() - nfa.num_fixed_states());
    if (made_.size() < num_made) made_.resize(num_made, value_);
  }
  // Return whether there is room for a state.
  bool has(int32_t state) const { return static_cast<size_t>(state) < fixed_.size() + made_.size(); }
  int32_t& operator[](int32_t state) {
    return static_cast<size_t>(state) < fixed_.size() ? fixed_[state] : made_[state - fixed_.size()];
  }
  int32_t operator[](int32_t state) const {
    return static_cast<size_t>(state) < fixed_.size() ? fixed_[state] : made_[state - fixed_.size()];
  }
  void reset() {
    std::ranges::fill(fixed_, value_);
    std::ranges::fill(made_, value_);
  }
  // Reset the numbers, and drop the room for the states that were made later, which have been forgotten.
  void restart() {
    std::ranges::fill(fixed_, value_);
    support::drop(made_);
  }
  size_t size() const { return fixed_.size() + made_.size(); }
  // Return the number of bytes for the states that are made later.
  size_t num_made_bytes() const { return support::bytes_of(made_); }

 private:
  const int32_t value_;
  Vector<int32_t> fixed_, made_;
};

class NondeterministicRules : public std::exception {
 public:
  const char* what() const noexcept override { return "where a rule is called, or ends, something else can be read"; }
};

class SubsetMachine : public Machine {
 public:
  SubsetMachine(const automata::VisiblyPushdownLayout& layout, Budget& budget);

  // A symbol of the stack is a set that calls a rule; or, as a number below -1, the state that follows a detached
  // chain.
  static bool is_state(int32_t symbol) { return symbol < -1; }
  static int32_t symbol_of_state(int32_t state) { return -2 - state; }
  static int32_t state_of_symbol(int32_t symbol) { return -2 - symbol; }

  const LazyNfa& nfa() const { return nfa_; }
  LazyNfa& nfa() { return nfa_; }
  std::span<const int32_t> members(int32_t set) const { return sets_[set]; }
  // Return the set where a rule begins.
  int32_t rule_start(int32_t rule) const { return rule_sets_[rule]; }
  // Return the number of the joint call of a set that calls several rules; kNone for any other set.
  int32_t joint_call(int32_t set) const;
  std::span<const int32_t> joint_rules(int32_t number) const { return joint_calls_[number]; }
  // Return the set without those counts whose bounds are out of reach for tokens of at most `longest` bytes.
  int32_t far_state(int32_t set, int32_t longest) override;
  // Return the far state of a set if every count in the set has reached its least number, so that the distance to the
  // end is the same from each of them; otherwise the set itself.
  Alike alike(int32_t set) override;
  bool counts() const override { return nfa_.counts(); }
  int32_t one_further(int32_t set, int32_t next) override;
  int32_t twin(int32_t set) override;
  bool is_free(int32_t set) override;
  bool has_fixed_states() const override { return false; }
  size_t num_made_bytes() const override;
  std::unique_ptr<Machine> renewed() const override;
  void restart() override;
  void describe(int32_t number, Vector<int32_t>& out) const override;
  int32_t described(std::span<const int32_t>& description) override;

 private:
  // The returns of a set that calls: one for each exit of the rule; or, with `kSeveralRules`, the number of the joint
  // call.
  struct Returns {
    int32_t begin, count;
  };
  static constexpr int32_t kSeveralRules = -1;

  struct Returned {
    int32_t symbol, exit;
    bool operator==(const Returned&) const = default;
  };

  // Several exits, in place of a number across all rules.
  static constexpr int32_t kSeveralExits = 1 << 30;

  SubsetMachine(LazyNfa&& nfa, Budget& budget);

  // Make the sets where rules begin.
  void make_starts();
  void expand(int32_t set) override;
  int32_t returned(int32_t symbol, int32_t exit) override;
  int32_t made_target(int32_t step) override;
  int32_t made_entry(int32_t deferred) override;

  // Return the set of the gathered states and their epsilon closure.
  int32_t closed();
  int32_t kept(int32_t called, int32_t exit);
  int32_t kept_single(int32_t state, bool only_reads);
  void reserve_set(int32_t called, int32_t exit);
  // Return the set of one state and its epsilon closure.
  int32_t set_of_state(int32_t state);
  int32_t entry_of_state(int32_t state);
  // Return the same entry, deferred if the set is not made yet.
  int32_t deferred_entry(int32_t state);
  // Add a state to those gathered, unless it is there already.
  void gather(int32_t state);
  void begin_gathering();
  void check_open();
  static int32_t numbered(support::Interner<int32_t>& values);
  // Return what the states of the open set call: a rule, several rules (num_rules() plus the number of the joint call),
  // or kNone.
  int32_t called();
  // Return the exit in which the states of the open set end: one exit, several (a number from kSeveralExits on), or
  // kNone.
  int32_t ended();
  int32_t num_rules() const { return static_cast<int32_t>(nfa_.starts().size()); }
  // Add the entry for entering a new set, with its row and its step.
  void add_set(int32_t set, int32_t called, int32_t exit);
  void gather_returns(int32_t symbol, int32_t exit);
  int32_t member_with_row(int32_t set) const;
  void fill_apart(std::span<int32_t> row);
  void fill_from(int32_t part, size_t num_others, std::span<int32_t> row);
  void fill_row(std::span<int32_t> row);
  void fill_from_many(std::span<int32_t> row);
  int32_t entry_over(int32_t column);
  void gather_over(uint8_t column);

  LazyNfa nfa_;
  Budget& budget_;
  support::Interner<int32_t> sets_;  // those of one state are found by `single_`
  Vector<int32_t> entries_;          // [Q], what entering each set does
  Vector<int32_t> rule_sets_;        // [R]
  Vector<Returns> returns_of_;       // [Q]
  Vector<int32_t> returns_;          // by exit: an entry
  // Joint calls and joint exits: the rules that are called at one place, and the exits in which rules end at one place,
  // ascending. Then the set where the rules of each joint call begin, kDead if it is not made yet; and the entries
  // after returns from joint calls or by joint exits.
  support::Interner<int32_t> joint_calls_, exits_;
  Vector<int32_t> joint_starts_;
  support::Map<Returned, int32_t, support::Hash> returned_;
  ByState single_;         // the set of each single state with its closure, kDead if it was not made
  Vector<int32_t> twins_;  // by state of a fragment, the first set that consists of it alone, in some copy
  // Scratch.
  ByState marks_;
  Vector<int32_t> gathered_, targets_;
  Vector<uint8_t> differs_;  // [C + 1], whether a class leads elsewhere than the one before it
  Vector<ClassArc> arcs_;
  // By arc, if there are many: its bounds, and whether it is over the current class; padded with arcs over no class.
  Vector<uint8_t> lows_, highs_, over_;
  int32_t stamp_ = 0;
};

}  // namespace tokenfst
