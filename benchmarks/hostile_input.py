"""The type of a hostile input, and a collection of them by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracles import Kind


@dataclass(frozen=True, slots=True)
class Hostile:
    """A constraint that asks for too much, or that is malformed.

    Attributes:
        kind: the kind of constraint.
        make: returns the pattern, the schema, or the texts of the grammar by notation. Inputs are made in the process
            that uses them, because some are too deep to be sent to it.
        valid, invalid: texts of a pattern or grammar, or values of a schema, that show whether an engine is right.
    """

    kind: Kind
    make: Callable[[], Any]
    valid: tuple[Any, ...] = ()
    invalid: tuple[Any, ...] = ()


class Inputs(dict[str, Hostile]):
    """Hostile inputs by name."""

    def add(self, name: str, hostile: Hostile) -> None:
        """Add an input; its name must be new."""
        assert name not in self, name
        self[name] = hostile


def just(value: Any) -> Callable[[], Any]:
    """Return a function that returns a value."""
    return lambda: value
