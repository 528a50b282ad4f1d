"""How values are written: the order of properties, the spellings of names and strings, whitespace."""

from __future__ import annotations

import importlib
import json
import re
from itertools import product
from typing import Any, get_args

import pytest
from container_cases import schema_grammar
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import accepts
from jsonschema import Draft202012Validator

from automata import expressions as ex
from automata.cache import BoundedCache
from constraints import json_schema
from constraints.json_schema import Whitespace
from constraints.json_schema.building.whitespace import Habit
from constraints.json_schema.containers.arrays import PlainArray, array_automaton
from constraints.json_schema.containers.plain import PlainMembers, plain_members
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.connectives import TRUE
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.strings import Spellings

anything = importlib.import_module("constraints.json_schema.building.anything")

FREE = json_schema({"type": "object"}).to_automaton()


def test_the_rules_of_anything_are_those_of_formulas_that_say_nothing() -> None:
    restriction = Restriction({})
    assert plain_members(TRUE, restriction) == PlainMembers((), [], 0, (), [(TRUE, TRUE)])
    array = array_automaton((TRUE,), ShannonExpansion(Outlines(restriction)))
    assert isinstance(array, PlainArray)
    assert (array.members, array.low, array.high) == ([(None, TRUE)], 0, None)


def test_each_way_of_writing_has_its_own_rules_of_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    habits = (*get_args(Habit), Whitespace(), Whitespace(opened=ex.literal(" ")))
    ways = list(product(habits, get_args(Spellings), (None, 2)))

    def rules(whitespace: Any, spellings: Any, max_digits: int | None) -> object:
        schema = {"properties": {"a": {"type": "null"}}}
        made = json_schema(schema, whitespace=whitespace, spellings=spellings, max_digits=max_digits)
        return made.to_visibly_pushdown().rules

    kept = [rules(*way) for _ in range(2) for way in ways]
    for way, first, second in zip(ways, kept, kept[len(ways) :], strict=False):
        monkeypatch.setattr(anything, "_rules", BoundedCache(64))
        assert first == second == rules(*way)


def test_variants_that_list_names_in_other_orders_keep_their_own() -> None:
    first = {"properties": {"a": {"const": 1}, "b": True}, "required": ["a", "b"]}
    second = {"properties": {"b": True, "a": {"const": 2}}, "required": ["a", "b"]}
    grammar = schema_grammar({"type": "object", "anyOf": [first, second]})
    assert grammar is not None
    expected = {b'{"a":1,"b":0}': True, b'{"b":0,"a":1}': False, b'{"b":0,"a":2}': True, b'{"a":2,"b":0}': False}
    assert {text: accepts(grammar, text) for text in expected} == expected


def test_lists_of_variants_are_merged_to_one_order() -> None:
    variants = [["type", "x", "name"], ["type", "y", "name"]]
    schema = {"type": "object", "anyOf": [{"properties": dict.fromkeys(names, True)} for names in variants]}
    grammar = schema_grammar(schema)
    assert grammar is not None
    assert accepts(grammar, b'{"type":1,"y":1,"name":1}')
    assert accepts(grammar, b'{"type":1,"x":1,"name":1}')
    assert not accepts(grammar, b'{"name":1,"y":1}')


def test_each_listed_name_comes_once_and_others_behind() -> None:
    grammar = schema_grammar({"type": "object", "properties": {"a": True, "b": True}})
    assert grammar is not None
    assert accepts(grammar, b'{"a":1,"z":1}')
    for text in (b'{"z":1,"a":1}', b'{"a":1,"a":1}', b'{"a":1,"\\u0061":1}', b'{"b":1,"a":1}'):
        assert not accepts(grammar, text)


def test_of_many_names_in_any_order_those_that_matter_come_once() -> None:
    names = "abcdefgh"
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": ["a", "h"]}
    once = schema_grammar({**schema, "additionalProperties": False}, property_order="any")
    grammar = schema_grammar({**schema, "additionalProperties": False}, property_order="any-if-cheap")
    assert once is not None
    assert grammar is not None
    twice = b'{"b":1,"a":2,"b":3,"h":4}'
    assert accepts(grammar, twice)
    assert not accepts(once, twice)
    assert all(accepts(found, b'{"h":1,"b":2,"a":3}') for found in (once, grammar))
    for text in (b'{"h":1,"b":2}', b'{"h":1,"a":2,"a":3}', b'{"h":1,"a":2,"b":"x","b":1}'):
        assert not any(accepts(found, text) for found in (once, grammar))
    denied = {"type": "object", "not": {"properties": {name: {"type": "integer"} for name in "bhz"}}}
    for order in ("any", "any-if-cheap"):
        grammar = schema_grammar(denied, property_order=order)
        assert grammar is not None
        assert accepts(grammar, b'{"h":"x","b":1}')
        assert not accepts(grammar, b'{"h":"x","h":1}')


def test_in_any_order_names_come_once_each() -> None:
    names = [f"n{number}" for number in range(11)]
    schema = {"properties": {name: {"type": "null"} for name in names[:10]}, "additionalProperties": False}
    grammar = schema_grammar(schema, property_order="any")
    assert grammar is not None
    written = [f'"{name}":null' for name in reversed(names)]
    assert accepts(grammar, ("{" + ",".join(written[1:]) + "}").encode())
    assert not accepts(grammar, ("{" + ",".join([*written[1:], written[1]]) + "}").encode())


def test_names_beyond_ascii_are_written_with_and_without_escapes() -> None:
    grammar = schema_grammar({"type": "object", "properties": {"é": True}, "additionalProperties": False})
    assert grammar is not None
    assert accepts(grammar, '{"é":1}'.encode())
    assert accepts(grammar, b'{"\\u00e9":1}')


