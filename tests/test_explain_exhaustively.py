"""Explanations of every token after every short text, beside an oracle that knows the language."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pushdown_grammars import PLAIN, WORDS
from strategies import exprs, strings, up_to, vocabularies

import tokenfst
from automata import (
    ByteAutomaton,
    EmptyLanguage,
    Expr,
    Grammar,
    NondeterministicGrammar,
    compile_expr,
    compile_grammar,
    parse,
)
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import Explanation, TokenAutomaton, Vocabulary

TOKENS = [b"a", b"b", b"ab", b"ba", b"aab", b"abb", b"\xc3", b"\xa9", b"\xc3\xa9", b"", b""]
END, SILENT = 9, 10
SMALL = Vocabulary(TOKENS, [END])


class Bytes:
    """Brute force: the bytes that may follow a text, by the automaton over bytes."""

    def __init__(self, automaton: ByteAutomaton | PushdownAutomaton) -> None:
        self.automaton = automaton
        self.known: dict[bytes, frozenset[int]] = {}

    def following(self, text: bytes) -> frozenset[int]:
        if text not in self.known:
            self.known[text] = self._following(text)
        return self.known[text]

    def _following(self, text: bytes) -> frozenset[int]:
        if isinstance(self.automaton, PushdownAutomaton):
            return self.automaton.allowed_bytes(text)
        state = self.automaton.step(self.automaton.start, text)
        return frozenset(byte for byte in range(256) if self.automaton.step(state, bytes([byte])) >= 0)

    def failing(self, text: bytes) -> int | None:
        """The first byte that may not stand where it does."""
        return next((at for at, byte in enumerate(text) if byte not in self.following(text[:at])), None)


def check(automaton: TokenAutomaton, oracle: Bytes, prefix: bytes, ends: bool) -> None:
    """Check what is said of a text, and of each token after it.

    Args:
        automaton: the automaton over tokens.
        oracle: the same constraint over bytes.
        prefix: a text.
        ends: whether the prefix is a text of the language.
    """
    alone = automaton.explain(prefix)
    failing = oracle.failing(prefix)
    assert alone.offset == failing
    assert alone.allowed == (failing is None)
    check_place(alone, oracle, prefix if failing is None else prefix[:failing])
    if failing is not None:
        return
    assert alone.may_end == ends
    state = state_after(automaton, prefix)
    mask = np.zeros(len(automaton.vocabulary), np.bool_) if state is None else automaton.mask(state)
    for token in range(len(automaton.vocabulary)):
        found = automaton.explain(prefix, token)
        assert found.allowed == mask[token], token
        check_token(found, oracle, prefix, automaton.vocabulary)
        if state is not None and not found.allowed:
            assert found.num_allowed == mask.sum()
            assert all(mask[near.id] for near in found.nearest)


def check_token(found: Explanation, oracle: Bytes, prefix: bytes, vocabulary: Vocabulary) -> None:
    assert found.token is not None
    text = vocabulary.tokens[found.token]
    failing = oracle.failing(prefix + text)
    assert found.written == text
    assert found.is_end == (found.token in vocabulary.eos_ids)
    if found.reason == "byte":
        assert failing is not None
        assert found.offset == failing
        assert found.token_offset == failing - len(prefix)
        assert found.refused_byte == (prefix + text)[failing]
        assert found.refused_byte not in found.expected
        check_place(found, oracle, (prefix + text)[:failing])
    else:
        assert failing is None
        assert found.offset is None
        if not found.is_end:
            check_place(found, oracle, prefix + (text if found.reason != "silent" else b""))
    if found.reason == "end":
        assert found.is_end
        assert not found.may_end
    if found.reason == "silent":
        assert not text


def check_place(found: Explanation, oracle: Bytes, text: bytes) -> None:
    """Check what is expected after a text, where that is, and the way to the end."""
    assert found.expected == oracle.following(text)
    assert frozenset[int]().union(*(place.expected for place in found.places)) == found.expected
    assert found.completion is not None
    assert oracle.automaton.accepts(text + found.completion)
    if len(found.completion) in (1, 2):
        shorter = [b"", *(bytes([byte]) for byte in range(256))] if len(found.completion) == 2 else [b""]
        assert not any(oracle.automaton.accepts(text + other) for other in shorter)
    assert str(found)
    json.dumps(found.as_dict())


def state_after(automaton: TokenAutomaton, text: bytes) -> object:
    """A state after a text, by any tokens: search from the end."""
    if not text:
        return automaton.start
    for token, own in enumerate(automaton.vocabulary.tokens):
        if own and text.endswith(own):
            before = state_after(automaton, text[: -len(own)])
            after = None if before is None else automaton.step(before, token)
            if after is not None:
                return after
    return None


@pytest.mark.parametrize("pattern", up_to(3)[::2])
def test_every_token_after_every_text_of_small_patterns(pattern: str) -> None:
    byte_automaton = compile_expr(parse(pattern))
    automaton = tokenfst.compile(pattern, SMALL)
    for text in strings(b"ab", 2):
        check(automaton, Bytes(byte_automaton), text, byte_automaton.accepts(text))


@given(exprs(4), vocabularies(), st.lists(st.sampled_from([b"a", b"b", b"\xc3", b"\xa9", b'"']), max_size=3))
@settings(max_examples=40, deadline=None)
def test_random_expressions_and_vocabularies(expr: Expr, vocabulary: Vocabulary, text: list[bytes]) -> None:
    byte_automaton = compile_expr(expr)
    assume(not byte_automaton.is_empty and len(vocabulary) < 30)
    try:
        automaton = tokenfst.compile(expr, vocabulary)
    except EmptyLanguage:
        return
    check(automaton, Bytes(byte_automaton), b"".join(text), byte_automaton.accepts(b"".join(text)))


@pytest.mark.parametrize("name", [*PLAIN, *WORDS])
def test_small_grammars(name: str) -> None:
    rules, letters = (PLAIN[name][0], PLAIN[name][1]) if name in PLAIN else (WORDS[name][0], b"ab ")
    words = () if name in PLAIN else WORDS[name][1:3]
    grammar = Grammar(rules, "s", *words)
    try:
        pushdown = compile_grammar(grammar)
    except NondeterministicGrammar:
        return
    tokens = [bytes([byte]) for byte in letters]
    pairs = [left + right for left in tokens[:3] for right in tokens[:3]]
    vocabulary = Vocabulary(
        [*tokens, *pairs, *(bytes([byte]) for byte in range(256)), b""], [len(tokens + pairs) + 256]
    )
    automaton = tokenfst.compile(grammar, vocabulary)
    oracle = Bytes(pushdown)
    for text in strings(letters[:3], 3)[::4]:
        alone = automaton.explain(text)
        assert alone.offset == oracle.failing(text)
        if alone.offset is None:
            mask = automaton.mask(state_after(automaton, text))
            for token in [*range(len(tokens + pairs)), vocabulary.eos_ids[0]]:
                found = automaton.explain(text, token)
                assert found.allowed == mask[token]
                check_token(found, oracle, text, vocabulary)
