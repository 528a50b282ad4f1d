"""Why a token may come or not: the answer as tokens, states and texts, mistakes, and what a notebook shows."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from encoder_cases import trained

import constraints
import tokenfst
from automata import (
    LimitExceeded,
    Limits,
    concat,
    literal,
    parse,
)
from automata.expressions.extensions import token as named_token
from tokenfst import TextStart, TokenAutomaton, Vocabulary
from tokenfst.explanation.wording import bytes_in_words
from tokenfst.vocabulary.all_bytes import ALL_BYTES


def dates() -> tuple[TokenAutomaton, Vocabulary]:
    tokens = [*(str(digit).encode() for digit in range(10)), b"-", b"20", b"2-", b"x", b""]
    vocabulary = Vocabulary(tokens, [14])
    return tokenfst.compile(r"\d{4}-[01]\d", vocabulary), vocabulary


def test_a_token_that_fails_in_the_middle() -> None:
    automaton, vocabulary = dates()
    found: Any = automaton.explain("20", "2-")
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


def test_the_headline_of_an_allowed_token() -> None:
    found = tokenfst.explain("ab", ALL_BYTES, b"a", b"b")
    assert found.headline() == "token 98 ('b') is allowed after 'a'"


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
    # A first token that is a dropped space begins the text and writes nothing.
    found = tokenfst.explain(" a", vocabulary, [3], 0, at_text_start=True)
    assert (found.written, found.allowed) == (b" a", True)
    found = tokenfst.explain(" a", vocabulary, [3], 2, at_text_start=True)
    assert (found.written, found.reason, found.token_offset) == (b" b", "byte", 1)


def test_named_tokens() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"", b"", b""]
    vocabulary = Vocabulary(tokens, [258], special_tokens={"<|call|>": 256, "<|done|>": 257})
    constraint = concat("a", named_token("<|call|>"), parse("[bc]+"), named_token("<|done|>"))
    automaton = tokenfst.compile(constraint, vocabulary)
    found: Any = automaton.explain("a", "b")
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


def test_a_completion_whose_shortest_way_takes_a_named_token_is_none() -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(128)), b"", b""], [129], special_tokens={"<x>": 128})
    automaton = tokenfst.compile(named_token("<x>") | "ab", vocabulary)
    assert automaton.explain(b"").completion is None
    assert automaton.explain(b"a").completion == b"b"


def test_weights_and_items_that_differ() -> None:
    weighted = literal("ab").weighted(1.0) | literal("ac").weighted(2.0)
    found: Any = tokenfst.explain(weighted, ALL_BYTES, "a", "d")
    assert found.expected == frozenset(b"bc")
    assert {place.rest for place in found.places} == {b"b", b"c"}
    schema = constraints.json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})
    found = tokenfst.explain(schema, ALL_BYTES, "[12,12", "]")
    assert (found.reason, found.keywords) == ("byte", ("/uniqueItems",))


@pytest.mark.parametrize(
    ("schema", "prefix", "token", "keywords"),
    [
        ({"type": "string", "format": "date"}, '"606', '",', ()),
        ({"type": "array", "items": {"type": "integer", "multipleOf": 3}, "maxItems": 1}, "[3336442", "]}", ()),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, "[24", "]}", ()),
        ({"items": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}, "[[24", "]]", ("/items/minItems",)),
        ({"type": "array", "items": {"type": "string", "minLength": 3}}, '["a', '",', ("/items/minLength",)),
    ],
)
def test_a_keyword_that_forbids_a_token_forbids_all_of_it(
    schema: dict[str, Any], prefix: str, token: str, keywords: tuple[str, ...]
) -> None:
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b'",', b"]}", b"]]", b""], eos_ids=259)
    found = tokenfst.explain(constraints.json_schema(schema), vocabulary, prefix, token)
    assert (found.allowed, found.keywords) == (False, keywords)


def test_the_order_forbids_a_token_even_if_some_object_has_too_many_orders() -> None:
    names = [f"n{number}" for number in range(12)]
    alternatives = [{"properties": {name: {"const": 0}, after: {"const": 1}}} for name, after in pairwise(names)]
    inner = {"type": "object", "properties": {name: {"enum": [0, 1]} for name in names}, "oneOf": alternatives}
    schema = {"properties": {"b": {}, "a": {"type": "integer"}, "inner": inner}, "additionalProperties": False}
    with pytest.raises(LimitExceeded, match=r"12 listed names \('n0', 'n1', 'n2', \.\.\.\)"):
        constraints.json_schema(schema, property_order="any")
    found = tokenfst.explain(constraints.json_schema(schema), ALL_BYTES, '{"a":1,"', "b")
    assert "property_order='schema'" in found.settings


def test_a_part_of_a_schema_is_named_by_its_pointer() -> None:
    schema = constraints.json_schema({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    for prefix, named in [("", "by the schema:"), ('{"a":', "by the schema at /properties/a:")]:
        assert named in str(tokenfst.explain(schema, ALL_BYTES, prefix))


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
def test_parts_of_values_and_composed_constraints(constraint: Any, text: str, parts: set[str]) -> None:
    found: Any = tokenfst.explain(constraint, ALL_BYTES, text, "?")
    assert {place.part for place in found.places} == parts
    assert frozenset[int]().union(*(place.expected for place in found.places)) == found.expected


def test_rules_of_a_composed_grammar_and_none_of_a_composed_schema() -> None:
    grammar = constraints.grammar('start: A "," B\nA: "a"+\nB: "b"+')
    found: Any = tokenfst.explain(constraints.sequence("x: ", grammar), ALL_BYTES, "x: a", "b")
    assert found.expected == frozenset(b"a,")
    assert any("0: start" in place.rules for place in found.places)
    schema = constraints.json_schema({"type": "integer"})
    found = tokenfst.explain(constraints.sequence("x", schema), ALL_BYTES, "x", "b")
    assert (found.expected, found.places) == (frozenset(b"-0123456789"), ())


def transducer() -> object:
    """One that writes `b` for both `a` and `b`."""
    import pynini

    return pynini.closure(pynini.union(pynini.cross("a", "b"), "b", "c")).optimize()


def test_of_many_bytes_the_first_are_named() -> None:
    odd = bytes(range(ord("A"), ord("Z"), 2))  # no two are neighbours
    names = [f"'{chr(byte)}'" for byte in odd]
    assert bytes_in_words(odd[:12]) == f"{', '.join(names[:11])} or {names[11]}"
    assert bytes_in_words(odd) == f"{', '.join(names[:12])}, ... (13 in all)"


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


def test_names_of_tokens_that_bytes_could_be_taken_for() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"c", b"abb", b"d", b""], [5])
    for constraint in ("(?P<TEXT_TOKEN>){2}c", named_token("<[3]>") + named_token("<[0-4]>") + "c"):
        automaton = tokenfst.compile(constraint, vocabulary)
        found = automaton.explain([3, 4])
        assert (found.allowed, found.expected, found.num_allowed) == (True, frozenset(b"c"), 1)
        assert automaton.explain([3, 4], 0).reason == "byte"
    assert automaton.explain([]).labels == ("<[3]>",)


def test_text_that_named_tokens_may_have_written_is_not_guessed_at() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"c", b"ab", b"d", b""], [5])
    automaton = tokenfst.compile((named_token("T") + "c") | "abd" | "cc", vocabulary, terminals={"T": [3]})
    assert automaton.accepts(b"abc")
    with pytest.raises(ValueError, match="tokens that 'T' names may have written parts of the prefix"):
        automaton.explain("abc")
    assert automaton.explain("c").expected == frozenset(b"c")
    assert automaton.explain([3]).expected == frozenset(b"cd")
    assert automaton.explain([0, 1]).expected == frozenset(b"d")


# How " a", " " and "a" begin a text: the space is dropped, the token is ignored, it writes other bytes, or nothing.
BEGINNINGS = {
    "rule": TextStart(),
    "ignored": TextStart(ignored=frozenset([0, 4])),
    "exception": TextStart(exceptions={0: b"x", 1: b" a"}),
    "silent": TextStart(exceptions={0: b"", 4: b""}),
    "prefix": TextStart(b"a"),
}


@pytest.mark.parametrize("named", [[0], [4], [0, 1, 5]], ids=str)
@pytest.mark.parametrize("rule", BEGINNINGS.values(), ids=BEGINNINGS)
@pytest.mark.parametrize("name", ["(?P<TOKEN><W>)", "( ?(?P<TOKEN><W>)b?)"])
@pytest.mark.parametrize("pattern", ["ab?|xNAME", "a|NAMEb", "NAME?aNAME?|b", "NAMENAMEx", "xb|NAME ab"])
def test_named_tokens_that_begin_a_text(pattern: str, name: str, rule: TextStart, named: list[int]) -> None:
    vocabulary = Vocabulary([b" a", b"a", b"b", b"x", b" ", b"", b""], [6], text_start=rule)
    automaton = tokenfst.compile(
        pattern.replace("NAME", name), vocabulary, at_text_start=True, terminals={"<W>": named}
    )
    unnamed = [token for token in (1, 2, 3, 4) if token not in named]
    known = frozenset(vocabulary.tokens[token][0] for token in unnamed)
    waiting = [(list[int](), automaton.start, False)]
    for tokens, state, has_begun in waiting:
        found, mask = automaton.explain(tokens), automaton.mask(state)
        assert found.may_end == automaton.is_final(state)
        assert found.num_allowed == mask.sum()
        if has_begun:
            assert found.expected & known == {vocabulary.tokens[token][0] for token in unnamed if mask[token]}
        for token in np.flatnonzero(mask[:6]).tolist() if len(tokens) < 4 else ():
            begins = bool(vocabulary.tokens[token]) and token not in rule.ignored
            waiting.append(([*tokens, token], automaton.advance(state, token), has_begun or begins))


def test_names_beside_weights() -> None:
    vocabulary = Vocabulary([b"a", b"", b""], [2], special_tokens={"<x>": 1})
    automaton = tokenfst.compile((named_token("<x>") + "a").weighted(2.0), vocabulary)
    assert automaton.explain([]).labels == ("<x>",)
    assert automaton.explain([1]).expected == frozenset(b"a")
