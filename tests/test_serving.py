"""What engines ask for, as constraints, and the state of a request; no engine is needed."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
from typing import Any

import numpy as np
import pytest

import tokenfst
from automata import LimitExceeded, Limits
from decoding import bundled_model, vocabulary_of
from serving.matcher import Matcher
from serving.settings import settings_from_environment
from serving.specifications import constraint_of
from serving.vllm.plugin import register
from tokenfst import Vocabulary

TOKENS = [b"a", b"b", b"ab", b"\n", b"{", b"}", b"<", b"c", b""]
LETTERS = Vocabulary(TOKENS, len(TOKENS) - 1)
END = len(TOKENS) - 1


def accepts(kind: Any, asked: Any, text: str, **options: Any) -> bool:
    spelled = asked if isinstance(asked, str) else json.dumps(asked)
    vocabulary = vocabulary_of(bundled_model()[1])
    return tokenfst.compile(constraint_of(kind, spelled, **options), vocabulary).accepts(text)


@pytest.mark.parametrize(
    ("kind", "asked", "right", "wrong"),
    [
        ("json", {"type": "integer"}, "12", '"a"'),
        ("json_object", "", '{"a": [1, {}]}', "[1]"),
        ("regex", r"\d{3}-[a-z]+", "123-abc", "123"),
        ("choice", ["yes", "no"], "no", "maybe"),
        ("grammar", 'root ::= "a" root "b" | "c"', "aacbb", "aacb"),
        ("grammar", 'start: "a" start "b" | "c"', "acb", "ab"),
    ],
)
def test_every_kind_of_request_is_a_constraint(kind: str, asked: Any, right: str, wrong: str) -> None:
    assert accepts(kind, asked, right)
    assert not accepts(kind, asked, wrong)


def test_white_space_and_digits_have_an_end() -> None:
    assert accepts("json", {"type": "object"}, '{\n  "a": 1\n}')
    assert not accepts("json", {"type": "object"}, '{"a":' + " " * 1000 + "1}")
    assert accepts("json", {"type": "object"}, '{"a":1}', blanks="compact")
    assert not accepts("json", {"type": "object"}, '{"a": 1}', blanks="compact")


TAGS = {
    "structures": [{"begin": "<f=add>", "schema": {"type": "integer"}, "end": "</f>"},
                   {"begin": "<f=neg>", "schema": {"type": "boolean"}, "end": "</f>"}],
    "triggers": ["<f="],
}  # fmt: skip


def test_structural_tags_in_both_forms() -> None:
    assert accepts("structural_tag", TAGS, "so <f=add>12</f> and <f=neg>true</f>.")
    assert accepts("structural_tag", TAGS, "nothing")
    assert not accepts("structural_tag", TAGS, "so <f=add>true</f>")
    assert not accepts("structural_tag", TAGS, "so <f=mul>1</f>")
    tag = {"type": "tag", "begin": "<f>", "content": {"type": "regex", "pattern": "[ab]+"}, "end": ["</f>", "<end>"]}
    several = {"type": "sequence", "elements": [{"type": "const_string", "value": "x: "}, tag]}
    either = {"type": "or", "elements": [several, {"type": "json_schema", "json_schema": {"type": "null"}}]}
    for text, right in (("x: <f>ab</f>", True), ("x: <f>b<end>", True), ("null", True), ("x: <f></f>", False)):
        assert accepts("structural_tag", {"type": "structural_tag", "format": either}, text) == right
    free = {"type": "any_text", "excludes": ["secret"]}
    assert accepts("structural_tag", {"format": free}, "anything")
    assert not accepts("structural_tag", {"format": free}, "a secret")
    once = {
        "type": "triggered_tags",
        "triggers": ["<f>"],
        "tags": [tag],
        "at_least_one": True,
        "stop_after_first": True,
    }
    assert accepts("structural_tag", {"format": once}, "<f>a</f>")
    for text in ("so <f>a</f>", "so", "", "<f>a</f><f>a</f>", "<f>a</f> so"):
        assert not accepts("structural_tag", {"format": once}, text)


def test_calls_of_tools_as_strict_engines_ask_for_them() -> None:
    content = {"type": "json_schema", "json_schema": {"type": "integer"}}
    tags = [{"type": "tag", "begin": f"<{name}>", "content": content, "end": "</>"} for name in ("f", "g")]
    several: dict[str, Any] = {"type": "tags_with_separator", "tags": tags, "separator": ", "}
    for options, right, wrong in (
        ({}, ["", "<f>1</>", "<f>1</>, <g>2</>"], ["<f></>", "<f>1</><g>2</>"]),
        ({"at_least_one": True}, ["<g>1</>", "<f>1</>, <g>2</>"], [""]),
        ({"at_least_one": True, "stop_after_first": True}, ["<g>1</>"], ["", "<f>1</>, <g>2</>"]),
    ):
        for text, is_right in [*((text, True) for text in right), *((text, False) for text in wrong)]:
            assert accepts("structural_tag", {"format": several | options}, text) == is_right


BROKEN = [
    ("json", "{", "the JSON Schema is not JSON"),
    ("json", '{"type": "sting"}', r"sting.*\(at /type"),
    ("json", '{"type": "integer", "minimum": 3, "maximum": 2}', "minimum"),
    ("json", "3", "schema"),
    ("regex", "(", r"\(at position"),
    ("regex", "(a)\\1", "position"),
    ("choice", "[]", "the choices are a list of texts"),
    ("choice", "[1]", "the choices are a list of texts"),
    ("grammar", "root ::= (", "line 1"),
    ("grammar", "root ::= missing", "missing"),
    ("structural_tag", "[]", "a structural tag is an object"),
    ("structural_tag", "{}", "`format`, or `structures` and `triggers`"),
    ("structural_tag", '{"format": {"type": "magic"}}', "format: a structural tag of type 'magic' is not supported"),
    ("structural_tag", '{"format": {"type": "sequence", "elements": [{}]}}', r"format.elements\[0\] has no 'type'"),
    ("structural_tag", '{"format": {"type": "const_string", "value": 3}}', "format.value is text, not 3"),
    (
        "structural_tag",
        '{"structures": [{"begin": "<g>", "schema": {}, "end": ""}], "triggers": ["<f>"]}',
        r"tags\[0\] begins with '<g>', which no trigger begins",
    ),
    ("structural_tag", '{"format": {"type": "json_schema", "json_schema": {"type": "x"}}}', "format: .*at /type"),
]


@pytest.mark.parametrize(("kind", "asked", "message"), BROKEN)
def test_what_cannot_be_honoured_says_where_and_why(kind: Any, asked: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        constraint_of(kind, asked)


def test_specifications_of_unknown_kinds_and_types() -> None:
    kind: Any = "jsonschema"
    with pytest.raises(
        ValueError, match="is one of json, json_object, regex, choice, grammar, structural_tag, not 'jsons"
    ):
        constraint_of(kind, "{}")
    text: Any = ["a", "b"]
    with pytest.raises(TypeError, match=r"the list of choices is given as text, not list: pass json.dumps"):
        constraint_of("choice", text)


def test_hostile_schemas_stop_at_the_limits() -> None:
    wide = {"allOf": [{"properties": {f"p{i}": {"minLength": i}}} for i in range(400)], "type": "object"}
    deep: Any = True
    for _ in range(20_000):
        deep = {"items": deep}
    with pytest.raises(LimitExceeded):
        constraint_of("json", json.dumps(wide), limits=Limits(seconds=0.001))
    with pytest.raises((LimitExceeded, ValueError)):
        constraint_of("json", "[" * 200_000, limits=Limits(seconds=1))


# Matchers


def test_tokens_are_accepted_and_taken_back() -> None:
    matcher = Matcher(tokenfst.compile("(ab)*c", LETTERS))
    assert matcher.accept([2, 0, 1])
    assert not matcher.accept([7, 7])
    assert matcher.num_tokens == 3
    assert matcher.validate([2, 7, END, 0]) == 3
    assert matcher.validate([-1]) == matcher.validate([len(TOKENS) + 5]) == 0
    matcher.rollback(2)
    assert matcher.accept([7])
    assert not matcher.has_ended
    assert matcher.accept([END])
    assert matcher.has_ended
    # After the end, engines that ignore it are told the end token again.
    assert matcher.accept([END])
    assert not matcher.accept([0])
    matcher.rollback(2)
    assert not matcher.has_ended
    with pytest.raises(ValueError, match="9 tokens cannot be taken back: 2 were accepted"):
        matcher.rollback(9)
    other = matcher.copy()
    matcher.reset()
    assert (matcher.num_tokens, other.num_tokens) == (0, 2)


def test_further_stop_tokens_end_where_the_text_may() -> None:
    matcher = Matcher(tokenfst.compile("(?s).*b", LETTERS), stops=[3, END])
    words = np.full(2, -1, np.int32)

    def allowed() -> list[int]:
        matcher.fill(words)
        return [token for token in range(64) if words[token >> 5] >> (token & 31) & 1]

    assert allowed() == [0, 1, 2, 4, 5, 6, 7]
    assert not matcher.accept([3])
    assert matcher.accept([2])
    assert allowed() == [0, 1, 2, 3, 4, 5, 6, 7, END]
    assert matcher.accept([3])
    assert matcher.has_ended


@pytest.mark.parametrize("pattern", ["(ab)*c", "(?s).*", "a{2,5}|b+"])
def test_masks_say_what_is_accepted(pattern: str) -> None:
    matcher, rng = Matcher(tokenfst.compile(pattern, LETTERS)), random.Random(1)
    for _ in range(30):
        words = np.zeros(1, np.int32)
        matcher.fill(words)
        for token in range(len(TOKENS)):
            assert matcher.validate([token]) == (words[0] >> token & 1)
        tokens = [token for token in range(len(TOKENS)) if words[0] >> token & 1]
        if rng.random() < 0.2:
            matcher.rollback(rng.randint(0, matcher.num_tokens))
        else:
            assert matcher.accept([rng.choice(tokens)])
            if matcher.has_ended:
                matcher.rollback(1)


# Settings


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENFST_COMPILE_SECONDS", "2.5")
    monkeypatch.setenv("TOKENFST_CACHE_BYTES", "1000")
    settings = settings_from_environment()
    assert (settings.limits.seconds, settings.cache_bytes) == (2.5, 1000)
    monkeypatch.setenv("TOKENFST_CACHE_BYTES", str(1 << 60))
    assert settings_from_environment().cache_bytes == 1 << 60
    wrong_values = {
        "COMPILE_SECONDS": ("-1", "many", "0", "inf"),
        "COMPILE_BYTES": ("1e30",),
        "CACHE_BYTES": (str(1 << 61),),
        "THREADS": ("0.5", "0", "nan"),
    }
    for name, wrongs in wrong_values.items():
        for wrong in wrongs:
            with monkeypatch.context() as within:
                within.setenv(f"TOKENFST_{name}", wrong)
                with pytest.raises(ValueError, match=re.escape(f"not {wrong!r}")):
                    settings_from_environment()


def test_the_plugin_touches_nothing_that_nobody_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKENFST_VLLM", raising=False)
    register()
    monkeypatch.setenv("TOKENFST_VLLM", "xgrammar")
    with pytest.raises(ValueError, match="not 'xgrammar'"):
        register()


def test_a_wrong_setting_stops_an_engine_when_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENFST_VLLM", "outlines")
    monkeypatch.setenv("TOKENFST_COMPILE_SECONDS", "ten")
    with pytest.raises(ValueError, match="TOKENFST_COMPILE_SECONDS is a number above 0, not 'ten'"):
        register()


def test_no_model_writes_digits_without_end() -> None:
    vocabulary = vocabulary_of(bundled_model()[1])
    (seven,) = (token for token, text in enumerate(vocabulary.tokens) if text == b"7")
    for schema in ({"type": "integer"}, {"type": "number"}, {"type": "object"}, {}):
        automaton = tokenfst.compile(constraint_of("json", json.dumps(schema)), vocabulary)
        matcher = Matcher(automaton)
        if schema == {"type": "object"}:
            brace, quote, colon = (vocabulary.tokens.index(text) for text in (b"{", b'"', b":"))
            assert matcher.accept([brace, quote, seven, quote, colon])
        assert matcher.accept([seven] * 20)
        assert matcher.validate([seven]) == 0


def test_a_copy_of_a_matcher_moves_alone_and_none_is_pickled() -> None:
    matcher = Matcher(tokenfst.compile("(ab){2,5}", Vocabulary([b"ab", b"a", b"b", b""], 3)))
    assert matcher.accept([0])
    for copied in (copy.copy(matcher), copy.deepcopy(matcher), matcher.copy()):
        assert copied.accept(iter([0, 3]))
        assert (copied.num_tokens, matcher.num_tokens, copied.automaton) == (3, 1, matcher.automaton)
    with pytest.raises(TypeError, match="a matcher cannot be pickled: pickle the automaton and the token ids"):
        pickle.dumps(matcher)
