// Determinizes all rules of a grammar together, as one automaton with symbols in addition to the bytes.
//
//     start r       leads from the first state to the start of rule r
//     call r        leads from a state that calls rule r to a separate state, from which
//     exit (r, i)   leads to the continuation after rule r ended in exit i;
//                   it also leads from the states where rule r ends in exit i to the last state
//
// So one call with all its continuations represents calls of the same rule on several paths. The subset construction
// over these symbols is the determinization of visibly pushdown automata (Alur & Madhusudan, "Visibly pushdown
// languages", STOC 2004, theorem 2), for grammars in which a rule reads everything that may stand between two
// brackets.
//
// A prepared rule is excluded: an epsilon arc connects its start and its end, and its states are inserted there
// afterwards.
#pragma once

#include "automata/arc_rows.h"
#include "automata/byte_tables.h"
#include "automata/visibly_pushdown/layout.h"

namespace automata {

// The meaning of the symbols of transitions: blocks of bytes come first, then labels, starts, calls and exits.
struct RuleSymbols {
  int32_t num_blocks, num_labels, num_rules;
  Vector<int32_t> exit_offsets;  // [R + 1], the exits of each rule; the start is rule 0

  int32_t first_start() const { return num_blocks + num_labels; }
  int32_t first_call() const { return first_start() + num_rules; }
  int32_t first_exit() const { return first_call() + num_rules; }
  int32_t num_exits(int32_t rule) const { return exit_offsets[rule + 1] - exit_offsets[rule]; }
};

struct DeterministicRules {
  int32_t start;          // kNone if no rule has a text
  Vector<uint8_t> final;  // [Q]
  ArcRows rows;
  RuleSymbols symbols;
  Vector<int32_t> interval_of;  // [256], the block of each byte
  Vector<uint8_t> has_text;     // [X], whether some text ends in an exit
};

// Throw LimitExceeded past `max_states`.
DeterministicRules determinize(const VisiblyPushdownLayout& layout, int64_t max_states, Budget& budget);

// Return the minimal automaton of a layout of one rule, which calls none.
ByteTables regular(const VisiblyPushdownLayout& layout, int64_t max_states, int64_t dense_bytes, Budget& budget);

}  // namespace automata
