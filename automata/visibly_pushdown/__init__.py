"""Bracketed languages: networks of rules that begin behind one byte and end with one.

NestedNetwork           the rules, as they are built                        network
Counted                 units of a language, one after the other              counted
CountedPaths            texts that enter some states so many times            paths
compile_nested          the automaton of a network                          compile -> ByteAutomaton, PushdownAutomaton
"""

from automata.visibly_pushdown.compile import compile_nested
from automata.visibly_pushdown.grammar import Language, NestedCall, NestedNetwork, NestedRule
from automata.visibly_pushdown.paths import CountedPaths, counted_paths
from automata.visibly_pushdown.units import Counted

__all__ = [
    "Counted",
    "CountedPaths",
    "Language",
    "NestedCall",
    "NestedNetwork",
    "NestedRule",
    "compile_nested",
    "counted_paths",
]
