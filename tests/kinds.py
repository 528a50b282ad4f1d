"""Automata over tokens of a certain kind, for tests that compare the kinds."""

from __future__ import annotations

from typing import Any

from automata.byte_automaton import ByteAutomaton
from automata.limits import DEFAULT_LIMITS, Limits, Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from automata.visibly_pushdown.grammar import VisiblyPushdownGrammar
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst import compile as compile_
from tokenfst.finite.compile import from_bytes
from tokenfst.lazy import LazyTokenAutomaton, lazy_from_automaton, lazy_from_visibly_pushdown
from tokenfst.pushdown.compile import from_pushdown


def complete(constraint: Any, vocabulary: Vocabulary, **options: Any) -> Any:
    """A constraint's automaton with all its tables."""
    return compile_(constraint, vocabulary, **options).complete()


def lazy(constraint: Any, vocabulary: Vocabulary, **options: Any) -> LazyTokenAutomaton:
    """A constraint's automaton, which must be a lazy one."""
    automaton = compile_(constraint, vocabulary, **options)
    assert isinstance(automaton, LazyTokenAutomaton)
    return automaton


def lazy_over(
    automaton: ByteAutomaton | PushdownAutomaton | VisiblyPushdownGrammar,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    falls_back: bool = True,
) -> LazyTokenAutomaton:
    """The lazy automaton over one over bytes, or over rules; over what rules are compiled to, if it may fall back."""

    def tables(work: Work) -> TokenAutomaton:
        over_bytes = (
            compile_visibly_pushdown(automaton, work=work)
            if isinstance(automaton, VisiblyPushdownGrammar)
            else automaton
        )
        make: Any = from_pushdown if isinstance(over_bytes, PushdownAutomaton) else from_bytes
        made: TokenAutomaton = make(over_bytes, vocabulary, at_text_start=at_text_start, work=work)
        return made

    make: Any = lazy_from_visibly_pushdown if isinstance(automaton, VisiblyPushdownGrammar) else lazy_from_automaton
    found = make(automaton, vocabulary, {}, tables, Work(limits), at_text_start=at_text_start)
    if found is None and falls_back and isinstance(automaton, VisiblyPushdownGrammar):
        over_bytes = compile_visibly_pushdown(automaton)
        found = lazy_from_automaton(over_bytes, vocabulary, {}, tables, Work(limits), at_text_start=at_text_start)
    assert isinstance(found, LazyTokenAutomaton)
    return found


def bounded(lazy: LazyTokenAutomaton) -> LazyTokenAutomaton:
    """The same automaton, as if its tables exceeded the limits: `min_tokens` are bounds."""
    lazy._tables.are_refused = True
    return lazy