SPELLED: Any = {
    "type": "object",
    "properties": {
        "s/é": {"enum": ["s/é"]},
        "text": {"type": "string"},
        "long": {"pattern": "^[a-z]", "maxLength": 99},
    },
    "additionalProperties": {"const": ["s"]},
}


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ('{"s/é":"s/é"}', True),
        ('{"s/\\u00e9":"s/\\u00e9"}', True),
        ('{"s/é":"s/\\u00e9"}', True),
        ('{"s/é":"\\u0073/é"}', False),
        ('{"\\u0073/é":"s/é"}', False),
        ('{"s/é":"s\\/é"}', False),
        ('{"s/\\u00E9":"s/é"}', False),
        ('{"text":"\\n\\u001f\\"é\\u00e9\\ud83d\\ude00\\u007f"}', True),
        ('{"text":"\\u000a"}', False),
        ('{"text":"\\/"}', False),
        ('{"text":"\\u0073"}', False),
        ('{"long":"abc\\u00e9"}', True),
        ('{"long":"\\u0061bc"}', False),
        ('{"other":["s"]}', True),
        ('{"other\\/":["s"]}', False),
        ('{"other":["\\u0073"]}', False),
    ],
)
def test_plain_spellings_are_those_of_json_dumps(text: str, is_plain: bool) -> None:
    assert Draft202012Validator(SPELLED).is_valid(json.loads(text))
    for lengthened in (SPELLED, {"anyOf": [SPELLED, {"type": "null"}]}):
        plain, every = (json_schema(lengthened, spellings=spellings).to_automaton() for spellings in ("plain", "all"))
        assert plain.accepts(text.encode()) == is_plain
        assert every.accepts(text.encode())


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), st.text() | st.integers()), st.booleans())
def test_what_json_dumps_writes_is_spelled_plainly(value: dict[str, Any], ascii_only: bool) -> None:
    assert FREE.accepts(json.dumps(value, ensure_ascii=ascii_only).encode())
    listed = json_schema({"const": value}).to_automaton()
    assert listed.accepts(json.dumps(value, ensure_ascii=ascii_only).encode())


def test_a_name_that_utf8_cannot_encode_is_escaped() -> None:
    for spellings in ("plain", "all"):
        found = json_schema({"required": ["\ud800"], "type": "object"}, spellings=spellings).to_automaton()
        assert found.accepts(b'{"\\ud800":1}')


@pytest.mark.parametrize("spellings", ["plain", "all"])
@pytest.mark.parametrize("name", ["\x7f", "a\x7fb", "\x7f\u00e9", "\x7f\ud800", "\u00e9\udc00\x7f", "\U0001f600\ud83d"])
def test_a_listed_name_is_spelled_as_python_and_javascript_write_it(name: str, spellings: Any) -> None:
    """Halves of surrogate pairs are escaped by `JSON.stringify`, and by `json.dumps` with `ensure_ascii`."""
    well_formed = re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", json.dumps(name, ensure_ascii=False))
    for schema in ({"properties": {name: {"type": "integer"}}, "additionalProperties": False}, {"const": {name: 1}}):
        found = json_schema({"type": "object", **schema}, spellings=spellings).to_automaton()
        for written in (json.dumps(name), well_formed):
            assert found.accepts(f"{{{written}: 1}}".encode())
            assert not found.accepts(f"{{{written}: true}}".encode())


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
def test_the_default_whitespace_takes_what_json_dumps_writes(indent: int | str | None) -> None:
    value = {"a": [1, {"b": [], "c": {}}], "d": {"e": [[[1]]]}}
    text = json.dumps(value, indent=indent).encode()
    free, tree = json_schema(True).to_visibly_pushdown(), json_schema({"type": "object"}).to_visibly_pushdown()
    assert accepts(free, text)
    assert accepts(tree, text)
    assert not accepts(free, b" " + text)
    assert not accepts(free, text.replace(b"1,", b"1 ,"))
    assert not accepts(free, text.replace(b"[]", b"[\n\n]"))


@pytest.mark.parametrize(
    ("whitespace", "right", "wrong"),
    [
        ("compact", b'{"a":[1,2]}', b'{"a": [1,2]}'),
        ("javascript", b'{"a":[1,2]}', b'{"a": [1,2]}'),
        ("python", b'{"a": [1, 2]}', b'{"a":[1,2]}'),
        ("flexible", b'{ "a" :\t[ 1\n,2 ] }', b'{"a":' + b" " * 9 + b"[1,2]}"),
        (Whitespace(), b'{"a":[1,2]}', b'{"a": [1,2]}'),
    ],
)
def test_whitespace_is_as_it_was_asked_for(whitespace: Any, right: bytes, wrong: bytes) -> None:
    grammar = json_schema(True, whitespace=whitespace).to_visibly_pushdown()
    assert accepts(grammar, right)
    assert not accepts(grammar, wrong)


def test_options_that_nobody_knows_are_errors() -> None:
    unknown: list[dict[str, Any]] = [
        {"whitespace": "wide"},
        {"draft": "draft3"},
        {"property_order": "other"},
        {"unsupported": "ignore"},
        {"spellings": "any"},
    ]
    for options in unknown:
        with pytest.raises(ValueError, match="not '"):
            json_schema(True, **options)
    wrong: Any = ["x"]
    for name in ("whitespace", "draft", "property_order", "spellings"):
        with pytest.raises(ValueError, match=rf"{name} is .*, not \['x'\]"):
            json_schema(True, **{name: wrong})
