"""Every kind of constraint can be pickled, before it has read a text and after, as a pool of processes asks for."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import pytest

import constraints as of
import tokenfst
from tokenfst.vocabulary.all_bytes import ALL_BYTES


@dataclass
class Point:
    x: int
    y: int = 0


def weather(city: str, days: int = 3) -> None:
    """Tell how the weather will be."""


SCHEMA = of.json_schema({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
NESTED = of.grammar('start: "a" start "b" | "ab"')
HERMES = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
# By kind: a constraint, a text of it, and one that is not.
CASES: dict[str, tuple[Any, str, str]] = {
    "sequence": (of.sequence("[0-9]+", ", ", SCHEMA), '12, {"a": 1}', "12, {}"),
    "sequence with a grammar": (of.sequence("x", NESTED), "xaabb", "xaab"),
    "optional": (of.optional(of.typed(Point)), "", "{"),
    "alternatives": (of.date() | of.integer(), "12", "12."),
    "alternatives of schemas": (of.typed(Point) | of.typed(list[int]), "[1, 2]", "[1, null]"),
    "after": (of.after("</think>", SCHEMA), 'so</think>{"a": 1}', 'so{"a": 1}'),
    "triggered": (of.triggered({"<d>": (of.date(), "</d>")}), "on <d>2020-01-31</d>", "on <d>2020-01-32</d>"),
    "calls": (of.tool_calls([weather], format="hermes"), HERMES, HERMES[:-1]),
    "calls in text": (of.tool_calls([weather], format="hermes", text="around"), f"Let me look. {HERMES}", HERMES[:-1]),
    "calls in Python": (of.tool_calls([weather], format="pythonic"), '[weather(city="Oslo")]', "[weather()]"),
    "type": (of.typed(Point), '{"x": 1, "y": 2}', '{"y": 2}'),
    "function": (of.typed(weather), '{"city": "Oslo"}', '{"days": 2}'),
    "constructor": (of.dataclass(Point), "Point(x=1)", "Point(z=1)"),
    "schema": (SCHEMA, '{"a": 1}', "{}"),
    "value": (of.decimal(), "-1.50", "1.5.0"),
    "names": (of.sql_select({"t": ["a", "b"]}), "SELECT a FROM t", "SELECT c FROM t"),
}


@pytest.mark.parametrize("was_used", [False, True])
@pytest.mark.parametrize(("constraint", "text", "other"), CASES.values(), ids=CASES)
def test_a_copy_reads_the_same_texts(constraint: Any, text: str, other: str, was_used: bool) -> None:
    if was_used:
        constraint.parse(text)
    copy = pickle.loads(pickle.dumps(constraint))
    assert repr(copy.parse(text)) == repr(constraint.parse(text))
    assert not copy.allows(other)
    automaton = tokenfst.compile(copy, ALL_BYTES)
    assert automaton.accepts(text)
    assert not automaton.accepts(other)


def test_what_is_made_when_it_is_first_used_is_not_pickled() -> None:
    constraint = of.sequence("[0-9]+", ", ", SCHEMA)
    size = len(pickle.dumps(constraint))
    constraint.parse('12, {"a": 1}')
    assert len(pickle.dumps(constraint)) == size
