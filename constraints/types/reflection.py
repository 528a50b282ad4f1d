"""Convert a Python type to its shape.

    annotation -> Shape                                 `Reflection.shape`
    the class of a record -> its fields                 `Reflection.fields`, once for each record

Annotations are resolved by `typing.get_type_hints`, so they may be text and may name classes that are defined later.
Aliases, `NewType`, `Annotated`, `Optional`, `X | Y` and type variables of generic classes are resolved too.
"""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import datetime
import types
import typing
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from automata.errors import UnsupportedSchema
from automata.graph import reachable
from constraints.types.generics import Variables, mentions_self, substituted, variables_of_fields
from constraints.types.hashing import hashed_fields
from constraints.types.metadata import configured, narrowed
from constraints.types.parameters import is_keyword_argument, is_named_tuple, parameters
from constraints.types.shapes import (
    Boolean,
    Choice,
    Constants,
    Exact,
    Field,
    Identifier,
    Integer,
    Items,
    Mapping,
    Moment,
    Nothing,
    Real,
    Record,
    Row,
    Shape,
    Text,
    Union,
    parts,
)

_SIMPLE: dict[Any, Shape] = {
    None: Nothing(),
    type(None): Nothing(),
    bool: Boolean(),
    int: Integer(),
    float: Real(),
    Decimal: Exact(),
    str: Text(),
    datetime.date: Moment("date"),
    datetime.time: Moment("time"),
    datetime.datetime: Moment("datetime"),
    datetime.timedelta: Moment("timedelta"),
    UUID: Identifier(),
}
_COLLECTIONS: dict[Any, type] = {
    list: list,
    abc.Sequence: list,
    abc.MutableSequence: list,
    abc.Collection: list,
    abc.Iterable: list,
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
}
_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)


