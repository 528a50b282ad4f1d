"""Constraints that begin after a marker and end again, in text that is free.

    free        any text in which no marker occurs
    until i     any text that ends with marker i, and in which no marker ends earlier
    triggered   (until i, constraint i, end i)*, and then `free`

So the first place where a marker ends counts, as it would for a host that watches what is written. Between a marker and
its end only the constraint is read, whatever stands there: a marker in a string of it is text. The end is read where
the constraint's text is over; where that may be at more than one place, each of them counts.

A marker is a text, or tokens by their name (`automata.expressions.extensions.token`): these write no text, so free text
never holds them, and they switch a constraint on wherever they stand. The same text spelled by other tokens is then
free text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from automata import expressions as ex
from automata.expressions import ANY_CHAR, ANY_TEXT, Expr, Label, Literal
from automata.pushdown.grammar import Grammar
from automata.pushdown.naming import calls_and_labels
from constraints.composing.composed import Composed, composed
from constraints.composing.part import Composable, Part, concatenated, either, part_of, repeated

Marker: TypeAlias = str | Expr
# What a marker switches on: a constraint, with the end of it or, where the constraint says itself when it is over,
# without.
Triggered: TypeAlias = Composable | tuple[Composable, Marker]


def free_text(*without: Marker) -> Expr:
    """Any text in which none of some markers occurs.

    Args:
        *without: texts, or expressions.

    Raises:
        ValueError: a marker is the empty text.
    """
    markers = _texts([_marker(one) for one in without])
    return ANY_TEXT - (ANY_TEXT + ex.alternation(*markers) + ANY_TEXT) if markers else ANY_TEXT


def after(marker: Marker, constraint: Composable) -> Composed | Grammar:
    """Free text up to the first place where a marker ends, and then a text of a constraint: the answer of a model that
    thinks first, `after("</think>", schema)`.

    Args:
        marker: a text, or an expression such as `token("</think>")`.
        constraint: what stands behind the marker, to the end; as for `sequence`.

    Returns:
        A constraint, which is a `Grammar` if the one that is given is.

    Raises:
        ValueError: the marker is the empty text.
        PatternError, TypeError: as `sequence`.
    """
    return composed(concatenated([Part(_until(0, [_marker(marker)])), part_of(constraint)]))


def triggered(
    triggers: Mapping[str, Triggered] | Mapping[Expr, Triggered] | Mapping[Marker, Triggered],
    *,
    at_least: int = 0,
    at_most: int | None = None,
) -> Composed | Grammar:
    """Free text in which markers switch constraints on: calls of tools in an answer, values in a report.

    `triggered({"<tool_call>": (schema, "</tool_call>")})` is text in which whatever stands behind `<tool_call>` is a
    value of the schema with `</tool_call>` behind it, any number of times.

    Args:
        triggers: by marker, a text or an expression such as `token("<tool_call>")`, the constraint and the end marker
            behind it; or the constraint alone, behind which the text is free at once.
        at_least: how many constrained parts there are at least.
        at_most: how many there are at most, None for any number. Once there are so many, no marker may occur.

    Returns:
        A constraint, which is a `Grammar` if one of those that are given is.

    Raises:
        ValueError: no triggers, a marker that is empty or occurs in another one, or bounds that no number satisfies.
        PatternError, TypeError: as `sequence`.
    """
    markers = [_marker(marker) for marker in triggers]
    _check(markers)
    parts = []
    for number, one in enumerate(triggers.values()):
        constraint, end = one if isinstance(one, tuple) else (one, "")
        behind = ex.literal(end) if isinstance(end, str) else end
        parts.append(concatenated([Part(_until(number, markers)), part_of(constraint), Part(behind)]))
    again = repeated(either(parts), at_least, at_most)
    return composed(concatenated([again, Part(free_text(*markers))]))


def _marker(marker: Marker) -> Expr:
    expr = ex.literal(marker) if isinstance(marker, str) else marker
    if ex.is_epsilon(expr):
        raise ValueError("a marker is not the empty text")
    return expr


def _check(markers: Sequence[Expr]) -> None:
    if not markers:
        raise ValueError("without a marker nothing is switched on")
    values = [marker.value for marker in markers if isinstance(marker, Literal)]
    for at, value in enumerate(values):
        for other in values[:at] + values[at + 1 :]:
            if value in other:
                raise ValueError(f"the marker {value.decode()!r} occurs in {other.decode()!r}, which could not be read")


def _texts(markers: Sequence[Expr]) -> list[Expr]:
    """The markers that are text, and not tokens."""
    return [marker for marker in markers if not any(isinstance(node, Label) for node, _ in calls_and_labels(marker))]


def _until(number: int, markers: Sequence[Expr]) -> Expr:
    """Free text up to the first marker, if this is the one."""
    marker, texts = markers[number], _texts(markers)
    if marker not in texts:
        return free_text(*texts) + marker
    return (ANY_TEXT + marker) - (ANY_TEXT + ex.alternation(*texts) + ANY_CHAR + ANY_TEXT)
