"""Operators on automata are operations on sets of texts; derivatives are what is left; automata read as expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
import pywrapfst
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import UNIVERSE, UNIVERSE_LENGTH, accepted, exprs, strings, up_to

import tokenfst
from automata import (
    ANY_CHAR,
    ANY_TEXT,
    EMPTY,
    EPSILON,
    ByteAutomaton,
    EmptyLanguage,
    Expr,
    Label,
    LimitExceeded,
    Limits,
    alternation,
    compile_expr,
    concat,
    derivative,
    equivalent,
    literal,
    parse,
    repeat,
    to_expr,
)
from automata import expressions as ex
from automata.assertions import matches_empty
from automata.limits import Work
from tokenfst import Vocabulary


def members(automaton: ByteAutomaton) -> set[bytes]:
    return accepted(automaton, UNIVERSE, UNIVERSE_LENGTH)


def same_tables(left: ByteAutomaton, right: ByteAutomaton) -> bool:
    """Whether the automata are one and the same; minimal automata of a language are."""
    return all(
        (a == b).all() if a.shape == b.shape else False
        for a, b in [(left.by_byte(), right.by_byte()), (left.final, right.final), (left.by_label, right.by_label)]
    ) and (left.start, left.labels) == (right.start, right.labels)


# Operators


@settings(max_examples=40)
@given(exprs(), exprs())
def test_operators_are_operations_on_sets(left: Expr, right: Expr) -> None:
    a, b = compile_expr(left), compile_expr(right)
    x, y = members(a), members(b)
    assert members(a | b) == x | y
    assert members(a & b) == x & y
    assert members(a - b) == x - y
    assert members(~a) == members(compile_expr(ANY_TEXT)) - x
    assert members(a + b) == {s + t for s in x for t in y if len(s + t) <= UNIVERSE_LENGTH}
    assert members(a.optional()) == x | {b""}
    assert members(a.repeat(2, 2)) == members(a + a)
    assert members(a.plus()) == members(a + a.star())


@settings(max_examples=40)
@given(exprs(), st.lists(st.tuples(st.booleans(), exprs()), min_size=2, max_size=6))
def test_several_are_combined_in_any_order(first: Expr, others: list[tuple[bool, Expr]]) -> None:
    """A chain of intersections and differences is compiled smallest first; one operator at a time, in order."""
    chain, automaton, texts = first, compile_expr(first), members(compile_expr(first))
    for is_subtracted, other in others:
        chain = chain - other if is_subtracted else chain & other
        automaton = automaton - compile_expr(other) if is_subtracted else automaton & compile_expr(other)
        texts = texts - members(compile_expr(other)) if is_subtracted else texts & members(compile_expr(other))
    assert same_tables(compile_expr(chain), automaton)
    assert members(automaton) == texts


def test_labels_are_combined_as_bytes_are() -> None:
    x, y = Label("x"), Label("y")
    kept = (alternation(x, y, "a") + literal("b").star()) - y - (x + "b") - (ANY_TEXT + "bb")
    several = literal("b").plus()
    assert equivalent(kept, alternation(x, x + "b" + several, y + several, "a", "ab"))


SYMBOLS = ("a", "b", Label("P"), Label("Q"))
SEQUENCES = [sequence for length in range(3) for sequence in product(range(len(SYMBOLS)), repeat=length)]
SETS = st.sets(st.sampled_from(SEQUENCES), max_size=3)


@settings(max_examples=100)
@given(SETS, st.lists(st.tuples(st.booleans(), SETS), min_size=1, max_size=4))
def test_sets_of_texts_with_labels(
    first: set[tuple[int, ...]], others: list[tuple[bool, set[tuple[int, ...]]]]
) -> None:
    def language(texts: set[tuple[int, ...]]) -> Expr:
        return alternation(*(concat(*(SYMBOLS[place] for place in text)) for text in sorted(texts)))

    chain, expected = language(first), first
    for is_subtracted, texts in others:
        chain = chain - language(texts) if is_subtracted else chain & language(texts)
        expected = expected - texts if is_subtracted else expected & texts
    assert equivalent(chain, language(expected))


def test_what_is_too_large_without_the_first_is_combined_in_order() -> None:
    """Each pattern alone asks for a letter, in any order; few of the words have them all."""
    letters = "abcdefghijkl"
    words = ex.strings([letters, letters[::-1], *(letters[:at] * 40 for at in range(1, 12))])
    chain: Expr = words
    for letter in letters:
        chain = chain & parse(f".*{letter}.*")
    assert compile_expr(words).num_states > 256
    found = compile_expr(chain, Work(Limits(states=3000)))
    assert equivalent(found, ex.strings([letters, letters[::-1]]))
    with pytest.raises(LimitExceeded, match="more than 4,352 states"):
        compile_expr(parse("".join(f"(?=.*{letter})" for letter in letters) + ".*"), Work(Limits(states=3000)))


@settings(max_examples=40)
@given(exprs(), exprs(), st.sampled_from([(0, None), (1, None), (0, 1), (2, 3), (0, 0), (3, None)]))
def test_automata_and_expressions_agree(left: Expr, right: Expr, bounds: tuple[int, int | None]) -> None:
    a, b = compile_expr(left), compile_expr(right)
    for ours, expr in [(a | b, left | right), (a & b, left & right), (a - b, left - right), (a + b, left + right),
                       (~a, ~left), (a.repeat(*bounds), left.repeat(*bounds))]:  # fmt: skip
        assert isinstance(ours, ByteAutomaton)
        assert same_tables(ours, compile_expr(expr))


@settings(max_examples=40)
@given(exprs(), exprs())
def test_openfst_agrees(left: Expr, right: Expr) -> None:
    a, b = compile_expr(left), compile_expr(right)
    any_number, both, behind = a.fst().closure(), a.fst().union(b.fst()), a.fst().concat(b.fst())
    for fst, ours in [(any_number, a.star()), (both, a | b), (behind, a + b)]:
        assert pywrapfst.equivalent(pywrapfst.determinize(fst.rmepsilon()), ours.fst())


@settings(max_examples=40)
@given(exprs(), exprs())
def test_either_side_may_be_an_expression_or_text(left: Expr, right: Expr) -> None:
    a, b = compile_expr(left), compile_expr(right)
    for mixed, plain in [(a | right, a | b), (left | b, a | b), (a & right, a & b), (left & b, a & b),
                         (a - right, a - b), (left - b, a - b), (a + right, a + b), (left + b, a + b)]:  # fmt: skip
        assert isinstance(mixed, ByteAutomaton)
        assert same_tables(mixed, plain)
    assert members("a" + a) == {b"a" + text for text in members(a) if len(text) < UNIVERSE_LENGTH}
    assert members(a + b"a") == {text + b"a" for text in members(a) if len(text) < UNIVERSE_LENGTH}
    assert members("a" | a) == members(a | b"a") == members(a) | {b"a"}
    assert members("a" & a) == members(a & b"a") == members(a) & {b"a"}
    assert members(b"a" - a) == {b"a"} - members(a)
    assert members(a - "a") == members(a) - {b"a"}


def test_other_operands_are_refused() -> None:
    expr: Any = parse("a")
    automaton: Any = compile_expr(expr)
    make: Callable[[], object]
    for make in (
        lambda: automaton & 3,
        lambda: 3 | automaton,
        lambda: expr + 3,
        lambda: [b"a"] - expr,
        lambda: expr | None,
    ):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(ValueError, match="repetitions"):
        automaton.repeat(3, 2)
    # Text could be meant literally or as a pattern.
    text: Any = "a"
    with pytest.raises(TypeError, match="not str"):
        equivalent(text, automaton)


def test_limits_hold_for_automata_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LimitExceeded, match=r"<automaton of 27 states>\{100000000\} has"):
        compile_expr(parse("[ab]{26}")).repeat(10**8, 10**8)
    ends_in_a, tail = compile_expr(parse("(?:a|b)*a")), compile_expr(parse("[ab]{12}"))
    monkeypatch.setattr("automata.algebra.operations.current_work", lambda: Work(Limits(states=1000)))
    with pytest.raises(LimitExceeded, match="more than 1,000 states"):
        ends_in_a + tail


@settings(max_examples=40)
@given(exprs(), exprs())
def test_automata_are_copied_with_their_arcs_and_labels(left: Expr, right: Expr) -> None:
    """An expression of automata is the one of their expressions, and each arc counts."""
    marked = concat(left, alternation(Label("A"), concat(Label("B"), right)))
    automaton = compile_expr(marked)
    assert automaton.num_arcs == len(automaton.edges()[0])
    copied = automaton + right + automaton
    assert same_tables(copied, compile_expr(concat(marked, right, marked)))


def test_labels_take_part_in_operations() -> None:
    image, text = compile_expr(concat("a", Label("IMAGE"))), compile_expr(parse("a|b"))
    assert (image | text).labels == ("IMAGE",)
    assert same_tables(text + image.star(), compile_expr(parse("a|b") + concat("a", Label("IMAGE")).star()))
    assert ((image | text) - image).labels == ()
    assert same_tables((image | text) - image, text)
    assert same_tables(derivative(image, "a"), compile_expr(Label("IMAGE")))
    assert equivalent(to_expr(image | text), image | text)


# Derivatives


@settings(max_examples=40)
@given(exprs(max_leaves=8))
def test_a_derivative_is_what_is_left(expr: Expr) -> None:
    automaton, suffixes = compile_expr(expr), strings(UNIVERSE, 3)
    for prefix in [b"", b"a", b"\xc3", b"\xff", b"ab", b"\xc3\xa9", b"\xc3\xa9\xc3", b"a\xc3"]:
        left = {suffix for suffix in suffixes if automaton.accepts(prefix + suffix)}
        of_expr = derivative(expr, prefix)
        assert isinstance(of_expr, Expr)
        for rest in (derivative(automaton, prefix), compile_expr(of_expr)):
            assert {suffix for suffix in suffixes if rest.accepts(suffix)} == left
        assert matches_empty(of_expr) == (b"" in left)


@settings(max_examples=40)
@given(exprs(), st.binary(max_size=3))
def test_both_kinds_of_derivative_are_one_language_and_print(expr: Expr, prefix: bytes) -> None:
    of_expr, of_automaton = derivative(expr, prefix), derivative(compile_expr(expr), prefix)
    assert same_tables(compile_expr(of_expr), of_automaton)
    assert equivalent(parse(str(of_expr)), of_automaton)


def test_derivatives_of_all_small_patterns() -> None:
    texts = strings(b"ab", 5)
    for pattern in up_to(3, atoms=("a", "b", "[ab]", "")):
        match, expr = re.compile(pattern).fullmatch, parse(pattern)
        for prefix in (b"a", b"ab", b"bb"):
            rest = compile_expr(derivative(expr, prefix))
            for text in texts:
                assert rest.accepts(text) == bool(match((prefix + text).decode())), (pattern, prefix, text)


@pytest.mark.parametrize(("pattern", "prefix", "left"), [
    ("abc|abd|b", "ab", "c|d"), ("(?:ab)*", "a", "b(?:ab)*"), ("a{0,100000}", "aaa", "a{0,99997}"),
    ("[à-ü]+", "é", "[à-ü]*"), ("(?P<NOT>éa)", "é", "(?P<NOT>a)"), ("x{3,5}", "xxxx", "x?"),
    ("ab", "x", r"[^\x00-\U0010ffff]"), ("(?:a?){3}b", "a", "(?:a?){2}b|(?:a?){2}b"),
    ("(?P<MINUS>(?:[ab]*)(?:ab))", "b", "[ab]*"),
])  # fmt: skip
def test_derivatives_by_hand(pattern: str, prefix: str, left: str) -> None:
    found = derivative(parse(pattern), prefix)
    assert found == parse(left) or str(found) == left


class Opaque(Expr):
    """A kind of node of which only the automaton is known."""

    __slots__ = ("inner",)
    __match_args__ = ("inner",)
    inner: Expr

    def __init__(self, inner: Expr) -> None:
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


def test_nodes_without_a_rule_go_by_way_of_the_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = parse("x(?:ab|é)*y?")
    monkeypatch.setattr("automata.algebra.operations.compile_expr", lambda _: compile_expr(plain))
    # Wherever the node stands: it may be one that asks what came before it.
    for opaque in (concat("x", Opaque(parse("(?:ab|é)*")), parse("y?")), plain | Opaque(plain).star()):
        for prefix in ("x", "xa", b"x\xc3", "xé"):
            assert str(derivative(opaque, prefix)) == str(to_expr(compile_expr(derivative(plain, prefix))))


def test_deep_nesting_is_no_matter() -> None:
    expr = EPSILON
    for _ in range(2000):
        expr = ("a" + expr).optional() + "b"
    rest = compile_expr(derivative(expr, "aaa"))
    assert [rest.accepts(b"b" * number) for number in (3, 4, 5)] == [False, True, False]


def test_derivatives_stay_small() -> None:
    """Of an expression there are finitely many derivatives, and long prefixes do not make them grow."""
    expr = parse(r'"(?:[^"\\]|\\["\\nt])*"(?:,"(?:[^"\\]|\\["\\nt])*")*')
    sizes = {derivative(expr, '"' + "ab\\n" * n + '","').size for n in range(0, 60, 7)}
    assert max(sizes) <= expr.size
    assert len({derivative(parse("(?:a|b)*a(?:a|b)"), "ab" * n) for n in range(1, 20)}) == 1


def test_what_is_left_is_a_constraint() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"ab", b""], [3])
    expr = parse("(?:ab)+")
    languages: list[Any] = [expr, compile_expr(expr)]
    for language in languages:
        automaton = tokenfst.compile(derivative(language, "a"), vocabulary)
        assert automaton.accepts([1])
        assert automaton.accepts([1, 2, 0, 1, 3])
        assert not automaton.accepts([2])
    with pytest.raises(EmptyLanguage):
        tokenfst.compile(derivative(compile_expr(expr), "b"), vocabulary)


# Automata as expressions


def nodes(expr: Expr) -> Iterator[Expr]:
    yield expr
    for part in expr.operands():
        yield from nodes(part)


@given(exprs())
def test_an_automaton_reads_as_an_expression(expr: Expr) -> None:
    automaton = compile_expr(expr)
    assert same_tables(compile_expr(to_expr(automaton)), automaton)
    text = compile_expr(expr & ANY_TEXT)
    written = to_expr(text)
    assert same_tables(compile_expr(written), text)
    # Of text every leaf is made of whole characters.
    for node in nodes(written):
        assert not isinstance(node, ex.ByteSet)
        if isinstance(node, ex.Literal):
            assert node.value.decode().encode() == node.value


def test_all_small_patterns_read_back() -> None:
    for pattern in up_to(3):
        automaton = compile_expr(parse(pattern))
        assert same_tables(compile_expr(to_expr(automaton)), automaton), pattern


@pytest.mark.parametrize("pattern", [
    "[à-ü]+x?", r"\d{4}-[01]\d", "(?:ab)*", "a{0,5}", r"[^\n]*", "[^\"]{3}\"", "dog|ca[rt]", "(?:a|bc)*d",
    "[a-z]+@[a-z]+", "[あ-ん一-龥]+", "[\U0001f600-\U0001f64f]", r"[\x00-\U0010ffff]*", "(?P<BYTES>[^\\x00-\\x7f]){2}a",
])  # fmt: skip
def test_what_was_short_stays_short(pattern: str) -> None:
    assert str(to_expr(compile_expr(parse(pattern)))) == pattern


def test_expressions_that_explode_are_refused() -> None:
    with pytest.raises(LimitExceeded, match="more than 100,000 leaves"):
        to_expr(compile_expr(parse("(?:a|b)*a(?:a|b){6}")))
    # Not so what is only long.
    assert to_expr(compile_expr(parse("(?:[a-z]+,){1,200}x"))).size < 2000


def test_nothing_and_the_empty_text() -> None:
    assert to_expr(compile_expr(EMPTY)) == EMPTY == derivative(EMPTY, "a")
    assert to_expr(compile_expr(EPSILON)) == EPSILON == derivative(literal("a"), "a")
    assert derivative(compile_expr(EMPTY), "a").is_empty
    nothing = compile_expr(EMPTY)
    assert (nothing | nothing).is_empty
    assert (nothing + "a").is_empty
    assert same_tables(nothing.star(), compile_expr(EPSILON))
    assert same_tables(~nothing, compile_expr(ANY_TEXT))
    assert alternation() & ANY_CHAR == EMPTY == ANY_CHAR - ANY_CHAR == repeat(EMPTY, 1)
