// Merging: merges equivalent states and drops states that lead nowhere, as a cheap substitute for minimization.
//
// Two states whose transitions are equal are merged. States are visited backwards from the end, those nearest to it
// first, so that states leading to merged states are recognized as equal too; twice, because of loops. A layout is
// nearly minimal as it is: its parts are minimal, and what follows distinguishes them. On networks of schemas this
// leaves a tenth to a quarter more states than minimization, in less than a fifth of its time; a pushdown automaton
// need not be minimal.
#pragma once

#include "automata/minimize.h"

namespace automata {

// Return the coaccessible part of the transitions, with states of equal transitions merged, sorted by state and then by
// symbol. All states can be reached from state 0.
Minimal merged(Transitions&& automaton, Budget& budget);

}  // namespace automata
