"""Enums of many arrays and objects: the texts of their values, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, Literal

import pytest

from constraints import json_schema

MAKERS: dict[str, Callable[[int], Any]] = {
    "arrays": lambda number: [number, number % 3],
    "arrays that begin alike": lambda number: [number // 40, number],
    "arrays of several lengths": lambda number: [number] * (number % 3),
    "all scalars": lambda number: [[number, str(number), None, number % 8 == 3][number % 4], number],
    "nested arrays": lambda number: [number, [[number % 5], number]],
    "objects": lambda number: {"a": number, "b": [number]},
    "objects of several names": lambda number: {"id": str(number), "abc"[number % 3]: number % 2},
}
COUNT = 600


@pytest.mark.parametrize("order", ["schema", "any-if-cheap"])
@pytest.mark.parametrize("name", MAKERS)
def test_many_arrays_and_objects(name: str, order: Literal["schema", "any-if-cheap"]) -> None:
    make, draw = MAKERS[name], Random(name)
    texts = {json.dumps(make(number)) for number in range(COUNT)}
    constraint = json_schema({"enum": [json.loads(text) for text in texts]}, property_order=order)
    assert all(map(constraint.allows, texts))
    for number in range(COUNT):
        # Parts of two values, and values beyond the last one.
        parts, others = make(number), make(draw.randrange(2 * COUNT))
        mixed = {**others, **parts} if isinstance(parts, dict) else [*parts[:1], *others[1:]]
        text = json.dumps(mixed)
        assert constraint.allows(text) == (text in texts), text
