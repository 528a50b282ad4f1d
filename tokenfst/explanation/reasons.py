"""Protocols by which a constraint that is no pattern or grammar says where a text stands in it, and why it is refused.

SchemaPlace        a place in a JSON text, and the part of the schema that applies there
Reasons            the places, and the keywords and settings that forbid the text to continue
SupportsReasons    a constraint that returns Reasons
SupportsPlaces     a constraint that finds only the places, of one text after each of its tokens
SupportsWalk       a constraint whose places are parts of an expression or a grammar with the same texts
walk_of            the walk through a constraint
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from automata.expressions import Expr
from automata.places import Place, Walk, walk_through
from automata.pushdown.grammar import Grammar


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """A place in a JSON text.

    Attributes:
        expected: the bytes that this part of the schema allows next.
        path: the value, as a JSONPath: `$` is the whole text.
        pointer: a schema that the value must satisfy, as a JSON pointer; "" is the whole schema. If no schema applies
            to the value itself, this is a schema of a value around it.
        what: what is being written there: a "value"; the "name" of a member; the "colon" after a name; or what comes
            "after" an item, a member or the whole value.
    """

    expected: frozenset[int]
    path: str
    pointer: str
    what: str


# Returns the places of a text, given its beginning and the bytes that may follow.
PlaceFinder: TypeAlias = Callable[[bytes, frozenset[int]], tuple[SchemaPlace, ...]]


class Reasons(NamedTuple):
    """Where a text stands, and why it may not continue with a byte or end.

    Attributes:
        places: the places of the text in the constraint.
        keywords: the keywords of a schema, as JSON pointers, each of which alone forbids the byte or the end: without
            this keyword, it would be allowed.
        together: keywords that forbid it only together, if none does alone: it would be allowed without all of them.
        settings: the same as `keywords` for the options of a constraint, as they are written in a call.
        is_syntax: whether no JSON text continues in this way.
    """

    places: tuple[Place | SchemaPlace, ...] = ()
    keywords: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_syntax: bool = False


@runtime_checkable
class SupportsReasons(Protocol):
    """A constraint that can say where a text is in it, and why the text may not continue."""

    def reasons(self, text: bytes, refused: bytes | None, expected: frozenset[int]) -> Reasons:
        """Return where a text stands, and why it may not continue.

        Args:
            text: the beginning of some text of the constraint.
            refused: the bytes that may not follow: the rest of a token, or one byte; b"" if the text may not end; None
                if nothing is refused.
            expected: the bytes that may follow.
        """
        ...


@runtime_checkable
class SupportsPlaces(Protocol):
    """A constraint that can say where a text is in it."""

    def place_finder(self) -> PlaceFinder | None:
        """Return a finder of the places of texts, None if there is none. The finder reuses what it has compiled."""
        ...


@runtime_checkable
class SupportsWalk(Protocol):
    """A constraint whose places are parts of an expression or a grammar with the same texts."""

    def walked(self) -> Expr | Grammar | None:
        """Return the expression or the grammar; None if there is none."""
        ...


def walk_of(constraint: object) -> Walk | None:
    """Return the walk through a constraint, before the first byte; None if its parts are not known.

    Raises:
        LimitExceeded: there are more ways to read a text than the current compilation has time for.
    """
    if isinstance(constraint, SupportsWalk):
        constraint = constraint.walked()
    return walk_through(constraint) if isinstance(constraint, str | Expr | Grammar) else None
