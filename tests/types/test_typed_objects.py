"""JSON objects: parameters of functions with `Field(...)`, extra members, and settings of serializers."""

from __future__ import annotations

import json
from itertools import product
from typing import Annotated, Any

import pydantic
import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from automata.errors import UnsupportedSchema
from constraints.tools import tool_calls
from constraints.types import Typed, typed

TAGS: Any = Field(default_factory=list, max_length=1)


def weather(
    city: str = Field(description="name", min_length=2),
    days: int = Field(1, ge=1, le=14),
    tags: list[str] = TAGS,
) -> tuple[str, int, list[str]]:
    return city, days, tags


CITIES: list[dict[str, Any]] = [{}, {"city": "Oslo"}, {"city": "O"}]
DAYS: list[dict[str, Any]] = [{}, {"days": 3}, {"days": 99}]
LISTS: list[dict[str, Any]] = [{}, {"tags": ["a"]}, {"tags": ["a", "b"]}]
ARGUMENTS = [city | days | tags for city, days, tags in product(CITIES, DAYS, LISTS)]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=json.dumps)
def test_field_in_place_of_a_default(arguments: dict[str, Any]) -> None:
    constraint = typed(weather)
    try:
        expected = pydantic.validate_call(weather)(**arguments)
    except ValidationError:
        assert not constraint.allows(json.dumps(arguments))
    else:
        assert weather(**constraint.parse(json.dumps(arguments))) == expected


def test_field_in_place_of_a_default_in_calls() -> None:
    def named(name: str = Field(min_length=2)) -> None: ...

    (call,) = tool_calls([weather], format="llama").parse('{"name": "weather", "parameters": {"city": "Oslo"}}')
    assert weather(**call.arguments) == ("Oslo", 1, [])
    calls = tool_calls([named], format="pythonic")
    assert [calls.allows(text) for text in ('[named(name="ab")]', '[named(name="a")]', "[named()]")] == [
        True,
        False,
        False,
    ]
    with pytest.raises(UnsupportedSchema, match=r"not filled in here.*\(at /days"):
        tool_calls([weather], format="pythonic")


class ByName(BaseModel):
    model_config = ConfigDict(extra="allow", validate_by_name=True)

    a: int = Field(1, alias="b")


class ByOldName(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True)

    a: int = Field(1, alias="b")


class Choices(BaseModel):
    model_config = ConfigDict(extra="allow")

    a: int = Field(1, validation_alias=AliasChoices("b", "c", AliasPath("d", 0)))


class Short(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Annotated[str, Field(max_length=2)], int]

    long: int = 1


@pytest.mark.parametrize("model", [ByName, ByOldName, Choices, Short], ids=str)
def test_extra_members_are_read(model: Any) -> None:
    constraint = typed(model)
    for names in product(["a", "b", "c", "d", "ef", "long", "longer"], ["", "zz"]):
        for value in (1, "x", ["x"]):
            text = json.dumps({name: value if place == 0 else 2 for place, name in enumerate(names) if name})
            if constraint.allows(text):
                constraint.parse(text)
    assert constraint.allows('{"ef": 1}')


def test_names_of_extra_members() -> None:
    short = typed(Short)
    assert [short.allows(text) for text in ('{"ab": 1}', '{"abc": 1}', '{"long": 1}')] == [True, False, True]
    refused = ['{"a": "x"}', '{"b": 1, "a": 1}']
    assert not any(typed(ByName).allows(text) for text in refused)
    assert not any(typed(Choices).allows(text) for text in ('{"c": "x"}', '{"d": ["x"]}'))


def test_fields_that_are_read_from_one_name() -> None:
    class Swapped(BaseModel):
        model_config = ConfigDict(validate_by_name=True)

        x: int = Field(1, alias="y")
        y: str = Field("", alias="x")

    with pytest.raises(UnsupportedSchema, match="two fields are read from 'x'"):
        typed(Swapped)


class Hexadecimal(BaseModel):
    model_config = ConfigDict(ser_json_bytes="hex")

    value: bytes


class Infinite(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")

    value: float


class Finite(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="constants")

    value: float = Field(allow_inf_nan=False)
    share: float = Field(0.5, ge=0, le=1)


@pytest.mark.parametrize(("model", "option"), [(Hexadecimal, "ser_json_bytes"), (Infinite, "ser_json_inf_nan")])
def test_what_is_not_written_as_it_is_read_is_refused(model: Any, option: str) -> None:
    with pytest.raises(UnsupportedSchema, match=option) as caught:
        typed(model)
    assert caught.value.pointer == "/value"


def test_settings_for_infinities_do_not_matter_without_any() -> None:
    constraint: Typed[Finite] = typed(Finite)
    value = Finite(value=1e300, share=0.5)
    assert constraint.parse(TypeAdapter(Finite).dump_json(value).decode()) == value
