// RegisterFunctions: the effects of tokens on a counted byte automaton, partial functions on states and a register.
//
// A function is a span of guarded edges, its entries, in order of source and then of register values. Equal functions
// have equal entries, whatever bytes they were composed of, since entries are canonical: the values are taken in
// ascending order, and each entry is as long as possible. (A single value is written as one that is set. A value that
// fits both the entry before it and the one after it belongs to the one before.) So functions are hash-consed as in
// `tokenfst/functions.h`. Only dead subtrees of a trie are skipped: where characters are counted, nothing leaves a
// function unchanged.
#pragma once

#include <span>

#include "automata/counted/counted_tables.h"
#include "automata/counted/register_distance.h"
#include "support/interner.h"
#include "support/matrix.h"
#include "tokenfst/character_steps.h"

namespace tokenfst {

class RegisterFunctions {
 public:
  static constexpr bool kHasLoops = false;

  using Entry = automata::GuardedEdge;

  // The functions of an automaton with at least one state.
  RegisterFunctions(const automata::CountedTables& automaton, Budget& budget);

  int32_t after(int32_t function, int32_t column) {
    const int32_t known = after_[function][column];
    return known == kUnknown ? compose(function, column) : known;
  }

  std::span<const Entry> entries(int32_t function) const { return entries_[function]; }

 private:
  int32_t compose(int32_t function, int32_t column);
  // Write an entry after the others, or extend the last one by it.
  void append(Entry entry);
  int32_t closed();

  const automata::CountedTables& automaton_;
  Budget& budget_;
  support::Interner<Entry> entries_;
  support::Matrix<int32_t> after_;  // [F, C]
};

}  // namespace tokenfst
