"""Piece: a language laid out by itself, to be copied between two states of a network.

Schemas share their languages: a string, a number, a name's spellings stand in one after the other. Each is laid out
once and kept; a copy costs two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.compile import Compiler
from automata.expr import Expr
from automata.kept import Kept
from automata.limits import Work, under_way
from automata.nested.counted import Counted
from automata.nested.network import Language
from automata.nested.paths import CountedPaths
from automata.thompson import AssertionMet, Layout

# Pieces with more arcs than this are not kept, nor are more pieces than this.
_MAX_ARCS, _MAX_KEPT = 4096, 1024


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
            known = _of_automaton(language.expanded(work), work)
        else:
            known = _of_automaton(language, work) if isinstance(language, ByteAutomaton) else _laid(language, work)
        if len(known.arcs) <= _MAX_ARCS:
            _kept.keep(language, known)
    return known


_kept: Final = Kept[Language, Piece](_MAX_KEPT)


def _laid(expr: Expr, work: Work) -> Piece:
    compiler = Compiler(work)
    try:
        fragment = Layout(compiler.part, work).lay(expr)
    except AssertionMet:
        return _of_automaton(compiler.resolve(expr), work)
    return Piece(fragment.num_states, *fragment.tables(), tuple(sorted(fragment.labels)))


def _of_automaton(automaton: ByteAutomaton, work: Work) -> Piece:
    """The piece of an automaton: its start is state 0 where nothing leads back there, and its ends that lead nowhere
    are state 1."""
    if automaton.is_empty:
        return Piece(2, np.zeros((0, 4), np.int32), np.zeros((0, 2), np.int32))
    num_states, arcs, epsilon, _ = _native.nfa_fragment(automaton.tables, automaton.start, work.budget)
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


def counted_piece(paths: CountedPaths, work: Work | None = None) -> CountedPiece:
    """The piece of what is counted; kept for those used last."""
    return _kept_counted.made(paths, lambda: _of_paths(paths, under_way(work)))


_kept_counted: Final = Kept[CountedPaths, CountedPiece](_MAX_KEPT)


def _of_paths(paths: CountedPaths, work: Work) -> CountedPiece:
    tables = paths.automaton.tables
    num_states, arcs, epsilon, state_of = _native.nfa_fragment(tables, paths.start, work.budget)
    numbers = np.zeros((num_states, 3), np.int32)
    numbers[state_of] = paths.numbers
    numbers[1] = 0
    return CountedPiece(Piece(num_states, arcs, epsilon), int(state_of[paths.start]), numbers)
