"""Errors about types: hints if something other than a type is passed, and the places of fields."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from types import ModuleType
from typing import Any

from automata.errors import SchemaError

# The message for a type that exceeds Python's recursion limit.
TOO_DEEP = "the type is nested too deeply, or refers to itself with ever larger arguments"

# Instances of these are never types; instances of other classes may be, such as `typing.Annotated[...]`.
_VALUES = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, Enum)
_MORE_VALUES = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID)


def check_annotation(annotation: Any) -> None:
    """Raise an error with a hint if the argument is a value and not a type.

    Raises:
        TypeError: the argument is a dict, an instance of a dataclass or of a Pydantic model, or another value.
    """
    if isinstance(annotation, ModuleType):
        raise TypeError(f"{annotation.__name__!r} is a module, and not a type")
    if isinstance(annotation, Mapping):
        raise TypeError("a dict is not a type; a JSON Schema is read by json_schema(...)")
    cls = type(annotation)
    is_instance = dataclasses.is_dataclass(cls) or hasattr(cls, "__pydantic_fields__")
    if is_instance or isinstance(annotation, _VALUES + _MORE_VALUES):
        shown = repr(annotation)
        shown = shown if len(shown) <= 60 else f"a value of type {cls.__name__}"
        raise TypeError(f"{shown} is a value, and not a type: write the type, such as {cls.__name__}")


@contextmanager
def errors_at(place: str) -> Iterator[None]:
    """Add a field to the pointers of errors raised in the `with` block."""
    try:
        yield
    except SchemaError as error:
        raise type(error)(error.reason, pointer=place + error.pointer, keyword=error.keyword) from None
