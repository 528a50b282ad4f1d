"""Finite automata over tokens, as tables of the transitions of each class of tokens.

classes       classes of tokens with the same function on the states of a byte automaton
terminals     labels, which stand for sets of tokens
beginning     the start of a text
transitions   the tables: dense, sparse, or with guards on a register
automaton     FiniteTokenAutomaton
compile       the pipeline from a byte automaton
to_fst        the acceptor of an automaton, for OpenFst
from_fst      the automaton of an acceptor over tokens
storage       loading from files
"""
