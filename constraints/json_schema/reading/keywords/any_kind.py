"""Keywords about values of any kind: `type`, `enum`, `const`."""

from __future__ import annotations

from typing import Any, Final

from constraints.json_schema.formulas.connectives import TRUE, Formula, conjunction, disjunction
from constraints.json_schema.formulas.statements import IsInteger, Kind
from constraints.json_schema.reading.keywords.values import OF_KIND, TooManyDigits, value_in
from constraints.json_schema.reading.site import Site, shown

_INTEGER: Final = conjunction((OF_KIND[Kind.NUMBER], IsInteger()))
_PLAIN_INTEGER: Final = conjunction((OF_KIND[Kind.NUMBER], IsInteger(plain=True)))
_TYPES: Final = {kind.value: OF_KIND[kind] for kind in Kind}


def type_of(site: Site, value: Any) -> Formula:
    return _type(site, value, _INTEGER)


def type_of_draft4(site: Site, value: Any) -> Formula:
    """Read `type` of draft 4, where an integer is written without fraction and exponent (Core, section 3.5)."""
    return _type(site, value, _PLAIN_INTEGER)


def _type(site: Site, value: Any, integer: Formula) -> Formula:
    if isinstance(value, str):
        return _named_type(site, value, integer)
    if not isinstance(value, list):
        raise site.wrong("type", "a string or an array of strings", value)
    parts = [_named_type(site, name, integer) for name in value]
    if integer in parts and OF_KIND[Kind.NUMBER] in parts:
        parts = [part for part in parts if part != integer]
    return TRUE if set(parts) == set(_TYPES.values()) else disjunction(parts)


def _named_type(site: Site, name: Any, integer: Formula) -> Formula:
    if name == "integer":
        return integer
    part = _TYPES.get(name) if isinstance(name, str) else None
    if part is None:
        raise site.error("type", f"there is no type {shown(name)}")
    return part


def enum(site: Site, value: Any) -> Formula:
    if not isinstance(value, list):
        raise site.wrong("enum", "an array", value)
    return _values(site, "enum", value)


def const(site: Site, value: Any) -> Formula:
    return _values(site, "const", [value])


def _values(site: Site, keyword: str, values: list[Any]) -> Formula:
    try:
        return value_in(values)
    except TooManyDigits as error:
        raise site.unsupported(keyword, str(error)) from None
    except ValueError as error:
        raise site.error(keyword, str(error)) from None
