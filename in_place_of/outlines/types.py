"""Outlines' terms, which describe texts; each term has a constraint.

    Regex, String, CFG, JsonSchema, Choice      terms
    either, optional, exactly, ...              terms made of others
    integer, number, boolean, string, ...       Outlines' terms for Python's types
    python_types_to_terms                       the term for an argument of a generator

Values of Python's types are written as in Outlines, in Python's notation: `True`, `[1, 2]`, `(1, 2)`. Models and
dataclasses are written as JSON.
"""

from __future__ import annotations

import datetime as _datetime
import json
import types as _types
import typing
from collections.abc import Iterable, Sequence
from dataclasses import is_dataclass
from enum import EnumMeta
from functools import reduce
from typing import Any, Final, NoReturn, TypeVar

import tokenfst
from automata import expressions as ex
from automata.errors import SchemaError
from automata.expressions import Expr
from automata.pattern import parse
from constraints import grammar, sequence
from constraints import json_schema as _json_schema
from constraints.composing.parsed import composed
from constraints.composing.part import Composable, part_of, repeated
from in_place_of.absent import Absent, missing
from in_place_of.schemas import closed, schema_of
from serving.json_texts import blanks_like
from tokenfst.vocabulary.all_bytes import ALL_BYTES

T = TypeVar("T")

# Whitespace if none is given: at most one space wherever JSON allows some.
_ONE_SPACE: Final = "[ ]?"


class Term:
    """A description of texts.

    Attributes:
        constraint: this project's constraint.
    """

    display_ascii_tree = Absent("print the term's constraint")

    def __init__(self, constraint: Composable) -> None:
        self.constraint = constraint

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        """Let a Pydantic model use a term as the type of a field; the term validates the values."""
        return {"type": "function-plain", "function": {"type": "no-info", "function": self.validate}}

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Return the schema of such a field: a string with the term in place of a pattern.

        Raises:
            TypeError: the term is a grammar or a JSON Schema.
        """
        if not isinstance(self.constraint, Expr):
            raise TypeError(f"a {type(self).__name__} is no pattern of a string")
        return {"type": "string", "pattern": self.constraint}

    def __add__(self, other: Term | str) -> Term:
        return _after(self, _term(other))

    def __radd__(self, other: Term | str) -> Term:
        return _after(_term(other), self)

    def __or__(self, other: Term | str) -> Term:
        return either(self, other)

    def __ror__(self, other: Term | str) -> Term:
        return either(other, self)

    def optional(self) -> Term:
        """Return the term for the same texts and the empty one."""
        return optional(self)

    def exactly(self, count: int) -> Term:
        """Repeat the term a number of times."""
        return exactly(count, self)

    def at_least(self, count: int) -> Term:
        """Repeat the term at least a number of times."""
        return at_least(count, self)

    def at_most(self, count: int) -> Term:
        """Repeat the term at most a number of times."""
        return at_most(count, self)

    def between(self, min_count: int, max_count: int) -> Term:
        """Repeat the term a number of times within bounds."""
        return between(min_count, max_count, self)

    def one_or_more(self) -> Term:
        """Repeat the term one or more times."""
        return at_least(1, self)

    def zero_or_more(self) -> Term:
        """Repeat the term zero or more times."""
        return at_least(0, self)

    def matches(self, value: Any) -> bool:
        """Return whether a text, or a value as `str` writes it, matches the term."""
        return tokenfst.compile(self.constraint, ALL_BYTES).accepts(str(value))

    def validate(self, value: T) -> T:
        """Return a text, or a value as `str` writes it, unchanged if it matches the term.

        Raises:
            ValueError: the text does not match the term.
        """
        if not self.matches(value):
            raise ValueError(f"{value!r} is not a text of this {type(self).__name__}")
        return value


class String(Term):
    """One text."""

    def __init__(self, value: str) -> None:
        super().__init__(ex.literal(value))
        self.value = value


class Regex(Term):
    """Texts that a pattern matches as a whole."""

    def __init__(self, pattern: str) -> None:
        super().__init__(parse(pattern))
        self.pattern = pattern


class CFG(Term):
    """Texts of a grammar in Lark's syntax."""

    from_file = Absent("CFG takes the text of the file")

    def __init__(self, definition: str) -> None:
        super().__init__(grammar(definition, syntax="lark"))
        self.definition = definition


