"""Lists of strings, substrings of texts, sparse automata and their composition with a vocabulary."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from large_cases import FEW, names_of, sparse
from strategies import all_sparse, exprs, vocabularies

from automata import (
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
    derivative,
    literal,
    parse,
    strings,
)
from automata.expressions.extensions import substring_of
from automata.limits import Work
from automata.queries import equivalent
from constraints import choice
from tokenfst import Vocabulary, _native
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import token_classes
from tokenfst.finite.compile import from_bytes


def same(left: ByteAutomaton, right: ByteAutomaton) -> bool:
    """Whether both have equal tables, which equal languages have."""
    return (
        left.start == right.start
        and np.array_equal(left.final, right.final)
        and np.array_equal(left.by_byte(), right.by_byte())
        and left.labels == right.labels
        and np.array_equal(left.by_label, right.by_label)
    )


# Lists


BYTES = st.lists(st.sampled_from(b"ab\x00\xff"), max_size=6).map(bytes)


@FEW
@given(st.lists(BYTES, max_size=12))
def test_a_list_is_the_alternation_of_its_strings(values: list[bytes]) -> None:
    expected = compile_expr(alternation(*map(literal, values)))
    assert same(compile_expr(strings(values)), expected)
    if len(set(values)) > 1:
        assert same(sparse(strings(values)), expected)


def test_lists_have_a_normal_form_and_print_as_patterns() -> None:
    assert strings([]) == EMPTY
    assert strings(["é", "é".encode()]) == literal("é")
    assert choice(["b", "a|c", "b", ""]) == strings(["", "a|c", "b"])
    assert hash(strings(["a", "b"])) == hash(strings(["b", "a"]))
    assert str("x" + choice(["b", "a|c"])) == r"x(?:a\|c|b)"
    with pytest.raises(ValueError, match="at least one"):
        choice([])


@FEW
@given(st.lists(BYTES, min_size=2, max_size=8), exprs(max_leaves=3), st.integers(0, 5))
def test_lists_compose_with_other_expressions(values: list[bytes], other: Expr, place: int) -> None:
    combine: Callable[[Expr], Expr] = [
        lambda own: own & other,
        lambda own: other - own,
        lambda own: own - other,
        lambda own: "<" + own + other,
        lambda own: (own | other).star(),
        lambda own: ~own,
    ][place]
    expected = compile_expr(combine(alternation(*map(literal, values))))
    assert same(compile_expr(combine(strings(values))), expected)
    with all_sparse():
        assert same(compile_expr(combine(strings(values))), expected)


def test_what_is_left_of_a_list_is_a_list() -> None:
    assert derivative(strings(["ab", "ac", "b", "é"]), "a") == strings(["b", "c"])
    assert derivative(strings(["ab", "b"]).star() + "c", b"a") == "b" + strings(["ab", "b"]).star() + "c"


# Substrings


def substrings(text: str, *, words: bool) -> set[str]:
    """By definition."""

    def inside(char: str) -> bool:
        return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")

    places = [
        place
        for place in range(len(text) + 1)
        if not words or not (0 < place < len(text) and inside(text[place - 1]) and inside(text[place]))
    ]
    return {text[start:end] for start in places for end in places if start <= end}


@settings(max_examples=75)
@given(st.text("abé字 ,_\u0301😀\xd7", max_size=14), st.booleans())
def test_a_substring_is_any_run_of_characters_or_of_words(text: str, words: bool) -> None:
    expected = compile_expr(strings(substrings(text, words=words)))
    assert same(compile_expr(substring_of(text, words=words)), expected)


def test_what_a_word_is() -> None:
    found = substrings("new York", words=True)
    assert found == {"", "new", " ", "York", "new ", " York", "new York"}
    automaton = compile_expr(substring_of("don't re-use नमस्ते twice", words=True))
    for text in ("don", "'t re-", "use", "नमस्ते", "", "don't re-use नमस्ते twice"):
        assert automaton.accepts(text.encode()), text
    for text in ("do", "नमस", "e नमस्ते", "twic"):
        assert not automaton.accepts(text.encode()), text


def test_substrings_print_and_compose() -> None:
    assert substring_of("") == EPSILON
    assert str(substring_of("a.b\n")) == r"(?P<SUBSTRING_OF>a\.b\n)"
    assert str(substring_of("a b", words=True).star()) == "(?P<SUBSTRING_OF_WORDS>a b)*"
    quoted = compile_expr('"' + (substring_of("abcab") & parse(".{2,3}")) + '"')
    expected = [text for text in substrings("abcab", words=False) if 2 <= len(text) <= 3]
    assert same(quoted, compile_expr(strings([f'"{text}"' for text in expected])))


@pytest.mark.parametrize(
    "text", ["a" * 20_000, "ab" * 10_000, "a" * 10_000 + "b" * 10_000, "字é" * 4_000, "the cat sat. " * 1_500]
)
def test_substrings_are_linear_in_the_text(text: str) -> None:
    size = len(text.encode())
    for words in (False, True):
        automaton = compile_expr(substring_of(text, words=words))
        assert automaton.num_states <= 2 * size
        assert len(automaton.range_arcs().source) <= 3 * size
        assert automaton.accepts(text.encode())
        assert not automaton.accepts((text + "a").encode())


# Sparse automata


@FEW
@given(exprs(), st.lists(st.sampled_from(b"ab\xc3\xa9\xff"), max_size=5).map(bytes))
def test_sparse_and_dense_automata_answer_alike(expr: Expr, text: bytes) -> None:
    expr = expr | Label("mark") + "a"
    dense, other = compile_expr(expr), sparse(expr)
    assert not dense.is_sparse
    assert same(dense, other)
    assert (dense.num_states, dense.num_classes, dense.is_empty) == (
        other.num_states,
        other.num_classes,
        other.is_empty,
    )
    assert np.array_equal(dense.next, other.next)
    assert np.array_equal(dense.byte_class, other.byte_class)
    for state in range(dense.num_states):
        assert dense.step(state, text) == other.step(state, text)
    assert dense.accepts(text) == other.accepts(text)
    for mine, others in zip((*dense.range_arcs(), dense.ranges()), (*other.range_arcs(), other.ranges()), strict=True):
        assert np.array_equal(mine, others)
    assert dense.fst().num_states() == other.fst().num_states()
    assert equivalent(dense, other)


def test_what_would_eat_the_machine_is_refused() -> None:
    names = choice(names_of(3000))
    for expr in (names, "<" + names, substring_of("ab" * 1000), names & parse("[A-M].*"), ~names):
        work = Work(Limits(memory=20_000))
        with pytest.raises(LimitExceeded, match="limit `memory`"):
            compile_expr(expr, work)
    work = Work(Limits(arcs=20_000))
    with pytest.raises(LimitExceeded, match="limit `arcs`"):
        compile_expr((names + ",").repeat(1, 4), work)
    automaton = sparse(names)
    with mock.patch("automata.byte_automaton.DEFAULT_LIMITS", Limits(memory=1000)):
        for ask in (lambda: automaton.next, automaton.by_byte, automaton.fst):
            with pytest.raises(LimitExceeded, match="limit `memory`"):
                ask()
    work = Work(Limits(memory=1000))
    with pytest.raises(LimitExceeded, match="limit `memory`"):
        _native.relation_classes(automaton.tables, Vocabulary([b"A", b"a", b"b", b"ab"]).native, work.budget)


# Composition


@FEW
@given(exprs(), vocabularies())
def test_both_compositions_give_equal_classes(expr: Expr, vocabulary: Vocabulary) -> None:
    dense = compile_expr(expr)
    if dense.is_empty:
        return
    work = Work()
    expected = token_classes(dense, vocabulary, work)
    found = _native.relation_classes(sparse(expr).tables, vocabulary.native, work.budget)
    for name in ("run_end", "run_class", "num_classes", "source", "edge_class", "target"):
        assert np.array_equal(getattr(expected, name), getattr(found, name))


@FEW
@given(exprs(), vocabularies())
def test_token_automata_of_sparse_automata_are_those_of_dense_ones(expr: Expr, vocabulary: Vocabulary) -> None:
    made: list[FiniteTokenAutomaton | None] = []
    for automaton in (compile_expr(expr), sparse(expr)):
        try:
            made.append(from_bytes(automaton, vocabulary))
        except EmptyLanguage:
            made.append(None)
    expected, found = made
    assert (expected is None) == (found is None)
    if expected is not None and found is not None:
        for mine, others in zip(expected.transitions.edges(), found.transitions.edges(), strict=True):
            assert np.array_equal(mine, others)
        for state in range(expected.num_states):
            assert np.array_equal(expected.mask(state), found.mask(state))
