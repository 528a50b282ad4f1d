"""Constraints that begin after a marker, within free text.

    free        any text in which no marker occurs
    until i     any text that ends with marker i, and in which no marker ends earlier
    triggered   (until i, constraint i, end i)*, and then `free`

A constraint begins at the first place where a marker ends, as it would for a program that watches the text. Between a
marker and its end only the constraint applies, so a marker in a string there is ordinary text. The end follows the text
of the constraint. If that text may end at several places, all of them are allowed, and `parse` takes the first.

A marker is a text, or a token given by its name (`automata.expressions.extensions.token`). A token writes no text, so
free text never contains one, and a token always switches its constraint on. The name of the token, spelled by other
tokens, is free text.

A constraint that writes a marker of its own (`Parsed.openings`), such as tool calls, begins with its marker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import index
from typing import Any, NamedTuple, TypeAlias, TypeVar, overload

from automata import expressions as ex
from automata.assertions import matches_empty
from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.errors import TextNotAllowed
from automata.expressions import ANY_CHAR, ANY_TEXT, EPSILON, Expr, Label, Literal
from automata.pushdown.naming import calls_and_labels
from automata.queries import is_finite
from constraints.composing.parsed import Composed, Parsed, composed, parsed
from constraints.composing.part import Composable, Part, Unparsed, concatenated, either, part_of, repeated
from constraints.composing.segments import Edge, Node, segmented

T = TypeVar("T")

Marker: TypeAlias = str | Expr
# A constraint that a marker switches on, with or without the end marker after it.
Triggered: TypeAlias = Composable | tuple[Composable, Marker]


class Marked(NamedTuple):
    """The value of a constraint that a marker switched on.

    Attributes:
        marker: the marker: a text, or the name of a token.
        value: the result of the constraint's `parse`, or the text itself if the constraint has no `parse`.
    """

    marker: str
    value: Any


class Switch(NamedTuple):
    """A constraint in free text, with its marker and its end.

    Attributes:
        before: the free text before the constraint, including its marker if `marker` is given.
        marker: the marker, if it is not part of the constraint.
        constraint: the constraint after the marker.
        end: the text that ends the constraint.
        value: returns the pieces for a value of the constraint.
    """

    before: Expr
    marker: Expr
    constraint: Composable
    end: Expr
    value: Callable[[Any], Iterable[Any]]

    def part(self) -> Part:
        """Return the free text, the constraint and its end as one part."""
        return concatenated([Part(self.before), part_of(self.constraint), Part(self.end)])


def free_text(*without: Marker) -> Expr:
    """Return the language of all texts in which none of the given markers occurs.

    Args:
        *without: the markers: texts or expressions.

    Raises:
        ValueError: a marker is the empty text.
    """
    markers = _texts([_marker(one) for one in without])
    return ANY_TEXT - (ANY_TEXT + ex.alternation(*markers) + ANY_TEXT) if markers else ANY_TEXT


@overload
def after(marker: Marker, constraint: Parsed[T]) -> Composed[tuple[str, T]]: ...


@overload
def after(marker: Marker, constraint: Unparsed) -> Composed[tuple[str, str]]: ...


@overload
def after(marker: Marker, constraint: Compilable) -> Composed[tuple[str, Any]]: ...


def after(marker: Marker, constraint: Composable) -> Composed[Any]:
    """Return the constraint of free text up to the first place where a marker ends, followed by a text of `constraint`.

    This describes the answer of a model that thinks first: `after("</think>", schema)`. `parse` returns two values: the
    text before the marker, and the value of the constraint (its text if it has no `parse`).

    Args:
        marker: a text, or an expression such as `token("</think>")`.
        constraint: the constraint on the text after the marker, as for `sequence`.

    Raises:
        ValueError: the marker is the empty text.
        PatternError, TypeError: as for `sequence`.
    """
    found = _marker(marker)
    switch = Switch(_Free([found]).until(found), found, constraint, EPSILON, _alone)
    return composed(switch.part(), partial(_before_and_value, switch))


# Type checkers cannot infer the type of a dict literal from a union of mappings, so there are overloads.
@overload
def triggered(
    triggers: Mapping[str, Triggered], *, at_least: int = 0, at_most: int | None = None
) -> Composed[tuple[str | Marked, ...]]: ...


@overload
def triggered(
    triggers: Mapping[Expr, Triggered], *, at_least: int = 0, at_most: int | None = None
) -> Composed[tuple[str | Marked, ...]]: ...


@overload
def triggered(
    triggers: Mapping[Marker, Triggered], *, at_least: int = 0, at_most: int | None = None
) -> Composed[tuple[str | Marked, ...]]: ...


def triggered(
    triggers: Mapping[str, Triggered] | Mapping[Expr, Triggered] | Mapping[Marker, Triggered],
    *,
    at_least: int = 0,
    at_most: int | None = None,
) -> Composed[tuple[str | Marked, ...]]:
    """Return the constraint of free text in which markers switch constraints on, such as values in a report.

    `triggered({"<date>": (date(), "</date>")})` is text in which every `<date>` is followed by a date and `</date>`;
    there may be any number of them. `parse` returns the pieces of a text in order: free text, without the markers, as
    `str` if it is not empty; and each constrained part as a `Marked`.

    For tool calls alone, see `tool_calls(..., text=...)`. To combine them with other markers, give them their own
    marker and no end: `{"<tool_call>": tool_calls(..., format="qwen")}`.

    Args:
        triggers: a mapping from each marker, a text or an expression such as `token("<date>")`, to the constraint and
            the end marker after it; or to the constraint alone, after which free text continues.
        at_least: the least number of constrained parts.
        at_most: the greatest number of constrained parts; None for any number. After the last, no marker may occur.

    Raises:
        ValueError: there are no triggers, a marker may be empty or occurs in another one, or no number satisfies the
            bounds; or a constraint writes its own markers, and the markers around it would repeat them.
        PatternError, TypeError: as for `sequence`.
    """
    if not isinstance(triggers, Mapping):
        raise TypeError(f"triggers are a dict, {{marker: (constraint, end)}}, not {triggers!r}")
    markers = [_marker(marker) for marker in triggers]
    _check(markers)
    free, switches = _Free(markers), []
    at_least, at_most = _bound("at_least", at_least), None if at_most is None else _bound("at_most", at_most)
    if at_most is not None and at_most < at_least:
        raise ValueError(f"`at_most` is {at_most}, which is less than `at_least`, {at_least}")
    for number, (name, one) in enumerate(triggers.items()):
        constraint, end = _with_end(name, one)
        own = _writes_marker(constraint, markers[number], has_end=isinstance(one, tuple))
        before = text_before(markers[number], markers) if own else free.until(markers[number])
        ending = ex.literal(end) if isinstance(end, str) else ex.whole(end)
        shown = partial(_marked, name if isinstance(name, str) else _shown(name))
        switches.append(Switch(before, EPSILON if own else markers[number], constraint, ending, shown))
    return among_text(switches, free.text, at_least, at_most)


def _bound(name: str, value: int) -> int:
    """Return a number of constrained parts as an int, from any integer type."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"`{name}` is a number of parts, not {value!r}") from None
    if number < 0:
        raise ValueError(f"`{name}` must be at least 0, not {value}")
    return number


