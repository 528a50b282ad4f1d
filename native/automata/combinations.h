// Combinations: in which ways the texts of an automaton may belong to several languages at once.
//
// Reads all automata side by side, by the reachable tuples of their states. Nothing is minimized and no automaton is
// made: what is asked for is which tuples are met at the end of a text.
//
// Rejected: splitting the texts by one language after the other, with a minimal automaton for each combination. All of
// them have a copy of what the languages have in common, and 2^k patterns of names took minutes.
#pragma once

#include <span>

#include "automata/byte_tables.h"

namespace automata {

// Return the combinations as rows of `languages.size()` values, 1 where a language has the text, each row once, the
// greatest first. Throw LimitExceeded past `max_states` tuples.
Vector<uint8_t> combinations(const ByteTables& texts, std::span<const ByteTables* const> languages, int64_t max_states,
                             Budget& budget);

}  // namespace automata
