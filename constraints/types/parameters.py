"""The parameters of a record's constructor: their keywords, which of them are required, and the values they take.

    a dataclass, a NamedTuple       its fields by name; `pydantic.Field(...)` in place of a default constrains the
                                    values. It cannot contain a default, because the constructor would use the
                                    `FieldInfo` itself as the value
    a Pydantic dataclass            its fields as Pydantic has collected them (`FieldInfo`): with bounds, defaults and
                                    aliases. A field is written with its name, as in `repr`, if the constructor accepts
                                    that; otherwise with the first alias that can be a keyword

Pydantic's objects are recognized by their attributes. Pydantic is imported only to complete one of its dataclasses
whose hints name classes that are defined later.
"""

from __future__ import annotations

import dataclasses
import inspect
import keyword
import typing
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

from automata.errors import UnsupportedSchema


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a constructor.

    Attributes:
        name: its keyword.
        field: the name of the field.
        annotation: its type.
        metadata: annotations that constrain its values in addition to the type.
        required: whether it must be passed.
        config: the settings of Pydantic that apply to its values; None if Pydantic does not read the values.
    """

    name: str
    field: str
    annotation: Any
    metadata: tuple[Any, ...]
    required: bool
    config: Mapping[str, Any] | None = None


def is_named_tuple(cls: Any) -> TypeGuard[type]:
    """Return whether a class is a NamedTuple."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_field_info(value: Any) -> TypeGuard[Any]:
    """Return whether a value is what `pydantic.Field` returns."""
    return isinstance(getattr(value, "metadata", None), list) and hasattr(value, "is_required")


def parameters(cls: type, names: Mapping[str, type], pointer: str) -> Iterator[Parameter]:
    """Yield the parameters of a constructor, in the order of the fields.

    Args:
        cls: a dataclass or a NamedTuple.
        names: classes by name, in which hints are looked up in addition to the module of the class.
        pointer: the place of the class, for errors.

    Raises:
        UnsupportedSchema: hints cannot be resolved, or a default or an alias cannot be honoured.
    """
    yield from _of_pydantic(cls, names, pointer) if _is_pydantic(cls) else _of_standard(cls, names, pointer)


def _of_standard(cls: type, names: Mapping[str, type], pointer: str) -> Iterator[Parameter]:
    try:
        hints = typing.get_type_hints(cls, localns=dict(names), include_extras=True)
    except Exception as error:  # a hint may be any expression
        raise _unresolved(cls, error, pointer) from error
    _check_constructor(cls, pointer)
    for name, default, required in _defaults(cls):
        if name not in hints:
            raise UnsupportedSchema("the field has no type", pointer=f"{pointer}/{name}")
        if not is_field_info(default):
            yield Parameter(name, name, hints[name], (), required)
        elif default.is_required():
            yield Parameter(name, name, hints[name], (default,), True)
        else:
            raise UnsupportedSchema(
                "a default in Field(...) is one for Pydantic's dataclasses only: this constructor would give the "
                "value Field(...) itself",
                pointer=f"{pointer}/{name}",
                keyword="default",
            )


def _check_constructor(cls: type, pointer: str) -> None:
    """Raise UnsupportedSchema unless the constructor of a class takes its fields by keyword."""
    if inspect.isabstract(cls):
        raise UnsupportedSchema("the class is abstract, so it has no instances", pointer=pointer)
    taken = inspect.signature(cls).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
        return
    fields = {name: required for name, _, required in _defaults(cls)}
    keywords = {one.name: one.default is one.empty for one in taken if one.kind is not one.VAR_POSITIONAL}
    unknown = fields.keys() - keywords.keys()
    if unknown or any(needed and not fields.get(name) for name, needed in keywords.items()):
        wrong = min(unknown) if unknown else min(name for name in keywords if keywords[name] and not fields.get(name))
        raise UnsupportedSchema(
            f"the class has a constructor of its own, whose arguments are not the fields: {wrong!r} differs",
            pointer=pointer,
        )


