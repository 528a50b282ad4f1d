"""Languages that are counted in visibly pushdown grammars: in steps by lazy automata, and written out by all others."""

from __future__ import annotations

import random
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kinds import lazy_over
from test_lazy import byte_vocabulary

from automata import _native, parse
from automata import expressions as ex
from automata.algebra.operations import alternation, concatenation
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import Cancelled, LimitExceeded, TokenNotAllowed
from automata.expressions import Expr
from automata.limits import Cancellation, Work
from automata.pushdown.automaton import PushdownAutomaton
from automata.visibly_pushdown import (
    CountedPaths,
    CountedUnits,
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
    compile_visibly_pushdown,
    counted_paths,
)
from constraints.json_schema import json_schema
from tokenfst import Vocabulary, from_tekken
from tokenfst.lazy import LazyTokenAutomaton

# What a text is counted in: no text of one begins another.
UNITS = ("a", "a|b", "a|bb|bab", "ab|ac|b(a|b|c)", '[^\\x00-\\x60"]|é', "a|(bca|bb)")


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json"))


def _unit(pattern: str) -> ByteAutomaton:
    return compile_expr(parse(pattern))


def _expr(counted: CountedUnits, pattern: str) -> Expr:
    units = ex.repeat(parse(pattern), counted.low, counted.high)
    return ex.concat(ex.literal(counted.opening), units, ex.literal(counted.closing))


@st.composite
def _counted(draw: st.DrawFn) -> tuple[CountedUnits, str]:
    pattern = draw(st.sampled_from(UNITS))
    low = draw(st.sampled_from([0, 0, 1, 2, 6, 7, 8, 9, 17]))
    high = draw(st.none() | st.integers(low, low + 20))
    opening, closing = draw(st.sampled_from([b"", b"x", b'"'])), draw(st.sampled_from([b"", b'"', b'"}']))
    return CountedUnits(_unit(pattern), low, high, opening, closing), pattern


def _same_masks(
    lazy: LazyTokenAutomaton, other: LazyTokenAutomaton, rng: random.Random, count: int, length: int
) -> None:
    """Compares masks along texts that both allow, most of them long ones."""
    tokens = lazy.vocabulary.tokens
    likely = np.array([1 + 8 * (len(token) > 0 and not set(token) & set(b'"}')) for token in tokens], float)
    for _ in range(count):
        left, right = lazy.start, other.start
        for _ in range(length):
            mask = other.mask(right)
            assert np.array_equal(lazy.mask(left), mask)
            assert lazy.is_final(left) == other.is_final(right)
            weight = likely * mask
            weight[list(lazy.vocabulary.eos_ids)] = 0
            if not weight.any():
                break
            token = rng.choices(range(len(tokens)), weight.tolist())[0]
            left, right = lazy.advance(left, token), other.advance(right, token)


