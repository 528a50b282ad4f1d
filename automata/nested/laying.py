"""The rules of a network as one non-deterministic automaton, in which what is read is not written out.

    Layout      what stands where: chains of bytes, copies of pieces, epsilon arcs, calls and ends

Python sees each arc of the network once and no byte of it; the native core writes out what is read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from automata._native import VisiblyPushdownLayout
from automata.arrays import IntArray
from automata.errors import LimitExceeded, limit_exceeded
from automata.expr import Concatenation, Expr, Literal, Repetition
from automata.intervals import FIRST_LABEL
from automata.limits import Work
from automata.nested.counted import Counted
from automata.nested.inlining import reached
from automata.nested.network import Language, NestedNetwork, NestedRule
from automata.nested.paths import CountedPaths
from automata.nested.pieces import CountedPiece, Piece, counted_piece, piece_of

# States 0 and 1 lead to the starts of all rules, and are reached from their ends.
_FIRST_STATE = 2

# Memory of a number in a list, and of the object that it is.
_NUMBER_BYTES = 40

# Bounds of counts are cut to what a number of a state can be, as any text with so many units is.
_MOST_COUNTED = (1 << 31) - 2


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """A network that has been laid out.

    Attributes:
        rules: R numbers of the network, the start first.
        labels: L names, ascending.
        tables: the layout itself, see `native/automata/nested/layout.h`.
    """

    rules: tuple[int, ...]
    labels: tuple[str, ...]
    tables: VisiblyPushdownLayout


def lay_out(network: NestedNetwork, inlined: frozenset[int], work: Work, *, written: bool = True) -> Layout:
    """The layout of a network.

    Args:
        network: the network; its calls are in order (`check_calls`).
        inlined: the rules that are laid where they are called, none of which calls itself, by way of others or not.
        work: the limits, and how the compilation is stopped.
        written: whether it is to be written out, so that its arcs are limited; and so is what is counted.

    Raises:
        LimitExceeded: it has more arcs than allowed, takes too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    laying = _Laying(network, inlined, work, written)
    for rule in laying.rules:
        laying.lay(rule)
    try:
        return laying.layout()
    finally:
        work.budget.release(laying.num_charged)


