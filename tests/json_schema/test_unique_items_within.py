"""Arrays whose items must differ within composed constraints and calls of tools: what they allow is what the schema
alone allows, whatever stands around it."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from budget_checks import anything, farthest, written

import tokenfst
from automata.errors import UnsupportedSchema
from automata.visibly_pushdown.grammar import MAX_DETOUR
from constraints import choice, grammar, json_schema, optional, sequence, tool_calls, triggered
from constraints.json_schema.containers.lengths import Lengths
from constraints.tools import ToolCall
from constraints.tools.wire import WIRES
from serving.specifications import constraint_of
from tokenfst import Vocabulary
from tokenfst.unique_items.automaton import UniqueItemsTokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

ITEMS = ["a", "ab", 1, 10, [1], {"a": 1}]
ANY = {"type": "array", "items": {"enum": ITEMS}, "uniqueItems": True}
SCHEMA = json_schema(ANY)
ARRAYS = [list(items) for count in range(4) for items in itertools.product(ITEMS, repeat=count)]
TOKENS = [b'["', b'", "', b"]", b", ", b"[1", b"a", b"]]", b'"a": 1}', b"x[", b'"; ', b"</json>"]
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), *TOKENS, b""], eos_ids=[256 + len(TOKENS)])


def differs(items: list[Any]) -> bool:
    return all(left != right for left, right in itertools.combinations(items, 2))


# Constraints, what stands around the array in a text of each, and the value of the text by that of the array.
WITHIN: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "sequence": (sequence("x*", SCHEMA, ";"), "xx{};", lambda items: ("xx", items, ";")),
    "optional": (optional(SCHEMA), "{}", lambda items: items),
    "either": (choice(["a", '"[1, 1]"']) | SCHEMA, "{}", lambda items: items),
    "triggered": (
        triggered({"<json>": (SCHEMA, "</json>")}),
        'say "[1, 1" <json>{}</json> and [2, 2]',
        lambda items: ('say "[1, 1" ', ("<json>", items), " and [2, 2]"),
    ),
    "twice": (sequence(SCHEMA, "-", SCHEMA), '["a", 1]-{}', lambda items: (["a", 1], "-", items)),
}


@pytest.mark.parametrize("name", WITHIN)
def test_arrays_in_composed_constraints(name: str) -> None:
    constraint, around, value = WITHIN[name]
    automaton = tokenfst.compile(constraint, VOCABULARY)
    assert isinstance(automaton, UniqueItemsTokenAutomaton)
    again = pickle.loads(pickle.dumps(constraint))
    for items in ARRAYS:
        text = around.replace("{}", json.dumps(items))
        assert automaton.accepts(text) == constraint.allows(text) == differs(items), text
        if differs(items):
            assert constraint.parse(text) == again.parse(text) == value(items)


def test_masks_beside_other_texts() -> None:
    """A byte is allowed exactly where some text of the constraint continues with it."""
    constraint = sequence(
        "x*", json_schema({**ANY, "items": {"enum": ["a", "ab"]}, "maxItems": 2}, whitespace="compact"), ";"
    )
    automaton = tokenfst.compile(constraint, ALL_BYTES)
    arrays = [list(items) for count in range(3) for items in itertools.product(["a", "ab"], repeat=count)]
    texts = [f"x{json.dumps(items, separators=(',', ':'))};".encode() for items in arrays if differs(items)]
    for prefix in {text[:end] for text in texts for end in range(1, len(text))}:
        state = automaton.start
        for byte in prefix:
            state = automaton.advance(state, byte)
        following = {text[len(prefix)] for text in texts if text.startswith(prefix)}
        following |= set(b"x[") if prefix == b"x" else set()
        assert set(np.flatnonzero(automaton.mask(state)).tolist()) == following, prefix


@pytest.mark.parametrize("writer", [anything, farthest])
def test_texts_end_within_budgets(writer: Any) -> None:
    for constraint, _, _ in WITHIN.values():
        automaton = tokenfst.compile(constraint, VOCABULARY)
        for seed in range(3):
            least = automaton.min_tokens(automaton.start)
            tokens = written(automaton, least + 20, writer, Random(seed))
            assert automaton.accepts(tokens)


def test_a_budget_excludes_what_may_need_any_number_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lengths, "detour", lambda *_: MAX_DETOUR)
    several = {"type": "array", "uniqueItems": True, "items": {"type": "string"}, "minItems": 4}
    constraint = json_schema({"type": "object", "properties": {"a": several, "b": {"type": "integer"}}})
    automaton, excluded = tokenfst.compile(constraint, ALL_BYTES), 0
    for text in (b"", b"{", b'{"a', b'{"b": 1, '):
        state = automaton.start
        for byte in text:
            state = automaton.advance(state, byte)
        for token in np.flatnonzero(automaton.mask(state)).tolist():
            is_near = automaton.min_tokens(automaton.advance(state, token)) < 4000
            assert automaton.mask(state, 4000)[token] == is_near, (text, token)
            excluded += not is_near
    assert excluded


@pytest.mark.parametrize("form", [form for form in WIRES if not WIRES[form].in_string])
def test_arguments_of_calls(form: Any) -> None:
    """Two tools have arrays of their own, of which one may have equal items."""
    first = {"properties": {"tags": ANY}, "required": ["tags"], "additionalProperties": False}
    second = {"properties": {"tags": {"type": "array"}}, "additionalProperties": False}
    calls = tool_calls([("first", first), ("second", second)], format=form, parallel=True)
    sample = tool_calls([("first", second), ("second", second)], format=form, parallel=True)
    for items in ARRAYS[: 1 + 6 + 36]:
        made = [ToolCall("second", {"tags": items}), ToolCall("first", {"tags": items})]
        text = in_format(form, made)
        assert sample.parse(text) == tuple(made)
        assert calls.allows(text) == differs(items), text
        assert calls.allows(in_format(form, made[:1]))
        if differs(items):
            assert calls.parse(text) == tuple(made)


def in_format(form: str, calls: list[ToolCall]) -> str:
    wire = WIRES[form]
    texts = [written_call(wire, call) for call in calls]
    return plain(wire.before) + plain(wire.between).join(texts) + plain(wire.after)


def written_call(wire: Any, call: ToolCall) -> str:
    inside = json.dumps(call.arguments)
    if wire.tags:
        tags = wire.tags
        value = (tags.value or tags.text).replace(r"\n?", "")
        inside = "".join(
            f"{tags.name}{name}{value}{json.dumps(each)}{tags.close}" for name, each in call.arguments.items()
        )
    return plain(wire.name) + call.name + plain(wire.arguments) + inside + plain(wire.end)


def plain(pieces: Any) -> str:
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


def test_a_structural_tag() -> None:
    content = {"type": "json_schema", "json_schema": {"type": "array", "uniqueItems": True}}
    tag = {"type": "tag", "begin": "<f>", "content": content, "end": "</f>"}
    form = {"type": "triggered_tags", "triggers": ["<f>"], "tags": [tag]}
    automaton = tokenfst.compile(constraint_of("structural_tag", json.dumps({"format": form})), VOCABULARY)
    for items in ARRAYS:
        assert automaton.accepts(f"so <f>{json.dumps(items)}</f>") == differs(items)


def test_beside_a_grammar_items_cannot_be_remembered() -> None:
    items = json_schema({"items": {"type": "string"}, "type": "array", "uniqueItems": True})
    with pytest.raises(UnsupportedSchema, match="needs memory of all items"):
        sequence(grammar('start: "(" start ")" | "x"'), items).to_automaton()


@pytest.mark.parametrize("items", [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}], ids=json.dumps)
@pytest.mark.parametrize(
    "other",
    [
        {"type": "array", "items": {"type": "integer"}},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "maxItems": 2},
        {"type": "array", "items": {"type": "string", "maxLength": 0}, "uniqueItems": True, "minItems": 1},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"const": 1}}}},
    ],
    ids=json.dumps,
)
def test_alternatives_that_begin_alike_keep_their_own_arrays(items: Any, other: Any) -> None:
    one, second = (json_schema(each) for each in ({"type": "array", "items": items, "uniqueItems": True}, other))
    made = sequence(one) | second
    automaton = tokenfst.compile(made, ALL_BYTES)
    values: list[Any] = [1, "a", "", [], [1], [1, 1], [[1]]]
    arrays = [list(chosen) for count in range(4) for chosen in itertools.product(values, repeat=count)]
    for value in (*arrays, {"a": [1, 1]}, {"a": ["a"]}):
        text = json.dumps(value)
        expected = one.allows(text) or second.allows(text)
        assert automaton.accepts(text) == made.allows(text) == expected, text
        state, dice = automaton.start, Random(text)
        for byte in text.encode():
            allowed = np.flatnonzero(automaton.mask(state)).tolist()
            assert all(automaton.step(state, token) is not None for token in dice.sample(allowed, min(4, len(allowed))))
            if byte not in allowed:
                break
            state = automaton.advance(state, byte)