@given(st.lists(_counted(), min_size=1, max_size=3), st.integers(0, 1 << 30))
@settings(max_examples=40, deadline=None)
def test_counting_in_steps_is_repetition(parts: list[tuple[CountedUnits, str]], seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = byte_vocabulary(rng, b'aaaabbc"', 40)
    rule = VisiblyPushdownRule()
    end = rule.state()
    rule.ends.append((end, 0))
    for counted, _ in parts:
        rule.arcs.append((0, counted, end))
    lazy = lazy_over(VisiblyPushdownGrammar((rule,)), vocabulary)
    expected = compile_expr(ex.alternation(*(_expr(counted, pattern) for counted, pattern in parts)))
    _same_masks(lazy, lazy_over(expected, vocabulary), rng, 4, 25)


@st.composite
def _paths(draw: st.DrawFn) -> CountedPaths:
    """The quoted texts of a pattern with so many characters, each of which ends in a state that is counted."""
    pattern = draw(st.sampled_from(["[ab]*", "(ab)*", "a*b", "a{3,9}(b|c)*", "(a|bbb)(c|ab)*", "[abc]{0,9}"]))
    automaton = compile_expr(ex.concat('"', parse(pattern), '"'))
    low = draw(st.sampled_from([0, 1, 2, 6, 7, 8, 20]))
    high = draw(st.none() | st.integers(low, low + 20))
    counted = np.ones(automaton.num_states, np.bool_)
    counted[automaton.start] = counted[automaton.final] = False
    # The first quote leads to a state that is counted too.
    paths = counted_paths(automaton, counted, low + 1, None if high is None else high + 1)
    assume(paths is not None)
    assert paths is not None
    return paths


@given(st.lists(_paths(), min_size=1, max_size=2), st.booleans(), st.integers(0, 1 << 30))
@settings(max_examples=40, deadline=None)
def test_counting_states_in_steps_is_an_intersection(parts: list[CountedPaths], quoted: bool, seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = byte_vocabulary(rng, b'aaaabbc"', 40)
    rule = VisiblyPushdownRule()
    between, end = rule.state(), rule.state()
    rule.ends.append((end, 0))
    if quoted:
        rule.arcs.append((0, ex.literal('"'), between))
    for part in parts:
        rule.arcs.append((between, part.after(b'"'), end) if quoted else (0, part, end))
    lazy = lazy_over(VisiblyPushdownGrammar((rule,)), vocabulary)
    written = alternation(*(part.expanded() for part in parts))
    _same_masks(lazy, lazy_over(written, vocabulary), rng, 4, 25)


@given(st.lists(_paths() | _counted().map(lambda pair: pair[0]), min_size=1, max_size=3), st.integers(0, 1 << 30))
@settings(max_examples=50, deadline=None)
def test_what_is_left_of_a_count_is_what_it_is_written_out(parts: list[CountedPaths | CountedUnits], seed: int) -> None:
    """With a token for each byte, the distance to the end is that of the automaton that writes the count out."""
    rng = random.Random(seed)
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos_ids=(256,))
    rule = VisiblyPushdownRule()
    opened, end = rule.state(), rule.state()
    rule.ends.append((end, 0))
    rule.arcs.append((0, ex.literal("["), opened))
    for part in parts:
        rule.arcs.append((opened, part, end))
    lazy = lazy_over(VisiblyPushdownGrammar((rule,)), vocabulary)
    behind = alternation(*(part.expanded() for part in parts))
    written = lazy_over(concatenation(compile_expr(ex.literal("[")), behind), vocabulary)
    for _ in range(6):
        left, right = lazy.start, written.start
        for _ in range(50):
            assert lazy.min_tokens(left) == written.min_tokens(right)
            allowed = np.flatnonzero(written.mask(right)).tolist()
            allowed = [token for token in allowed if token != 256]
            if not allowed:
                break
            token = rng.choice(allowed)
            left, right = lazy.advance(left, token), written.advance(right, token)


@given(_counted())
@settings(max_examples=50, deadline=None)
def test_written_out_it_is_repetition(part: tuple[CountedUnits, str]) -> None:
    counted, pattern = part
    automaton, expected = counted.expanded(), compile_expr(_expr(counted, pattern))
    assert automaton.num_states == expected.num_states
    assert np.array_equal(automaton.final, expected.final)
    assert np.array_equal(automaton.by_byte(), expected.by_byte())


def test_rules_are_counted_where_they_are_called() -> None:
    # A list of texts of a count, called behind a quote, on two ways at once and again within itself.
    rng = random.Random(5)
    vocabulary = byte_vocabulary(rng, b'aab",[]', 60)
    text = VisiblyPushdownRule(num_exits=2)
    short, long = text.state(), text.state()
    text.arcs += [
        (0, CountedUnits(_unit("a|b"), 0, 9, b"", b'"'), short),
        (0, CountedUnits(_unit("a|b"), 10, 30, b"", b'"'), long),
    ]
    text.ends += [(short, 0), (long, 1)]
    lists = VisiblyPushdownRule()
    quoted, behind, after, opened, end = (lists.state() for _ in range(5))
    lists.arcs += [(0, ex.literal('"'), quoted), (0, ex.literal("["), opened), (behind, ex.literal(","), 0)]
    lists.arcs += [(behind, ex.literal("]"), end), (after, ex.literal(";"), 0)]
    lists.calls += [VisiblyPushdownCall(quoted, 1, (behind, after)), VisiblyPushdownCall(opened, 2, (behind,))]
    lists.ends.append((end, 0))
    start = VisiblyPushdownRule()
    opened, end = start.state(), start.state()
    start.arcs.append((0, ex.literal("["), opened))
    start.calls.append(VisiblyPushdownCall(opened, 2, (end,)))
    start.ends.append((end, 0))
    grammar = VisiblyPushdownGrammar((start, text, lists))
    automaton = compile_visibly_pushdown(grammar)
    assert isinstance(automaton, PushdownAutomaton)
    _same_masks(lazy_over(grammar, vocabulary), lazy_over(automaton, vocabulary), rng, 30, 60)


@pytest.mark.parametrize(("low", "high"), [(0, 40), (35, 300), (150, None), (1, 10_000)])
def test_masks_of_a_real_vocabulary(low: int, high: int | None, tekken: Vocabulary) -> None:
    bounds = {"minLength": low} | ({} if high is None else {"maxLength": high})
    schema = json_schema({"properties": {"a": {"type": "string", **bounds}}, "additionalProperties": False})
    lazy = lazy_over(schema.to_visibly_pushdown(), tekken)
    other = lazy_over(compile_visibly_pushdown(schema.to_visibly_pushdown()), tekken)
    numbers = {token: number for number, token in enumerate(tekken.tokens)}
    pieces = ['{"', "a", '":', ' "', *["Hello", " wörld", "\\u00e9", "\\n", "é", "😀", "  ", "aaaa"] * 30]
    left, right = lazy.start, other.start
    for piece in pieces:
        for byte in piece.encode():
            assert np.array_equal(lazy.mask(left), other.mask(right))
            token = numbers[bytes([byte])]
            if not lazy.mask(left)[token]:
                return
            left, right = lazy.advance(left, token), other.advance(right, token)


def test_characters_are_counted_and_not_bytes() -> None:
    vocabulary = byte_vocabulary(random.Random(1), b"ab", 1)
    schema = json_schema({"type": "string", "maxLength": 50}, spellings="all")
    lazy = lazy_over(schema.to_visibly_pushdown(), vocabulary)
    for character in ("a", "é", "😀", "\\n", "\\u0041", "\\ud83d\\ude00"):
        state = lazy.start
        for byte in b'"' + 50 * character.encode():
            state = lazy.advance(state, byte)
        assert np.flatnonzero(lazy.mask(state)[:256]).tolist() == [ord('"')]
        assert lazy.is_final(lazy.advance(state, ord('"')))


@pytest.mark.parametrize("bound", [65_535, 10**7, 2**31 - 1, 2**31, 10**18])
def test_bounds_cost_nothing(bound: int) -> None:
    vocabulary = byte_vocabulary(random.Random(1), b"ab", 10)
    lazy = lazy_over(json_schema({"type": "string", "maxLength": bound}).to_visibly_pushdown(), vocabulary)
    endless = lazy_over(json_schema({"type": "string"}).to_visibly_pushdown(), vocabulary)
    none = lazy_over(json_schema({"type": "string", "minLength": bound}).to_visibly_pushdown(), vocabulary)
    left, right, other = lazy.start, endless.start, none.start
    for byte in b'"' + 2000 * b"a":
        left, right, other = lazy.advance(left, byte), endless.advance(right, byte), none.advance(other, byte)
    assert np.array_equal(lazy.mask(left), endless.mask(right))
    assert lazy.is_final(lazy.advance(left, ord('"')))
    with pytest.raises(TokenNotAllowed):
        none.advance(other, ord('"'))
    if bound > 100_000:
        with pytest.raises(LimitExceeded, match="counting to"):
            json_schema({"type": "string", "maxLength": bound}).to_automaton(work=None)


@pytest.mark.parametrize(
    ("pattern", "low", "high"),
    [("a|ab", 0, 1), ("a*b", 0, 1), ("a|bc*a", 0, 1), ("", 0, 1), ("a?", 0, 1), ("a", 2, 1), ("a", -1, None)],
)
def test_what_is_no_count(pattern: str, low: int, high: int | None) -> None:
    with pytest.raises(ValueError, match=r"unit's texts|counts from"):
        CountedUnits(_unit(pattern), low, high)


def test_minimization_is_stopped() -> None:
    # A chain from state 0 to state 1, by all others.
    size = 1000
    chain = np.array([0, *range(2, size + 1), 1], np.int32)
    arcs = np.stack([chain[:-1], np.zeros(size, np.int32), chain[1:]], axis=1)
    given = size + 1, 1, arcs, np.empty((0, 2), np.int32), 10 * size
    cancellation = Cancellation()
    work = Work(cancellation=cancellation)
    start, ends, found = _native.minimal_over_symbols(*given, work.budget)
    assert (start >= 0, len(ends), len(found)) == (True, size + 1, size)
    cancellation.cancel()

    def minimize_for_ever() -> None:
        while True:
            _native.minimal_over_symbols(*given, work.budget)

    with pytest.raises(Cancelled):
        minimize_for_ever()