class JsonSchema(Term):
    """The JSON texts of a schema; objects that list properties have no other properties."""

    convert_to = Absent("JsonSchema.schema is the schema as JSON")
    from_file = Absent("JsonSchema takes the text of the file")
    is_json_schema = Absent(
        "isinstance of JsonSchema, or python_types_to_terms, which raises TypeError for what is no type"
    )

    def __init__(self, schema: Any, whitespace_pattern: str | None = None, ensure_ascii: bool = True) -> None:
        """Read a schema.

        Args:
            schema: a JSON Schema as a dict or as text, or a type with one: a Pydantic model, a dataclass, a TypedDict.
            whitespace_pattern: the whitespace wherever JSON allows it; None for at most one space.
            ensure_ascii: has no effect, because strings may be written either way.

        Raises:
            SchemaError: the schema cannot be honoured; its subclasses say why.
        """
        read = _schema_of_type(schema) if isinstance(schema, type) else schema_of(schema)
        if not isinstance(read, dict | bool):
            raise SchemaError(f"expected a JSON Schema, or a type, not {type(schema).__name__}")
        blanks = blanks_like(_ONE_SPACE if whitespace_pattern is None else whitespace_pattern)
        super().__init__(_json_schema(closed(read), whitespace=blanks))
        self.schema, self.whitespace_pattern = json.dumps(read, default=str), whitespace_pattern


class Choice(Term):
    """One of several values."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)
        super().__init__(either(*map(python_types_to_terms, self.items)).constraint)


def regex(pattern: str) -> Regex:
    """Return `Regex(pattern)`."""
    return Regex(pattern)


def cfg(definition: str) -> CFG:
    """Return `CFG(definition)`."""
    return CFG(definition)


def json_schema(schema: Any) -> JsonSchema:
    """Return `JsonSchema(schema)`."""
    return JsonSchema(schema)


def either(*terms: Term | str) -> Term:
    """Return the term for the texts of any of the terms."""
    if not terms:
        raise ValueError("there are no terms to choose from")
    return reduce(_or, map(_term, terms))


def optional(term: Term | str) -> Term:
    """Return the term for the same texts and the empty one."""
    return between(0, 1, term)


def exactly(count: int, term: Term | str) -> Term:
    """Repeat a term a number of times."""
    return between(count, count, term)


def at_least(count: int, term: Term | str) -> Term:
    """Repeat a term at least a number of times."""
    return _repeated(term, count, None)


def at_most(count: int, term: Term | str) -> Term:
    """Repeat a term at most a number of times."""
    return between(0, count, term)


def between(min_count: int, max_count: int, term: Term | str) -> Term:
    """Repeat a term a number of times within bounds.

    Raises:
        ValueError: `min_count` is negative, or greater than `max_count`.
    """
    if not 0 <= min_count <= max_count:
        raise ValueError(f"there are no numbers from 0 between {min_count} and {max_count}")
    return _repeated(term, min_count, max_count)


def zero_or_more(term: Term | str) -> Term:
    """Repeat a term zero or more times."""
    return at_least(0, term)


def one_or_more(term: Term | str) -> Term:
    """Repeat a term one or more times."""
    return at_least(1, term)


def _term(value: Term | str) -> Term:
    return value if isinstance(value, Term) else String(value)


def _after(first: Term, second: Term) -> Term:
    left, right = first.constraint, second.constraint
    if isinstance(left, Expr) and isinstance(right, Expr):
        return Term(left + right)
    return Term(sequence(left, right))


def _or(first: Term, second: Term) -> Term:
    left, right = first.constraint, second.constraint
    if isinstance(left, Expr) and isinstance(right, Expr):
        return Term(left | right)
    return Term(sequence(left) | sequence(right))


def _repeated(term: Term | str, low: int, high: int | None) -> Term:
    one = _term(term).constraint
    if isinstance(one, Expr):
        return Term(ex.repeat(one, low, high))
    return Term(composed(repeated(part_of(one), low, high), str))


def _schema_of_type(annotation: type) -> Any:
    """Return the schema of a type.

    Raises:
        SchemaError: Pydantic has none, as for `typing.TypedDict` before Python 3.12.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        return TypeAdapter(annotation).json_schema()
    except PydanticUserError as error:
        raise SchemaError(error.message) from error


# Python's types

