"""Look-around, anchors and word boundaries mean what `re` and `regex` mean by them, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import accepted, strings, up_to

from automata import (
    PatternError,
    char_set,
    compile_expr,
    concat,
    literal,
    lookahead,
    lookbehind,
    parse,
    whole,
)
from automata import expressions as ex
from automata.expressions import EMPTY, EPSILON, TEXT_END, TEXT_START, Expr
from automata.queries import equivalent

QUANTIFIERS = ("*", "+", "?", "{2}")


def members(expr: Expr, alphabet: bytes, length: int) -> set[bytes]:
    return accepted(compile_expr(expr), alphabet, length)


def expected(pattern: str, alphabet: bytes, length: int, flags: int = 0) -> set[bytes]:
    """What `re` matches. Before Python 3.14 its `\\B` is the opposite of `\\b` except in the empty text."""
    match = re.compile(pattern.replace(r"\B", r"(?!\b)"), flags | re.ASCII).fullmatch
    return {text for text in strings(alphabet, length) if match(text.decode())}


# Every small pattern, every short string


@pytest.mark.parametrize(
    ("size", "atoms", "quantifiers"),
    [
        (3, ("a", "b", "", "^", "$", r"\b", r"\B", "(?=a)", "(?!b)", "(?<=a)", "(?<!ab)", r"\Z"), QUANTIFIERS),
        (4, ("a", r"\b", "(?!ab)", "(?<=b)"), ("*", "?")),
        (4, ("a", "b", "^", "$"), ("*", "{2}")),
        (4, ("a", "(?=a?$)", "(?<!^a)", "(?!(?<=a)a)"), ("+", "?")),
    ],
)
def test_every_small_pattern(size: int, atoms: tuple[str, ...], quantifiers: tuple[str, ...]) -> None:
    for pattern in up_to(size, atoms=atoms, quantifiers=quantifiers):
        try:
            texts = expected(pattern, b"ab ", 4)
        except re.error:  # an anchor cannot be repeated
            with pytest.raises(PatternError, match="nothing to repeat"):
                parse(pattern)
            continue
        assert members(parse(pattern), b"ab ", 4) == texts, pattern


@pytest.mark.parametrize("flag", ["", "m"])
def test_anchors_at_lines_and_at_the_ends(flag: str) -> None:
    atoms = ("a", "\n", "^", "$", r"\A", r"\Z", "(?<!^)", "(?!$)", ".")
    for pattern in up_to(3, atoms=atoms, quantifiers=("*", "?")):
        texts = expected(pattern, b"a\n", 5, re.MULTILINE if flag else 0)
        assert members(parse(f"(?{flag}){pattern}" if flag else pattern), b"a\n", 5) == texts, pattern


@pytest.mark.parametrize(
    "form",
    ["(?={})[ab]*", "[ab]*(?!{})b?", "(?:a(?={})|b)*", "(?={}|(?!a))[ab]+", "(?!a(?!{}))[ab]*", "{}(?<!a)[ab]?"],
)
def test_assertions_within_assertions(form: str) -> None:
    for inner in up_to(3, atoms=("a", "b", "", "$", "^", r"\b", "(?=b)", "(?<!a)"), quantifiers=("*", "?")):
        pattern = form.format(inner)
        assert members(parse(pattern), b"ab", 4) == expected(pattern, b"ab", 4), pattern


@pytest.mark.parametrize(
    "form", ["(?<={})a*", "(?:[ab](?<!{}))*", "b?(?<={}|^a)[ab]*", "(?<!(?<={})b)[ab]*", "[ab]*(?<=(?={})[ab]*)b"]
)
def test_lookbehind_of_any_length(form: str) -> None:
    """More than `re` allows."""
    for inner in up_to(3, atoms=("a", "b", "", "$", "^", "(?!b)", "(?<=a+)"), quantifiers=("*", "?", "{2}")):
        pattern = form.format(inner)
        match = regex.compile(pattern).fullmatch
        assert members(parse(pattern), b"ab", 4) == {s for s in strings(b"ab", 4) if match(s.decode())}, pattern


def patterns() -> st.SearchStrategy[str]:
    """Patterns that hold assertions in repetitions, alternations and each other."""
    leaves = st.sampled_from(["a", "b", "[ab]", "", "a*", "b+", "a?", "^", "$", r"\b", "ab", "(?:a|bb)*", "."])

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map("|".join).map("(?:{})".format),
            st.tuples(inner, st.sampled_from(QUANTIFIERS)).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
            st.tuples(st.sampled_from(["?=", "?!", "?<=", "?<!"]), inner).map(lambda pair: f"({pair[0]}{pair[1]})"),
        )

    return st.recursive(leaves, larger, max_leaves=8)


@given(patterns())
@settings(max_examples=250)
def test_random_patterns(pattern: str) -> None:
    match = regex.compile(pattern, regex.ASCII).fullmatch
    assert members(parse(pattern), b"ab", 5) == {s for s in strings(b"ab", 5) if match(s.decode())}


@given(patterns())
@settings(max_examples=75)
def test_searching_for_random_patterns(pattern: str) -> None:
    search = regex.compile(pattern, regex.ASCII).search
    found = {s for s in strings(b"ab\n", 4) if search(s.decode())}
    assert members(parse(pattern, search=True), b"ab\n", 4) == found


def test_searching_for_every_small_pattern() -> None:
    for pattern in up_to(3, atoms=("a", "b", "", "^", "$", r"\b"), quantifiers=("*", "?")):
        search = re.compile(pattern).search
        found = {s for s in strings(b"ab\n", 4) if search(s.decode())}
        assert members(parse(pattern, search=True), b"ab\n", 4) == found, pattern


def test_what_b_means_in_the_empty_text() -> None:
    """The opposite of `\\b`, as in ECMA-262 and in Python from 3.14 on."""
    assert members(parse(r"\B"), b"ab", 3) == {b""}
    assert members(parse(r"\b"), b"ab", 3) == set()


def test_word_boundaries_follow_the_flag_u() -> None:
    for flags, pattern in ((re.ASCII, r".\b."), (0, r"(?u).\b.")):
        automaton, match = compile_expr(parse(pattern)), re.compile(r".\b.", flags).fullmatch
        for text in (a + b for a in "aé 1€_٣" for b in "aé 1€_٣"):
            assert automaton.accepts(text.encode()) == bool(match(text)), (pattern, text)


def test_assertions_see_characters_and_not_bytes() -> None:
    texts = ["é", "ée", "eé", "", "€é", "éé", "\U0001f600é"]
    for pattern in ("(?=.$).*", ".*(?<=^.)", "(?<!é).*(?!€)", "(?:.(?!é))*", ".*(?<=é)."):
        automaton, match = compile_expr(parse(pattern)), re.compile(pattern).fullmatch
        for text in texts:
            assert automaton.accepts(text.encode()) == bool(match(text)), (pattern, text)
        assert not automaton.accepts("é".encode()[:1])


@pytest.mark.parametrize(
    ("expr", "pattern"),
    [
        (concat("a", TEXT_END, lookbehind("a")), r"a\Z(?<=a)"),
        (concat("a", TEXT_END, lookbehind("b")), r"a\Z(?<=b)"),
        (concat("a", TEXT_END, lookbehind("a") | literal("c")), r"a\Z(?:(?<=a)|c)"),
        (concat(lookahead("a"), TEXT_START, "a"), r"(?=a)\Aa"),
        (concat(lookahead("a") | literal("c"), TEXT_START, "a"), r"(?:(?=a)|c)\Aa"),
    ],
)
def test_assertions_beyond_an_anchor_see_the_text(expr: Expr, pattern: str) -> None:
    assert members(expr, b"abc", 3) == expected(pattern, b"abc", 3)


# Expressions, by definition


def spans(expr: Expr, text: str) -> set[tuple[int, int]]:
    """Where in a text an expression matches."""
    places = range(len(text) + 1)
    if isinstance(expr, ex.Literal):
        value = expr.value.decode()
        return {(i, i + len(value)) for i in places if text.startswith(value, i)}
    if isinstance(expr, ex.CharSet):
        return {(i, i + 1) for i, char in enumerate(text) if any(low <= ord(char) <= high for low, high in expr.ranges)}
    if isinstance(expr, ex.Concatenation):
        result = {(i, i) for i in places}
        for part in expr.parts:
            result = joined(result, spans(part, text))
        return result
    if isinstance(expr, ex.Alternation):
        return set().union(*(spans(part, text) for part in expr.parts))
    if isinstance(expr, ex.Repetition):
        inner, power = spans(expr.inner, text), {(i, i) for i in places}
        for _ in range(expr.low):
            power = joined(power, inner)
        result = power
        for _ in range(len(text) + 1 if expr.high is None else expr.high - expr.low):
            power = joined(power, inner)
            result = result | power
        return result
    if isinstance(expr, ex.Lookahead):
        found = {i for i, _ in spans(expr.inner, text)}
        return {(i, i) for i in places if (i in found) != expr.negated}
    if isinstance(expr, ex.Lookbehind):
        found = {j for _, j in spans(expr.inner, text)}
        return {(i, i) for i in places if (i in found) != expr.negated}
    return {(i, j) for i in places for j in range(i, len(text) + 1) if matches(expr, text[i:j])}


def joined(left: set[tuple[int, int]], right: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(i, k) for i, j in left for at, k in right if j == at}


def matches(expr: Expr, text: str) -> bool:
    """Whether a text of its own is in the language."""
    if isinstance(expr, ex.Intersection):
        return matches(expr.left, text) and matches(expr.right, text)
    if isinstance(expr, ex.Difference):
        return matches(expr.left, text) and not matches(expr.right, text)
    if isinstance(expr, ex.Complement):
        return not matches(expr.inner, text)
    return (0, len(text)) in spans(expr, text)


Definition = tuple[Expr, Expr]


def expressions() -> st.SearchStrategy[Definition]:
    """Expressions as the constructors make them, each with its nodes as they were asked for, which define its texts."""
    assertions = (TEXT_START, TEXT_END, lookahead("a"), lookbehind(char_set("é"), negated=True))
    sets = (char_set("aé"), char_set("a", negated=True))
    leaves = st.sampled_from([EMPTY, EPSILON, literal("a"), literal("é"), literal("ab"), *sets, *assertions])
    bounds = st.sampled_from([(0, 1), (0, None), (1, None), (2, 2), (1, 2), (2, None)])

    def of(make: Callable[..., Expr], node: Callable[..., Expr], *parts: Definition) -> Definition:
        return make(*[made for made, _ in parts]), node(*[defined for _, defined in parts])

    def larger(inner: st.SearchStrategy[Definition]) -> st.SearchStrategy[Definition]:
        two = st.one_of(st.tuples(inner, inner), inner.map(lambda one: (one, one)))
        return st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: of(concat, lambda *each: ex.Concatenation(each), *parts)),
            two.map(lambda parts: of(ex.alternation, lambda *each: ex.Alternation(each), *parts)),
            st.builds(lambda a, pair: (ex.repeat(a[0], *pair), ex.Repetition(a[1], *pair)), inner, bounds),
            st.builds(lambda one, no: (lookahead(one[0], negated=no), ex.Lookahead(one[1], no)), inner, st.booleans()),
            st.builds(
                lambda one, no: (lookbehind(one[0], negated=no), ex.Lookbehind(one[1], no)), inner, st.booleans()
            ),
            two.map(lambda parts: of(ex.intersection, ex.Intersection, *parts)),
            two.map(lambda parts: of(ex.difference, ex.Difference, *parts)),
            inner.map(lambda one: of(ex.complement, ex.Complement, one)),
            inner.map(lambda one: of(whole, lambda each: ex.Difference(each, EMPTY), one)),
        )

    return st.recursive(leaves.map(lambda leaf: (leaf, leaf)), larger, max_leaves=8)


TEXTS = ["".join(map(chr, text)) for text in strings(b"\x61\x62\xe9", 3)]


@given(expressions())
@settings(max_examples=150)
def test_an_expression_matches_what_its_definition_says(definition: Definition) -> None:
    expr, defined = definition
    automaton = compile_expr(expr)
    for text in TEXTS:
        assert automaton.accepts(text.encode()) == matches(defined, text), (str(expr), text)


@given(expressions())
def test_a_printed_expression_reads_back_as_the_same_text(definition: Definition) -> None:
    expr, _ = definition
    assert equivalent(parse(str(expr)), expr)
    assert parse(str(parse(str(expr)))) == parse(str(expr))
