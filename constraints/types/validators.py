"""The validators of Pydantic's own types that its JSON Schemas do not describe.

A user's functions, such as an `AfterValidator`, check a text when it is parsed, and the user knows about them. Pydantic
also has functions of its own: those of `FilePath`, `Base64Str` or `ByteSize`, which accept only some of the strings
that the schema allows, and those for bounds of a union. `ImportString` even runs the module that a text names. So
functions of Pydantic are refused unless they are known to accept everything that the schema allows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from automata.errors import UnsupportedSchema

_MODULES = ("pydantic", "pydantic_extra_types", "ipaddress")
# Validators that accept all that their schemas allow. The schema of `EmailStr` has the format; its validator also asks
# the package email-validator.
_EXACT = {
    "GenerateSchema._path_schema.<locals>.path_validator",
    "IPv4Address",
    "ip_v4_address_validator",
    "IPv6Address",
    "ip_v6_address_validator",
    "EmailStr._validate",
    "SecretStr",
    "SecretBytes",
    "defaultdict_validator",
    "sequence_validator",
}
# Validators that are exact for a sequence, whose schema has the keyword for the length.
_LENGTHS = {"min_length_validator", "max_length_validator"}
# Keys of a core schema that do not apply to input in JSON, or say how values are written.
_ELSEWHERE = {"python_schema", "strict_schema", "serialization", "metadata"}


def check_validators(schema: Any) -> None:
    """Raise an error if one of Pydantic's own validators may accept less than its JSON Schema allows.

    Args:
        schema: the core schema of a type.

    Raises:
        UnsupportedSchema: a validator may do so; the error names it and the field.
    """
    for function, inner, pointer in _functions(schema):
        name = getattr(function, "__qualname__", "")
        is_own = str(getattr(function, "__module__", "")).partition(".")[0] in _MODULES
        if not is_own or name in _EXACT or (name in _LENGTHS and _is_sequence(inner)):
            continue
        raise UnsupportedSchema(f"no automaton holds what Pydantic checks by {name}", pointer=pointer)


def _functions(schema: Any) -> Iterator[tuple[Callable[..., Any], Any, str]]:
    """Yield each function that validates input from JSON, the core schema that it wraps, and the field."""
    waiting: list[tuple[Any, str]] = [(schema, "")]
    seen = set[int]()
    while waiting:
        at, pointer = waiting.pop()
        if isinstance(at, list | tuple):
            waiting += [(one, pointer) for one in at]
        if not isinstance(at, dict) or id(at) in seen:
            continue
        seen.add(id(at))
        if str(at.get("type")).startswith("function-"):
            yield _unwrapped(at["function"]["function"]), at.get("schema"), pointer
        if isinstance(fields := at.get("fields"), dict):
            waiting += [(field, f"{pointer}/{name}") for name, field in fields.items()]
        elif isinstance(fields, list):
            waiting += [(field, f"{pointer}/{field['name']}") for field in fields if isinstance(field, dict)]
        waiting += [(inner, pointer) for key, inner in at.items() if key != "fields" and key not in _ELSEWHERE]


def _unwrapped(function: Any) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    found: Callable[..., Any] = function
    return found


def _is_sequence(schema: Any) -> bool:
    """Return whether a core schema is that of `Sequence`, with or without bounds on the length."""
    while str(schema.get("type")).startswith("function-"):
        schema = schema.get("schema", {})
    read: Any = schema.get("json_schema", {})
    return bool(read.get("type") == "list")
