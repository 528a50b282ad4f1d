// Machine: an automaton over bytes, with or without a stack, as the tables that lazy automata step through.
//
//     entry     the effect of a class of bytes in a state: the next state, if the stack is neither read nor changed;
//               kDead; or, as a number below kDead, a step of the stack or kUnknownEntry
//     Place     a configuration of a walk: a state, a stack, and the cell from which on stacks may be overwritten
//     Looked    how deep a walk has looked into the stack that it began with: its result does not depend on symbols
//               below
//
// A FixedMachine has all its states from the beginning; a SubsetMachine (`tokenfst/lazy/subsets.h`) makes them when
// they are first reached.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "automata/byte_tables.h"
#include "automata/pushdown/pushdown_tables.h"
#include "support/bits.h"
#include "tokenfst/character_steps.h"
#include "tokenfst/lazy/rows.h"

namespace tokenfst {

using automata::Stacks;

// An entry that is computed when it is first needed. Entries above it, up to `kLastDeferred`, are deferred: they say
// which state a class of bytes leads to, and the state is made when it is first reached, as many never are.
constexpr int32_t kUnknownEntry = INT32_MIN;
constexpr int32_t kLastDeferred = -(1 << 30) - 2;

struct StackStep {
  int32_t pop_begin = 0, num_pops = 0;     // the symbols popped, from the top of the stack down
  int32_t push_begin = 0, num_pushes = 0;  // the symbols pushed
  int32_t target = kDead;  // a number below kDead stands for a state that is made when it is first reached
  int32_t exit = -1;       // the exit of a rule that ends: the popped symbol then determines the target; otherwise -1
  bool has_more = false;   // whether another step of the same entry follows
};

struct Place {
  int32_t state, top, free;
};

struct Looked {
  int32_t lowest;  // the height of the lowest cell of the beginning that was looked at
};

// The bytes of a class, and how many of them are ASCII.
struct ClassBytes {
  support::ByteSet all;
  int32_t num_ascii = 0;
};

class Machine {
 public:
  Machine(const ByteClasses& byte_class, int32_t num_classes, Budget& budget);
  virtual ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  int32_t num_states() const { return static_cast<int32_t>(ends_.size()); }
  int32_t num_classes() const { return static_cast<int32_t>(table_.columns()); }
  const ByteClasses& byte_class() const { return byte_class_; }
  const ClassBytes& bytes(int32_t column) const { return bytes_[column]; }
  int32_t start() const { return start_; }
  // Return whether a byte may lead anywhere from some state; unknown rows count as if it did.
  bool reads(uint8_t byte) const;

