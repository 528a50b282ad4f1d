"""Bracketed languages: grammars of rules that begin behind one byte and end with one.

VisiblyPushdownGrammar           the rules, as they are built                        grammar
CountedUnits               units of a language, one after the other              counted
CountedPaths            texts that enter some states so many times            paths
compile_visibly_pushdown          the automaton of a grammar                          compile -> ByteAutomaton, PushdownAutomaton
"""

from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import (
    ArcLanguage,
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
)
from automata.visibly_pushdown.paths import CountedPaths, counted_paths
from automata.visibly_pushdown.units import CountedUnits

__all__ = [
    "ArcLanguage",
    "CountedPaths",
    "CountedUnits",
    "VisiblyPushdownCall",
    "VisiblyPushdownGrammar",
    "VisiblyPushdownRule",
    "compile_visibly_pushdown",
    "counted_paths",
]