def among_text(switches: Sequence[Switch], rest: Expr, at_least: int, at_most: int | None) -> Composed[tuple[Any, ...]]:
    """Return the constraint of a sequence of switches followed by other text; `parse` returns the pieces.

    Args:
        switches: the switches to choose from, each with the text before it.
        rest: the text after the last switch.
        at_least, at_most: the bounds on the number of switches; None means no bound.
    """
    again = repeated(either([switch.part() for switch in switches]), at_least, at_most)
    part = concatenated([again, Part(rest)])
    return composed(part, partial(_pieces, switches, rest, at_least, at_most))


def text_before(marker: Expr, markers: Sequence[Expr]) -> Expr:
    """Return the free text before a marker: no marker ends in it, and none ends earlier than the given one.

    Raises:
        ValueError: one of the markers is neither a text nor a token.
    """
    for other in markers:
        if not isinstance(other, Literal | Label):
            raise ValueError(
                f"beside a constraint that writes its own marker, {_shown(other)!r} is neither plain text nor a token"
            )
    follows = marker.value if isinstance(marker, Literal) else b""
    early = {
        other.value[:-length]
        for other in markers
        if isinstance(other, Literal)
        for length in range(1, min(len(other.value), len(follows)))
        if other.value.endswith(follows[:length])
    }
    free = free_text(*markers)
    return free - (ANY_TEXT + ex.strings(early)) if early else free


