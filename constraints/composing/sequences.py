"""Constraints in sequence, and optional constraints."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

from automata.compilable import Compilable
from automata.errors import TextNotAllowed
from constraints.composing.parsed import Composed, Parsed, composed, parsed
from constraints.composing.part import Composable, Unparsed, concatenated, part_of, repeated
from constraints.composing.segments import Edge, Node, segmented

T = TypeVar("T")

_START: Node = (0, 0)


def sequence(*parts: Composable) -> Composed[tuple[Any, ...]]:
    """Return the constraint of a text of the first part, followed by a text of the second, and so on.

    `parse` returns a tuple with one value for each part: the result of the part's `parse`, or its text if it has none.
    If a text can be divided in several ways, each part, beginning with the first, takes the longest text that it can.

    Args:
        *parts: patterns, expressions (`automata.literal` for plain text), schemas, types, grammars, tool calls, or
            composed constraints.

    Raises:
        PatternError: a part is a pattern that cannot be honoured.
        TypeError: a part is not a constraint, or cannot be a part, such as an automaton with a stack.
    """
    found = list(map(parsed, parts))
    return composed(concatenated(list(map(part_of, parts))), partial(values, found))


def values(parts: list[Parsed[Any]], text: str) -> tuple[Any, ...]:
    """Return the values of constraints whose texts follow each other in a text.

    Raises:
        TextNotAllowed: a constraint does not allow its part of the text; or the text would have to be divided within a
            character.
    """

    def edges(node: Node) -> list[Edge]:
        at, _ = node
        return [Edge(parts[at], (at + 1, 0), _parse(parts[at]))] if at < len(parts) else []

    found = segmented(text, _START, (len(parts), 0), edges)
    if found is None:
        raise TextNotAllowed("a part of the text ends within a character", text)
    return tuple(value for segment in found for value in segment.value())


def _parse(part: Parsed[Any]) -> Callable[[str], tuple[Any]]:
    return lambda text: (part.parse(text),)


@overload
def optional(constraint: Parsed[T]) -> Composed[T | None]: ...


@overload
def optional(constraint: Unparsed) -> Composed[str | None]: ...


@overload
def optional(constraint: Compilable) -> Composed[Any]: ...


def optional(constraint: Composable) -> Composed[Any]:
    """Return the constraint that allows the texts of another constraint, and the empty text.

    `parse` returns the value of the given constraint; for the empty text it returns None, unless that constraint allows
    the empty text too.

    Args:
        constraint: as for `sequence`.

    Raises:
        PatternError, TypeError: as for `sequence`.
    """
    return composed(repeated(part_of(constraint), 0, 1), partial(_value_or_none, parsed(constraint)))


def _value_or_none(constraint: Parsed[T], text: str) -> T | None:
    return constraint.parse(text) if text or constraint.allows(text) else None
