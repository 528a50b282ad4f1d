"""The league of exactness: its oracles, its witnesses, and that it finds the errors of an engine that has some."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import peers
import pytest
from exactness import Standing, Witness, check, judged, read, write
from hypothesis import given
from hypothesis import strategies as st
from json_texts import in_order, mutants, spellings
from league_cases import GRAMMARS, PATTERNS, pattern_texts
from oracles import Kind, oracle
from walks import Task, Walk

VOCAB = [*(bytes([byte]) for byte in range(256)), b"ab", b'":', b"12", b'{"', b'"}', b"}}", b"tru"]
SCHEMA = {"type": "object", "properties": {"a": {"enum": ["x", "ab"]}, "b": {"type": "integer"}}, "required": ["a"]}


# Oracles


@pytest.mark.parametrize(
    ("schema", "text", "verdict"),
    [
        ({"type": "integer"}, "1", True),
        ({"type": "integer"}, "1.0", True),
        ({"type": "integer"}, "1.5", False),
        ({"type": "integer"}, "", False),
        ({"type": "integer"}, "1 2", False),
        ({"type": "integer"}, "NaN", False),
        ({}, "1e999999", None),
        ({"type": "integer", "$schema": "http://json-schema.org/draft-04/schema#"}, "1.0", None),
        ({"multipleOf": 0.01}, "19.99", True),
        ({"multipleOf": 0.01}, "19.999", False),
        ({"items": [{"type": "string"}]}, "[1]", False),
        ({"dependencies": {"a": ["b"]}}, '{"a": 1}', None),
        ({"properties": {"a": {"type": "string"}}}, '{"a": 1, "a": ""}', None),
        ({"properties": {"a": {"type": "string"}}}, '{"a": 1, "a": 2}', False),
        ({"pattern": "^a+$"}, '"aa"', True),
        ({"pattern": "^a+$"}, '"ab"', False),
        ({"pattern": "^a+$"}, '"a\\n"', None),
        ({"pattern": "\\w"}, '"é"', None),
        ({"pattern": "\\Aa"}, '"b"', None),
        ({"pattern": "("}, '"b"', None),
        ({"pattern": "("}, '"b', False),
        ({"uniqueItems": True}, "[[1], [1.0]]", False),
        ({"uniqueItems": True}, '[[1], [true], {"a": 1, "b": 2}, {"a": 2, "b": 1}]', True),
        ({"uniqueItems": True}, '[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]', False),
        ({"uniqueItems": True}, '[{"": "1"}, 1, ["number", "1"], "1"]', True),
        ({"format": "date"}, '"2024-02-11"', True),
        ({"format": "date"}, '"2024-02-30"', None),
        ({"format": "date", "type": "string"}, "1", False),
        ({"type": "string"}, '"\\ud800"', None),
        ({"$ref": "#/nope"}, "1", None),
        ({"$ref": "https://example.com/x.json"}, "1", None),
        ({"minLength": "a"}, '""', None),
        (False, "1", False),
    ],
)
def test_a_schema_has_a_verdict_where_no_reading_differs(schema: Any, text: str, verdict: bool | None) -> None:
    assert oracle("schema", schema)(text.encode()) is verdict


def test_bytes_that_are_no_text_are_invalid() -> None:
    for judge in (oracle("schema", {}), oracle("pattern", ".*"), oracle("grammar", GRAMMARS["accents"].source)):
        assert judge(b'"\xff"') is False


@pytest.mark.parametrize(
    ("pattern", "text", "verdict"),
    [("a.c", "abc", True), ("a.c", "ab", False), ("a.c", "a\nc", None), ("\\d", "٣", None), ("[^x]", "\n", True)],
)
def test_a_pattern_has_a_verdict_where_no_reading_differs(pattern: str, text: str, verdict: bool | None) -> None:
    assert oracle("pattern", pattern)(text.encode()) is verdict


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_grammar_has_its_samples_and_not_all_of_the_near_misses(name: str) -> None:
    judge = oracle("grammar", GRAMMARS[name].source)
    assert all(judge(text.encode()) for text in GRAMMARS[name].samples)
    assert not all(judge(text) for text in GRAMMARS[name].texts())


def test_patterns_have_texts_of_both_sorts() -> None:
    verdicts = {pattern: [*map(oracle("pattern", pattern), pattern_texts(pattern))] for pattern in PATTERNS}
    assert all(False in found for found in verdicts.values())
    # A telephone number and a UUID: so many digits in a row are not drawn at random.
    never_drawn = [pattern for pattern, found in verdicts.items() if True not in found]
    assert len(never_drawn) == 2
    assert all("{3}" in pattern and "{4}" in pattern for pattern in never_drawn)


# Texts

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=1), inner, max_size=3),
    max_leaves=6,
)


@given(values)
def test_every_spelling_is_the_same_value(value: Any) -> None:
    texts = list(spellings(value, SCHEMA, Random(0)))
    assert len(texts) == len(set(texts)) > 0
    assert all(json.loads(text) == value for text in texts)


def test_whole_numbers_are_also_written_without_a_fraction() -> None:
    assert {b"[2.0]", b"[2]"} <= set(spellings([2.0], {}, Random(0)))


def test_members_come_in_the_order_of_the_schema() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/x"}, {"properties": {"a": {}}, "required": ["c"]}],
        "$defs": {"x": {"properties": {"b": {"properties": {"y": {}, "x": {}}}}}},
    }
    value = {"d": 1, "c": 2, "a": 3, "b": {"x": 1, "y": 2}}
    found = in_order(value, [schema], schema)
    assert found == value
    assert json.dumps(found) == '{"b": {"y": 2, "x": 1}, "a": 3, "c": 2, "d": 1}'


def test_mutants_are_many_and_use_what_the_schema_lists() -> None:
    found = mutants({"a": "x", "b": 3}, SCHEMA, 200, Random(0))
    assert len({json.dumps(value) for value in found}) > 30
    assert {"a": "ab", "b": 3} in found
    judge = oracle("schema", SCHEMA)
    assert {judge(json.dumps(value).encode()) for value in found} == {True, False}


# The league


class Faulty(peers.TokenFst):
    """This project, but its mask allows the end behind some bytes, forbids tokens, or is empty behind some bytes."""

    def __init__(self, vocabulary: Any, allows: bytes = b"", forbids: bytes = b"", stops: bytes = b"\xff") -> None:
        super().__init__(vocabulary)
        self.allows, self.forbids, self.stops = allows, forbids, stops
        self.text = b""

    def reset(self) -> None:
        super().reset()
        self.text = b""

    def mask(self) -> npt.NDArray[np.bool_]:
        found = super().mask()
        if self.text.endswith(self.stops):
            return np.zeros_like(found)
        for token in self.forbids:
            found[token] = False
        if self.allows and self.text.endswith(self.allows):
            found[-1] = True
        return found

    def advance(self, token: int) -> bool:
        if not self.mask()[token] or not super().advance(token):
            return False
        self.text += self.vocabulary.tokens[token]
        return True


def found_of(monkeypatch: pytest.MonkeyPatch, engine: Any, kind: Kind = "schema", source: Any = SCHEMA) -> Standing:
    monkeypatch.setitem(peers.PEERS, "toy", engine)
    valid: list[Any] = [{"a": "ab", "b": 12}, {"a": "x"}]
    invalid = [b'{"b": 1}', b'{"a": 1}']
    if kind == "pattern":
        valid, invalid = [b"abab"], [b"aba"]
    task = Task(kind, "task", source, valid, invalid, walks=40)
    standing = Standing("toy 1")
    judged(standing, task, Walk("toy", VOCAB)(task), oracle(kind, source))
    return standing


def test_an_exact_engine_has_no_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    standing = found_of(monkeypatch, peers.TokenFst)
    assert not standing.errors
    assert standing.counts["ended walks"] > 20
    assert not found_of(monkeypatch, peers.TokenFst, "pattern", "(ab)*").errors


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"allows": b'":'}, "invalid accepted"),
        ({"forbids": b"b"}, "valid refused"),
        ({"forbids": bytes([*range(48, 58)])}, "cut refused"),
        ({"stops": b'{"a":'}, "dead end"),
    ],
)
def test_the_errors_of_another_are_found(monkeypatch: pytest.MonkeyPatch, fault: Any, error: str) -> None:
    standing = found_of(monkeypatch, lambda vocabulary: Faulty(vocabulary, **fault))
    assert error in standing.errors["task"], standing.errors
    witness = next(each for each in standing.witnesses if each.error == error)
    assert witness.engine == "toy 1"
    assert witness.holds(oracle("schema", SCHEMA))
    assert witness.data[witness.place :] or error in ("invalid accepted", "dead end")


def test_what_is_refused_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PEERS, "toy", peers.TokenFst)
    found = Walk("toy", VOCAB)(Task("schema", "task", {"type": "nope"}, [1], [b"1"]))
    assert "nope" in found.refused
    assert not found.events


def test_witnesses_are_checked_without_an_engine(tmp_path: Path) -> None:
    right = Witness("toy 1", "invalid accepted", "task", "schema", SCHEMA, '{"a": "\udcff"}', 9, (1, 2))
    refuses = replace(right, error="valid refused", text='{"a": "x"}', place=3)
    wrong = replace(refuses, error="invalid accepted")
    undecided = replace(right, source={"pattern": "\\Aa"}, text='"b"')
    dead = replace(right, error="dead end", text='{"a": ')
    write([right, refuses, wrong, undecided, dead], tmp_path / "file.jsonl")
    assert list(read(tmp_path / "file.jsonl")) == [right, refuses, wrong, undecided, dead]
    held, failed = check(tmp_path / "file.jsonl")
    assert held == {"toy 1: invalid accepted": 1, "toy 1: valid refused": 1, "toy 1: dead end": 1}
    assert failed == [wrong, undecided]
