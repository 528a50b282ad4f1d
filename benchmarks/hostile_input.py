"""What a hostile input is, and a collection of them in which each has a name of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracles import Kind


@dataclass(frozen=True, slots=True)
class Hostile:
    """A constraint that asks for more than there is, or that is none.

    Attributes:
        make: a pattern, a schema, or a grammar by notation; made where it is used, since it may be too deep to send.
        valid, invalid: texts of patterns and grammars, values of schemas, that tell whether what compiles is right.
    """

    kind: Kind
    make: Callable[[], Any]
    valid: tuple[Any, ...] = ()
    invalid: tuple[Any, ...] = ()


class Inputs(dict[str, Hostile]):
    """Inputs by name."""

    def add(self, name: str, hostile: Hostile) -> None:
        """Adds one, whose name must be new."""
        assert name not in self, name
        self[name] = hostile
