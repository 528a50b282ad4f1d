"""The boundary with OpenFst: unweighted acceptors to and from flat numpy arrays, and nothing else.

OpenFst writes and reads a binary form in which states and arcs are plain records, so an automaton is converted in one
pass over an array instead of a Python call for each arc. OpenFst's label 0 is epsilon; only this file knows that:
elsewhere a symbol is a number from 0 up and epsilon is `EPSILON`.

The binary form (OpenFst 1.8, `fst/fst.h`, `FstHeader::Write`): magic number, type, arc type, version, flags,
properties, start, number of states, number of arcs; then for `vector` each state's weight, number of arcs and its
arcs, for `const` all states and then all arcs. An arc is input label, output label, weight, next state.

`pywrapfst` is imported on first use, since most work needs no OpenFst and importing it takes longer than compiling a
pattern.

Rejected: `add_arc` (a microsecond an arc), text with `Compiler` (slower still).
"""

from __future__ import annotations

import struct
from typing import Any, TypeAlias

import numpy as np

from automata import _native
from automata.arrays import BoolArray, IntArray

# pywrapfst has no types of its own.
Fst: TypeAlias = Any

EPSILON = -1

_VECTOR_HEADER = struct.Struct("<i i6s i8s i i Q q q q")
_CONST_HEADER = struct.Struct("<i i5s i8s i i Q q q q")
_MAGIC = 2125659606
_EXPANDED_MUTABLE = 0x1 | 0x2
_EXPANDED_MUTABLE_ACCEPTOR = _EXPANDED_MUTABLE | 0x10000
# The tropical semiring's zero, the weight of a state that is not final, as the bits of a 4-byte float.
_INFINITY = 0x7F800000


def to_fst(start: int, final: BoolArray, source: IntArray, symbol: IntArray, target: IntArray) -> Fst:
    """Return the acceptor with Q states and A arcs as a mutable OpenFst automaton.

    Args:
        start: the start state, -1 where there is none.
        final: `[Q]`.
        source, symbol, target: `[A]` each, in any order; `EPSILON` for an arc that reads nothing.
    """
    arcs = np.stack([source, symbol, symbol, target], axis=1).astype(np.int32)
    return _read(_EXPANDED_MUTABLE_ACCEPTOR, start, final, arcs)


def _const_words(fst: Fst) -> tuple[int, int, IntArray]:
    """Return the start state (-1 for none), the number of states and the body of the `const` form: 5 words for a state
    (weight, first arc, number of arcs, two counts of epsilon arcs), then 4 for an arc."""
    import pywrapfst

    data = pywrapfst.convert(fst, "const").write_to_string()
    *_, start, num_states, _ = _CONST_HEADER.unpack_from(data)
    # The slice is a copy, and so aligned to 4 bytes, which the header's 65 bytes are not.
    return start, num_states if start >= 0 else 0, np.frombuffer(data[_CONST_HEADER.size :], np.int32)


def to_transducer(
    start: int, final: BoolArray, source: IntArray, ilabel: IntArray, olabel: IntArray, target: IntArray
) -> Fst:
    """Return the transducer with Q states and A arcs as a mutable OpenFst automaton; see `to_fst`.

    Args:
        start: the start state, -1 where there is none.
        final: `[Q]`.
        source, ilabel, olabel, target: `[A]` each, in any order; `EPSILON` where an arc reads or writes
            nothing.
    """
    return _read(_EXPANDED_MUTABLE, start, final, np.stack([source, ilabel, olabel, target], axis=1).astype(np.int32))


def _read(properties: int, start: int, final: BoolArray, arcs: IntArray) -> Fst:
    """Return the automaton with these arcs `[A, 4]`: source, input symbol, output symbol and target."""
    import pywrapfst

    header = _VECTOR_HEADER.pack(_MAGIC, 6, b"vector", 8, b"standard", 2, 0, properties, start, len(final), len(arcs))
    return pywrapfst.Fst.read_from_string(header + _native.vector_fst_words(final, arcs).tobytes())


def to_arcs(fst: Fst) -> tuple[int, BoolArray, IntArray]:
    """Return the start state (-1 for none), the final states `[Q]` and the arcs `[4, A]` of any automaton.

    An arc is source, input symbol, output symbol and target, `EPSILON` where it reads or writes nothing; arcs come
    by source.
    """
    start, num_states, words = _const_words(fst)
    states = words[: 5 * num_states].reshape(-1, 5)
    source = np.repeat(np.arange(num_states, dtype=np.int32), states[:, 2])
    arcs = words[5 * num_states :].reshape(-1, 4)[: len(source)]
    return start, states[:, 0] != _INFINITY, np.stack([source, arcs[:, 0] - 1, arcs[:, 1] - 1, arcs[:, 3]])
