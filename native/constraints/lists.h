// The spellings of all strings of a list, and of all strings not on it, constructed directly from the list.
//
// Objects accept any name that their schema does not list, so nearly every object has such a language. It is the
// automaton of all spellings with additional states along the listed strings: after a prefix of a listed string, the
// spelling of a next character leads to a separate state, and any other byte leads where it leads in the automaton of
// all spellings. So a state is a state of that automaton, its base, plus the few edges in which it differs. The
// spellings of the listed strings alone have the same states with only those edges.
//
//     path         prefixes of the last string with the characters that follow them, the deepest last
//     tree         the spellings of the characters after one prefix (`constraints/trees.h`)
//     register     finished states by base and edges, each stored once
//
// Strings come in ascending order, as in `automata/word_list.h`, and the states of a tree are entered from its leaves
// up. So the result is deterministic and minimal, in time linear in the length of the list: two states with one base
// differ only where their edges do, and two with different bases differ in infinitely many texts.
//
// Rejected: an automaton over characters, the difference from all of them, and its spellings as for any other language
// (`constraints/spelling.h`): ten times the time, since every state is visited with its million characters.
#pragma once

#include <span>

#include "automata/byte_tables.h"
#include "support/budget.h"

namespace constraints {

// Strings of code points: string i is codes[offsets[i]] up to codes[offsets[i + 1]]. They ascend and differ.
struct Strings {
  std::span<const int32_t> codes, offsets;

  size_t size() const { return offsets.size() - 1; }
  std::span<const int32_t> operator[](size_t string) const {
    return codes.subspan(offsets[string], offsets[string + 1] - offsets[string]);
  }
};

// Return the spellings of a non-empty list of strings, insofar as the automaton of all spellings accepts them.
automata::ByteTables spellings_of(const Strings& strings, const automata::ByteTables& every, support::Budget& budget);
// Return everything that the automaton of all spellings accepts except the spellings of a non-empty list of strings.
automata::ByteTables spellings_besides(const Strings& strings, const automata::ByteTables& every,
                                       support::Budget& budget);

}  // namespace constraints
