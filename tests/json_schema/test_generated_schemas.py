"""Schemas and automata, both ways, on random schemas: what an automaton writes is valid, what is valid it reads.

The oracle is the `jsonschema` package (`validity`). A schema that is refused, because a keyword cannot be held exactly
or because a reference leads to itself, tells nothing; most must not be.

A value stands for its texts: with members in any order its own text alone, in the schema's order those with its members
in every order, of which some must be accepted. Texts that name a member twice are left out: JSON leaves open what they
mean.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_strategies import schemas, values
from text_walks import Walker
from validity import TooLarge, exact, read, validator
from value_orders import has_few_orders, orders

from automata import LimitExceeded, Limits
from automata.byte_automaton import ByteAutomaton
from automata.errors import SchemaError, UnsatisfiableSchema
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from constraints import json_schema

# Draft, order of members, and how many schemas.
RUNS: Final = (
    ("draft2020-12", "schema", 40),
    ("draft2020-12", "any", 20),
    ("draft2019-09", "schema", 20),
    ("draft7", "any", 20),
    ("draft6", "schema", 20),
    ("draft4", "schema", 20),
)
LIMITS: Final = Limits(states=20_000)


class Refused(Exception):
    """The schema has no automaton."""


def compiled(schema: Any, draft: Any, order: Any) -> ByteAutomaton | PushdownAutomaton | None:
    """The automaton; None where no value is valid.

    Raises:
        Refused: the schema is refused, or takes more than `LIMITS`.
    """
    try:
        return json_schema(schema, draft=draft, property_order=order).to_automaton(Work(LIMITS))
    except UnsatisfiableSchema:
        return None
    except (SchemaError, LimitExceeded) as error:
        raise Refused from error


def accepted(automaton: ByteAutomaton | PushdownAutomaton | None, value: Any, order: str) -> bool:
    """Whether some text of a value is accepted."""
    if automaton is None:
        return False
    variants = [value] if order == "any" else orders(value)
    return any(automaton.accepts(json.dumps(variant).encode()) for variant in variants)


def has_twice(text: str) -> bool:
    """Whether some object in a text has two members of one name."""
    found = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found = found or len({name for name, _ in pairs}) < len(pairs)
        return dict(pairs)

    json.loads(text, object_pairs_hook=members)
    return found


def written(automaton: ByteAutomaton | PushdownAutomaton, seed: int) -> Iterator[str]:
    """Random texts, each without a name that is there twice."""
    walker, generator = Walker(automaton), Random(seed)
    for length in (4, 12, 30, 60):
        text = walker.random(generator, length)
        if text is not None and not has_twice(text.decode()):
            yield text.decode()


@pytest.mark.parametrize(("draft", "order", "count"), RUNS)
def test_what_is_written_is_valid(draft: str, order: str, count: int) -> None:
    seen = Counter[str]()

    @given(schemas(draft), st.integers(0, 2**32))
    @settings(max_examples=count)
    def check(schema: Any, seed: int) -> None:
        try:
            automaton = compiled(schema, draft, order)
        except Refused:
            seen["refused"] += 1
            return
        if automaton is None:
            return
        oracle = validator(schema, draft)
        for text in written(automaton, seed):
            try:
                value = read(text)
            except TooLarge:
                continue
            seen["texts"] += 1
            assert oracle.is_valid(value), text

    check()
    assert seen["texts"] > count
    assert seen["refused"] < count / 4


@pytest.mark.parametrize(("draft", "order", "count"), RUNS)
def test_what_is_valid_is_read_and_nothing_else(draft: str, order: str, count: int) -> None:
    seen = Counter[Any]()

    @given(st.data())
    @settings(max_examples=count)
    def check(data: st.DataObject) -> None:
        schema = data.draw(schemas(draft))
        try:
            automaton = compiled(schema, draft, order)
        except Refused:
            seen["refused"] += 1
            return
        oracle = validator(schema, draft)
        for value in filter(has_few_orders, data.draw(st.lists(values(schema), min_size=1, max_size=4))):
            valid = oracle.is_valid(exact(value))
            seen[valid] += 1
            assert accepted(automaton, value, order) == valid, value

    check()
    assert min(seen[True], seen[False]) > count / 4
    assert seen["refused"] < count / 4


@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_schema_or_its_negation_holds(order: str) -> None:
    seen = Counter[bool]()

    @given(st.data())
    @settings(max_examples=25)
    def check(data: st.DataObject) -> None:
        schema = data.draw(schemas())
        definitions = {"$defs": schema["$defs"]} if isinstance(schema, dict) and "$defs" in schema else {}
        try:
            automaton = compiled(schema, "draft2020-12", order)
            negation = compiled({"not": schema, **definitions}, "draft2020-12", order)
        except Refused:
            return
        for value in filter(has_few_orders, data.draw(st.lists(values(schema), min_size=1, max_size=4))):
            holds = accepted(automaton, value, order)
            seen[holds] += 1
            assert holds != accepted(negation, value, order), value

    check()
    assert min(seen[True], seen[False]) > 4
