"""Bounds, sizes and patterns that `Annotated` adds to a type.

The following are recognized by their attributes, without importing the packages that define them: `Ge`, `Gt`, `Le`,
`Lt`, `Interval`, `MultipleOf`, `MinLen`, `MaxLen`, `Len` of annotated-types, Pydantic's `Field` and
`StringConstraints`, and compiled patterns of `re`. Patterns in Pydantic's annotations that are text are in the syntax
of Pydantic's engine, and compiled ones in that of `re`. The configuration of a Pydantic dataclass is applied, too. An
expression (`automata.Expr`) or a value (`constraints.Value`) describes the whole text. Other annotations are ignored,
as PEP 593 requires; but another constraint, a function or another kind of bound is an error, because an automaton
cannot enforce it. Any other annotation with which Pydantic reads a value in its own way, such as `UUID4`'s, is an error
too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from automata.errors import UnsupportedSchema
from automata.expressions import Expr, char_set
from constraints.composing.parsed import Parsed
from constraints.types import literals
from constraints.types.parameters import is_named_tuple
from constraints.types.rounding import converted
from constraints.types.shapes import (
    ANY_SIZE,
    Bounds,
    Exact,
    Integer,
    Items,
    Real,
    Record,
    Row,
    Shape,
    Size,
    Text,
    Union,
)
from constraints.types.shapes import Mapping as Keyed
from constraints.values.value import Value

_ORDER = ("gt", "ge", "lt", "le", "multiple_of")
_SIZE = ("min_length", "max_length")
# Other requirements that these objects may have; no automaton enforces them.
_REFUSED = ("func", "max_digits", "decimal_places", "strip_whitespace", "to_lower", "to_upper")
# Pydantic's annotations that take every instance of the type.
_HARMLESS = ("InstanceOf", "SerializeAsAny", "SkipValidation", "Tag")

# Settings of a Pydantic dataclass that change text.
_CHANGES = ("str_strip_whitespace", "str_to_lower", "str_to_upper")
# Settings that also constrain the fields of a record that Pydantic reads again.
_SETTINGS = ("str_min_length", "str_max_length", "allow_inf_nan", "regex_engine", *_CHANGES)

_ASCII_TEXT = char_set((0x00, 0x7F)).star()


def narrowed(shape: Shape, metadata: Iterable[Any], pointer: str) -> Shape:
    """Return the shape with the constraints of annotations added.

    Raises:
        UnsupportedSchema: an annotation constrains values in a way that cannot be honoured for this shape.
    """
    for one in metadata:
        inner = getattr(one, "metadata", None)  # Pydantic's Field holds a list of others
        shape = narrowed(shape, inner, pointer) if isinstance(inner, list) else _narrowed(shape, one, pointer)
    return shape


def configured(shape: Shape, config: Mapping[str, Any] | None, pointer: str) -> Shape:
    """Return the shape with the settings of a Pydantic dataclass applied; unchanged if there are none (`config` is None
    if Pydantic does not read the values).

    Raises:
        UnsupportedSchema: text is changed before its length or pattern is checked, its pattern is for `re`, or the
            settings apply to the fields of another record.
    """
    if config is None:
        return shape
    match shape:
        case Union(options):
            return Union(tuple(configured(option, config, pointer) for option in options))
        case Items(item=item):
            return replace(shape, item=configured(item, config, pointer))
        case Row(items):
            return Row(tuple(configured(item, config, pointer) for item in items))
        case Keyed(key, value):
            return replace(shape, key=configured(key, config, pointer), value=configured(value, config, pointer))
        case Text():
            return _configured_text(shape, config, pointer)
        case Exact() if config.get("allow_inf_nan") is not True:
            return replace(shape, finite=True)
        case Real() if config.get("allow_inf_nan") is False:
            return _finite(shape, pointer)
        case Record(cls) if is_named_tuple(cls) or config.get("revalidate_instances") == "always":
            if given := [name for name in _SETTINGS if config.get(name) is not None]:
                reason = f"the configuration would also apply to the fields of {cls.__name__}"
                raise UnsupportedSchema(reason, pointer=pointer, keyword=given[0])
    return shape


def _configured_text(shape: Text, config: Mapping[str, Any], pointer: str) -> Text:
    """Return the texts within the lengths of a configuration; those of the field itself take precedence."""
    high = config.get("str_max_length") if shape.size.high is None else shape.size.high
    size = Size(shape.size.low or config.get("str_min_length") or 0, high)
    if config.get("regex_engine") == "python-re" and any(isinstance(pattern, str) for pattern in shape.patterns):
        reason = "patterns for Python's engine are honoured if they are compiled: Field(pattern=re.compile(...))"
        raise UnsupportedSchema(reason, pointer=pointer, keyword="regex_engine")
    changes = [name for name in _CHANGES if config.get(name)]
    if changes and (size != ANY_SIZE or shape.patterns):
        reason = "a length or pattern of text that is changed before it is checked"
        raise UnsupportedSchema(reason, pointer=pointer, keyword=changes[0])
    return Text(size, shape.patterns)


def _narrowed(shape: Shape, one: Any, pointer: str) -> Shape:
    if isinstance(one, str | bytes) or (isinstance(one, type) and not _has_reader(one)):
        return shape
    if isinstance(one, Value):
        one = one.expr
    if isinstance(one, re.Pattern | Expr):
        return _with_pattern(shape, one, pointer)
    if isinstance(one, Parsed):
        raise UnsupportedSchema(f"{one!r} in Annotated is not an expression", pointer=pointer, keyword="pattern")
    for name in _REFUSED:
        if getattr(one, name, None):
            raise UnsupportedSchema(f"{one!r} cannot be held by an automaton", pointer=pointer, keyword=name)
    if _has_reader(one) or _kind(one) == ("annotated_types", "Timezone"):
        raise UnsupportedSchema(f"{one!r} cannot be held by an automaton", pointer=pointer)
    for name in _ORDER:
        if (value := getattr(one, name, None)) is not None:
            shape = _with_bound(shape, name, value, pointer)
    for name in _SIZE:
        if (value := getattr(one, name, None)) is not None:
            shape = _with_size(shape, name, value, pointer)
    if getattr(one, "allow_inf_nan", None) is False:
        shape = _finite(shape, pointer)
    if getattr(one, "ascii_only", None):
        shape = _with_pattern(shape, _ASCII_TEXT, pointer)
    pattern = getattr(one, "pattern", None)
    return shape if pattern is None else _with_pattern(shape, pattern, pointer)


def _has_reader(one: Any) -> bool:
    """Return whether Pydantic reads values with this annotation in a way of the annotation's own."""
    package, name = _kind(one)
    is_harmless = package == "pydantic" and name in _HARMLESS
    is_name = isinstance(getattr(one, "discriminator", None), str)
    return hasattr(one, "__get_pydantic_core_schema__") and not is_harmless and not is_name


