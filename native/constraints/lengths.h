// Where strings of a language stand between two of their characters.
#pragma once

#include <vector>

#include "automata/byte_tables.h"
#include "support/budget.h"

namespace constraints {

// Which states of an automaton over spellings are between two characters, `[Q]`: each is in one place of a spelling, as
// no two places go on alike. Throws invalid_argument where it accepts what is no spelling.
std::vector<uint8_t> between_characters(const automata::ByteTables& language, const automata::ByteTables& every,
                                        support::Budget& budget);

}  // namespace constraints
