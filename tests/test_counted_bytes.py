"""Byte automata with a register are the automata with their repetitions written out.

On small bounds, where both can be made, they are walked together through every pair of states that some text leads to.
Both are trim and deterministic, so they accept the same if neither takes a step that the other refuses and both end
together: no text is too long for this check.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from counted_cases import (
    AMBIGUOUS,
    EXPRS,
    PATTERNS,
    PRODUCTS,
    certainly_counted,
    counted,
)
from hypothesis import given, settings
from strategies import strings

from automata import (
    Expr,
    compile_expr,
    complement,
    parse,
    repeat,
)
from automata.counted import compile_counted
from automata.errors import LimitExceeded


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counted_automata_accept_what_re_matches(pattern: str) -> None:
    matcher: re.Pattern[Any] = re.compile(pattern.encode() if pattern.isascii() else pattern)
    automaton = certainly_counted(pattern)
    if not pattern.isascii():
        texts = ["".join(letters) for length in range(7) for letters in product('aé€b"', repeat=length)]
        assert [text for text in texts if automaton.accepts(text.encode())] == list(filter(matcher.fullmatch, texts))
        return
    alphabet = bytes(sorted(set(pattern.encode()) & set(b'ab" ')))
    for text in strings(alphabet, 14 if len(alphabet) == 1 else 9):
        assert automaton.accepts(text) == bool(matcher.fullmatch(text)), text


def check_bytes(expr: Expr) -> None:
    """The counted automaton, if there is one, and the one written out are one language."""
    automaton = compile_counted(expr, threshold=0)
    if automaton is None:
        return
    written_out = compile_expr(expr)
    assert automaton.is_empty == written_out.is_empty
    table, classes = written_out.next.tolist(), written_out.byte_class.tolist()
    # One byte for each pair of classes.
    bytes_of = {(int(automaton.byte_class[byte]), classes[byte]): byte for byte in range(256)}
    pairs = {((automaton.start, 0), written_out.start)} if not automaton.is_empty else set()
    waiting = list(pairs)
    while waiting:
        (state, register), other = waiting.pop()
        assert (0 <= automaton.final_from[state] <= register) == written_out.final[other]
        for (_, column), byte in bytes_of.items():
            reached, expected = automaton.step(state, register, byte), table[other][column]
            assert (reached is None) == (expected < 0), (expr, state, register, byte)
            if reached is not None and (reached, expected) not in pairs:
                assert 0 <= reached[1] <= automaton.max_register
                pairs.add((reached, expected))
                waiting.append((reached, expected))


@settings(max_examples=100)
@given(EXPRS)
def test_random_expressions_are_one_language_counted_and_written_out(expr: Expr) -> None:
    check_bytes(expr)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_one_language_counted_and_written_out(pattern: str) -> None:
    check_bytes(parse(pattern))


@pytest.mark.parametrize("pattern", AMBIGUOUS)
def test_what_needs_two_counts_is_written_out(pattern: str) -> None:
    assert counted(pattern) is None


def test_only_what_is_ambiguous_is_written_out() -> None:
    automaton = certainly_counted("(ab){0,6}c.*a{2}")
    assert automaton.max_register == 6
    check_bytes(parse("(ab){0,6}c.*a{2}"))


def test_the_largest_of_nested_bounds_is_counted() -> None:
    assert certainly_counted("((a{5}b){2,4}c){3}").max_register == 5
    assert certainly_counted("((a{2}b){2,7}c){3}").max_register == 7
    assert certainly_counted("((a{2}b){2,4}c){9}").max_register == 9


def test_small_repetitions_are_not_counted() -> None:
    assert compile_counted(parse("a{0,300}")) is None
    assert compile_counted(parse("a{0,301}")) is not None
    assert compile_counted(parse("(abcd){0,76}")) is not None
    assert compile_counted(parse("a*b+c?")) is None


@pytest.mark.parametrize("expr", PRODUCTS, ids=str)
def test_intersections_and_differences_are_counted(expr: Expr) -> None:
    assert counted(expr) is not None
    check_bytes(expr)


def test_one_side_of_an_intersection_is_counted() -> None:
    both_sides = parse("[ab]{2,4}") & parse("a{0,3}")
    automaton = counted(both_sides)
    assert automaton is not None
    assert automaton.max_register == 4
    check_bytes(both_sides)
    large = compile_counted(parse(r"[^\"]{0,100000}") & parse(r"(\w+ ?)*"))
    assert large is not None
    assert len(large.arcs) < 30
    assert [large.accepts(b"a" * length) for length in (0, 100_000, 100_001)] == [True, True, False]


def test_where_an_intersection_leaves_single_counts_all_is_written_out() -> None:
    assert compile_counted(parse("[ab]{4000}") & parse("(..)*")) is None
    assert counted(complement(parse("a{2,4}"))) is None


def test_bounds_may_be_very_large() -> None:
    automaton = compile_counted(parse("[a-z]{1000000,1000000000}x?"))
    assert automaton is not None
    assert automaton.num_states < 5
    with pytest.raises(LimitExceeded, match="counts to"):
        compile_counted(repeat("a", 0, 10**10))


ASSERTING = [
    "(?=.*b)a*b?a{2,5}", "(a(?=b)|b){1,3}a?", r"(?:\bab?){0,3}", "(?!aa)[ab]{2,4}(?<!bb)", "(?:(?<=a)b|a){3,5}",
    "(?P<AND>(?:(?=.*b)[ab]{1,4})(?:a.*))", "(?P<AND>(?:[ab]{2,4})(?:(?!b).*))", "(?P<MINUS>(?:[ab]{0,4})(?:a(?=b).*))",
    "(?:(?:a(?=b)b){2,3}a){2}", "(?:(?:ab?){2,3}(?=b)b)+", "(?:[ab]{2,4}$)|(?:^b{3})",
]  # fmt: skip


@pytest.mark.parametrize("pattern", ASSERTING)
def test_assertions_beside_counted_loops(pattern: str) -> None:
    expr = parse(pattern)
    check_bytes(expr)
    if not pattern.startswith(("(?P<AND>", "(?P<MINUS>")):
        matches = re.compile(pattern).fullmatch
        automaton = compile_counted(expr, threshold=1) or compile_expr(expr)
        assert all(automaton.accepts(text) == bool(matches(text.decode())) for text in strings(b"ab", 8))


def test_what_stands_at_the_ends_of_a_text_does_not_keep_it_from_being_counted() -> None:
    for pattern in [r"^(?=.*\d)[a-z0-9]{1,5000}$", "(?<!a)b{2000}", "(?P<AND>(?:[a-z]{1,3000})(?:.*y))"]:
        assert compile_counted(parse(pattern)) is not None