def _pieces(switches: Sequence[Switch], rest: Expr, at_least: int, at_most: int | None, text: str) -> tuple[Any, ...]:
    """Return the pieces of a text of `among_text`.

    A node is the number of parts read so far (counted only up to `at_least` if `at_most` is None), and a place within
    the next one: 0 before it, `2 * i + 1` before constraint i, `2 * i + 2` before its end.
    """
    inner = [parsed(switch.constraint) for switch in switches]
    before = [_reader(switch.before) for switch in switches]
    ends = [_reader(switch.end) for switch in switches]
    last, done = _reader(rest), (-1, 0)
    # The name of a token may also be free text, or begin with a marker that is text. It is read as the token if
    # possible, so switches whose marker is a token come first.
    groups = [0 if _begins_with_token(switch) else 1 for switch in switches]
    order = sorted(range(len(switches)), key=groups.__getitem__)

    def edges(node: Node) -> list[Edge]:
        count, place = node
        if node == done:
            return []
        if place == 0:
            found = [
                Edge(before[number], (count, 2 * number + 1), _without(switches[number].marker), groups[number])
                for number in order
                if at_most is None or count < at_most
            ]
            return found + ([Edge(last, done, _nonempty)] if count >= at_least else [])
        number = (place - 1) // 2
        switch = switches[number]
        if place % 2:
            group = None if ex.is_epsilon(switch.end) else 0
            return [Edge(inner[number], (count, place + 1), _values(inner[number], switch), group)]
        following = count + 1 if at_most is not None else min(count + 1, at_least)
        return [Edge(ends[number], (following, 0), lambda _: ())]

    found = segmented(text, (0, 0), done, edges)
    if found is None:
        raise TextNotAllowed("a part of the text ends within a character", text)
    return tuple(piece for segment in found for piece in segment.value())


def _begins_with_token(switch: Switch) -> bool:
    """Return whether the marker of a switch, or the one that its constraint writes, is a token."""
    openings = switch.constraint.openings if isinstance(switch.constraint, Parsed) else ()
    return not _texts([switch.marker]) or (
        ex.is_epsilon(switch.marker) and any(isinstance(one, Label) for one in openings)
    )


def _reader(expr: Expr) -> Composed[str]:
    return composed(Part(expr), str)


