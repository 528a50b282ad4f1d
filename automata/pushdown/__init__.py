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
"""

from automata.pushdown.analysis import Report, report

__all__ = ["Report", "report"]
