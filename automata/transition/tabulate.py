"""The last step of every construction: minimal transitions become the tables of an automaton, dense or sparse.

Small automata get a table of states by classes of bytes, `[Q, C]`, which is the fastest to step through. Past
`DENSE_BYTES` a table would mostly say that there is no transition, and automata keep arcs over runs of bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.arrays import BoolArray, ByteArray, IntArray
from automata.jit import kernel
from automata.transition.byte_automaton import canonical
from automata.transition.determinize import Transitions
from automata.transition.minimize import table_of
from automata.transition.sparse import canonical_arcs

# The largest table `[Q, P]` of states and cut bytes that is made, in bytes; past it an automaton is sparse.
DENSE_BYTES = 1 << 20
# In its place, where automata are laid out elsewhere and nothing steps through them: no table is made.
SPARSE = 0


class Tables(NamedTuple):
    """What an automaton is made from; either `columns`, or `offsets` and `arcs`, are empty."""

    start: int
    final: BoolArray
    byte_class: ByteArray
    columns: IntArray
    offsets: IntArray
    arcs: IntArray
    by_label: IntArray


@kernel
def tabulate(start: int, minimal: Transitions, interval: IntArray, num_labels: int, dense_bytes: int) -> Tables:
    """The tables of minimal transitions.

    Args:
        start: the start state, -1 where there is no state.
        minimal: transitions over intervals of bytes and then labels; every state can be reached.
        interval: `[256 + L]`, the ascending interval of each byte, and of each label behind.
        num_labels: L.
        dense_bytes: `DENSE_BYTES`.
    """
    num_symbols = interval[-1] + 1
    if 4 * len(minimal.final) * num_symbols <= dense_bytes:
        table = table_of(minimal, num_symbols)
        final, byte_class, columns, by_label = canonical(start, minimal.final, interval[:256], table, num_labels)
        return Tables(start, final, byte_class, columns, np.zeros(0, np.int32), np.zeros((0, 3), np.int32), by_label)
    final, offsets, arcs, by_label = canonical_arcs(start, minimal, interval, num_labels)
    return Tables(start, final, np.zeros(0, np.uint8), np.zeros((0, 0), np.int32), offsets, arcs, by_label)


@kernel
def no_tables() -> Tables:
    """In place of the tables of a construction that was stopped."""
    ints, table = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)
    return Tables(-1, np.zeros(0, np.bool_), np.zeros(0, np.uint8), table, ints, table, table)


def from_either(tables: Tables, labels: tuple[str, ...]):
    from automata._native import ByteTables
    from automata.byte_automaton import ByteAutomaton

    start, final, byte_class, columns, offsets, arcs, by_label = tables
    start = min(start, 0)
    if not len(offsets):
        t = ByteTables.dense(start, byte_class, np.ascontiguousarray(columns), final, np.ascontiguousarray(by_label))
    else:
        t = ByteTables.sparse(start, offsets, np.ascontiguousarray(arcs), final, np.ascontiguousarray(by_label))
    return ByteAutomaton(t, labels)
