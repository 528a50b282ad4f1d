"""Find out which values are hashable, so that they can be items of sets, from Pydantic's core schemas and classes.

The hash of an instance of a frozen class is made of those of its fields, unless the class defines its own, which is
trusted. The value that a user's function makes of a list, a set or a dict is also trusted to be hashable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_UNHASHABLE = ("any", "list", "dict", "set", "typed-dict", "deque", "default-dict", "json-or-python")
_CHANGING = ("function-after", "function-wrap")
_WRAPPING = ("nullable", "default", "definitions", "function-before", *_CHANGING)
_CLASSES = ("model", "dataclass", "named-tuple")


def hashed_fields(cls: Any) -> Collection[str] | None:
    """Return the names of the fields on which the hash of an instance depends; None if instances are not hashable."""
    own = getattr(cls, "__hash__", None)
    if own is None:
        return None
    if own is tuple.__hash__:
        return tuple(cls._fields)
    if str(getattr(own, "__module__", "")).startswith("pydantic."):
        return tuple(cls.__pydantic_fields__)
    # `dataclasses` compiles the methods that it makes from text.
    if dataclasses.is_dataclass(cls) and getattr(getattr(own, "__code__", None), "co_filename", "") == "<string>":
        fields = dataclasses.fields(cls)
        return [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    return ()


def is_hashable(schema: Any, definitions: Mapping[str, Any]) -> bool:
    """Return whether all values of a core schema are hashable; it may refer to definitions."""
    waiting = [schema]
    seen = set[str]()
    while waiting:
        part = waiting.pop()
        kind = part["type"]
        if kind in _UNHASHABLE or (kind in _CLASSES and hashed_fields(part["cls"]) is None):
            return False
        if kind != "definition-ref":
            waiting += _parts(part)
        elif part["schema_ref"] not in seen:
            seen.add(part["schema_ref"])
            waiting.append(definitions[part["schema_ref"]])
    return True


def _parts(schema: Any) -> Iterator[Any]:
    """Yield the core schemas of the values on which the hash of a value depends."""
    kind = schema["type"]
    if kind in _CLASSES:
        fields = _fields(schema)
        yield from (fields[name] for name in hashed_fields(schema["cls"]) or () if name in fields)
    elif kind in ("tuple", "union", "tagged-union"):
        inner = schema.get("items_schema", schema.get("choices"))
        for one in inner.values() if isinstance(inner, dict) else inner:
            yield one[0] if isinstance(one, tuple) else one
    elif kind in _WRAPPING and not (kind in _CHANGING and schema["schema"]["type"] in _UNHASHABLE):
        yield schema["schema"]


def _fields(schema: Any) -> dict[str, Any]:
    """Return the core schemas of the fields of a class."""
    if schema.get("root_model"):
        return {"root": schema["schema"]}
    inner = schema
    while inner["type"] not in ("model-fields", "dataclass-args", "named-tuple"):
        inner = inner["schema"]
    fields = inner["fields"]
    named = fields.items() if isinstance(fields, dict) else [(field["name"], field) for field in fields]
    return {name: field["schema"] for name, field in named}
