// Combinations: to which of several languages a text of an automaton may belong at once.
//
// Reads all automata side by side, by the reachable tuples of their states. Nothing is minimized and no automaton is
// made: only the tuples at the ends of texts matter.
//
// Rejected: splitting the texts by one language after the other, with a minimal automaton for each combination. Each of
// these has a copy of what the languages have in common, and 2^k patterns of names took minutes.
#pragma once

#include <span>

#include "automata/byte_tables.h"

namespace automata {

// Return the combinations as rows of `languages.size()` values, 1 where a language has the text, each row once, the
// greatest first. Throw LimitExceeded past `max_states` tuples.
Vector<uint8_t> combinations(const ByteTables& texts, std::span<const ByteTables* const> languages, int64_t max_states,
                             Budget& budget);

}  // namespace automata
