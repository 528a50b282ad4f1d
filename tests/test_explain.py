"""Explanations: what they say is so, by the mask, by brute force over the automaton over bytes, and by plain code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from encoder_cases import trained
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pushdown_grammars import PLAIN, WORDS
from strategies import exprs, strings, up_to, vocabularies

import constraints
import tokenfst
from automata import (
    ByteAutomaton,
    EmptyLanguage,
    Expr,
    Grammar,
    LimitExceeded,
    Limits,
    NondeterministicGrammar,
    compile_expr,
    compile_grammar,
    concat,
    literal,
    parse,
)
from automata.expressions.extensions import token as named_token
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import Explanation, TextStart, TokenAutomaton, Vocabulary
from tokenfst.explanation.nearest import nearest
from tokenfst.vocabulary.all_bytes import ALL_BYTES

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
@settings(max_examples=60, deadline=None)
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


# The answer as tokens, states and texts


def dates() -> tuple[TokenAutomaton, Vocabulary]:
    tokens = [*(str(digit).encode() for digit in range(10)), b"-", b"20", b"2-", b"x", b""]
    vocabulary = Vocabulary(tokens, [14])
    return tokenfst.compile(r"\d{4}-[01]\d", vocabulary), vocabulary


def test_a_token_that_fails_in_the_middle() -> None:
    automaton, vocabulary = dates()
    found = automaton.explain("20", "2-")
    assert (found.reason, found.offset, found.token_offset, found.refused_byte) == ("byte", 3, 1, ord("-"))
    assert found.expected == frozenset(b"0123456789")
    assert [(place.part, place.span, place.count) for place in found.places] == [(r"\d{4}", (0, 5), 3)]
    assert found.completion == b"0-00"
    assert [near.text for near in found.nearest] == [b"2", b"20", b"0"]
    assert found.num_allowed == 11
    assert found == tokenfst.explain(r"\d{4}-[01]\d", vocabulary, [11], 12)
    assert found == automaton.explain([2, 0], 12)
    assert found == automaton.explain(b"20", b"2-")


def test_a_state_of_a_lazy_automaton() -> None:
    automaton, _ = dates()
    state = automaton.advance(automaton.advance(automaton.start, 11), 1)
    assert automaton.explain(state=state, token="x") == automaton.explain([11, 1], "x")
    complete = automaton.complete()
    assert complete.explain([11, 1], "x") == automaton.explain([11, 1], "x")
    assert complete.explain(state=complete.start).allowed
    with pytest.raises(ValueError, match="does not record which tokens lead to a state"):
        complete.explain(state=complete.advance(complete.start, 1))


def test_a_refused_token_of_the_prefix_is_explained() -> None:
    automaton, _ = dates()
    found = automaton.explain([11, 13, 1], 2)
    assert (found.prefix, found.token, found.reason, found.offset) == (b"20", 13, "byte", 2)
    found = automaton.explain([11, 13])
    assert (found.prefix, found.token, found.allowed) == (b"20", 13, False)


def test_a_text_that_is_no_beginning() -> None:
    automaton, _ = dates()
    for token in (None, 3):
        found = automaton.explain("20-1", token)
        assert (found.allowed, found.reason, found.offset, found.token_offset) == (False, "byte", 2, None)
        assert found.num_allowed == 0
        assert "no text of the constraint begins with '20-1'" in str(found)


def test_the_end() -> None:
    automaton, _ = dates()
    found = automaton.explain("20", 14)
    assert (found.allowed, found.reason, found.completion) == (False, "end", b"00-00")
    assert found.nearest[0].text == b"0"
    assert str(found).startswith("the text may not end after '20'")
    whole = automaton.explain("2020-11", 14)
    assert whole.allowed
    assert (whole.num_allowed, whole.expected, whole.may_end) == (0, frozenset(), False)
    after = automaton.explain("2020-11")
    assert (after.expected, after.may_end, after.completion) == (frozenset(), True, b"")
    assert after.nearest == ((14, b""),)
    ended = automaton.explain([2, 0, 2, 0, 10, 1, 1, 14], 3)
    assert (ended.allowed, ended.reason) == (False, "ended")
    assert automaton.explain([2, 0, 2, 0, 10, 1, 1, 14]).allowed


def test_a_token_that_writes_nothing() -> None:
    found = tokenfst.compile("a", Vocabulary([b"a", b"", b""], [2])).explain("", 1)
    assert (found.allowed, found.reason, found.offset) == (False, "silent", None)
    assert "writes nothing" in str(found)


def test_a_vocabulary_that_cannot_go_on() -> None:
    automaton = tokenfst.compile("ab|acd|ace", Vocabulary([b"a", b"ab", b"b", b"c", b"ac", b""], [5]))
    found = automaton.explain("", "ac")
    assert (found.allowed, found.reason, found.offset) == (False, "vocabulary", None)
    assert found.expected == frozenset(b"de")
    assert "no tokens of the vocabulary" in str(found)
    # The text may be begun, but no tokens write it.
    assert automaton.explain("ac").num_allowed == 0


def test_canonical_tokens() -> None:
    real = trained()
    automaton = tokenfst.compile("hello( there)*", real.vocabulary, tokenization="canonical")
    tokens = real.encode("hello")
    letter = real.encode("h")[0]
    if tokens[0] != letter:
        found = automaton.explain([], letter)
        assert (found.allowed, found.reason, found.offset) == (False, "tokenization", None)
        assert tokens[0] in {near.id for near in found.nearest}
    assert automaton.explain(tokens).may_end
    assert automaton.explain(tokens, "x").reason == "byte"
    with pytest.raises(ValueError, match="give the prefix as token ids"):
        automaton.explain("hello")


def test_the_start_of_a_text() -> None:
    vocabulary = Vocabulary([b" a", b"a", b" b", b" ", b""], [4], text_start=TextStart())
    found = tokenfst.explain("a b", vocabulary, [0], 1, at_text_start=True)
    assert (found.prefix, found.reason, found.expected) == (b"a", "byte", frozenset(b" "))
    assert tokenfst.explain("a b", vocabulary, [0], 2, at_text_start=True).allowed
    # At the start the same token writes no space.
    found = tokenfst.explain("a b", vocabulary, [], 2, at_text_start=True)
    assert (found.written, found.token_offset) == (b"b", 0)
    assert tokenfst.explain("a b", vocabulary, [], 0).token_offset == 0
    assert tokenfst.explain("a b", vocabulary, "a", 2, at_text_start=True).allowed


def test_named_tokens() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"", b"", b""]
    vocabulary = Vocabulary(tokens, [258], special_tokens={"<|call|>": 256, "<|done|>": 257})
    constraint = concat("a", named_token("<|call|>"), parse("[bc]+"), named_token("<|done|>"))
    automaton = tokenfst.compile(constraint, vocabulary)
    found = automaton.explain("a", "b")
    assert (found.reason, found.expected, found.labels) == ("byte", frozenset(), ("<|call|>",))
    assert found.expected_in_words() == "the token <|call|>"
    assert found.completion is None
    found = automaton.explain([97, 256], "<|done|>")
    assert (found.prefix, found.reason, found.expected) == (b"a", "label", frozenset(b"bc"))
    assert [place.part for place in found.places] == ["[bc]+"]
    assert automaton.explain([97, 256, 98], "<|done|>").allowed
    assert automaton.explain([97, 256, 98, 257]).may_end
    # A name that stands for tokens with text.
    automaton = tokenfst.compile(concat("<", named_token("L"), ">"), vocabulary, terminals={"L": [97, 256]})
    assert automaton.explain([60, 97]).expected == frozenset(b">")
    found = automaton.explain([60], 98)
    assert (found.reason, found.offset, found.labels) == ("byte", 1, ("L",))


def test_weights_and_items_that_differ() -> None:
    weighted = literal("ab").weighted(1.0) | literal("ac").weighted(2.0)
    found = tokenfst.explain(weighted, ALL_BYTES, "a", "d")
    assert found.expected == frozenset(b"bc")
    assert {place.rest for place in found.places} == {b"b", b"c"}
    schema = constraints.json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})
    found = tokenfst.explain(schema, ALL_BYTES, "[12,12", "]")
    assert (found.reason, found.keywords) == ("byte", ("/uniqueItems",))


def test_other_constraints() -> None:
    number = constraints.integer(1, 65535)
    found = tokenfst.explain(number, ALL_BYTES, "6553", "6")
    assert (found.reason, found.expected) == ("byte", frozenset(b"012345"))
    assert found.may_end
    names = constraints.choice(["red", "green"])
    found = tokenfst.explain(names, ALL_BYTES, "r", "g")
    assert (found.expected, found.completion) == (frozenset(b"e"), b"ed")
    vocabulary = ALL_BYTES.with_detokenizer(transducer())
    found = tokenfst.explain("bb", vocabulary, [97], "c")
    assert (found.reason, found.expected, found.places) == ("byte", frozenset(b"ab"), ())


@pytest.mark.parametrize(
    ("constraint", "text", "parts"),
    [
        (constraints.date(), "2024-1", {"10-", "11-", "12-"}),
        (constraints.sequence("[a-z]+", "=", constraints.integer(0, 99)), "ab", {"[a-z]+", "="}),
        (constraints.sequence("id ", constraints.optional("none")), "id no", {"(?:none)?"}),
    ],
)
def test_parts_of_values_and_composed_constraints(constraint: object, text: str, parts: set[str]) -> None:
    found = tokenfst.explain(constraint, ALL_BYTES, text, "?")
    assert {place.part for place in found.places} == parts
    assert frozenset[int]().union(*(place.expected for place in found.places)) == found.expected


def test_rules_of_a_composed_grammar_and_none_of_a_composed_schema() -> None:
    grammar = constraints.grammar('start: A "," B\nA: "a"+\nB: "b"+')
    found = tokenfst.explain(constraints.sequence("x: ", grammar), ALL_BYTES, "x: a", "b")
    assert found.expected == frozenset(b"a,")
    assert any("0: start" in place.rules for place in found.places)
    schema = constraints.json_schema({"type": "integer"})
    found = tokenfst.explain(constraints.sequence("x", schema), ALL_BYTES, "x", "b")
    assert (found.expected, found.places) == (frozenset(b"-0123456789"), ())


def transducer() -> object:
    """One that writes `b` for both `a` and `b`."""
    import pynini

    return pynini.closure(pynini.union(pynini.cross("a", "b"), "b", "c")).optimize()


# Mistakes


def test_mistakes(tmp_path: Path) -> None:
    automaton, vocabulary = dates()
    with pytest.raises(ValueError, match="no token of the vocabulary writes 'zz'"):
        automaton.explain("", "zz")
    with pytest.raises(ValueError, match="outside the vocabulary"):
        automaton.explain("", 99)
    with pytest.raises(ValueError, match="outside the vocabulary"):
        automaton.explain([99])
    automaton.save(tmp_path / "a.safetensors")
    loaded = tokenfst.load_automaton(tmp_path / "a.safetensors", vocabulary)
    with pytest.raises(ValueError, match="does not know its constraint"):
        loaded.explain("")


def test_limits_hold() -> None:
    automaton = tokenfst.compile("a{1000}", ALL_BYTES)
    with pytest.raises(LimitExceeded):
        automaton.explain(b"a" * 999, limits=Limits(seconds=0.0001))
    assert automaton.explain(b"a" * 999).completion == b"a"


# Nearest tokens


def distance(left: bytes, right: bytes) -> int:
    if not left or not right:
        return len(left) + len(right)
    rest = distance(left[1:], right[1:]) + (left[0] != right[0])
    return min(rest, distance(left[1:], right) + 1, distance(left, right[1:]) + 1)


def by_definition(text: bytes, tokens: list[bytes], allowed: list[int]) -> Iterator[int]:
    def order(token: int) -> tuple[int, int, int, int]:
        own = tokens[token]
        shared = next((at for at in range(len(own), -1, -1) if text[:at] == own[:at] and len(text) >= at), 0)
        return -shared, distance(text, own), len(own), token

    return iter(sorted((token for token in allowed if tokens[token]), key=order))


TEXTS = st.binary(max_size=5).map(lambda text: bytes(97 + byte % 3 for byte in text))


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=12), st.integers(1, 4))
@settings(max_examples=200)
def test_nearest_tokens_are_those_of_the_definition(text: bytes, tokens: list[bytes], number: int) -> None:
    allowed = list(range(0, len(tokens), 2))
    assert nearest(text, tokens, allowed, number) == list(by_definition(text, tokens, allowed))[:number]


# Pictures


def test_a_notebook_shows_it() -> None:
    automaton, _ = dates()
    shown = automaton.explain("20", "x")._repr_html_()
    root = ElementTree.fromstring(shown.replace("&#x27;", "'"))
    texts = ["".join(cell.itertext()) for cell in root.iter("td")]
    assert "a digit" in texts
    assert "✗" in shown
    assert "✓" in automaton.explain("20")._repr_html_()
    markup = tokenfst.explain("<b>&amp;", ALL_BYTES, "<b", "<")._repr_html_()
    assert "<b>" not in markup
    assert ElementTree.fromstring(markup.replace("&#x27;", "'")) is not None


def test_a_long_pattern_is_cut_around_the_part() -> None:
    pattern = "a" * 200 + "(?:b|c)" + "d" * 200
    lines = str(tokenfst.explain(pattern, ALL_BYTES, "a" * 200, "x")).splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("  pattern"))
    assert len(lines[at]) < 120
    marked = lines[at][lines[at + 1].index("^") :][: lines[at + 1].count("^")]
    assert marked == "b"
