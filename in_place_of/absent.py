"""Names of other packages that are not offered.

    Absent      an attribute of a class: using it raises `NotOffered`
    missing     the same for a module, in its `__getattr__`

`NotOffered` is not an `AttributeError`, because the import system would turn that into an error without the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from automata.errors import NotOffered


class Absent:
    """An attribute that a class of another package has, but its stand-in does not."""

    def __init__(self, instead: str) -> None:
        """Make an attribute; `instead` says what to use instead."""
        self._instead = instead
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> Any:
        raise NotOffered(self._name, self._instead)


def missing(module: str, names: Mapping[str, str], name: str) -> NoReturn:
    """Raise the error for a name that a module lacks.

    Args:
        module: the module's own name.
        names: for names that the other package has, what to use instead.
        name: the name that was requested.

    Raises:
        NotOffered: the other package has this name.
        AttributeError: the other package does not have it either.
    """
    if name in names:
        raise NotOffered(f"{module.removeprefix('in_place_of.')}.{name}", names[name])
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
