"""Grammars: from rules that call each other to a pushdown automaton over bytes.

Grammar             rules, each an expression that may call rules        grammar
Network             a minimal byte automaton for each rule               network
PushdownAutomaton   states, a stack, and one table of steps              automaton
"""
