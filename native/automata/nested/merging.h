// Merging: states that need not be told apart, and states that lead nowhere: a cheap stand-in for minimization.
//
// Two states whose transitions are equal are one state. States are looked at from the last one backwards, those nearest
// to it first, so that what was found equal before is seen as equal by those that lead there; twice, for the sake of
// loops. What is laid is nearly minimal as it is: its parts are, and they are told apart by what follows. On networks
// of schemas this leaves a tenth to a quarter more states than minimization, in less than a fifth of its time; an
// automaton with a stack need not be minimal.
#pragma once

#include "automata/minimize.h"

namespace automata {

// Transitions without states that lead to no end, those with equal transitions made one; by state and then by symbol.
// All states can be reached from state 0.
Minimal merged(Transitions&& automaton, Budget& budget);

}  // namespace automata
