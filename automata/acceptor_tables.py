"""AcceptorTables: a nondeterministic automaton as arrays, compared and hashed by its contents.

This is the form of automata in expressions (`automata.expressions.nodes.Acceptor`): those from OpenFst, and the images
of languages under transducers. State 0 is the start and state 1 the only final state; both may have incoming and
outgoing arcs.

    AcceptorTables     states, arcs over ranges of bytes and over labels, epsilon arcs, and optional costs
    ArcCosts           the cost of each arc, and the semiring in which costs are combined

Costs are negative logarithms of probabilities. They are added along a path. If several paths read the same text,
"tropical" takes the least cost and "log" the negative logarithm of the sum of the probabilities (Mohri, "Weighted
Automata Algorithms", 2009).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray

CostArray: TypeAlias = npt.NDArray[np.float64]
Semiring: TypeAlias = Literal["tropical", "log"]


@dataclass(frozen=True, eq=False)
class ArcCosts:
    """The costs of the arcs of an acceptor.

    Attributes:
        semiring: how the costs of several paths with one text are combined.
        arcs: `[A]`, the cost of each arc; finite.
        epsilon: `[E]`, the cost of each epsilon arc; finite.
    """

    semiring: Semiring
    arcs: CostArray
    epsilon: CostArray


@dataclass(frozen=True, eq=False)
class AcceptorTables:
    """A nondeterministic automaton with S states; immutable.

    Attributes:
        num_states: S; 0 is the start and 1 the end.
        arcs: `[A, 4]` int32, source, first and last symbol, and target. Symbols are the bytes, and from 256 up labels,
            each in an arc of its own.
        epsilon: `[E, 2]` int32, source and target.
        labels: the names of the labels, ascending.
        costs: the costs of the arcs; None without weights.
    """

    num_states: int
    arcs: IntArray
    epsilon: IntArray
    labels: tuple[str, ...] = ()
    costs: ArcCosts | None = None

    @cached_property
    def digest(self) -> bytes:
        """A hash of the contents."""
        return digest(self.num_states, self.arcs, self.epsilon, self.labels, self.costs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AcceptorTables) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        weights = "" if self.costs is None else f", weights in the {self.costs.semiring} semiring"
        return f"<{self.num_states:,} states, {len(self.arcs):,} arcs{weights}>"


def digest(
    num_states: int, arcs: IntArray, epsilon: IntArray, labels: tuple[str, ...], costs: ArcCosts | None
) -> bytes:
    """Return a hash of the contents of an automaton."""
    parts: list[object] = [num_states, arcs.shape, labels]
    arrays: list[npt.NDArray[np.generic]] = [arcs, epsilon]
    if costs is not None:
        parts.append(costs.semiring)
        arrays += [costs.arcs, costs.epsilon]
    made = hashlib.sha256(repr(parts).encode())
    for array in arrays:
        made.update(np.ascontiguousarray(array).data)
    return made.digest()
