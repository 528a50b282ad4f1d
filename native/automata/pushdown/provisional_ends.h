// ProvisionalEnds: words that end where the next byte begins characters that continue them and others that do not.
//
// The longest match is decided by whole characters, and steps read bytes: after a word of `[^»]+`, the byte C2 may
// begin `«`, which continues the word, or `»`, which does not. So within the character the text continues both ways, in
// the word and after it, and what comes after the word is dropped as soon as the character continues the word.
//
//     condition              the states in which words continue within a character, and how many of its bytes are left
//     state on a condition   reads what a state reads, except characters that continue one of those words
//     reader                 a copy of a state that only reads: no word ends there, and no rule is called or ends
//
// Both are states of the network that are added as they are needed; at the end of the character the condition has no
// effect any more. A column is part of a character if all of its bytes are first bytes of the same length, or all are
// later bytes; otherwise it is a byte by itself.
//
// Rejected: classes of characters instead of bytes in the network of rules, because all steps would be made for
// characters and cut into bytes afterwards; deciding when the character is complete, because steps over its last byte
// would have to pop what its first byte pops.
#pragma once

#include "automata/pushdown/network.h"
#include "support/value_interner.h"

namespace automata {

class ProvisionalEnds {
 public:
  ProvisionalEnds(const RuleNetwork& rules, PushdownNetwork& network, ColumnSets& sets, Budget& budget);

  // Return the columns that begin characters of several bytes.
  int32_t first_bytes() const { return first_bytes_; }
  // Return the condition for states that are reached over a column of `first_bytes`.
  int32_t condition(int32_t column, Vector<int32_t> states);
  // Return whether a state reads anything on a condition.
  bool reads(int32_t state, int32_t condition);
  // The same for any state that is reached over a column of `first_bytes`.
  bool any_reads(int32_t column, int32_t condition);
  // Return the state on a condition, or kNone if it reads nothing.
  int32_t state_on(int32_t state, int32_t condition);
  int32_t reader(int32_t state);
  bool is_reader(int32_t state) const { return readers_.find(state) != support::HashIndex::kAbsent; }

 private:
  struct OnCondition {
    int32_t state, condition;
    bool operator==(const OnCondition&) const = default;
  };

  int32_t num_left(int32_t condition) const { return conditions_[condition].front(); }
  int32_t next(int32_t condition, int32_t column);
  int32_t interned(int32_t num_left, Vector<int32_t> states);

  PushdownNetwork& network_;
  Budget& budget_;
  Vector<int32_t> bytes_after_;               // [C], how many bytes follow in the character, 0 if it is not a first one
  Vector<int32_t> later_bytes_;               // columns
  int32_t first_bytes_ = ColumnSets::kEmpty;  // a set of columns
  NumberLists reached_over_;                  // by column, empty until it is asked for
  support::Interner<int32_t> conditions_;     // the number of bytes left, and the states in order
  support::ValueInterner<OnCondition> asked_, made_;
  Vector<uint8_t> reads_;                                // by number in `asked_`
  Vector<int32_t> state_of_made_;                        // by number in `made_`
  support::ValueInterner<int32_t> originals_, readers_;  // a reader has the number of its original
};

}  // namespace automata
