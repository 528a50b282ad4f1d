"""The last step of every construction: minimal transitions become the tables of an automaton, dense or sparse.

Small automata get a table of states by classes of bytes, `[Q, C]`, which is the fastest to step through. Past
`DENSE_BYTES` a table would mostly say that there is no transition, and automata keep arcs over runs of bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.byte_automaton import ByteArray, ByteAutomaton, canonical, from_tables
from automata.determinize import Transitions
from automata.jit import kernel
from automata.minimize import table_of
from automata.openfst import BoolArray, IntArray
from automata.sparse import SparseAutomaton, canonical_arcs

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


def from_either(tables: Tables, labels: tuple[str, ...]) -> ByteAutomaton:
    """The automaton of canonical tables, without labels that nothing takes."""
    start, final, byte_class, columns, offsets, arcs, by_label = tables
    if not len(offsets):
        return from_tables(start, final, byte_class, columns, by_label, labels)
    if labels:
        kept = np.flatnonzero((by_label >= 0).any(axis=0))
        by_label, labels = np.ascontiguousarray(by_label[:, kept]), tuple(labels[number] for number in kept)
    return SparseAutomaton(min(start, 0), final, offsets, arcs, by_label, labels)
