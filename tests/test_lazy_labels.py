"""Lazy automata follow labels of tokens that write nothing; their masks and budgets are those of the tables."""

from __future__ import annotations

import random
from typing import Any

import kinds
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import exprs, relabelled
from test_lazy import walks

import constraints
import tokenfst
from automata import EmptyLanguage, Expr, TokenNotAllowed, UnknownTerminal, byte_set
from automata import expressions as ex
from automata.algebra.elimination import to_expr
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.label_bytes import label_bytes, without_labels
from automata.limits import Work
from automata.pushdown.compile import compile_grammar
from automata.pushdown.label_bytes import without_labels as pushdown_without_labels
from constraints import after, json, json_schema, token, triggered
from constraints.rewriting.replacing import replaced
from tokenfst import Vocabulary
from tokenfst.lazy import LazyTokenAutomaton

NAMES = ("<call>", "<end>", "<think>")


def vocabulary_of(seed: int, alphabet: bytes = b'{}[]",: ax1') -> Vocabulary:
    """All bytes, longer tokens, tokens with the byte of the marker, and tokens that write nothing, in any order."""
    rng = random.Random(seed)
    tokens = [bytes([byte]) for byte in range(256)] + [b"\xff\x00", b"a\xff", b"\xff\x00\x01"]
    tokens += [bytes(rng.choices(alphabet, k=rng.randint(2, 5))) for _ in range(200)] + [b""] * 300
    rng.shuffle(tokens)
    silent = [token for token, text in enumerate(tokens) if not text]
    eos, *named = rng.sample(silent, 1 + len(NAMES))
    return Vocabulary(tokens, eos, special_tokens=dict(zip(NAMES, named, strict=True)))


def with_labels(expr: Expr) -> Expr:
    """The texts of an expression over ASCII and the labels A and B."""
    return relabelled(expr) & ex.alternation(byte_set(range(0x80)), ex.Label("A"), ex.Label("B")).star()


def check_equal(constraint: Any, vocabulary: Vocabulary, seed: int = 0, **options: Any) -> None:
    """Compares the masks of a lazy automaton and of its tables along random texts, with budgets and without."""
    lazy = kinds.lazy(constraint, vocabulary, **options)
    tables, rng = lazy.complete(), random.Random(seed)
    for tokens in walks(tables, rng, 12, 10):
        one, other = tables.start, lazy.start
        for each in tokens:
            one, other = tables.advance(one, each), lazy.advance(other, each)
        assert tables.is_final(one) == lazy.is_final(other)
        least = tables.min_tokens(one)
        for remaining in (least - 1, least, least + 1, least + 3, None):
            np.testing.assert_array_equal(tables.mask(one, remaining), lazy.mask(other, remaining))
        assert lazy.min_tokens(other) == least


GRAMMAR = constraints.grammar('start: <think> "a"* <end> (item | <call> start <end>)\nitem: "[" item? "]" <call>?')
COMPOSED = {
    "after": after(token("<think>"), json_schema({"type": "object", "properties": {"a": {"enum": ["x", 11]}}})),
    "triggered": triggered({token("<call>"): (json_schema({"maxItems": 2}), token("<end>"))}),
    "nested": after(token("<think>"), triggered({token("<call>"): (json(), token("<end>"))})),
    "grammar": GRAMMAR,
    "pattern": ex.concat(ex.Label("<call>"), ex.repeat("ax", 0), ex.Label("<end>")),
    "alternatives": ex.Label("<call>") | ex.literal("1"),
}


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("seed", range(3))
def test_masks_are_those_of_the_tables(name: str, seed: int) -> None:
    check_equal(COMPOSED[name], vocabulary_of(seed), seed)


@pytest.mark.parametrize("size", [1, 2, 200])
def test_a_label_may_stand_for_many_silent_tokens(size: int) -> None:
    vocabulary = vocabulary_of(size)
    named = set(vocabulary.special_tokens.values())
    ids = [token for token in vocabulary.silent_numbers if token not in named][-size:]
    expr = ex.concat(ex.repeat(ex.Label("PAD") | ex.literal("a"), 0), ex.Label("<end>"))
    check_equal(expr, vocabulary, terminals={"PAD": ids})
    lazy = kinds.lazy(expr, vocabulary, terminals={"PAD": ids})
    allowed = {
        *ids,
        vocabulary.special_tokens["<end>"],
        *(t for t, text in enumerate(vocabulary.tokens) if set(text) == {97}),
    }
    assert set(np.flatnonzero(lazy.mask(lazy.start)).tolist()) == allowed


