// Finds where strings of a language are between two of their characters.
#pragma once

#include <vector>

#include "automata/byte_tables.h"
#include "support/budget.h"

namespace constraints {

// Return, by state `[Q]`, whether an automaton over spellings is between two characters there: each state is at one
// place of a spelling, since no two places have equal continuations. Throw invalid_argument if a state cannot be
// placed; other faults of `language` are not looked for.
std::vector<uint8_t> between_characters(const automata::ByteTables& language, const automata::ByteTables& every,
                                        support::Budget& budget);

}  // namespace constraints
