"""Defaults that are not values of their field's type: Pydantic and dataclasses do not check them, so an instance that
has one may not survive the round trip."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import warnings
from typing import Any

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from automata import TextNotAllowed
from constraints.types import dataclass, typed


class Color(enum.Enum):
    RED = "red"


class Missing(BaseModel):
    value: int = None  # type: ignore[assignment]


class Dated(BaseModel):
    value: datetime.date = "2020-01-01"  # type: ignore[assignment]


class Repeated(BaseModel):
    value: set[int] = [1, 1]  # type: ignore[assignment]


class Named(BaseModel):
    model_config = ConfigDict(use_enum_values=True)

    value: Color = Color.RED


@dataclasses.dataclass
class Plain:
    value: int = None  # type: ignore[assignment]


@dataclasses.dataclass
class Valid:
    value: int = 1


def survives(cls: Any) -> bool:
    """Whether Pydantic reads what it writes for the default as an equal instance."""
    adapter, instance = TypeAdapter(cls), cls()
    try:
        return bool(adapter.validate_json(_written(cls)) == instance)
    except ValidationError:
        return False


def _written(cls: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pydantic says that the default is not of its type
        return TypeAdapter(cls).dump_json(cls()).decode()


def test_a_default_of_the_type_survives() -> None:
    assert survives(Valid)
    assert typed(Valid).parse(_written(Valid)) == dataclass(Valid).parse(repr(Valid())) == Valid()


@pytest.mark.parametrize("cls", [Missing, Dated, Repeated, Named, Plain])
def test_defaults_of_other_types_do_not_survive_as_json(cls: Any) -> None:
    constraint, text = typed(cls), _written(cls)
    assert not survives(cls)
    assert not constraint.allows(text) or constraint.parse(text) != cls()
    assert constraint.parse("{}") == cls()


@pytest.mark.parametrize("decorator", [dataclasses.dataclass, pydantic.dataclasses.dataclass])
def test_defaults_of_other_types_do_not_survive_as_calls(decorator: Any) -> None:
    cls = decorator(type("Plain", (), {"__annotations__": {"value": int}, "value": None}))
    constraint = dataclass(cls)
    with pytest.raises(TextNotAllowed, match="None is not int"):
        constraint.parse("Plain(value=None)")
    assert repr(cls()).endswith("Plain(value=None)")
    assert constraint.parse("Plain()") == cls()
