// From an automaton over the characters of strings to one over their spellings in JSON text, quotes included.
//
// RFC 8259, section 7: a character may be written as it is, unless it is a control character, a quotation mark or a
// backslash; eight of them have short escapes; and all may be written as `\u` with four hexadecimal digits in either
// case, those above U+FFFF as the two halves of their UTF-16 form (`\ud83d\ude00`). The halves alone are not
// characters, and UTF-8 cannot encode them, so they are never spelled here.
//
// The automaton over characters is one over UTF-8, and most of it remains unchanged. Between two characters it is in a
// *boundary* state, and there the escapes are added (`constraints/escapes.h`). The result is deterministic, since no
// two spellings are equal, and minimal, since no two boundary states accept the same strings: nothing is left for
// determinization and minimization to do.
//
//     CodeRuns    the code points that lead from a boundary state to boundary states, as ascending runs
//
// Rejected: a transducer of spellings composed with the automaton (ten times the time, mostly for building arcs for a
// million code points); expressions with the spellings of each set (sets would be spelled again for each state).
#pragma once

#include "automata/byte_tables.h"
#include "constraints/runs.h"

namespace constraints {

// Return all spellings, in quotes, of the strings that a non-empty minimal automaton over UTF-8 accepts. `usual`: only
// those that programs write: escapes for characters that must be escaped or are beyond ASCII, short where possible, and
// with lower-case digits. Throw invalid_argument if the automaton accepts anything but UTF-8.
automata::ByteTables spelled(const automata::ByteTables& content, bool usual, Budget& budget);

}  // namespace constraints
