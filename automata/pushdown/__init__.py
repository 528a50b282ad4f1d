"""Grammars: from rules that call each other to a pushdown automaton over bytes.

From a Grammar (grammar.py) to a Network of minimal byte automata that call each other, step by step:

    naming          checks that every name is defined, and that calls are where they may be
    flattening      turns rules that are closed under concatenation into loops
    layout          rules and words as NFAs (parts)
    analysis        finds rules without a text, and rules that match the empty text; report
    recursion       removes left recursion
    inlining        leaves only true recursion; turns tail calls into loops
    network         determinizes and minimizes all automata together

From a Network to a PushdownAutomaton:

    construction    sets of configurations as states, in the native core
    ambiguity       why a grammar is not deterministic
    prestar         prunes steps that lead to no end; coaccessible: states that need no proof
    assembly        the tables (step_table, sequences, under)
    from_pdt, to_pdt    OpenFst's pushdown transducers
    label_bytes     labels as bytes
    compile         all of these steps; automaton, expansion, drawing: operations on the result
"""

from automata.pushdown.analysis import Report, report

__all__ = ["Report", "report"]
