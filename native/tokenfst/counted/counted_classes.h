// CountedClasses: token classes for a byte automaton with a register, for repetitions with large bounds.
//
// They are the classes of the walk of `tokenfst/walk.h` with partial functions on states and a register
// (`tokenfst/counted/register_functions.h`); the effect of a class is a set of guarded edges. The automaton over tokens
// has the states of the byte automaton as its control states, and one more after the end (`tokenfst/transitions.h`).
//
// A byte automaton leads to an end from every register value that can occur. If every byte that it reads is a token, so
// does the automaton over tokens. Otherwise edges are restricted to the values from which tokens lead to an end, which
// the search for the least numbers of tokens finds as intervals (`automata/counted/register_distance.h`): exact, with
// more edges.
//
// Rejected: states for all register values, merged afterwards (memory grows with the bound).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "automata/counted/counted_tables.h"
#include "automata/counted/register_distance.h"
#include "tokenfst/classes.h"
#include "tokenfst/transitions.h"
#include "tokenfst/vocabulary.h"

namespace tokenfst {

// The effect of the tokens of a class in one state and for some register values.
struct CountedEdge {
  int32_t number;
  automata::GuardedEdge edge;
};

struct CountedClasses {
  std::vector<ClassRun> runs;      // cover all ranks in order
  int32_t num_classes;             // including kNever and kEnd
  std::vector<CountedEdge> edges;  // by class, source and register value
};

// Return the classes of an automaton with at least one state.
CountedClasses counted_classes(const automata::CountedTables& automaton, const Vocabulary& vocabulary, Budget& budget);

// Return the transitions of classes and of the end tokens, between the states of `automaton` and one after the end.
// Unless `spells_all`, edges that do not lead to an end are left out.
GuardedTransitions guarded_transitions(const automata::CountedTables& automaton, const CountedClasses& classes,
                                       bool spells_all, Budget& budget);

// Return whether every byte that an automaton reads is a token by itself.
bool spells_all(const automata::CountedTables& automaton, std::span<const bool> is_token_byte);

}  // namespace tokenfst
