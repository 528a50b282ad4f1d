"""An object that makes its own automaton is compiled like the automaton that it makes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import tokenfst
from automata import ByteAutomaton, Compilable, Grammar, Limits, PushdownAutomaton, compile_expr, compile_grammar
from automata.expr import call, concat, literal, repeat
from automata.limits import Work
from automata.pattern import parse
from tokenfst.automaton import TokenAutomaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.vocabulary import Vocabulary

VOCABULARY = Vocabulary([b"a", b"b", b"ab", b"(", b")", b"((", b""], eos_ids=(6,))
NESTED = Grammar({"value": concat(literal("("), repeat(call("value"), 0, None), literal(")"))}, "value")


@dataclass(frozen=True)
class Own:
    """Makes the automaton that it was given, and keeps the limits that it was asked with."""

    automaton: ByteAutomaton | PushdownAutomaton
    seen: list[Limits]

    def to_automaton(self, work: Work) -> ByteAutomaton | PushdownAutomaton:
        self.seen.append(work.limits)
        return self.automaton


def test_without_a_stack() -> None:
    constraint, limits = Own(compile_expr(parse("(ab)+")), []), Limits(states=1234)
    found = tokenfst.compile(constraint, VOCABULARY, limits=limits)
    assert isinstance(found, TokenAutomaton)
    assert constraint.seen == [limits]
    assert found.accepts([2, 0, 1])
    assert not found.accepts([0, 0])


def test_with_a_stack() -> None:
    found = tokenfst.compile(Own(compile_grammar(NESTED), []), VOCABULARY)
    assert isinstance(found, PushdownTokenAutomaton)
    assert found.accepts([5, 4, 3, 4, 4])
    assert not found.accepts([5, 4])


def test_what_makes_no_sense() -> None:
    stacked = Own(compile_grammar(NESTED), [])
    with pytest.raises(ValueError, match="canonical tokenization is not known"):
        tokenfst.compile(stacked, VOCABULARY, tokenization="canonical")


def test_is_compilable() -> None:
    assert isinstance(Own(compile_expr(parse("a")), []), Compilable)
    assert not isinstance(parse("a"), Compilable)
    assert not isinstance(NESTED, Compilable)
