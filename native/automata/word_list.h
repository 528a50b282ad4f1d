// The minimal automaton of a finite list of strings, built string by string. At every moment it is the minimal
// automaton of the strings so far, plus at most one state for each byte of the last string.
//
// Strings come in ascending order (Daciuk, Mihov, Watson & Watson, "Incremental construction of minimal acyclic
// finite-state automata", Computational Linguistics 26, 2000, algorithm 1). Only the states along the last string can
// still change, so when the next one leaves that path, the states below the common prefix are finished from the end
// backwards: each is looked up in the register by its arcs, which lead to finished states, and an equal one takes its
// place, or it enters the register itself.
//
//     path       the arcs of the states along the last string
//     register   finished states with their arcs, each stored once
//
// Time and memory are linear: each byte of the list is one arc of the path at most, and the register holds the minimal
// automaton alone. A union of literals takes a state for each byte, and determinizes and minimizes them all.
#pragma once

#include <span>

#include "automata/byte_tables.h"

namespace automata {

// Return the tables of strings that ascend and differ: string i is text[offsets[i]] up to text[offsets[i + 1]].
ByteTables word_list(std::span<const uint8_t> text, std::span<const int64_t> offsets, int64_t dense_bytes,
                     Budget& budget);

}  // namespace automata