def _defaults(cls: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the names of the constructor's parameters, their defaults, and whether each is required."""
    if not dataclasses.is_dataclass(cls):
        names, defaults = cls._fields, getattr(cls, "_field_defaults", {})
        yield from ((name, defaults.get(name), name not in defaults) for name in names)
        return
    missing = dataclasses.MISSING
    for name, field in _taken(cls):
        yield name, field.default, field.default is missing and field.default_factory is missing


def _taken(cls: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields that a dataclass's constructor takes, with every `InitVar`, which `dataclasses.fields` omits."""
    for name, field in cls.__dataclass_fields__.items():
        if field.init and field._field_type is not _CLASS_VARIABLE:
            yield name, field


@dataclasses.dataclass
class _Probe:
    kept: ClassVar[int] = 0


_PROBED: Any = _Probe.__dataclass_fields__["kept"]
# The mark by which `dataclasses` knows a class variable; it has no public name.
_CLASS_VARIABLE = _PROBED._field_type


# Pydantic's dataclasses.


def _is_pydantic(cls: type) -> bool:
    """Return whether Pydantic made the constructor: that of the first dataclass in the class's MRO."""
    nearest = next((base for base in cls.__mro__ if "__dataclass_fields__" in base.__dict__), cls)
    return "__is_pydantic_dataclass__" in nearest.__dict__


def _of_pydantic(cls: Any, names: Mapping[str, type], pointer: str) -> Iterator[Parameter]:
    _finish(cls, names, pointer)
    config: Mapping[str, Any] = cls.__pydantic_config__ or {}
    # The field that each keyword is written for, so that no other field receives the value.
    known: dict[str, str] = {}
    found: list[tuple[set[str], Parameter]] = []
    for name, _ in _taken(cls):
        place = f"{pointer}/{name}"
        info = cls.__pydantic_fields__.get(name)
        if info is None:
            raise UnsupportedSchema(
                "the constructor does not take what Field(init_var=True) describes; InitVar is honoured",
                pointer=place,
                keyword="init_var",
            )
        if info.init is False:
            continue
        written, read = _keywords(name, info, config, place)
        known[written] = name
        known_as = Parameter(written, name, info.annotation, tuple(info.metadata), info.is_required(), config)
        found.append((read, known_as))
    for read, parameter in found:
        for other in read & known.keys():
            if known[other] != parameter.field:
                raise UnsupportedSchema(
                    f"the constructor gives {parameter.field!r} what is written as {other!r} for {known[other]!r}",
                    pointer=f"{pointer}/{parameter.field}",
                    keyword="alias",
                )
        yield parameter


def _keywords(name: str, info: Any, config: Mapping[str, Any], pointer: str) -> tuple[str, set[str]]:
    """Return the keyword with which a field is written, and all keywords under which the constructor looks for it."""
    alias = info.validation_alias
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    by_alias = config.get("validate_by_alias", True) is not False
    if alias is None or not by_alias:
        return name, {name}
    choices = [alias] if isinstance(alias, str) else getattr(alias, "choices", [alias])
    read = {choice if isinstance(choice, str) else choice.path[0] for choice in choices} | (
        {name} if by_name else set()
    )
    written = (
        [name] if by_name else [choice for choice in choices if isinstance(choice, str) and is_keyword_argument(choice)]
    )
    if not written:
        raise UnsupportedSchema(
            f"the constructor takes the field as {alias!r}, which is no name of an argument",
            pointer=pointer,
            keyword="alias",
        )
    return written[0], read


def is_keyword_argument(name: str) -> bool:
    """Return whether a name can stand before `=` in a call or after a dot, where Python must read it unchanged."""
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.is_normalized("NFKC", name)


def _finish(cls: Any, names: Mapping[str, type], pointer: str) -> None:
    """Have Pydantic resolve hints that it could not resolve when the class was made."""
    if cls.__pydantic_complete__:
        return
    from pydantic.dataclasses import rebuild_dataclass
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
    from pydantic_core import SchemaError

    try:
        rebuild_dataclass(cls, _types_namespace=dict(names))
    except (NameError, TypeError, PydanticSchemaGenerationError, PydanticUserError, SchemaError) as error:
        raise _unresolved(cls, error, pointer) from error


def _unresolved(cls: type, error: Exception, pointer: str) -> UnsupportedSchema:
    return UnsupportedSchema(f"the hints of {cls!r} cannot be resolved: {error}", pointer=pointer)
