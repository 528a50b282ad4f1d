"""Masks made on demand where a call refuses exits in which its rule may end: no text begins what it cannot end."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from kinds import lazy_over
from test_lazy import byte_vocabulary, walks
from visibly_pushdown_cases import CLOSING, INSIDE, OPENING, random_grammar

from automata import EmptyLanguage, LimitExceeded, compile_expr, literal, parse
from automata.limits import Work
from automata.visibly_pushdown import (
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
    compile_visibly_pushdown,
)
from tokenfst.lazy import lazy_from_visibly_pushdown
from tokenfst.token_automaton import TokenAutomaton


@pytest.mark.parametrize("seed", range(150))
def test_rules_that_end_in_exits_that_calls_refuse(seed: int) -> None:
    """A rule is read by a copy for the exits that its calls want; where two calls want different ones, for all."""
    grammar, rng = random_grammar(seed), Random(seed)
    vocabulary = byte_vocabulary(rng, OPENING + CLOSING + INSIDE, 60)
    try:
        automaton = compile_visibly_pushdown(grammar)
    except EmptyLanguage:
        with pytest.raises(EmptyLanguage):
            lazy_over(grammar, vocabulary)
        return
    eager, lazy = lazy_over(automaton, vocabulary).complete(), lazy_over(grammar, vocabulary, falls_back=False)
    for tokens in walks(lazy, rng, 8, 12):
        one, other = eager.start, lazy.start
        for token in tokens:
            one, other = eager.advance(one, token), lazy.advance(other, token)
        np.testing.assert_array_equal(eager.mask(one), lazy.mask(other), str(tokens))


def many_exits(count: int) -> VisiblyPushdownGrammar:
    """A letter says which exit a bracket must end in: a(a), b(b) and so on."""
    start, inner = VisiblyPushdownRule(), VisiblyPushdownRule(num_exits=count)
    end = start.state()
    for way in range(count):
        targets = tuple(end if other == way else -1 for other in range(count))
        letter, opened, called = literal(bytes([97 + way])), start.state(), start.state()
        start.arcs += [(0, letter, opened), (opened, literal("("), called)]
        start.calls.append(VisiblyPushdownCall(called, 1, targets))
        read, ended = inner.state(), inner.state()
        inner.arcs += [(0, letter, read), (read, literal(")"), ended)]
        inner.ends.append((ended, way))
    start.ends.append((end, 0))
    return VisiblyPushdownGrammar((start, inner))


@pytest.mark.parametrize("count", [3, 8, 70])
def test_rules_with_many_exits(count: int) -> None:
    """With so many sets of exits that are wanted, the whole automaton is made first."""
    grammar, vocabulary = many_exits(count), byte_vocabulary(Random(1), b"ab()", 40)
    alone = lazy_from_visibly_pushdown(grammar, vocabulary, {}, no_tables, Work(), at_text_start=False)
    assert (alone is None) == (count == 70)
    lazy = lazy_over(grammar, vocabulary)
    state = lazy.start
    for byte in b"b(":
        state = lazy.advance(state, byte)
    allowed = {vocabulary.tokens[token] for token in np.flatnonzero(lazy.mask(state))}
    assert allowed == {text for text in vocabulary.tokens if text and b"b)".startswith(text)}


def test_more_states_than_numbers_for_them() -> None:
    rule, long = VisiblyPushdownRule(), compile_expr(parse("[ab]{100000}"))
    end = rule.state()
    rule.arcs += [(0, long, end)] * 22_000
    rule.ends.append((end, 0))
    with pytest.raises(LimitExceeded, match="states"):
        lazy_over(VisiblyPushdownGrammar((rule,)), byte_vocabulary(Random(1), b"ab", 10), falls_back=False)


def no_tables(work: Work) -> TokenAutomaton:
    raise AssertionError("no tables are asked for")
