// Determinizes all rules of a network together, as one automaton with symbols in addition to the bytes.
//
//     start r       leads from the first state to the start of rule r
//     call r        leads from a place where rule r is called to a separate state, from which
//     exit (r, i)   leads to where the text continues after rule r ended in its exit i;
//                   and from where rule r ends in that exit to the last state
//
// So a place where the same rule is called on several paths at once becomes one call, whose exits lead to everything
// that may follow: the subset construction over these symbols is the determinization of visibly pushdown automata (Alur
// & Madhusudan, "Visibly pushdown languages", STOC 2004, theorem 2), in which a rule already reads at once everything
// that may be asked for between two brackets.
//
// A prepared rule takes no part in this: nothing stands between its start and its end, and its states are inserted
// there afterwards.
#pragma once

#include "automata/arc_rows.h"
#include "automata/byte_tables.h"
#include "automata/nested/layout.h"

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
DeterministicRules determinize(const NestedLayout& layout, int64_t max_states, Budget& budget);

// Return the minimal automaton of a layout of one rule, which calls none.
ByteTables regular(const NestedLayout& layout, int64_t max_states, int64_t dense_bytes, Budget& budget);

}  // namespace automata
