"""Piece: a language laid out by itself, to be copied between two states of a network by a kernel.

Schemas share their languages: a string, a number, a name's spellings stand in one after the other. Each is laid out
once and kept; a copy costs two numbers.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.compile import Compiler
from automata.expr import Expr
from automata.transition.intervals import FIRST_LABEL
from automata.jit import kernel
from automata.limits import Work
from automata.nested.counted import Counted
from automata.nested.network import Language
from automata.nested.paths import CountedPaths
from automata.arrays import BoolArray, IntArray
from automata.transition.sparse import by_state
from automata.thompson import AssertionMet, Layout

# Pieces with more arcs than this are not kept, nor are more pieces than this.
_MAX_ARCS, _MAX_KEPT = 4096, 1024

_kept: dict[Language, Piece] = {}


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """Arcs from state 0 to state 1; none leads into state 0 or out of state 1.

    Attributes:
        num_states: how many states there are, 0 and 1 among them.
        arcs: `[A, 4]`, source, lowest and highest byte, and target; label i of this piece is the byte 256 + i.
        epsilon: `[E, 2]`, source and target.
        labels: names, ascending.
    """

    num_states: int
    arcs: IntArray
    epsilon: IntArray
    labels: tuple[str, ...] = ()


def piece_of(language: Language, work: Work) -> Piece:
    """The piece of a language.

    Raises:
        LimitExceeded: it is larger than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
        ExpressionError: the expression calls a rule, or raw bytes stand beside assertions.
    """
    known = _kept.get(language)
    if known is None:
        if isinstance(language, Counted | CountedPaths):
            known = _of_automaton(language.expanded())
        else:
            known = _of_automaton(language) if isinstance(language, ByteAutomaton) else _laid(language, work)
        if len(known.arcs) <= _MAX_ARCS:
            while len(_kept) >= _MAX_KEPT:
                # The oldest goes; another thread may change the table meanwhile, and then this one looks again.
                with suppress(RuntimeError, StopIteration):
                    _kept.pop(next(iter(_kept)), None)
            _kept[language] = known
    return known


def _laid(expr: Expr, work: Work) -> Piece:
    compiler = Compiler(work)
    try:
        fragment = Layout(compiler.part, work).lay(expr)
    except AssertionMet:
        return _of_automaton(compiler.resolve(expr))
    return Piece(fragment.num_states, *fragment.tables(), tuple(sorted(fragment.labels)))


def _of_automaton(automaton: ByteAutomaton) -> Piece:
    """The piece of an automaton: its start is state 0 where nothing leads back there, and its ends that lead nowhere
    are state 1."""
    if automaton.is_empty:
        return Piece(2, np.zeros((0, 4), np.int32), np.zeros((0, 2), np.int32))
    offsets, arcs = by_state(automaton)
    _, num_states, arcs, epsilon = _piece(automaton.start, automaton.final, offsets, arcs, automaton.by_label)
    return Piece(num_states, arcs, epsilon, automaton.labels)


@dataclass(frozen=True, eq=False, slots=True)
class CountedPiece:
    """The piece of what is counted, without the counts.

    Attributes:
        piece: the piece of the automaton.
        entry: where texts begin, a state of the piece.
        numbers: `[Q, 3]`, for each state of the piece whether it is counted, and the least and the most.
    """

    piece: Piece
    entry: int
    numbers: IntArray


@lru_cache(maxsize=_MAX_KEPT)
def counted_piece(paths: CountedPaths) -> CountedPiece:
    """The piece of what is counted."""
    automaton = paths.automaton
    offsets, arcs = by_state(automaton)
    name, num_states, arcs, epsilon = _piece(paths.start, automaton.final, offsets, arcs, automaton.by_label)
    piece = Piece(num_states, arcs, epsilon)
    numbers = np.zeros((piece.num_states, 3), np.int32)
    numbers[name] = np.stack([paths.counted, paths.least, paths.most], axis=1)
    numbers[1] = 0
    return CountedPiece(piece, int(name[paths.start]), numbers)


@kernel
def _piece(
    start: int, final: BoolArray, offsets: IntArray, by_byte: IntArray, by_label: IntArray
) -> tuple[IntArray, int, IntArray, IntArray]:
    """The state of a piece that each state of an automaton becomes, and what the piece has; the arcs `[A, 3]` of each
    state are from its offset on."""
    num_states, num_labels = by_label.shape
    is_end, starts_anew, num_arcs = final.copy(), False, len(by_byte)
    for state in range(num_states):
        for label in range(num_labels):
            if by_label[state, label] >= 0:
                is_end[state], num_arcs = False, num_arcs + 1
                starts_anew = starts_anew or by_label[state, label] == start
        if offsets[state] < offsets[state + 1]:
            is_end[state] = False
    for arc in range(len(by_byte)):
        starts_anew = starts_anew or by_byte[arc, 2] == start
    starts_anew = starts_anew or is_end[start]
    name, count, num_unread = np.empty(num_states, np.int32), 2, int(starts_anew)
    for state in range(num_states):
        num_unread += final[state] and not is_end[state]
        if is_end[state]:
            name[state] = 1
        elif state == start and not starts_anew:
            name[state] = 0
        else:
            name[state] = count
            count += 1
    arcs, epsilon = np.empty((num_arcs, 4), np.int32), np.empty((num_unread, 2), np.int32)
    at, at_unread = 0, int(starts_anew)
    if starts_anew:
        epsilon[0, 0], epsilon[0, 1] = 0, name[start]
    for state in range(num_states):
        for arc in range(offsets[state], offsets[state + 1]):
            arcs[at, 0], arcs[at, 1], arcs[at, 2] = name[state], by_byte[arc, 0], by_byte[arc, 1]
            arcs[at, 3] = name[by_byte[arc, 2]]
            at += 1
        for label in range(num_labels):
            if by_label[state, label] >= 0:
                arcs[at, 0], arcs[at, 3] = name[state], name[by_label[state, label]]
                arcs[at, 1] = arcs[at, 2] = FIRST_LABEL + label
                at += 1
        if final[state] and not is_end[state]:
            epsilon[at_unread, 0], epsilon[at_unread, 1] = name[state], 1
            at_unread += 1
    return name, count, arcs, epsilon