class _Laying:
    """The numbers of a layout, as they are written."""

    def __init__(self, network: NestedNetwork, inlined: frozenset[int], work: Work, written: bool) -> None:
        self.network, self.inlined, self.work, self.written = network, inlined, work, written
        self.rules = [rule for rule in reached(network) if rule not in inlined]
        self.place = {rule: place for place, rule in enumerate(self.rules)}
        self.num_states = _FIRST_STATE
        self.num_charged = 0
        self.starts: list[int] = []
        self.first_exit = [0]
        self.texts: list[bytes] = []
        self.chains: list[int] = []
        self.copies: list[int] = []
        self.epsilon: list[int] = []
        self.calls: list[int] = []
        self.targets: list[int] = []
        self.ends: list[int] = []
        self.prepared: list[int] = []
        self.counters: list[int] = []
        self.numbers: list[IntArray] = []
        # By the identity of what is counted, which is kept alive.
        self.known_counted: dict[int, tuple[int, int]] = {}
        self.counted_pieces: list[CountedPiece] = []
        # By the identity of a language, which the network keeps alive.
        self.known: dict[int, int] = {}
        self.pieces: list[Piece] = []

    def lay(self, number: int) -> None:
        """Lays a rule that stays, and those that are laid within it."""
        self.starts.append(self.num_states)
        exits = self.first_exit[-1]
        waiting = [] if self.is_prepared(self.network.rules[number]) else self.states(number)
        for state, way in self.network.rules[number].ends:
            self.ends += (self.starts[-1] + state, exits + way)
        self.first_exit.append(exits + self.network.rules[number].num_exits)
        while waiting:
            source, callee, targets = waiting.pop()
            self.epsilon += (source, self.num_states)
            first = self.num_states
            waiting += self.states(callee)
            for state, way in self.network.rules[callee].ends:
                if targets[way] >= 0:
                    self.epsilon += (first + state, targets[way])

    def is_prepared(self, rule: NestedRule) -> bool:
        """Whether a rule is one automaton, which is put in its place later; lays it."""
        language = rule.only_read
        if not self.written or len(self.starts) == 1 or language is None:
            return False
        number = self.piece(language)
        piece = self.pieces[number]
        if len(piece.epsilon) or piece.labels or not len(piece.arcs):
            return False
        self.prepared += (len(self.starts) - 1, number)
        self.epsilon += (self.num_states, self.num_states + rule.ends[0][0])
        self.num_states += rule.num_states
        return True

    def states(self, number: int) -> list[tuple[int, int, list[int]]]:
        """Lays the states of a rule, all but its ends; the calls that are still to be laid: source, rule, targets."""
        rule, first, work = self.network.rules[number], self.num_states, self.work
        self.num_states += rule.num_states
        chains, copies, known = self.chains, self.copies, self.known
        for source, language, target in work.watched(rule.arcs):
            piece = known.get(id(language))
            if piece is not None:
                copies += (piece, first + source, first + target)
            elif type(language) is Literal:
                self.texts.append(language.value)
                chains += (first + source, first + target)
            elif type(language) is Concatenation and all(map(_is_spelled, language.parts)):
                self.spell(language.parts, first + source, first + target)
            elif isinstance(language, Counted | CountedPaths) and not self.written:
                paths = language.paths(work) if isinstance(language, Counted) else language
                self.count(paths, first + source, first + target)
            else:
                copies += (self.piece(language), first + source, first + target)
        for source, target in work.watched(rule.epsilon):
            self.epsilon += (first + source, first + target)
        inside = []
        for call in work.watched(rule.calls):
            targets = [first + target if target >= 0 else -1 for target in call.targets]
            if call.rule in self.inlined:
                inside.append((first + call.source, call.rule, targets))
            else:
                self.calls += (first + call.source, self.place[call.rule], len(self.targets))
                self.targets += targets
        self.charge()
        return inside

    def spell(self, parts: tuple[Expr, ...], source: int, target: int) -> None:
        """Lays texts, and repeated texts such as spaces, one after the other, without a piece: names are such."""
        for place, part in enumerate(parts):
            after = self.num_states if place + 1 < len(parts) else target
            if type(part) is Literal:
                self.texts.append(part.value)
                self.chains += (source, after)
            else:
                self.copies += (self.piece(part), source, after)
            self.num_states += after != target
            source = after

    def piece(self, language: Language) -> int:
        """The number of a piece."""
        found = self.known.get(id(language))
        if found is None:
            found = self.known[id(language)] = len(self.pieces)
            self.pieces.append(piece_of(language, self.work))
        return found

    def count(self, language: CountedPaths, source: int, target: int) -> None:
        """Lays what is counted, without writing it out."""
        entered = self.num_states
        self.num_states += 1
        self.epsilon += (source, entered)
        counted = counted_piece(language, self.work)
        number, first = self.counted(counted)
        high = -1 if language.high is None else min(language.high, _MOST_COUNTED)
        self.counters += (entered, target, number, counted.entry, min(language.low, _MOST_COUNTED), high, first)

    def counted(self, counted: CountedPiece) -> tuple[int, int]:
        """The number of a piece that is counted, and where its numbers begin."""
        known = self.known_counted.get(id(counted))
        if known is None:
            known = self.known_counted[id(counted)] = len(self.pieces), sum(map(len, self.numbers))
            self.pieces.append(counted.piece)
            self.numbers.append(counted.numbers)
            self.counted_pieces.append(counted)
        return known

    def charge(self) -> None:
        """Accounts for the numbers that have been written since the last time."""
        lists = self.chains, self.copies, self.epsilon, self.calls, self.targets, self.ends
        num_bytes = _NUMBER_BYTES * sum(map(len, lists))
        self.work.budget.charge(num_bytes - self.num_charged)
        self.num_charged = num_bytes

    def layout(self) -> Layout:
        """What has been written."""
        self.work.check()
        pieces = self.pieces
        text, copies = np.frombuffer(b"".join(self.texts), np.uint8), _rows(self.copies, 3)
        if self.written:
            self.check_size(len(text), copies)
        arcs, labels = _labelled(pieces)
        tables = VisiblyPushdownLayout(
            num_states=self.num_states,
            num_labels=len(labels),
            starts=_ints(self.starts),
            first_exit=_ints(self.first_exit),
            text=text,
            text_offsets=_offsets(map(len, self.texts)),
            chains=_rows(self.chains, 2),
            piece_states=_ints([piece.num_states for piece in pieces]),
            piece_arc_offsets=_offsets([len(piece.arcs) for piece in pieces]),
            piece_arcs=_together(arcs, 4),
            piece_epsilon_offsets=_offsets([len(piece.epsilon) for piece in pieces]),
            piece_epsilon=_together([piece.epsilon for piece in pieces], 2),
            copies=copies,
            epsilon=_rows(self.epsilon, 2),
            calls=_rows(self.calls, 3),
            targets=_ints(self.targets),
            ends=_rows(self.ends, 2),
            prepared=_rows(self.prepared, 2),
            counters=_rows(self.counters, 7),
            numbers=_together(self.numbers, 3),
            budget=self.work.budget,
        )
        return Layout(tuple(self.rules), labels, tables)

    def check_size(self, num_bytes: int, copies: IntArray) -> None:
        """Goes on where there are not too many arcs once all is written out, nor states of prepared rules."""
        sizes, limits = np.array([len(piece.arcs) for piece in self.pieces], np.int64), self.work.limits
        if num_bytes + int(sizes[copies[:, 0]].sum()) > limits.arcs:
            raise LimitExceeded(
                f"laying out the rules takes more than {limits.arcs:,} arcs (limit `arcs`)", limit="arcs"
            )
        if sum(self.pieces[piece].num_states - 1 for piece in self.prepared[1::2]) > limits.states:
            raise limit_exceeded("states", limits.states).of("the automaton of the rules")


def _is_spelled(part: Expr) -> bool:
    return type(part) is Literal or (type(part) is Repetition and type(part.inner) is Literal)


def _ints(values: list[int]) -> IntArray:
    # By way of `array`, which takes half the time of a numpy array of a list.
    return np.array(array("i", values))


def _rows(values: list[int], width: int) -> IntArray:
    return _ints(values).reshape(-1, width)


def _offsets(sizes: Iterable[int]) -> IntArray:
    return _ints([0, *accumulate(sizes)])


def _together(tables: list[IntArray], width: int) -> IntArray:
    return np.concatenate(tables) if tables else np.zeros((0, width), np.int32)


def _labelled(pieces: list[Piece]) -> tuple[list[IntArray], tuple[str, ...]]:
    """The arcs of pieces with their labels numbered together, and the labels."""
    labels = tuple(sorted({name for piece in pieces for name in piece.labels}))
    if not labels:
        return [piece.arcs for piece in pieces], labels
    return [_renamed(piece, labels) for piece in pieces], labels


def _renamed(piece: Piece, labels: tuple[str, ...]) -> IntArray:
    symbols = np.array([*range(FIRST_LABEL), *(FIRST_LABEL + labels.index(name) for name in piece.labels)], np.int32)
    arcs = piece.arcs.copy()
    arcs[:, 1:3] = symbols[arcs[:, 1:3]]
    return arcs
