"""Grammars: from rules that call each other to a pushdown automaton over bytes.

From a Grammar (grammar.py) to a Network of minimal byte automata that call each other, step by step:

    naming          every name has a meaning, and calls stand where they can
    flattening      rules that are closed under concatenation become loops
    layout          rules and words as NFAs (parts)
    analysis        rules without a text, rules that match the empty text; report
    recursion       left recursion is solved
    inlining        only true recursion stays; tail calls become loops
    network         all automata are determinized and minimized together

From a Network to a PushdownAutomaton:

    construction    sets of configurations as states, in the native core
    ambiguity       why a grammar is not deterministic
    prestar         steps that lead to no end are pruned; coaccessible: states that need no proof
    assembly        the tables (step_table, sequences, under)
    from_pdt, to_pdt    pushdown transducers of OpenFst
    compile         all of it; automaton, expansion, drawing: what can be done with the result
"""

from automata.pushdown.analysis import Report, report

__all__ = ["Report", "report"]