def _nonempty(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def _values(inner: Parsed[Any], switch: Switch) -> Callable[[str], Iterable[Any]]:
    return lambda text: switch.value(inner.parse(text))


def _without(marker: Expr) -> Callable[[str], tuple[str, ...]]:
    """Return a function that takes a text that ends with a marker, and returns the free text before the marker."""
    reader = _reader(marker)

    def free(text: str) -> tuple[str, ...]:
        automaton = reader.readable
        most = len(text)
        if isinstance(automaton, ByteAutomaton) and is_finite(automaton):
            # A path without a loop has fewer arcs than there are states.
            most = automaton.num_states * max([1, *map(len, automaton.labels)])
        first = max(0, len(text) - most)
        begin = next(at for at in range(first, len(text) + 1) if reader.allows(text[at:]))
        return _nonempty(text[:begin])

    return free


def _marked(name: str, value: Any) -> tuple[Marked]:
    return (Marked(name, value),)


def _alone(value: Any) -> tuple[Any]:
    return (value,)


def _before_and_value(switch: Switch, text: str) -> tuple[str, Any]:
    """Return the text before a marker, and the value after it."""
    pieces = _pieces([switch], EPSILON, 1, 1, text)
    return ("", *pieces) if len(pieces) == 1 else pieces


def _shown(marker: Expr) -> str:
    return marker.name if isinstance(marker, Label) else str(marker)


def _with_end(marker: Marker, one: Triggered) -> tuple[Composable, Marker]:
    """Return the constraint that a marker switches on, and its end marker, which is empty if there is none."""
    if not isinstance(one, tuple):
        return one, ""
    if len(one) != 2 or not isinstance(one[1], str | Expr):
        raise TypeError(
            f"after the marker {marker!r} comes a constraint, or a pair of a constraint and its end marker, a text or "
            f"an expression, not {one!r}"
        )
    return one


def _marker(marker: Marker) -> Expr:
    if not isinstance(marker, str | Expr):
        raise TypeError(f"a marker is a text, or a token by its name (`token(...)`), not {marker!r}")
    expr = ex.literal(marker) if isinstance(marker, str) else marker
    if matches_empty(expr):
        raise ValueError("a marker is not the empty text" + ("" if ex.is_epsilon(expr) else f", as {expr} may be"))
    return ex.whole(expr)


def _writes_marker(constraint: Composable, marker: Expr, *, has_end: bool) -> bool:
    """Return whether a constraint writes the marker before it.

    Raises:
        ValueError: the marker, or the end, would be written twice.
    """
    openings = constraint.openings if isinstance(constraint, Parsed) else ()
    if marker in openings and len(openings) == 1 and not has_end:
        return True
    texts = [opening.value for opening in openings if isinstance(opening, Literal)]
    doubled = isinstance(marker, Literal) and any(
        text.startswith(marker.value) or marker.value.startswith(text) for text in texts
    )
    if marker in openings or doubled:
        raise ValueError(
            f"{constraint!r} writes {_shown(marker)!r} and its end itself: for text in which calls may stand, write "
            'tool_calls(..., text="before") or text="around"; beside other markers, give the calls without an end'
        )
    return False


def _check(markers: Sequence[Expr]) -> None:
    if not markers:
        raise ValueError("without a marker nothing is switched on")
    texts = [marker.value for marker in markers if isinstance(marker, Literal)]
    # This byte occurs in no UTF-8 text.
    joined = b"\xff".join(texts)
    for text in texts:
        if joined.find(text, joined.find(text) + 1) >= 0:
            other = next((each for each in texts if text in each and each != text), text)
            raise ValueError(f"the marker {text.decode()!r} occurs in {other.decode()!r}, which could not be read")


def _texts(markers: Sequence[Expr]) -> list[Expr]:
    """Return the markers that are text, and not tokens."""
    return [marker for marker in markers if not any(isinstance(node, Label) for node, _ in calls_and_labels(marker))]


class _Free:
    """Free text among some markers.

    Attributes:
        text: any text without a marker.
    """

    def __init__(self, markers: Sequence[Expr]) -> None:
        self.text = free_text(*markers)
        texts = _texts(markers)
        self._texts = frozenset(texts)
        # A text in which a marker ends before the last character.
        self._early = ANY_TEXT + ex.alternation(*texts) + ANY_CHAR + ANY_TEXT

    def until(self, marker: Expr) -> Expr:
        """Return free text up to and including a marker, where no marker ends earlier."""
        return (ANY_TEXT + marker) - self._early if marker in self._texts else self.text + marker
