// UsedSequences: the sequences of symbols that steps pop and push, numbered in order of use, and so are their symbols.
// They form one trie, as `sequences_of` takes it: sequence p is sequence `parent[p]` followed by symbol `last[p]`.
#pragma once

#include "automata/pushdown/stacks.h"
#include "support/value_interner.h"

namespace automata {

class UsedSequences {
 public:
  UsedSequences(const Stacks& stacks, Budget& budget);

  // Return the number of a cell's sequence.
  int32_t of(int32_t cell);
  int32_t num_symbols() const { return symbols_.size(); }
  int32_t symbol(int32_t number) const { return symbols_[number]; }

  Vector<int32_t> parent, last;

 private:
  const Stacks& stacks_;
  Vector<int32_t> number_of_;  // of each cell, or kNone
  support::ValueInterner<int32_t> symbols_;
  Vector<int32_t> chain_;
};

}  // namespace automata
