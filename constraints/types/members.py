"""Values of a Literal and members of an Enum: their JSON as values and as keys, and whether Pydantic reads it back.

Whether Pydantic reads what it writes is tested with Pydantic itself, value by value: tuples are read as lists, and
members of an Enum in a Literal are not read at all.
"""

from __future__ import annotations

from enum import Flag
from typing import Any

from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticSerializationError, SchemaValidator, core_schema, from_json, to_json

from automata.errors import UnsatisfiableSchema, UnsupportedSchema

_MAX_FLAGS = 8


def values_schema(schema: Any) -> JsonSchemaValue:
    """Return the schema of the values of a Literal or an Enum; integers are listed separately, with their type.

    Raises:
        UnsatisfiableSchema: there are no values.
        UnsupportedSchema: a value is read as something other than what was written.
    """
    if not members_of(schema):
        raise UnsatisfiableSchema(f"{schema['cls'].__name__} has no members")
    reader = SchemaValidator(schema)
    integers: list[Any] = []
    others: list[Any] = []
    for value in members_of(schema):
        written = _json(value)
        if not _same(_read(reader, written), value):
            raise UnsupportedSchema(f"{value!r} is written as {written.decode()}, which is read as something else")
        if (digits := _digits(value)) and not _same(_read(reader, digits), value):
            raise UnsupportedSchema(f"{value!r} is also written as {digits.decode()}, which is not read")
        is_integer = type(getattr(value, "value", value)) is int or (isinstance(value, int) and type(value) is not bool)
        (integers if is_integer else others).append(from_json(written))
    found: list[JsonSchemaValue] = [{"type": "integer", "enum": integers}] if integers else []
    found += [{"enum": others}] if others else []
    return found[0] if len(found) == 1 else {"anyOf": found}


def keys_of(schema: Any) -> set[str]:
    """Return the keys that Pydantic writes for the values of a Literal or an Enum.

    Raises:
        UnsupportedSchema: a key is read as something else; or a Flag has too many combinations.
    """
    reader = SchemaValidator(core_schema.dict_schema(keys_schema=schema))
    names = set[str]()
    for value in members_of(schema):
        written = _json({value: None})
        found = _read(reader, written)
        if not (isinstance(found, dict) and _same(next(iter(found)), value)):
            raise UnsupportedSchema(f"{value!r} is written as {written.decode()}, which is read as something else")
        names |= from_json(written).keys()
    return names


def _json(value: Any) -> bytes:
    """Return the JSON of a value.

    Raises:
        UnsupportedSchema: the value has no JSON.
    """
    try:
        return to_json(value)
    except PydanticSerializationError as error:
        raise UnsupportedSchema(str(error)) from None


def _digits(value: Any) -> bytes:
    """Return the JSON of a float that is a whole number, without an exponent or a point; b"" for other values."""
    number = getattr(value, "value", value)
    return str(int(number)).encode() if isinstance(number, float) and number.is_integer() else b""


def _read(reader: SchemaValidator, written: bytes) -> Any:
    try:
        return reader.validate_json(written)
    except ValueError:
        return _NOTHING


_NOTHING = object()


def _same(found: Any, value: Any) -> bool:
    return type(found) is type(value) and bool(found == value)


def members_of(schema: Any) -> list[Any]:
    """Return the values of a Literal, the members of an Enum, and all combinations of a Flag's.

    Raises:
        UnsupportedSchema: a Flag has too many combinations.
    """
    if schema["type"] == "literal":
        return list(schema["expected"])
    members: list[Any] = list(schema["members"])
    if not issubclass(schema["cls"], Flag):
        return members
    if len(members) > _MAX_FLAGS:
        raise UnsupportedSchema(f"combinations of more than {_MAX_FLAGS} flags", keyword=schema["cls"].__name__)
    found = {schema["cls"](0): None}
    for member in members:
        found |= {earlier | member: None for earlier in found}
    return list(found)
