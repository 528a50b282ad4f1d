"""Sets of records: those whose items have a hash are read, and the others are refused."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple

import pydantic
import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, model_validator
from typing_extensions import TypeAliasType

from automata.errors import UnsupportedSchema
from constraints.types import dataclass, typed


@dataclasses.dataclass(frozen=True)
class Flat:
    x: int
    notes: list[int] = dataclasses.field(default_factory=list, compare=False)


@dataclasses.dataclass(frozen=True)
class Listed:
    x: list[int]


@pydantic.dataclasses.dataclass(frozen=True)
class Checked:
    x: dict[str, int] = Field(alias="y")


@dataclasses.dataclass(frozen=True)
class Own:
    x: list[int]

    def __hash__(self) -> int:
        return len(self.x)


@dataclasses.dataclass(frozen=True)
class Nested:
    inner: tuple[Listed, ...]


@dataclasses.dataclass(frozen=True)
class Tree:
    kids: frozenset[Tree]


class Row(NamedTuple):
    x: list[int]


class Pair(NamedTuple):
    x: int
    y: Flat


class Model(BaseModel):
    model_config = ConfigDict(frozen=True)

    x: list[int]

    @model_validator(mode="after")
    def same(self) -> Model:
        return self


class Number(RootModel[int]):
    model_config = ConfigDict(frozen=True)


class Numbers(RootModel[list[int]]):
    model_config = ConfigDict(frozen=True)


@pytest.mark.parametrize("item", [Listed, Checked, Nested, Row], ids=str)
@pytest.mark.parametrize("collection", [set, frozenset])
def test_items_whose_fields_have_no_hash_are_refused(item: Any, collection: Any) -> None:
    for constraint in (typed, dataclass):
        with pytest.raises(UnsupportedSchema, match="hashable"):
            constraint(collection[item])


@pytest.mark.parametrize("item", [Model, Numbers], ids=str)
def test_models_whose_fields_have_no_hash_are_refused(item: Any) -> None:
    with pytest.raises(UnsupportedSchema, match="hashable"):
        typed(set[item])


def test_items_that_have_a_hash_are_read() -> None:
    assert typed(set[Flat]).parse('[{"x": 1}, {"x": 1, "notes": [2]}]') == {Flat(1)}
    assert typed(set[Pair]).parse('[[1, {"x": 2}]]') == {Pair(1, Flat(2))}
    assert typed(set[Own]).parse('[{"x": []}]') == {Own([])}
    assert typed(set[Number]).parse("[1, 1]") == {Number(1)}
    converted: Any = set[Annotated[list[int], AfterValidator(tuple)]]
    assert typed(converted).parse("[[1]]") == {(1,)}
    assert dataclass(set[Flat]).parse("{Flat(x=1), Flat(x=1, notes=[2])}") == {Flat(1)}
    assert dataclass(dict[Own, int]).parse("{Own(x=[]): 1}") == {Own([]): 1}


def test_recursive_records_in_sets() -> None:
    one = Tree(frozenset({Tree(frozenset())}))
    assert typed(Tree).parse('{"kids": [{"kids": []}]}') == one
    assert dataclass(Tree).parse(repr(one)) == one


Name = TypeAliasType("Name", Annotated[str, Field(min_length=1)])


class Shared(BaseModel):
    items: set[Flat]
    item: Flat
    named: dict[Name, int]
    name: Name


def test_definitions_that_are_used_twice() -> None:
    text = '{"items": [{"x": 1}], "item": {"x": 2}, "named": {"a": 1}, "name": "b"}'
    constraint = typed(Shared)
    assert constraint.parse(text) == Shared(items={Flat(1)}, item=Flat(2), named={"a": 1}, name="b")
    assert not constraint.allows(text.replace('"a"', '""'))
