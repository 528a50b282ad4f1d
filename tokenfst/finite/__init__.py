"""Finite automata over tokens: tables of what each class of tokens does in each state.

classes       tokens with the same function on byte states are one letter
terminals     labels, which stand for whole tokens
beginning     tokens that are a text of their own, not the continuation of one
trimming      states that tokens cannot reach or leave
transitions   the tables: dense, sparse, or with guards on a count
automaton     FiniteTokenAutomaton
compile       from a byte automaton to all of this
"""
