"""The picture of an array's automaton accepts the arrays that the schema allows, and formulas read as what they say."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

from automata import LimitExceeded
from constraints.json_schema.containers import drawing
from constraints.json_schema.containers.drawing import draw_array
from constraints.json_schema.formulas import statements as of
from constraints.json_schema.formulas.connectives import FALSE, TRUE, And, Formula, Not, Or
from constraints.json_schema.formulas.notation import in_notation

INTEGERS = {"type": "integer"}
SCHEMAS: list[dict[str, Any]] = [
    {"items": INTEGERS, "contains": {"minimum": 10}, "minContains": 2},
    {"items": INTEGERS, "not": {"contains": {"minimum": 10}, "minContains": 2}},
    {"items": {**INTEGERS, "minimum": 5}, "minItems": 1, "maxItems": 3},
    {"items": INTEGERS, "contains": {"maximum": 0}, "maxContains": 1},
    {"items": INTEGERS, "oneOf": [{"contains": {"minimum": 10}}, {"contains": {"maximum": 0}}]},
]


def holds(label: str, value: int) -> bool:
    """Whether one of the lines of an arc's label is true of an integer."""
    lines = [line if line != "any" else "True" for line in label.split("\\n")]
    python = {"integer": "True", "≥": "value >=", "≤": "value <=", "∧": "and", "∨": "or", "¬": "not "}
    for word, meaning in python.items():
        lines = [line.replace(word, meaning) for line in lines]
    return any(eval(line, {"value": value}) for line in lines)


def accepts(dot: str, items: tuple[int, ...]) -> bool:
    """Whether a picture has a path for some items."""
    arcs = re.findall(r"(\d+) -> (\d+) \[label=\"(.*?)\"\]", dot)
    state = "0"
    for item in items:
        following = [target for source, target, label in arcs if source == state and holds(label, item)]
        assert len(following) <= 1, "an item takes one arc"
        if not following:
            return False
        (state,) = following
    return re.search(rf"^  {state} \[peripheries=2", dot, re.MULTILINE) is not None


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_picture_accepts_the_arrays_of_its_schema(schema: dict[str, Any]) -> None:
    dot, validator = draw_array(schema).dot, jsonschema.Draft202012Validator(schema)
    for length in range(5):
        for items in itertools.product((-1, 0, 5, 10, 12), repeat=length):
            assert accepts(dot, items) == validator.is_valid(list(items)), items


def test_a_legend_has_the_formula_of_each_state() -> None:
    dot = draw_array(SCHEMAS[0], title="two").dot
    assert "0: all items (integer) ∧ at least 2 items (≥ 10)\\l1: all items (integer) ∧ at least 1 items (≥ 10)" in dot


def test_large_automata_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MAX_STATES", 2)
    with pytest.raises(LimitExceeded, match="more than 2 states"):
        draw_array({"items": INTEGERS, "minItems": 4})


NOTATION: list[tuple[Formula, str]] = [
    (TRUE, "any"),
    (FALSE, "none"),
    (Or(Not(of.OfKind(of.Kind.NULL)), of.BooleanIs(True)), "(¬(null)) ∨ (true)"),
    (And(of.OfKind(of.Kind.NUMBER), of.IsInteger(), of.Maximum(Fraction(5, 2), True)), "integer ∧ < 2.5"),
    (And(of.OfKind(of.Kind.NUMBER), of.Minimum(Fraction(1), True)), "number ∧ > 1"),
    (of.NumberIn(frozenset({Fraction(2), Fraction(1)})), "1 or 2"),
    (of.StringIn(frozenset({"b", "a"})), '"a" or "b"'),
    (of.MultipleOf(Fraction(3)), "a multiple of 3"),
    (of.Pattern("^a"), "/^a/"),
    (of.Format("date"), "date"),
    (of.TextLength(1, None), "at least 1 characters"),
    (of.ItemAt(1, TRUE), "item 1 (any)"),
    (of.ItemsFrom(2, TRUE), "all items from 2 on (any)"),
    (of.Contains(TRUE, 0, 3), "0 to 3 items (any)"),
    (of.ItemCount(2, 2), "2 to 2 items"),
    (of.UniqueItems("/uniqueItems"), "all items differ"),
    (of.Members(of.StringIn(frozenset({"a"})), FALSE), 'members named "a" (none)'),
    (of.MemberCount(0, 1), "0 to 1 members"),
    (of.Reference("#"), "Reference('#')"),
]


@pytest.mark.parametrize(("formula", "written"), NOTATION, ids=[written for _, written in NOTATION])
def test_formulas_in_notation(formula: Formula, written: str) -> None:
    assert in_notation(formula) == written
