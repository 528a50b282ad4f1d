"""Piece: a language laid out by itself, to be copied between two states of a network by a kernel.

Schemas share their languages: a string, a number, a name's spellings stand in one after the other. Each is laid out
once and kept; a copy costs two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.compile import Compiler
from automata.expr import Expr
from automata.intervals import FIRST_LABEL
from automata.limits import Work
from automata.nested.counted import Counted
from automata.nested.network import Language
from automata.openfst import IntArray
from automata.sparse import by_state
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
        if isinstance(language, Counted):
            known = _of_automaton(language.expanded())
        else:
            known = _of_automaton(language) if isinstance(language, ByteAutomaton) else _laid(language, work)
        if len(known.arcs) <= _MAX_ARCS:
            while len(_kept) >= _MAX_KEPT:
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
    offsets, rows = by_state(automaton)
    source, number = np.nonzero(automaton.by_label >= 0)
    symbol = number + FIRST_LABEL
    by_label = np.stack([source, symbol, symbol, automaton.by_label[source, number]], axis=1).astype(np.int32)
    by_byte = np.concatenate(
        [np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))[:, None], rows], 1
    )
    arcs = np.concatenate([by_byte, by_label])
    leads_on, led_to = np.zeros(automaton.num_states, np.bool_), np.zeros(automaton.num_states, np.bool_)
    leads_on[arcs[:, 0]] = led_to[arcs[:, 3]] = True
    is_end = automaton.final & ~leads_on
    name = np.cumsum(~is_end).astype(np.int32) + 1
    name[is_end] = 1
    epsilon = np.stack([name[automaton.final & leads_on], np.ones((automaton.final & leads_on).sum(), np.int32)], 1)
    num_states = int((~is_end).sum()) + 2
    start = automaton.start
    if led_to[start] or is_end[start]:
        epsilon = np.concatenate([np.array([[0, name[start]]], np.int32), epsilon])
    else:
        # The state that was to be its copy stays without arcs.
        epsilon[epsilon == name[start]] = 0
        name[start] = 0
    arcs[:, 0], arcs[:, 3] = name[arcs[:, 0]], name[arcs[:, 3]]
    return Piece(num_states, arcs, epsilon, automaton.labels)
