"""Automata with a register are the automata with their repetitions written out.

On small bounds, where both can be made, they are walked together through every pair of states that some text, or some
sequence of tokens, leads to. Both are trim and deterministic, so they accept the same if neither takes a step that the
other refuses and both end together: no text is too long for this check.
"""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import BruteForce, strings, vocabularies

from automata import (
    ANY_CHAR,
    EMPTY,
    Expr,
    alternation,
    char_set,
    compile_expr,
    concat,
    intersection,
    literal,
    parse,
    repeat,
)
from automata.counted import CountedByteAutomaton, compile_counted
from automata.errors import EmptyLanguage, LimitExceeded, TokenNotAllowed
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.compile import from_bytes
from tokenfst.counted_automaton import from_counted
from tokenfst.register_distance import FAR

E_ACUTE, EURO = "é".encode(), "€".encode()

# Patterns, each with a repetition that can be counted.
PATTERNS = [
    "a{2,5}", "a{0,6}", "a{6}", "(ab){2,3}", "(ab?){0,3}", "(a|ab){2,3}", "a{3,}", "b*a{3,}b*", ".*a{3,}.*",
    "a{0,3}b", "(a{0,3}b){0,2}", "(a{3})*", "(a{3}b?)*", "(a?){2,4}b", "b(a?b?){3,5}", "(a?){3,}b", "a{2,4}[ab]{1,3}",
    "a{0,3}[ab]{0,2}", "(a{2,3}|b{1,4})a", "(a{2,4}|b{1,3})+", "(aa|b){2,}a", "(a+b?){1,4}", "(a+ ?){1,4}",
    "((a|b){3}b)*", "a*(ab){2,3}", "[^b]{0,4}", '"[^"]{0,3}"', '"([^"é]|é€){2,4}"?', "(é|a){2,3}b", r"\s*[^b]{0,3}",
    "(a{2}){3}", "((a{0,3}b){2,4}a)?", "a{1,2}(ba{2,3}){0,2}", "(aa){2,3}(aa)*", "(a{5})|(b{2,4})", "[ab]{0,5}|a{2,9}b",
]  # fmt: skip
# Patterns in which every count that is left over would need another one at the same time.
AMBIGUOUS = [".*a{2}", "(a|aa){2,3}", "(a{2,3}b?a?){2,3}"]


def counted(constraint: str | Expr) -> CountedByteAutomaton | None:
    return compile_counted(parse(constraint) if isinstance(constraint, str) else constraint, threshold=0)


def certainly_counted(pattern: str) -> CountedByteAutomaton:
    automaton = counted(pattern)
    assert automaton is not None, pattern
    return automaton


# Bytes


@pytest.mark.parametrize("pattern", PATTERNS)
def test_counted_automata_accept_what_re_matches(pattern: str) -> None:
    automaton, matcher = certainly_counted(pattern), re.compile(pattern.encode() if pattern.isascii() else pattern)
    if not pattern.isascii():
        texts = ["".join(letters) for length in range(7) for letters in product("aé€b\"", repeat=length)]
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


def _exprs() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(
        st.sampled_from([literal("a"), literal("b"), literal("ab"), literal("é"), ANY_CHAR, EMPTY]),
        st.sampled_from([char_set("ab"), char_set("aé€"), char_set("a", negated=True)]),
    )
    bounds = st.sampled_from([*((m, n) for m in range(7) for n in range(m, 7) if n), (0, None), (1, None), (3, None)])

    def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        return st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: concat(*parts)),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: alternation(*parts)),
            st.builds(lambda part, pair: repeat(part, *pair), inner, bounds),
            st.builds(lambda part, pair: repeat(part, *pair), inner, bounds),
            st.builds(intersection, inner, inner),
        )

    return st.recursive(leaves, larger, max_leaves=6)


EXPRS = _exprs().filter(lambda expr: expr.size < 2000)


@settings(max_examples=600)
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
    assert compile_counted(parse("a{0,400}")) is None
    assert compile_counted(parse("a{0,401}")) is not None
    assert compile_counted(parse("(abcd){0,101}")) is not None
    assert compile_counted(parse("a*b+c?")) is None


def test_what_is_inside_an_intersection_is_written_out() -> None:
    assert counted(parse("a{2,4}") & parse("[ab]{3}")) is None


def test_bounds_may_be_very_large() -> None:
    automaton = compile_counted(parse("[a-z]{1000000,1000000000}x?"))
    assert automaton is not None
    assert automaton.num_states < 5
    with pytest.raises(LimitExceeded, match="counts to"):
        compile_counted(repeat("a", 0, 10**10))