@given(exprs(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_random_expressions(expr: Expr, seed: int) -> None:
    labelled = with_labels(expr)
    vocabulary = vocabulary_of(seed, b"ab\\")
    ids = list(vocabulary.silent_numbers)
    terminals = {"A": ids[:1], "B": ids[1:3]}
    try:
        automaton = tokenfst.compile(labelled, vocabulary, terminals=terminals)
    except EmptyLanguage:
        return
    assert isinstance(automaton, LazyTokenAutomaton)
    check_equal(labelled, vocabulary, seed, terminals=terminals)


@given(exprs())
@settings(max_examples=60, deadline=None)
def test_a_byte_automaton_reads_the_bytes_of_its_labels(expr: Expr) -> None:
    labelled = compile_expr(with_labels(expr))
    if labelled.is_empty:
        return
    numbers = {"A": [7, 300], "B": [8]}
    assert same(without_labels(labelled, numbers, Work()), compile_expr(spelled(labelled, numbers)))


def spelled(labelled: ByteAutomaton, numbers: dict[str, list[int]]) -> Expr:
    """The expression of an automaton, with the bytes of its labels."""

    def texts(node: Expr) -> Expr | None:
        if isinstance(node, ex.Label):
            return ex.alternation(*[ex.literal(label_bytes(number)) for number in numbers[node.name]])
        return None

    return replaced(to_expr(labelled), texts)


def same(left: ByteAutomaton, right: ByteAutomaton) -> bool:
    return left.num_states == right.num_states and bool((left.by_byte() == right.by_byte()).all())


def test_a_pushdown_automaton_reads_the_bytes_of_its_labels() -> None:
    labelled = compile_grammar(GRAMMAR)
    numbers = {name: [7 + 300 * place] for place, name in enumerate(labelled.labels)}
    found = pushdown_without_labels(labelled, numbers, Work())
    assert not found.labels
    text = {name: label_bytes(numbers[name][0]) for name in numbers}
    think, call, end = text["<think>"], text["<call>"], text["<end>"]
    for accepted in (think + end + b"[[]]", think + b"aa" + end + call + think + end + b"[]" + call + end):
        assert found.accepts(accepted)
        for begin in range(len(accepted)):
            assert not found.accepts(accepted[:begin]) or accepted[begin:] == call
    for refused in (think + b"[]", end, think + end + b"[[]" + call, b"\xff" + end, think[:2] + end + b"[]"):
        assert not found.accepts(refused)


def test_tables_are_made_at_once_where_labels_cannot_be_bytes() -> None:
    vocabulary = vocabulary_of(1)
    silent, written = next(iter(vocabulary.silent_numbers)), vocabulary.tokens.index(b"a")
    label = ex.concat(ex.Label("X"), "a")
    for expr, terminals in (
        (label, {"X": [silent, written]}),  # a token that writes bytes
        (label | ex.concat(ex.Label("Y"), "x"), {"X": [silent], "Y": [silent]}),  # a token of two labels
        (label | ex.literal("x"), {"X": []}),  # a label without tokens
        (label | ex.literal(b"\xff"), {"X": [silent]}),  # a language with the byte of the marker
    ):
        automaton = tokenfst.compile(expr, vocabulary, terminals=terminals)
        assert automaton.complete() is automaton
    with pytest.raises(UnknownTerminal):
        tokenfst.compile(label, vocabulary)


def test_a_refusal_after_a_label_names_the_text() -> None:
    vocabulary = vocabulary_of(1)
    automaton = kinds.lazy(ex.concat("a", ex.Label("<call>"), "1"), vocabulary)
    state = automaton.advance(automaton.start, vocabulary.tokens.index(b"a"))
    state = automaton.advance(state, vocabulary.special_tokens["<call>"])
    with pytest.raises(TokenNotAllowed, match="after b'a'; allowed are b'1'"):
        automaton.advance(state, vocabulary.tokens.index(b"x"))
