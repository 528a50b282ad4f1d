"""What the tests of counted automata share: patterns, vocabularies, and the walk beside the automaton written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from strategies import BruteForce

from automata import (
    ANY_CHAR,
    EMPTY,
    Expr,
    alternation,
    char_set,
    compile_expr,
    concat,
    difference,
    intersection,
    literal,
    parse,
    repeat,
)
from automata.counted import CountedByteAutomaton, compile_counted
from automata.errors import EmptyLanguage, TokenNotAllowed
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.counted.automaton import from_counted
from tokenfst.finite.compile import from_bytes

E_ACUTE, EURO = "é".encode(), "€".encode()

# Patterns, each with a repetition that can be counted.
PATTERNS = [
    "a{2,5}", "a{0,6}", "a{6}", "(ab){2,3}", "(ab?){0,3}", "(a|ab){2,3}", "a{3,}", "b*a{3,}b*", ".*a{3,}.*",
    "a{0,3}b", "(a{0,3}b){0,2}", "(a{3})*", "(a{3}b?)*", "(a?){2,4}b", "b(a?b?){3,5}", "(a?c?){3,}b", "a{2,4}[ab]{1,3}",
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


PRODUCTS = [
    parse("[ab]{2,5}") & "abab",
    parse("[ab]{3,5}") & parse("a*b|b*a"),
    parse("[ab]{4,6}") & parse("b*|a{2}"),
    parse("[ab]{2,6}") & parse("(ab)*a?"),
    parse("[ab]{3,}") - parse(".*aa.*"),
    parse("(ab?){2,5}") - parse("(ab)*"),
    concat('"', parse('[^"]{0,4}') & parse(".*b.*"), '"'),
    repeat(concat(parse("[ab]{1,3}") - "ab", ","), 0, None),
    (parse("[ab]{0,5}") & parse("a.*")) - parse(".*b"),
    parse("[ab]{2,4}") & parse("c*"),
]


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
            st.builds(difference, inner, inner),
        )

    return st.recursive(leaves, larger, max_leaves=6)


EXPRS = _exprs().filter(lambda expr: expr.size < 2000)


# Tokens

VOCABULARIES = {
    "bytes": Vocabulary([b"a", b"b", b'"', b" ", b"\xc3", b"\xa9", b""], [6]),
    "tokens across bounds": Vocabulary(
        [b"", b"a", b"aa", b"aaa", b"aaaaa", b"aab", b"ab", b"b", b"ba", b"abab", b"bb", b'"', b'"a', b'a"', b" a"], [0]
    ),
    "every byte": Vocabulary(
        [*(bytes([byte]) for byte in range(256)), b"ab", b"aaa", b"", E_ACUTE + b"a", b'a"', b"aa" + EURO[:2]], [258]
    ),
    "no byte a": Vocabulary([b"aa", b"b", b"ab", b"aab", b""], [4]),
    "pairs only": Vocabulary([b"aa", b"ab", b"ba", b"bb", b"aba", b""], [5]),
    "triples only": Vocabulary([b"aaa", b"b", b"aba", b"", b"aab"], [3]),
    "no end token": Vocabulary([b"a", b"b", b"ab", b"aaa"]),
    "several end tokens": Vocabulary([b"", b"a", b"b", b"a", b"baa", b""], [0, 3, 5]),
    "characters in parts": Vocabulary(
        [b"a", b"b", b"\xc3", b"\xa9", b"a\xc3", b"\xa9b", E_ACUTE, EURO[:2], EURO[2:], b"b" + EURO[:1], b"\xff", b""],
        [11],
    ),
}


def both(constraint: str | Expr, vocabulary: Vocabulary) -> tuple[TokenAutomaton, TokenAutomaton] | None:
    """The counted automaton and the one written out; None where nothing is counted or nothing can be written."""
    expr = parse(constraint) if isinstance(constraint, str) else constraint
    byte_automaton, written_out = compile_counted(expr, threshold=0), compile_expr(expr)
    if byte_automaton is None:
        return None
    if BruteForce(written_out, vocabulary).is_empty:
        with pytest.raises(EmptyLanguage):
            from_counted(byte_automaton, vocabulary)
        return None
    return from_counted(byte_automaton, vocabulary), from_bytes(written_out, vocabulary)


def check_tokens(automaton: TokenAutomaton, written_out: TokenAutomaton) -> list[tuple[int, int]]:
    """Masks, steps, ends and least numbers of tokens are equal wherever tokens lead; returns the pairs of states."""
    vocabulary = automaton.vocabulary
    pairs = {(automaton.start, written_out.start)}
    waiting = list(pairs)
    while waiting:
        state, other = waiting.pop()
        mask = automaton.mask(state)
        assert np.array_equal(mask, written_out.mask(other)), (vocabulary.tokens, state)
        assert automaton.is_final(state) == written_out.is_final(other)
        assert automaton.min_tokens(state) == written_out.min_tokens(other)
        assert (state == automaton.end_state) == (other == written_out.end_state)
        for token in range(len(vocabulary)):
            if not mask[token]:
                assert refuses(automaton, state, token)
                continue
            pair = automaton.advance(state, token), written_out.advance(other, token)
            if pair not in pairs:
                pairs.add(pair)
                waiting.append(pair)
    return sorted(pairs)


def refuses(automaton: TokenAutomaton, state: int, token: int) -> bool:
    try:
        automaton.advance(state, token)
    except TokenNotAllowed:
        return True
    return False
