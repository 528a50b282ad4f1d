// Finds the states of a language of strings that stand between two characters.
#pragma once

#include <vector>

#include "automata/byte_tables.h"
#include "support/budget.h"

namespace constraints {

// Return, by state `[Q]`, whether an automaton over spellings is between two characters there. Each state stands at one
// place of a spelling, since no two places have equal continuations. Throw invalid_argument if a state has no such
// place; other faults of `language` are not detected.
std::vector<uint8_t> between_characters(const automata::ByteTables& language, const automata::ByteTables& every,
                                        support::Budget& budget);

}  // namespace constraints
