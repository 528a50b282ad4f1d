// Rules whose exits are not all wanted where they are called.
//
// A text must not go into a rule on a way that leads only to exits after which the caller cannot go on. Which exits
// those are depends on the place of the call, so a rule is taken apart: a copy for each set of exits that is wanted
// somewhere, with the states that lead to one of them. Nearly always each rule is called for all of its exits, and
// nothing is to be done.
#pragma once

#include "automata/nested/assembly.h"

namespace automata {

// Whether some rule is called where the text cannot go on after one of its exits.
bool some_unwanted(const Places& places, const DeterministicRules& rules);

// The automaton with a rule for each set of exits wanted, minimal; of the result, `has_text` and `interval_of` are
// empty. Throws LimitExceeded past `max_states`.
DeterministicRules by_exits(const DeterministicRules& rules, int64_t max_states, Budget& budget);

}  // namespace automata
