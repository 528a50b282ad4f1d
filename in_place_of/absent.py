"""Names of other packages that are not offered.

    Absent      an attribute of a class: using it raises `NotOffered`
    missing     the same for a module, from its `__getattr__`

`NotOffered` is not an `AttributeError`: the import system would turn that into an error without the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from automata.errors import NotOffered


class Absent:
    """An attribute that the class of another package has, and its stand-in has not."""

    def __init__(self, instead: str) -> None:
        """Say what to use in its place."""
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
        names: what to use in place of names that the other package has.
        name: what was asked for.

    Raises:
        NotOffered: the other package has it.
        AttributeError: it has not.
    """
    if name in names:
        raise NotOffered(f"{module.removeprefix('in_place_of.')}.{name}", names[name])
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
