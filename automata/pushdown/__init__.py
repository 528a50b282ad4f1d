"""Grammars: from rules that call each other to a pushdown automaton over bytes.

Grammar             rules, each an expression that may call rules        grammar
report(grammar)     rules without a text, rules that nothing calls       analysis
Network             a minimal byte automaton for each rule               network
PushdownAutomaton   states, a stack, and one table of steps              automaton

The way to a network, one step after the other:

naming              every name means something, and calls stand where they can
flattening          rules closed under concatenation become loops
laying              rules and words as non-deterministic parts            parts
analysis            which rules have a text, and which the empty one
recursion           left recursion is solved
inlining            only true recursion stays; calls at the end of a rule become ways back
network             all automata determinized and minimized together

The way from a network to an automaton:

compile             from a grammar or its network to the automaton
places              the network, prepared: what a place reaches without reading
determinize         steps of sets of places; parallel: steps without sets
steps               groups of steps, written out
ambiguity           why a grammar is not deterministic
completion          steps that lead to no end are taken out (with words); leading_on: most states need no proof
headroom            how much stack the rest of a text needs
assembly            the tables
expansion, drawing  what else can be done with it
"""

from automata.pushdown.analysis import Report, report

__all__ = ["Report", "report"]