class Reflection:
    """Shapes of types, and the fields of records."""

    def __init__(self) -> None:
        self._fields: dict[Record, tuple[Field, ...]] = {}
        self._hashed: dict[Record, list[Shape]] = {}  # the fields on which the hash of a record depends
        self._items: list[tuple[Shape, str, str]] = []  # items of sets and keys of dicts, each with its type and place

    def shape(self, annotation: Any, pointer: str = "", variables: Variables | None = None) -> Shape:
        """Return the shape of a type.

        Args:
            annotation: the type.
            pointer: the place of the type, for errors: names of fields, each after a slash.
            variables: the types that type variables and `Self` stand for.

        Raises:
            UnsupportedSchema: the type, or an annotation in it, is not supported.
        """
        variables = variables or {}
        if isinstance(annotation, typing.TypeVar) or annotation is typing.Self:
            annotation = variables.get(annotation, annotation)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is None and not _has_hash(annotation):
            raise UnsupportedSchema(f"{annotation!r} is not a type", pointer=pointer)
        if origin is None and annotation in _SIMPLE:
            return _SIMPLE[annotation]
        if origin is typing.Annotated:
            return narrowed(self.shape(arguments[0], pointer, variables), annotation.__metadata__, pointer)
        if origin is typing.Literal:
            return self._literal(arguments, pointer)
        if origin in (typing.Union, types.UnionType):
            return Union(tuple(self.shape(argument, pointer, variables) for argument in arguments))
        if origin in (typing.Final, typing.Required, typing.NotRequired, dataclasses.InitVar):
            return self.shape(arguments[0], pointer, variables)
        if isinstance(annotation, dataclasses.InitVar):
            return self.shape(annotation.type, pointer, variables)
        for attribute in ("__supertype__", "__value__"):  # NewType; the statement `type`
            if origin is None and not isinstance(annotation, type) and hasattr(annotation, attribute):
                return self.shape(getattr(annotation, attribute), pointer, variables)
        if origin is abc.Callable:
            raise UnsupportedSchema(f"{annotation!r} has no constructor call that is known here", pointer=pointer)
        if annotation == tuple[()]:
            return Row(())
        return self._of_class(annotation if origin is None else origin, arguments, pointer, variables)

    def _of_class(self, cls: Any, arguments: tuple[Any, ...], pointer: str, variables: Variables) -> Shape:
        if any(getattr(argument, "__unpacked__", False) for argument in arguments):
            raise UnsupportedSchema("a tuple of an unpacked one has no constructor call here", pointer=pointer)
        inner = [self.shape(argument, pointer, variables) for argument in arguments if argument is not ...]
        kind = _COLLECTIONS.get(cls)
        if inner and (kind in (set, frozenset) or cls in _MAPPINGS):
            self._items.append((inner[0], repr(arguments[0]), pointer))
        if kind is not None and len(inner) == 1:
            return Items(kind, inner[0])
        if cls in _MAPPINGS and len(inner) == 2:
            return Mapping(inner[0], inner[1])
        if cls is tuple and arguments:
            return Items(tuple, inner[0]) if arguments[-1] is ... else Row(tuple(inner))
        if isinstance(cls, type) and issubclass(cls, Enum) and len(cls):
            return _choice(cls, tuple(cls.__members__), pointer)
        if isinstance(cls, type) and (dataclasses.is_dataclass(cls) or is_named_tuple(cls)):
            given = [substituted(one, variables) for one in arguments]
            if any(map(mentions_self, given)):
                raise UnsupportedSchema(f"Self in the arguments of {cls!r}: write the class instead", pointer=pointer)
            record = Record(cls, tuple(zip(getattr(cls, "__parameters__", ()), given, strict=False)))
            if not _has_hash(record):
                raise UnsupportedSchema(f"{cls!r} of {given}, which has no hash", pointer=pointer)
            return record
        hint = f": write {cls.__name__}[...]" if cls in (list, dict, set, tuple, frozenset) else ""
        raise UnsupportedSchema(f"{cls!r} has no constructor call that is known here{hint}", pointer=pointer)

    def _literal(self, arguments: tuple[Any, ...], pointer: str) -> Shape:
        constants = tuple((type(value), value) for value in arguments if not isinstance(value, Enum))
        for kind, value in constants:
            if kind not in (int, bool, str, type(None)):
                raise UnsupportedSchema(f"{value!r} cannot be written", pointer=pointer, keyword="Literal")
        members = [value for value in arguments if isinstance(value, Enum)]
        shapes: list[Shape] = [Constants(constants)] if constants else []
        shapes += [_choice(type(member), (member.name,), pointer) for member in members]
        return shapes[0] if len(shapes) == 1 else Union(tuple(shapes))

    def fields(self, record: Record, pointer: str = "") -> tuple[Field, ...]:
        """Return the parameters of a record's constructor, in the order of their definition.

        Raises:
            UnsupportedSchema: the type of a field is not supported; or see `parameters`.
        """
        if record not in self._fields:
            self._fields[record] = tuple(self._read(record, pointer))
        return self._fields[record]

    def _read(self, record: Record, pointer: str) -> abc.Iterator[Field]:
        # A class within a function is not a name of its module: hints may name it, and the records read before it.
        names = {known.cls.__name__: known.cls for known in [*self._fields, record]}
        variables = variables_of_fields(record.cls, dict(record.arguments))
        hashed = hashed_fields(record.cls) or ()
        self._hashed[record] = []
        for one in parameters(record.cls, names, pointer):
            place = f"{pointer}/{one.field}"
            shape = narrowed(self.shape(one.annotation, place, variables.get(one.field)), one.metadata, place)
            shape = configured(shape, one.config, place)
            if one.field in hashed:
                self._hashed[record].append(shape)
            yield Field(one.name, shape, one.required)

    def recursive(self, shape: Shape) -> tuple[Record, ...]:
        """Return the records within a shape that can be reached from themselves.

        Raises:
            UnsupportedSchema: see `fields`.
        """
        leads = self.leads(shape)
        return tuple(record for record in leads if record in reachable(leads[record], leads.__getitem__))

    def leads(self, shape: Shape) -> dict[Record, set[Record]]:
        """Return all records that can be reached from a shape, each with the records in its own fields.

        Raises:
            UnsupportedSchema: see `fields`; or items of a set or keys of a dict have no hash.
        """
        found: dict[Record, set[Record]] = {}
        pending = [*records(shape)]
        while pending:
            record = pending.pop()
            if record not in found:
                fields = self.fields(record, f"/{record.cls.__name__}")
                within = [inner for field in fields for inner in records(field.shape)]
                found[record] = set(within)
                pending += within
        for item, name, pointer in self._items:
            if not self._is_hashable(item):
                raise UnsupportedSchema(f"{name} is not hashable", pointer=pointer)
        return found

    def _is_hashable(self, shape: Shape) -> bool:
        """Return whether the values of a shape are hashable; its records have been read."""
        waiting = [shape]
        seen = set[Record]()
        while waiting:
            part = waiting.pop()
            if isinstance(part, Mapping) or (isinstance(part, Items) and part.kind in (list, set)):
                return False
            if not isinstance(part, Record):
                waiting += parts(part)
            elif hashed_fields(part.cls) is None:
                return False
            elif part not in seen:
                seen.add(part)
                waiting += self._hashed.get(part, ())  # an argument that no field uses is not read
        return True


def _choice(cls: Any, names: tuple[str, ...], pointer: str) -> Choice:
    for name in names:
        if not is_keyword_argument(name):
            raise UnsupportedSchema(f"{name!r} is a member of {cls.__name__} and no name in Python", pointer=pointer)
    return Choice(cls, names)


def _has_hash(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def records(shape: Shape) -> abc.Iterator[Record]:
    """Yield the records in a shape, without those in their fields."""
    if isinstance(shape, Record):
        yield shape
    for part in parts(shape):
        yield from records(part)
