// All rules of a network determinized together, as one automaton with symbols beside the bytes.
//
//     start r       leads from the first state to where rule r begins
//     call r        leads from a place where rule r is called to a state of its own, from which
//     exit (r, i)   leads to where the text goes on after rule r ended in its exit i;
//                   and from where rule r ends in that way to the last state
//
// So a place where the same rule is called on several paths at once is one call, whose exits lead to all that may
// follow: the subset construction over these symbols is the determinization of visibly pushdown automata (Alur &
// Madhusudan, "Visibly pushdown languages", STOC 2004, theorem 2), where the rules already read all that may be asked
// between two brackets at once.
//
// A prepared rule takes no part in it: it stands there as nothing at all between its start and its end, and its states
// are put between them afterwards.
#pragma once

#include "automata/arc_rows.h"
#include "automata/byte_tables.h"
#include "automata/nested/layout.h"

namespace automata {

// What the symbols of transitions mean: blocks of bytes come first, then labels, starts, calls and exits.
struct RuleSymbols {
  int32_t num_blocks, num_labels, num_rules;
  Vector<int32_t> exit_offsets;  // [R + 1], the exits of each rule; the start is rule 0

  int32_t first_start() const { return num_blocks + num_labels; }
  int32_t first_call() const { return first_start() + num_rules; }
  int32_t first_exit() const { return first_call() + num_rules; }
  int32_t num_exits(int32_t rule) const { return exit_offsets[rule + 1] - exit_offsets[rule]; }
};

struct DeterministicRules {
  int32_t start;          // kNone where no rule has a text
  Vector<uint8_t> final;  // [Q]
  ArcRows rows;
  RuleSymbols symbols;
  Vector<int32_t> interval_of;  // [256], the block of each byte
  Vector<uint8_t> has_text;     // [X], whether some text ends in an exit
};

// Throws LimitExceeded past `max_states`.
DeterministicRules determinize(const NestedLayout& layout, int64_t max_states, Budget& budget);

// The minimal automaton of a layout of one rule, which calls none.
ByteTables regular(const NestedLayout& layout, int64_t max_states, int64_t dense_bytes, Budget& budget);

}  // namespace automata
