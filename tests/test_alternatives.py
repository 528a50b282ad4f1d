"""`|` is a union, of types and schemas as of anything else, and what is optional may be missing."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import importlib
import json
import operator
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass as validated

import constraints
import tokenfst
from automata import NondeterministicGrammar, TextNotAllowed, parse, random_strings
from constraints import Parsed, free_text, integer, optional, sequence, triggered, typed
from serving.matcher import EXCEEDED, Matcher
from tokenfst.vocabulary.all_bytes import ALL_BYTES

ALTERNATIVES = importlib.import_module("constraints.json_schema.alternatives")
BALANCED = constraints.grammar('start: "a" start "b" | "ab"', syntax="lark")


@dataclasses.dataclass(frozen=True)
class Leaf:
    name: str
    size: int = 0


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    children: list[Node | Leaf]


@dataclasses.dataclass(frozen=True)
class Tree:
    name: str
    children: list[Tree]


@dataclasses.dataclass(frozen=True)
class Free:
    name: str
    data: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class FreeToo:
    data: dict[str, Any]
    name: str
    size: float


TYPES: list[Any] = [Leaf, Node, Free, FreeToo, int, list[Leaf], str]


@pytest.mark.parametrize(("left", "right"), [(a, b) for a in TYPES for b in TYPES if a is not b])
def test_types_side_by_side_are_a_union(left: Any, right: Any) -> None:
    """What either writes is allowed; what is allowed, either reads."""
    first, second = typed(left), typed(right)
    both = first | second
    for each in (first, second):
        automaton = each.to_automaton()
        flat = automaton if not hasattr(automaton, "expand") else automaton.expand(2)
        for written in random_strings(flat, 15, seed=1, max_length=60):
            text = written.decode()
            assert both.parse(text) == (first if first.allows(text) else second).parse(text)
    automaton = both.to_automaton()
    flat = automaton if not hasattr(automaton, "expand") else automaton.expand(2)
    for written in random_strings(flat, 15, seed=2, max_length=60):
        text = written.decode()
        assert first.allows(text) or second.allows(text)
        assert both.parse(text) in values_of(text, left, right)


def values_of(text: str, *annotations: Any) -> list[Any]:
    found = []
    for each in annotations:
        try:
            found.append(TypeAdapter(each).validate_json(text))
        except ValidationError:
            continue
    return found


def test_recursive_types_side_by_side() -> None:
    both = typed(Node) | typed(Free) | typed(int)
    deep = Node("a", [Node("b", [Leaf("c", 1)]), Leaf("d")])
    assert both.parse(TypeAdapter(Node).dump_json(deep).decode()) == deep
    assert both.parse('{"name": "x", "data": {"y": [[1]]}}') == Free("x", {"y": [[1]]})
    assert both.parse("12") == 12
    automaton = tokenfst.compile(both, ALL_BYTES)
    assert automaton.accepts(b'{"name": "x", "children": []}')
    assert not automaton.accepts(b'{"name": "x"}')


def test_a_validator_that_refuses_leaves_it_to_the_next_alternative() -> None:
    @validated
    class Even:
        value: int

        @model_validator(mode="after")
        def check(self) -> Even:
            if self.value % 2:
                raise ValueError("odd")
            return self

    @dataclasses.dataclass
    class Number:
        value: int

    both = typed(Even) | typed(Number)
    assert type(both.parse('{"value": 2}')).__name__ == "Even"
    assert both.parse('{"value": 3}') == Number(3)
    with pytest.raises(TextNotAllowed, match="odd"):
        (typed(Even) | typed(str)).parse('{"value": 3}')


def test_schemas_side_by_side_are_any_of_them() -> None:
    left = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}
    right = {"$defs": {"t": {"type": "object", "additionalProperties": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}
    both = constraints.json_schema(left) | constraints.json_schema(right) | constraints.json_schema({"const": 1})
    for text in ("[[], []]", '{"a": {"b": {}}}', "1", "[]", "{}"):
        assert both.parse(text) == json.loads(text)
    for text in ("2", '[{"a": {}}]', '{"a": []}', "[1]", " 1"):
        with pytest.raises(TextNotAllowed):
            both.parse(text)


def test_definitions_of_one_name_are_apart_however_alternatives_are_grouped() -> None:
    def nested(value: int) -> Parsed[Any]:
        node = {"anyOf": [{"const": value}, {"type": "array", "items": {"$ref": "#/$defs/node"}}]}
        return constraints.json_schema({"$defs": {"node": node}, "type": "array", "items": {"$ref": "#/$defs/node"}})

    a, b, c, d = map(nested, range(4))
    for either in (((a | b) | c) | d, a | (b | (c | d)), (a | b) | (c | d), (a | (b | c)) | d):
        assert [either.allows(text) for text in ("[[0], 0]", "[[1, [1]]]", "[2, [2]]", "[[[3]]]")] == [True] * 4
        assert not any(map(either.allows, ("[[0], 1]", "[1, [2]]", "[[2], 3]", "[[0, [3]]]", "[4]")))


def test_schemas_joined_one_by_one_take_time_in_proportion_to_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    renamed, plain = list[int](), ALTERNATIVES._Renamed

    def counted(number: int) -> object:
        renamed.append(number)
        return plain(number)

    monkeypatch.setattr(ALTERNATIVES, "_Renamed", counted)
    schemas = [constraints.json_schema({"properties": {f"k{number}": {"const": number}}}) for number in range(50)]
    either: Any = functools.reduce(operator.or_, schemas)
    assert either.allows('{"k49": 49}')
    assert renamed == [*range(len(schemas))]


def test_a_schema_reads_its_texts() -> None:
    schema = constraints.json_schema({"type": "array", "items": {"type": "number"}})
    assert schema.parse("[1, 2.5]") == [1, 2.5]
    for text in ('["a"]', "[1, 2", " [1]", "\ud800"):
        with pytest.raises(TextNotAllowed, match="the schema does not allow the text"):
            schema.parse(text)
    with pytest.raises(TextNotAllowed, match="4300"):
        schema.parse(f"[{'1' * 5000}]")


def test_alternatives_are_written_alike() -> None:
    with pytest.raises(ValueError, match="the same `whitespace`, and not with 'default' and 'compact'"):
        typed(Leaf) | typed(Node, whitespace="compact")
    with pytest.raises(ValueError, match="the same `property_order`, and not with 'schema' and 'any'"):
        constraints.json_schema({}) | constraints.json_schema({}, property_order="any")
    alike = typed(Tree) | "{x"
    with pytest.raises(ValueError, match="two alternatives begin alike"):
        alike.to_automaton()
    assert alike.parse("{x") == "{x"


@pytest.mark.parametrize(
    "made",
    [
        constraints.json_schema({"type": "object"}) | '{"b": 1}',
        sequence(r"[a{]?", constraints.json_schema({"type": "object"})),
        sequence(optional(constraints.json_schema({"type": "array"})), r"\[1"),
        triggered({"<": constraints.json_schema({"type": "object"}) | "{!"}),
        constraints.choice(["[", "a"]) | constraints.json_schema({"type": "array"}),
    ],
)
def test_alternatives_that_begin_alike_are_refused_before_a_text_is_written(made: Parsed[object]) -> None:
    with pytest.raises(NondeterministicGrammar, match="begin alike"):
        tokenfst.compile(made, ALL_BYTES)


def test_texts_whose_end_no_stack_can_tell_are_refused_by_name() -> None:
    """Masks are made on demand, so a place that was not found before may be met in the middle of a text; an engine ends
    the request then."""
    made = sequence(free_text(), constraints.json_schema(True))
    with pytest.raises(NondeterministicGrammar, match="alike"):
        tokenfst.compile(made, ALL_BYTES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("constraints.composing.parsed.check_start", lambda *_: None)
        automaton = tokenfst.compile(made, ALL_BYTES)
    matcher, words = Matcher(automaton), np.zeros(9, np.int32)
    for call in (automaton.complete, lambda: automaton.mask(automaton.start), lambda: automaton.accepts("x1")):
        with pytest.raises(NondeterministicGrammar, match=r"alike|something else"):
            call()
    assert not matcher.fill(words)
    with pytest.raises(EXCEEDED):
        matcher.accept([ord("{")])


def test_alternatives_of_other_kinds() -> None:
    either: Parsed[int | datetime.date] = integer() | constraints.date()
    assert either.parse("2024") == 2024
    assert either.parse("2024-02-29") == datetime.date(2024, 2, 29)
    for text in ("2024-02-30", "", "\ud800"):
        with pytest.raises(TextNotAllowed):
            either.parse(text)
    assert ("none" | integer()).parse("none") == "none"
    pairs: list[tuple[Any, Any]] = [(BALANCED, BALANCED), (BALANCED, "c"), ("c", BALANCED), (parse("c"), BALANCED)]
    for left, right in pairs:
        with pytest.raises(TypeError, match=r"constraints.sequence\(grammar\) \| other"):
            left | right
    assert (constraints.sequence(BALANCED) | BALANCED).allows("ab")
    assert (BALANCED | integer()).parse("aabb") == "aabb"
    assert (free_text("x") | integer()).parse("12") == "12"
    assert (typed(Leaf) | "none").parse('{"name": "a"}') == Leaf("a")
    nothing: Any = None
    with pytest.raises(TypeError, match="is not a constraint"):
        integer() | nothing


def test_what_is_optional_may_be_missing() -> None:
    assert optional(typed(Leaf)).parse('{"name": "a"}') == Leaf("a")
    assert optional(typed(Leaf)).parse("") is None
    assert optional("a*").parse("") == ""
    assert optional(BALANCED).parse("ab") == "ab"
    assert tokenfst.compile(optional(integer(1, 2)), ALL_BYTES).accepts(b"")
    with pytest.raises(TextNotAllowed):
        optional(integer(1, 2)).parse("3")
