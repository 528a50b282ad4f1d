"""Types that have no constraint are refused by name, and large ones take time in proportion to their size."""

from __future__ import annotations

import abc
import dataclasses
import enum
import math
import time
from collections.abc import Callable
from decimal import Decimal
from types import GenericAlias
from typing import Annotated, Any, Literal, NamedTuple

import pydantic
import pytest

from automata.errors import TextNotAllowed, UnsupportedSchema
from constraints import dataclass, integer, json_schema, typed


@dataclasses.dataclass
class OwnArguments:
    x: int

    def __init__(self, value: int) -> None:
        self.x = value


@dataclasses.dataclass(init=False)
class WithoutConstructor:
    x: int


@dataclasses.dataclass
class Abstract(abc.ABC):
    x: int

    @abc.abstractmethod
    def answer(self) -> int: ...


@dataclasses.dataclass
class Base:
    x: int


class OwnSubclass(Base):
    def __init__(self) -> None:
        super().__init__(1)


@dataclasses.dataclass
class AnyArguments:
    x: int

    def __init__(self, **fields: Any) -> None:
        self.x = fields["x"]


@dataclasses.dataclass
class MoreArguments:
    x: int

    def __init__(self, x: int, y: int = 2) -> None:
        self.x = x + y - 2


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Float:
    x: float


# Hints that are not those of any type.
HINTS = ["dt.nope", "1+", "1/0"]


@pytest.mark.parametrize("cls", [OwnArguments, WithoutConstructor, OwnSubclass])
def test_a_constructor_that_does_not_take_the_fields_is_refused(cls: type) -> None:
    with pytest.raises(UnsupportedSchema, match=f"a constructor of its own.*'x' differs .at /{cls.__name__}"):
        dataclass(cls)


def test_an_abstract_class_is_refused() -> None:
    with pytest.raises(UnsupportedSchema, match="the class is abstract"):
        dataclass(Abstract)


@pytest.mark.parametrize("cls", [AnyArguments, MoreArguments, Point, Base])
def test_a_constructor_that_takes_the_fields_is_not_refused(cls: Any) -> None:
    assert dataclass(cls).parse(f"{cls.__name__}(x=1)").x == 1


def test_members_that_are_no_names_are_refused() -> None:
    for names in (["a-b"], ["class"], ["1"], ["ok", "a b"]):
        with pytest.raises(UnsupportedSchema, match="and no name in Python"):
            dataclass(enum.Enum("E", names))


@pytest.mark.parametrize("make", [typed, dataclass])
@pytest.mark.parametrize("hint", HINTS)
def test_hints_that_cannot_be_read_are_refused(make: Callable[[Any], object], hint: str) -> None:
    with pytest.raises(UnsupportedSchema):
        make(dataclasses.make_dataclass("Hinted", [("x", hint)]))


@pytest.mark.parametrize("make", [typed, dataclass])
def test_types_that_are_nested_too_deeply_are_refused(make: Callable[[Any], object]) -> None:
    nested: Any = int
    for _ in range(3000):
        nested = list[nested]
    with pytest.raises(UnsupportedSchema, match="nested too deeply"):
        make(nested)


def test_a_literal_of_nothing_is_refused() -> None:
    with pytest.raises(UnsupportedSchema, match="Pydantic cannot read the type"):
        typed(Literal[()])


def test_integers_beyond_all_floats_are_infinite() -> None:
    digits = "1" + "0" * 400
    assert dataclass(Float).parse(f"Float(x={digits})").x == math.inf
    assert dataclass(Float).parse(f"Float(x=-{digits})").x == -math.inf


def test_a_key_without_a_hash_is_refused() -> None:
    keys = typed(dict[Annotated[Decimal, pydantic.Field(allow_inf_nan=True)], int])
    with pytest.raises(TextNotAllowed, match="Cannot hash"):
        keys.value('{"sNaN": 1}')
    with pytest.raises(TextNotAllowed, match="Cannot hash"):
        keys.parse('{"sNaN": 1}')
    assert keys.allows('{"NaN": 1}')


def test_what_python_cannot_read_is_not_called_forbidden() -> None:
    assert integer().allows("1" * 5000)
    with pytest.raises(TextNotAllowed, match="Python cannot read it"):
        integer().parse("1" * 5000)


def test_long_lists_take_time_in_proportion_to_their_length() -> None:
    began = time.process_time()
    numbers = range(7, 12_000, 3)
    listed = json_schema({"type": "integer", "enum": list(numbers)}, integers="digits").to_automaton()
    assert all(listed.accepts(str(number)) == (number in numbers) for number in range(1000))
    assert not any(map(listed.accepts, ("7.0", "07", "7e0", "-7")))
    make: Any = enum.Enum
    members = make("Number", {f"k{number}": number for number in numbers})
    typed(members)
    names = make("Name", {f"k{number}": f"k{number}" for number in numbers})
    keys = typed(GenericAlias(dict, (names, int)))
    assert keys.parse('{"k10": 1}') == {names.k10: 1}
    assert time.process_time() - began < 20  # minutes, if it were quadratic
