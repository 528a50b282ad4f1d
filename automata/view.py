"""View: the part of an automaton that a picture shows (all of it, or a neighbourhood), and a highlighted path.

    View          the user's choice: around which state, how far, and the states that a text passes through
    Part          the result for one automaton: the states to draw, and how many are left out next to each
    first_look    a small neighbourhood of the start, for a notebook

A neighbourhood follows arcs in either direction, because the arcs into a state explain it as much as those out of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import index
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

# A notebook shows at most this many states.
MAX_SHOWN = 40

_States = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Part:
    """The part of an automaton that is drawn.

    Attributes:
        states: the states to draw, ascending.
        after, before: for states to draw, the number of states left out to which an arc leads, or from which one comes.
        lit: the states on the path.
        lit_arcs: the arcs on the path.
    """

    states: Sequence[int]
    after: Mapping[int, int] = field(default_factory=dict)
    before: Mapping[int, int] = field(default_factory=dict)
    lit: frozenset[int] = frozenset()
    lit_arcs: frozenset[tuple[int, int]] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether no drawn state has an arc to or from a state that is left out."""
        return not self.after and not self.before


@dataclass(frozen=True)
class View:
    """The user's choice of what to show of an automaton.

    Attributes:
        around: the state in the middle; None for the whole automaton.
        radius: the greatest number of arcs, in either direction, from there to a state that is drawn.
        path: the states that a text passes, in order.
    """

    around: int | None = None
    radius: int = 2
    path: tuple[int, ...] = ()

    def part(self, num_states: int, source: _States, target: _States) -> Part:
        """Return the part of an automaton that is shown.

        Args:
            num_states: Q.
            source, target: `[E]` each, the arcs; several between two states count once.

        Raises:
            ValueError: there is no state `around`, or the radius is negative.
            TypeError: `around` or the radius is not a number.
        """
        lit, lit_arcs = frozenset(self.path), frozenset(pairwise(self.path))
        if self.around is None:
            return Part(range(num_states), lit=lit, lit_arcs=lit_arcs)
        around = _number("around is the number of a state in the picture", self.around)
        radius = _number("the radius is a number of arcs", self.radius)
        if not 0 <= around < num_states:
            states = f"states are numbers from 0 to {num_states - 1}" if num_states else "the language is empty"
            raise ValueError(f"there is no state {around}: {states}")
        if radius < 0:
            raise ValueError(f"the radius is a number of arcs, not {radius}")
        drawn = np.zeros(num_states, np.bool_)
        drawn[around] = True
        for _ in range(min(radius, num_states)):  # no state is farther
            _grow(drawn, source, target)
        return Part(
            np.flatnonzero(drawn).tolist(),
            _counts(source, target, drawn),
            _counts(target, source, drawn),
            lit,
            lit_arcs,
        )


def _number(needed: str, value: object) -> int:
    if not isinstance(value, SupportsIndex):
        raise TypeError(f"{needed}, not {value!r}")
    return index(value)


def _grow(drawn: npt.NDArray[np.bool_], source: _States, target: _States) -> None:
    """Add, in place, the states that an arc connects with a state that is drawn already."""
    after, before = target[drawn[source]], source[drawn[target]]
    drawn[after], drawn[before] = True, True


def _counts(near: _States, far: _States, drawn: npt.NDArray[np.bool_]) -> dict[int, int]:
    """Return, for each drawn state in `near`, how many states that are not drawn its arcs lead to in `far`."""
    outward = drawn[near] & ~drawn[far]
    pairs = np.unique(np.stack([near[outward], far[outward]]), axis=1)
    states, counts = np.unique(pairs[0], return_counts=True)
    return dict(zip(states.tolist(), counts.tolist(), strict=True))


def first_look(start: int, num_states: int, source: _States, target: _States) -> tuple[int | None, int]:
    """Return `around` and `radius` for the picture that a notebook shows by default.

    A small automaton is shown whole; of a larger one, the start and as much around it as fits `MAX_SHOWN` states.

    Args:
        start: the state in the middle.
        num_states, source, target: as for `View.part`.
    """
    if num_states <= MAX_SHOWN:
        return None, 0
    drawn, radius = np.zeros(num_states, np.bool_), 0
    drawn[start] = True
    while True:
        before = int(drawn.sum())
        _grow(drawn, source, target)
        if drawn.sum() > MAX_SHOWN or drawn.sum() == before:
            return start, radius
        radius += 1


WHOLE = View()
