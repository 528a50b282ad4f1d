"""Bounds of numbers in Pydantic's core schemas: as fractions, as JSON Schema keywords, as texts; decimal digits."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from pydantic.json_schema import JsonSchemaValue

from automata.errors import UnsupportedSchema
from automata.expressions import Expr
from automata.pattern import parse
from constraints.types import patterns
from constraints.types.acceptors import accepted, numbers
from constraints.types.rounding import converted
from constraints.types.shapes import Bounds

ORDERS: Final = ("gt", "ge", "lt", "le")
_KINDS: Final = {"int": int, "float": float, "decimal": Decimal}


def bounds_of(schema: Any) -> Bounds:
    """Return the bounds in the core schema of an int, a float or a Decimal.

    Raises:
        UnsupportedSchema: a bound is not a finite number of that type.
    """
    kind = _KINDS[schema["type"]]
    found: dict[str, Fraction] = {}
    for name in (*ORDERS, "multiple_of"):
        value = schema.get(name)
        if value is None:
            continue
        try:
            found[name] = converted(value, kind, step=name == "multiple_of")
        except (ValueError, OverflowError):
            raise UnsupportedSchema(f"the bound {value} is not a finite number", keyword=name) from None
    low, below = found.get("gt"), found.get("lt")
    exclusive = low is not None and ("ge" not in found or low >= found["ge"])
    below_exclusive = below is not None and ("le" not in found or below <= found["le"])
    return Bounds(
        low if exclusive else found.get("ge"),
        exclusive,
        below if below_exclusive else found.get("le"),
        below_exclusive,
        found.get("multiple_of"),
    )


def bounded(bounds: Bounds, most: Fraction, *, exclusive: bool) -> Bounds:
    """Return the bounds, tightened to lie between `-most` and `most`; `exclusive` applies to a bound set here."""
    if bounds.low is None or bounds.low < -most:
        bounds = replace(bounds, low=-most, low_exclusive=exclusive)
    if bounds.high is None or bounds.high > most:
        bounds = replace(bounds, high=most, high_exclusive=exclusive)
    return bounds


def bounds_as_keywords(bounds: Bounds) -> JsonSchemaValue:
    """Return the bounds as keywords of JSON Schema; numbers may be Decimals."""
    found = {
        "exclusiveMinimum" if bounds.low_exclusive else "minimum": bounds.low,
        "exclusiveMaximum" if bounds.high_exclusive else "maximum": bounds.high,
        "multipleOf": bounds.step,
    }
    return {keyword: _json_number(value) for keyword, value in found.items() if value is not None}


def _json_number(value: Fraction) -> int | Decimal:
    """Return a fraction as a JSON number; its denominator has no prime factors other than 2 and 5."""
    if value.denominator == 1:
        return value.numerator
    places = max(value.denominator.bit_length(), 1)
    return Decimal(value.numerator * 10**places // value.denominator).scaleb(-places)


def within(bounds: Bounds, spellings: str, *, whole: bool = False) -> Expr:
    """Return the texts of the numbers within bounds.

    Args:
        bounds: the bounds.
        spellings: the pattern of the spellings; exponents are limited as in `constraints.json_schema.numbers`.
        whole: whether they are integers.

    Raises:
        UnsupportedSchema: see `numbers`.
    """
    found = numbers(bounds, whole=whole) & parse(spellings, dialect="ecma")
    return accepted(found, has_step=bounds.step is not None)


def with_digits(digits: int | None, places: int | None) -> str:
    """Return the pattern of decimals with at most this many digits and decimal places; trailing zeros do not count."""
    if digits is None:
        return patterns.INTEGER + _point(places or 0) + "|" + patterns.ZERO
    if places is not None and digits <= places:  # Pydantic counts the 0 before the point only in zero itself
        return "-?0" + _point(digits, "") + "|" + patterns.SMALL_ZERO
    if places is not None:
        return rf"-?(?:0|[1-9]\d{{0,{digits - places - 1}}})" + _point(places) + "|" + patterns.ZERO
    # All digits up to the last that is not a trailing zero count, before the point and after it.
    few_before = rf"(?=-?\d{{1,{digits}}}(?:\.\d+)?$)"
    all_digits = rf"-?[1-9](?:\.?\d){{0,{digits - 1}}}(?:\.?0+)?"
    return "-?0" + _point(digits) + "|" + patterns.ZERO + "|" + few_before + all_digits


def _point(places: int, optional: str = "?") -> str:
    """Return the pattern of the decimal point and the digits after it."""
    return rf"(?:\.\d{{1,{places}}}0*){optional}" if places else r"(?:\.0+)?"