  // Return the entries of a state, having made them if necessary.
  std::span<const int32_t> row(int32_t state) {
    if (!table_.is_whole(state)) make_whole(state);
    return table_[state];
  }
  // Return the number of ASCII bytes that lead to a state and leave the stack alone, in a row of entries.
  int32_t num_ascii(std::span<const int32_t> row) const {
    int32_t count = 0;
    for (size_t column = 0; column < row.size(); ++column) count += row[column] >= 0 ? num_ascii_[column] : 0;
    return count;
  }
  // Return a predicate on bytes, false only for those that are known to lead nowhere from a state. Valid until a row is
  // made.
  auto leading(int32_t state) const {
    return
        [row = table_[state].data(), column = byte_class_.data()](uint8_t byte) { return row[column[byte]] != kDead; };
  }
  // Return a predicate on bytes, false only for those that are known to have the same effect in two states. Valid until
  // a row is made.
  auto differing(int32_t one, int32_t other) const {
    const int32_t *const row = table_[one].data(), *const others = table_[other].data();
    return [row, others, column = byte_class_.data()](uint8_t byte) {
      return row[column[byte]] != others[column[byte]] || row[column[byte]] == kUnknownEntry;
    };
  }
  // Return the place that a class of bytes leads to; its `state` is kDead if there is none.
  Place step(const Place& from, int32_t column, Stacks& stacks, Looked& looked) {
    const int32_t does = table_[from.state][column];
    if (does >= kDead) return {does, from.top, from.free};
    return stack_step(from, column, stacks, looked);
  }
  // Return whether the text may end in a configuration.
  bool may_end(const Place& place, Stacks& stacks, Looked& looked);
  // Return a state that allows the same tokens of at most `longest` bytes as `state` does, and that many states have in
  // common.
  virtual int32_t far_state(int32_t state, int32_t) { return state; }
  // A state that many states have in common, which has the same distances to the end as `state` and allows the same
  // tokens of at most `longest` bytes. `state` itself and 0 if none is known.
  struct Alike {
    int32_t state, longest;
  };
  virtual Alike alike(int32_t state) { return {state, 0}; }
  // Return whether some states are alike but for a count.
  virtual bool counts() const { return false; }
  // Return the state that some characters lead to from `next`, if `state` and `next` differ only in a count, and the
  // same characters lead from `state` to `next`. Return kDead if it is not known.
  virtual int32_t one_further(int32_t, int32_t) { return kDead; }
  // Return the first of the states that loop on the same bytes and characters as this one, as far as the machine knows.
  virtual int32_t twin(int32_t state) { return state; }
  // Return whether a state reads every text over the ASCII characters that JSON strings contain unescaped; false if
  // unknown.
  virtual bool is_free(int32_t) { return false; }
  // Return whether all states exist from the beginning.
  virtual bool has_fixed_states() const { return true; }
  // Return about how many bytes the states that are made on demand take.
  virtual size_t num_made_bytes() const { return 0; }
  // Return a machine of the same automaton with only the states of the beginning, which have the same numbers; null if
  // the states are fixed.
  virtual std::unique_ptr<Machine> renewed() const { return nullptr; }
  // Forget all states but those of the beginning. If this throws, it must be called again before anything else.
  virtual void restart() {}
  // Append a description of a state, or of a symbol of the stack, that other machines of the same automaton
  // understand; return the described state or symbol, which this may make, and pass over its description.
  virtual void describe(int32_t number, Vector<int32_t>& out) const { out.push_back(number); }
  virtual int32_t described(std::span<const int32_t>& description);
  // Return whether the text may end in a state whatever the stack is.
  bool always_may_end(int32_t state) const { return ends_[state] > kDead; }

 protected:
  // Fill in the row of a state.
  virtual void expand(int32_t state) = 0;
  // Return the entry in place of one that was deferred.
  virtual int32_t made_entry(int32_t deferred) { return deferred; }
  // Return the entry for continuing after a rule has ended in an exit, where `symbol` was pushed for its call.
  virtual int32_t returned(int32_t symbol, int32_t exit) = 0;
  // Make the target of a step whose target is a number below kDead.
  virtual int32_t made_target(int32_t) { return kDead; }

  // Steps as entries of the table: numbers from kFirstStep down.
  static constexpr int32_t kFirstStep = -2;
  static int32_t entry_of(int32_t step) { return kFirstStep - step; }
  static int32_t step_of(int32_t entry) { return kFirstStep - entry; }

  ByteClasses byte_class_;
  int32_t start_ = kDead;
  Rows table_;            // [Q, C]
  Vector<int32_t> ends_;  // [Q], the same for the end of the text
  Vector<StackStep> steps_;
  Vector<int32_t> symbols_;  // what steps pop and push

 private:
  // Make all entries of a row.
  void make_whole(int32_t state);
  int32_t made_in_row(int32_t state, int32_t deferred);
  Place stack_step(const Place& from, int32_t column, Stacks& stacks, Looked& looked);
  Place take(int32_t step, const Place& from, Stacks& stacks, Looked& looked);

  Vector<ClassBytes> bytes_;   // [C]
  Vector<int32_t> num_ascii_;  // [C], of each class, in one place
};

// An automaton without labels; if it has a stack, it is deterministic.
class FixedMachine : public Machine {
 public:
  FixedMachine(const automata::ByteTables& automaton, Budget& budget);
  FixedMachine(const automata::PushdownTables& automaton, Budget& budget);

 private:
  void expand(int32_t) override {}
  int32_t returned(int32_t, int32_t) override { return kDead; }
};

}  // namespace tokenfst