def _kind(one: Any) -> tuple[str, str]:
    """Return the package and the name of an annotation's class; an annotation may be a class itself."""
    cls = one if isinstance(one, type) else type(one)
    return cls.__module__.partition(".")[0], cls.__name__


def _with_bound(shape: Shape, name: str, value: Any, pointer: str) -> Shape:
    if isinstance(shape, Union):
        return Union(tuple(_with_bound(option, name, value, pointer) for option in shape.options))
    is_number = isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool)
    if not isinstance(shape, Integer | Real | Exact) or not is_number:
        raise UnsupportedSchema("bounds are for numbers", pointer=pointer, keyword=name)
    kind = Decimal if isinstance(shape, Exact) else float if isinstance(shape, Real) else int
    try:
        number = converted(value, kind, step=name == "multiple_of")
    except (ValueError, OverflowError):
        reason = f"the bound {value!r} is not a finite number"
        raise UnsupportedSchema(reason, pointer=pointer, keyword=name) from None
    return replace(shape, bounds=_tighter(shape.bounds, name, number, pointer))


def _tighter(bounds: Bounds, name: str, number: Fraction, pointer: str) -> Bounds:
    if name == "multiple_of":
        if bounds.step is not None or number <= 0:
            raise UnsupportedSchema("only a single positive step is supported", pointer=pointer, keyword=name)
        return replace(bounds, step=number)
    exclusive = name in ("gt", "lt")
    if name in ("gt", "ge"):
        held = bounds.low is not None and (bounds.low, bounds.low_exclusive) >= (number, exclusive)
        return bounds if held else replace(bounds, low=number, low_exclusive=exclusive)
    held = bounds.high is not None and (bounds.high, not bounds.high_exclusive) <= (number, not exclusive)
    return bounds if held else replace(bounds, high=number, high_exclusive=exclusive)


def _finite(shape: Shape, pointer: str) -> Shape:
    if isinstance(shape, Union):
        return Union(tuple(_finite(option, pointer) for option in shape.options))
    if isinstance(shape, Exact):
        return replace(shape, finite=True)
    if not isinstance(shape, Real):
        raise UnsupportedSchema("only float and Decimal may not be finite", pointer=pointer, keyword="allow_inf_nan")
    most = Fraction(sys.float_info.max)
    bounds = _tighter(_tighter(shape.bounds, "ge", -most, pointer), "le", most, pointer)
    return replace(shape, bounds=bounds)


def _with_size(shape: Shape, name: str, value: Any, pointer: str) -> Shape:
    if isinstance(shape, Union):
        return Union(tuple(_with_size(option, name, value, pointer) for option in shape.options))
    if not isinstance(shape, Text | Items | Keyed):
        raise UnsupportedSchema("only text and collections have a length", pointer=pointer, keyword=name)
    if not isinstance(value, int):
        raise UnsupportedSchema(f"the length {value!r} is not a whole number", pointer=pointer, keyword=name)
    size = shape.size
    if name == "min_length":
        return replace(shape, size=Size(max(size.low, value), size.high))
    return replace(shape, size=Size(size.low, value if size.high is None else min(size.high, value)))


def _with_pattern(shape: Shape, pattern: Any, pointer: str) -> Shape:
    if isinstance(shape, Union):
        return Union(tuple(_with_pattern(option, pattern, pointer) for option in shape.options))
    if not isinstance(shape, Text):
        raise UnsupportedSchema("patterns are for text", pointer=pointer, keyword="pattern")
    if not isinstance(pattern.pattern if isinstance(pattern, re.Pattern) else pattern, str | Expr):
        raise UnsupportedSchema(f"{pattern!r} is not a pattern of text", pointer=pointer, keyword="pattern")
    try:
        literals.language(pattern)
    except UnsupportedSchema as error:
        raise UnsupportedSchema(error.reason, pointer=pointer, keyword=error.keyword) from None
    return replace(shape, patterns=(*shape.patterns, pattern))
