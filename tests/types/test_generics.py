"""`dataclass` of generic classes: variables in fields, in bases and in arguments, and `Self`."""

from __future__ import annotations

import dataclasses
from typing import Any, Generic, NamedTuple, Self, TypeVar

import pytest
from constructor_cases import accepts
from pydantic.dataclasses import dataclass as pydantic_dataclass

from automata.errors import UnsupportedSchema
from constraints import dataclass

T = TypeVar("T")
U = TypeVar("U")


@dataclasses.dataclass
class Base(Generic[T]):
    item: T


@dataclasses.dataclass
class Whole(Base[int]):
    name: str = ""


@dataclasses.dataclass
class Nested(Base[list[T]], Generic[T]):
    single: T


@dataclasses.dataclass(slots=True)
class Twice(Base[dict[str, U]], Generic[T, U]):
    single: T
    boxed: Base[T | None]


@dataclasses.dataclass
class Overridden(Base[int]):
    item: Any = dataclasses.field(default=None, init=False, repr=False)
    other: bool = False


@dataclasses.dataclass
class Tree(Generic[T]):
    value: T
    parts: list[Self] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Forest(Tree[int]):
    best: Base[Self] | None = None


class Named(NamedTuple, Generic[T]):
    item: T


class NamedWhole(Named[int]):
    pass


@pydantic_dataclass
class Checked(Generic[T]):
    item: T


@pydantic_dataclass
class CheckedWhole(Checked[int]):
    name: str = ""


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Whole, Whole(1, "a")),
        (Nested[int], Nested([1, 2], 3)),
        (Twice[bool, int], Twice[bool, int]({"a": 1}, True, Base(None))),
        (Overridden, Overridden(True)),
        (Tree[str], Tree("a", [Tree("b")])),
        (Forest, Forest(1, [Forest(2, [], Base(Forest(3)))])),
        (Base[Nested[int]], Base(Nested([], 1))),
        (NamedWhole, NamedWhole(1)),
        (CheckedWhole, CheckedWhole(1, "a")),
        (Base[CheckedWhole], Base(CheckedWhole(1))),
    ],
)
def test_instances_are_read_back_from_their_repr(annotation: Any, value: Any) -> None:
    assert dataclass(annotation).parse(repr(value)) == value


def test_a_variable_has_the_meaning_of_the_class_that_names_the_field() -> None:
    nested = "Nested(item=[1], single=1)", "Nested(item=1, single=1)", "Nested(item=[1], single=[1])"
    assert accepts(Nested[int], *nested) == [True, False, False]
    twice = "Twice(item={{'a': {}}}, single={}, boxed=Base(item={}))"
    texts = [twice.format(*given) for given in [(1, True, True), (True, True, True), (1, 1, True), (1, True, 1)]]
    assert accepts(Twice[bool, int], *texts) == [True, False, False, False]


def test_self_is_the_class_that_inherits_the_field() -> None:
    texts = "Forest(value=1, parts=[Forest(value=2)])", "Forest(value=1, parts=[Tree(value=2)])"
    assert accepts(Forest, *texts) == [True, False]
    assert accepts(Tree[int], "Tree(value=1, parts=[Tree(value='a')])") == [False]


def test_a_variable_without_a_type_and_self_within_an_argument_are_refused() -> None:
    @dataclasses.dataclass
    class Within:
        part: Base[list[Self]]

    with pytest.raises(UnsupportedSchema, match=r"~T has no constructor call that is known here \(at /Base/item\)"):
        dataclass(Base)
    with pytest.raises(UnsupportedSchema, match=r"Self in the arguments of .*Base.*: write the class.*/Within/part"):
        dataclass(Within)
