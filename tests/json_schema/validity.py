"""Whether a value, or a text, is valid: what the `jsonschema` package says, made exact.

Numbers are exact: those in a text are read as integers and fractions, whatever their size, and so are those of the
schema. Patterns are what `schema_strategies.PATTERNS` says they are in Python, whose `$` and `.` mean something else;
others must mean the same in Python.
Formats count for nothing here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from schema_strategies import PATTERNS

MOST_DIGITS: Final = 400
_VALIDATORS: Final[dict[str, Any]] = {
    "draft4": Draft4Validator,
    "draft6": Draft6Validator,
    "draft7": Draft7Validator,
    "draft2019-09": Draft201909Validator,
    "draft2020-12": Draft202012Validator,
}


class TooLarge(ValueError):
    """A number with an exponent that no oracle wants to write out."""


def number(text: str) -> Fraction:
    """The number that a text denotes.

    Raises:
        TooLarge: the exponent is large.
    """
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent[:10])) > MOST_DIGITS:
        raise TooLarge(text)
    return Fraction(text)


def read(text: str | bytes) -> Any:
    """The value of a JSON text, with numbers that have a fraction or an exponent as `Fraction`.

    Raises:
        TooLarge: a number's exponent is large.
        ValueError: the text is not JSON.
    """

    def no_constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_float=number, parse_constant=no_constant)


def exact(value: Any) -> Any:
    """The value with floats as fractions, taken as they are written, and patterns as Python means them."""
    if isinstance(value, float):
        return Fraction(str(value))
    if isinstance(value, list):
        return [exact(part) for part in value]
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    return value


def _in_python(schema: Any) -> Any:
    """The schema with its patterns as Python writes them, and never empty: to the package an empty one may be none."""
    if isinstance(schema, list):
        return [_in_python(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if not schema:
        return {"description": ""}
    found = {name: part if name in ("const", "enum") else _in_python(part) for name, part in schema.items()}
    if isinstance(pattern := found.get("pattern"), str):
        found["pattern"] = PATTERNS.get(pattern, pattern)
    if isinstance(members := found.get("patternProperties"), dict):
        found["patternProperties"] = {PATTERNS.get(name, name): part for name, part in members.items()}
    return found


@cache
def _validator_class(draft: str) -> Any:
    original = _VALIDATORS[draft]

    def is_integer(_: Any, value: Any) -> bool:
        if isinstance(value, bool):
            return False
        return isinstance(value, int) or (draft != "draft4" and isinstance(value, Fraction) and value.denominator == 1)

    types = original.TYPE_CHECKER.redefine("integer", is_integer)
    own = {"uniqueItems": _unique_items}
    if draft == "draft2019-09":  # its own takes the keywords of a schema in `additionalProperties` for names
        own["unevaluatedProperties"] = Draft202012Validator.VALIDATORS["unevaluatedProperties"]
    return extend(original, own, type_checker=types)


def _unique_items(checker: Any, wanted: bool, value: Any, _: Any) -> Iterator[ValidationError]:
    """Compares every two items: the package's own sorts them, and true beside 1 deep inside them confuses it."""
    if wanted and checker.is_type(value, "array"):
        kept = [json.dumps(_sorted(item)) for item in value]
        if len(set(kept)) < len(kept):
            yield ValidationError("two items are equal")


def _sorted(value: Any) -> Any:
    """A value that is written as just the values equal to it are."""
    if isinstance(value, list):
        return [_sorted(part) for part in value]
    if isinstance(value, dict):
        return {name: _sorted(part) for name, part in sorted(value.items())}
    return {"": str(Fraction(value))} if isinstance(value, int | Fraction) and not isinstance(value, bool) else value


def validator(schema: Any, draft: str) -> Any:
    """An object whose `is_valid(value)` says whether an exact value is valid."""
    kind = _validator_class(draft)
    kind.check_schema(schema)
    return kind(exact(_in_python(schema)))
