"""What a constraint that is neither a pattern nor a grammar says about a text: where it stands, and what forbids it.

SchemaPlace        a place in a JSON text, and the part of the schema that speaks of it
Reasons            the places, and what by itself forbids that the text continues
SupportsReasons    a constraint that knows them
SupportsPlaces     a constraint that finds the places alone, of one text after each of its tokens
SupportsWalk       a constraint whose texts are those of an expression or a grammar with parts of its own
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
        expected: the bytes that this part of the schema lets follow.
        path: the value, as a JSONPath: `$` is the whole.
        pointer: a schema that the value has to satisfy, as a JSON pointer; "" is the whole. Where no schema says
            anything of the value itself, it is one of a value around it.
        what: what is being written there: a "value"; the "name" of a member; the "colon" after a name; or what comes
            "after" an item, a member or the whole.
    """

    expected: frozenset[int]
    path: str
    pointer: str
    what: str


# From the beginning of a text and the bytes that may follow to where it stands.
PlaceFinder: TypeAlias = Callable[[bytes, frozenset[int]], tuple[SchemaPlace, ...]]


class Reasons(NamedTuple):
    """Where a text stands, and why it may not continue with a byte or end.

    Attributes:
        places: where it stands.
        keywords: the keywords of a schema, as JSON pointers, each of which alone forbids it: without it, it is allowed.
        together: keywords that only together forbid it, where none does alone: each of them has to be left out.
        settings: the same as `keywords` for the options of a constraint, as they are written in a call.
        is_syntax: whether no JSON text continues like this.
    """

    places: tuple[Place | SchemaPlace, ...] = ()
    keywords: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_syntax: bool = False


@runtime_checkable
class SupportsReasons(Protocol):
    """A constraint that knows where a text stands in it."""

    def reasons(self, text: bytes, refused: bytes | None, expected: frozenset[int]) -> Reasons:
        """Return where a text stands, and why it may not continue.

        Args:
            text: the beginning of some text of the constraint.
            refused: what may not follow: the rest of a token, or a byte; b"" where the text may not end; None where
                nothing is refused.
            expected: the bytes that may follow.
        """
        ...


@runtime_checkable
class SupportsPlaces(Protocol):
    """A constraint that knows where a text stands in it."""

    def place_finder(self) -> PlaceFinder | None:
        """Return what finds the places of texts; None if nothing does. What it compiles for one text it keeps."""
        ...


@runtime_checkable
class SupportsWalk(Protocol):
    """A constraint whose texts are those of an expression or a grammar with parts of its own."""

    def walked(self) -> Expr | Grammar | None:
        """Return the expression or the grammar; None if there is none."""
        ...


def walk_of(constraint: object) -> Walk | None:
    """Return the walk through a constraint, before the first byte; None where its parts are not known.

    Raises:
        LimitExceeded: there are more ways than the current compilation has time for.
    """
    if isinstance(constraint, SupportsWalk):
        constraint = constraint.walked()
    return walk_through(constraint) if isinstance(constraint, str | Expr | Grammar) else None
