// Splits rules where not all of their exits are wanted by every call.
//
// A text must not enter a rule on a path that leads only to exits after which the caller cannot continue. Which exits
// those are depends on the call, so a rule is split: into one copy for each set of exits that is wanted somewhere, with
// the states that lead to one of them. Nearly always each rule is called for all of its exits, and there is nothing to
// do.
#pragma once

#include "automata/visibly_pushdown/assembly.h"

namespace automata {

// Return whether some rule is called where the text cannot continue after one of its exits.
bool some_unwanted(const AssembledStates& states, const DeterministicRules& rules);

// Return the minimal automaton with a copy of a rule for each set of exits wanted; `has_text` and `interval_of` of the
// result are empty. Throw LimitExceeded past `max_states`.
DeterministicRules by_exits(const DeterministicRules& rules, int64_t max_states, Budget& budget);

}  // namespace automata
