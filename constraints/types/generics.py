"""The types that type variables stand for: in a class, in the classes from which it inherits, and in `Self`."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any

# The types that type variables, and `Self`, stand for.
Variables = Mapping[Any, Any]


def substituted(annotation: Any, variables: Variables) -> Any:
    """Return a type with the type variables in it replaced; those without a known type remain."""
    if isinstance(annotation, typing.TypeVar) or annotation is typing.Self:
        return variables.get(annotation, annotation)
    if typing.get_origin(annotation) is None:
        return annotation
    parameters = getattr(annotation, "__parameters__", ())
    return annotation[tuple(variables.get(one, one) for one in parameters)] if parameters else annotation


def mentions_self(annotation: Any) -> bool:
    """Return whether a type has `Self` in it."""
    return annotation is typing.Self or any(map(mentions_self, typing.get_args(annotation)))


def variables_of_fields(cls: type, arguments: Variables) -> dict[str, Variables]:
    """Return, for each field of a dataclass or a NamedTuple, the types that the variables in its type stand for.

    Args:
        cls: the class. A field may be inherited from `Base[int]`, and then has the variables of `Base`.
        arguments: the types that the variables of `cls` stand for.
    """
    known = _variables_of_bases(cls, arguments)
    itself = substituted(_applied(cls), arguments)
    # Dataclasses share an inherited field with their base, and `vars` is what a class defines itself.
    fields: dict[str, Variables] = {}
    for base in cls.__mro__:
        own = vars(base).get("__dataclass_fields__") or dict.fromkeys(vars(base).get("_fields", ()))
        inherited = getattr(cls, "__dataclass_fields__", own)
        for name in own:
            if own[name] is inherited.get(name):
                fields[name] = {**known.get(base, {}), typing.Self: itself}
    return fields


def _applied(cls: Any) -> Any:
    """Return a class with its own variables as its arguments."""
    parameters = getattr(cls, "__parameters__", ())
    return cls[parameters] if parameters else cls


def _variables_of_bases(cls: type, arguments: Variables) -> dict[Any, Variables]:
    """Return the types that the variables of a class, and of each class from which it inherits, stand for."""
    found: dict[Any, Variables] = {cls: arguments}
    pending: list[Any] = [cls]
    while pending:
        derived = pending.pop()
        for base in vars(derived).get("__orig_bases__", derived.__bases__):
            origin = typing.get_origin(base) or base
            if isinstance(origin, type) and origin is not typing.Generic and origin not in found:
                given = [substituted(one, found[derived]) for one in typing.get_args(base)]
                found[origin] = dict(zip(getattr(origin, "__parameters__", ()), given, strict=False))
                pending.append(origin)
    return found