string = Regex('"[^"]*"')
integer = Regex("[+-]?(0|[1-9][0-9]*)")
boolean = Regex("(True|False)")
number = Regex(rf"{integer.pattern}(\.[0-9]+)?([eE][+-]?[0-9]+)?")
date = Regex(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
time = Regex("([0-1][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]")
datetime = Regex(rf"{date.pattern}\s{time.pattern}")

_TERMS: Final[dict[Any, Term]] = {
    int: integer,
    float: number,
    bool: boolean,
    str: string,
    _datetime.date: date,
    _datetime.time: time,
    _datetime.datetime: datetime,
}


def python_types_to_terms(ptype: Any) -> Term:
    """Return the term of a type, of a value, or of a term.

    Args:
        ptype: a `Term`; int, float, bool, str, dict, date, time or datetime; a text or a number, for exactly this
            text; a Pydantic model, a dataclass or a TypedDict; an Enum, a Literal, a Union; a list, tuple or dict of
            types.

    Raises:
        TypeError: the argument is something else.
    """
    if isinstance(ptype, Term):
        return ptype
    if typing.get_origin(ptype) is typing.Annotated:
        return python_types_to_terms(ptype.__origin__)
    if isinstance(ptype, typing.NewType):
        return python_types_to_terms(ptype.__supertype__)
    if isinstance(ptype, str):
        return String(ptype)
    if isinstance(ptype, int | float):
        return Term(ex.literal(str(ptype)))
    if ptype is dict:
        return JsonSchema({"type": "object"})
    if isinstance(ptype, EnumMeta):
        return either(*(python_types_to_terms(member.value) for member in typing.cast(Iterable[Any], ptype)))
    if isinstance(ptype, type) and ptype in _TERMS:
        return _TERMS[ptype]
    if is_dataclass(ptype) or hasattr(ptype, "__total__") or hasattr(ptype, "model_json_schema"):
        return JsonSchema(ptype)
    return _of_parts(ptype, typing.get_origin(ptype), typing.get_args(ptype))


def _of_parts(ptype: Any, origin: Any, parts: tuple[Any, ...]) -> Term:
    if origin is typing.Literal:
        return either(*map(python_types_to_terms, parts))
    if origin in (typing.Union, _types.UnionType):
        none = type(None)
        return either(*("None" if part is none else python_types_to_terms(part) for part in parts))
    if origin is list and len(parts) == 1:
        return "[" + _listed(_inside(parts[0])) + "]"
    if origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        return "(" + _listed(_inside(parts[0])) + ")"
    if ptype == tuple[()]:
        return String("()")
    if origin is tuple and parts:
        return "(" + reduce(lambda left, right: left + ", " + right, map(_inside, parts)) + ")"
    if origin is dict and len(parts) == 2:
        pair = _inside(parts[0], is_key=True) + ":" + _inside(parts[1])
        return "{" + optional(_listed(pair)) + "}"
    raise TypeError(f"there is no term of {ptype!r}; constraints.typed(...) makes JSON of any type that Pydantic knows")


def _listed(item: Term) -> Term:
    return item + zero_or_more(", " + item)


def _inside(ptype: Any, *, is_key: bool = False) -> Term:
    """Return the term of an item of a list, tuple or dict, where texts have quotes. Keys have quotes as well,
    except lists, tuples and dicts."""
    if typing.get_origin(ptype) in (typing.Literal, typing.Union, _types.UnionType):
        return either(*(_inside(part, is_key=is_key) for part in typing.get_args(ptype)))
    if isinstance(ptype, EnumMeta):
        members: Sequence[Any] = list(typing.cast(Iterable[Any], ptype))
        return either(*(_inside(member.value, is_key=is_key) for member in members))
    if ptype is type(None):
        return String('"None"' if is_key else "None")
    term = python_types_to_terms(ptype)
    is_container = typing.get_origin(ptype) in (list, tuple, dict)
    is_quoted = isinstance(term, String) or (is_key and term is not string and not is_container)
    return '"' + term + '"' if is_quoted else term


_READY_MADE: Final = (
    "airports", "bic", "char", "countries", "credit_card", "digit", "e164", "hex_color", "hex_str", "iban", "ipv4",
    "ipv6", "isbn", "latitude", "locale", "longitude", "mac_address", "newline", "paragraph", "semver", "sentence",
    "slug", "uuid4", "whitespace",
)  # fmt: skip
_INSTEAD: Final = {
    **dict.fromkeys(_READY_MADE, "Regex takes its pattern"),
    "email": "Regex takes a pattern; constraints.email() is a constraint",
}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)
