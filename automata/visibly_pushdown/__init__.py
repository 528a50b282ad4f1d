"""Bracketed languages: grammars in which the text itself shows every call and return.

grammar         VisiblyPushdownGrammar: rules, as they are built; builder: grammars with text around and between them
units, paths    large repetition counts, kept as bounds rather than written out: CountedUnits, CountedPaths
fragments       the languages that the arcs of rules read, each language once, as an NFA
inlining        which rules are inlined where they are called
conditions      when guarded arcs are open, as decision diagrams
unfolding       unfolded: the same grammar without flags
layout          all rules as one NFA, in flat tables for the native core
compile         the automaton: ByteAutomaton if no rule is recursive and the result is small, else PushdownAutomaton
"""

from automata.visibly_pushdown.compile import check_start, compile_visibly_pushdown
from automata.visibly_pushdown.conditions import Conditions
from automata.visibly_pushdown.grammar import (
    ArcLanguage,
    GuardedArc,
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
)
from automata.visibly_pushdown.paths import CountedPaths, counted_paths
from automata.visibly_pushdown.units import CountedUnits

__all__ = [
    "ArcLanguage",
    "Conditions",
    "CountedPaths",
    "CountedUnits",
    "GuardedArc",
    "VisiblyPushdownCall",
    "VisiblyPushdownGrammar",
    "VisiblyPushdownRule",
    "check_start",
    "compile_visibly_pushdown",
    "counted_paths",
]
