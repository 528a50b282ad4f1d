"""The rules of a network as one non-deterministic automaton over byte ranges, in flat arrays.

    Layout      what stands where, as numbers: chains of bytes, copies of pieces, epsilon arcs, calls and ends
    lay         a kernel that writes the arcs of it all

Python sees each arc of the network once and no byte of it.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from automata.arrays import ByteArray
from automata.errors import LimitExceeded
from automata.expr import Concatenation, Expr, Literal, Repetition
from automata.transition.intervals import FIRST_LABEL
from automata.jit import kernel, plain_kernel
from automata.limits import Work
from automata.nested.counted import Counted
from automata.nested.inlining import reached
from automata.nested.network import Language, NestedNetwork, NestedRule
from automata.nested.paths import CountedPaths
from automata.nested.pieces import CountedPiece, Piece, counted_piece, piece_of
from automata.arrays import IntArray

# The state that leads to the start of each rule, and the one that is reached from each end.
FIRST, LAST = 0, 1

# Bounds of counts are cut to what a number of a state can be, as any text with so many units is.
_MOST_COUNTED = (1 << 31) - 2


class Chains(NamedTuple):
    """Literal texts: chain i is `text[offsets[i] : offsets[i + 1]]`, from `source[i]` to `target[i]`."""

    text: ByteArray
    offsets: IntArray
    source: IntArray
    target: IntArray


class Copies(NamedTuple):
    """Copies of pieces: copy i is of `piece[i]`, from `source[i]` to `target[i]`; piece p has its arcs and epsilon arcs
    at the offsets p, and `num_states[p]` states."""

    piece: IntArray
    source: IntArray
    target: IntArray
    num_states: IntArray
    arc_offsets: IntArray
    arcs: IntArray  # [A, 4]
    epsilon_offsets: IntArray
    epsilon: IntArray  # [E, 2]


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """The states of all rules, numbered through behind the first two; R rules, X exits, L labels.

    Attributes:
        rules: R numbers of the network, the start first.
        num_states: how many states there are without those within chains and copies.
        starts: `[R]`, where each rule begins.
        first_exit: `[R + 1]`, the number of the first exit of each rule: exits are numbered through.
        chains, copies: what is read.
        epsilon: `[E, 2]`, source and target.
        calls: `[C, 3]`, source, rule and where its targets begin.
        targets: `[T]`, for each call the state after each exit of the rule, or -1.
        ends: `[N, 2]`, state and exit.
        labels: L names, ascending.
        prepared: `[P, 2]`, places of rules in `rules`, and pieces: such a rule is its piece from where it begins to its
            one end, which is to be put in place of the epsilon arc that stands for it. Pieces are deterministic.
        counters: `[K, 7]`, what is counted where it is not written out: the state where it is entered, from which
            nothing else leads, and the one where it ends; its piece, and where texts begin in it; the bounds, -1 for
            none; and where the numbers of its piece begin.
        numbers: `[N, 3]`, see `CountedPiece`.
    """

    rules: tuple[int, ...]
    num_states: int
    starts: IntArray
    first_exit: IntArray
    chains: Chains
    copies: Copies
    epsilon: IntArray
    calls: IntArray
    targets: IntArray
    ends: IntArray
    labels: tuple[str, ...]
    prepared: IntArray
    counters: IntArray
    numbers: IntArray


def lay_out(network: NestedNetwork, inlined: frozenset[int], work: Work, *, written: bool = True) -> Layout:
    """The layout of a network.

    Args:
        network: the network; its calls are in order (`check_calls`).
        inlined: the rules that are laid where they are called, none of which calls itself, by way of others or not.
        work: the limits, and how the compilation is stopped.
        written: whether it is to be written out by `lay`, so that its arcs are limited; and so is what is counted.

    Raises:
        LimitExceeded: it has more arcs than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    laying = _Laying(network, inlined, work, written)
    for rule in laying.rules:
        laying.lay(rule)
    layout = laying.layout()
    if written:
        _look(layout, work)
    return layout


class _Laying:
    """The numbers of a layout, as they are written."""

    def __init__(self, network: NestedNetwork, inlined: frozenset[int], work: Work, written: bool) -> None:
        self.network, self.inlined, self.work, self.written = network, inlined, work, written
        self.rules = [rule for rule in reached(network) if rule not in inlined]
        self.place = {rule: place for place, rule in enumerate(self.rules)}
        self.num_states = LAST + 1
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
        rule, first = self.network.rules[number], self.num_states
        self.num_states += rule.num_states
        chains, copies, known = self.chains, self.copies, self.known
        for source, language, target in rule.arcs:
            piece = known.get(id(language))
            if piece is not None:
                copies += (piece, first + source, first + target)
            elif type(language) is Literal:
                self.texts.append(language.value)
                chains += (first + source, first + target)
            elif type(language) is Concatenation and all(map(_is_spelled, language.parts)):
                self.spell(language.parts, first + source, first + target)
            elif isinstance(language, Counted | CountedPaths) and not self.written:
                paths = language.paths() if isinstance(language, Counted) else language
                self.count(paths, first + source, first + target)
            else:
                copies += (self.piece(language), first + source, first + target)
        for source, target in rule.epsilon:
            self.epsilon += (first + source, first + target)
        inside = []
        for call in rule.calls:
            targets = [first + target if target >= 0 else -1 for target in call.targets]
            if call.rule in self.inlined:
                inside.append((first + call.source, call.rule, targets))
            else:
                self.calls += (first + call.source, self.place[call.rule], len(self.targets))
                self.targets += targets
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
        counted = counted_piece(language)
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

    def layout(self) -> Layout:
        """What has been written."""
        pieces = self.pieces
        arcs, labels = _labelled(pieces)
        return Layout(
            tuple(self.rules),
            self.num_states,
            _ints(self.starts),
            _ints(self.first_exit),
            Chains(
                np.frombuffer(b"".join(self.texts), np.uint8),
                _offsets(list(map(len, self.texts))),
                _ints(self.chains[::2]),
                _ints(self.chains[1::2]),
            ),
            Copies(
                _ints(self.copies[::3]),
                _ints(self.copies[1::3]),
                _ints(self.copies[2::3]),
                _ints([piece.num_states for piece in pieces]),
                _offsets([len(piece.arcs) for piece in pieces]),
                np.concatenate([np.zeros((0, 4), np.int32), *arcs]),
                _offsets([len(piece.epsilon) for piece in pieces]),
                np.concatenate([np.zeros((0, 2), np.int32), *(piece.epsilon for piece in pieces)]),
            ),
            _ints(self.epsilon).reshape(-1, 2),
            _ints(self.calls).reshape(-1, 3),
            _ints(self.targets),
            _ints(self.ends).reshape(-1, 2),
            labels,
            _ints(self.prepared).reshape(-1, 2),
            _ints(self.counters).reshape(-1, 7),
            np.concatenate([np.zeros((0, 3), np.int32), *self.numbers]),
        )


def _is_spelled(part: Expr) -> bool:
    return type(part) is Literal or (type(part) is Repetition and type(part.inner) is Literal)


def _ints(values: list[int]) -> IntArray:
    # By way of `array`, which takes half the time of a numpy array of a list.
    return np.array(array("i", values))


def _offsets(sizes: list[int]) -> IntArray:
    return _ints([0, *accumulate(sizes)])


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


def _look(layout: Layout, work: Work) -> None:
    work.check()
    copies, limit = layout.copies, work.limits.arcs
    num_arcs = len(layout.chains.text) + int(np.diff(copies.arc_offsets)[copies.piece].sum(dtype=np.int64))
    if num_arcs > limit:
        raise LimitExceeded(f"laying out the rules takes more than {limit:,} arcs (limit `arcs`)")


@kernel
def lay(layout: Chains, copies: Copies, epsilon: IntArray, num_states: int) -> tuple[int, IntArray, IntArray]:
    """How many states there are with those within chains and copies, all arcs over bytes and labels `[A, 4]`, and all
    epsilon arcs `[E, 2]`."""
    num_arcs, num_epsilon = len(layout.text), len(epsilon)
    for chain in range(len(layout.source)):
        num_epsilon += layout.offsets[chain] == layout.offsets[chain + 1]
    for copy in range(len(copies.piece)):
        piece = copies.piece[copy]
        num_arcs += copies.arc_offsets[piece + 1] - copies.arc_offsets[piece]
        num_epsilon += copies.epsilon_offsets[piece + 1] - copies.epsilon_offsets[piece]
    arcs, unread = np.empty((num_arcs, 4), np.int32), np.empty((num_epsilon, 2), np.int32)
    unread[: len(epsilon)] = epsilon
    at, at_unread = 0, len(epsilon)
    for chain in range(len(layout.source)):
        state, end = layout.source[chain], layout.offsets[chain + 1]
        if layout.offsets[chain] == end:
            unread[at_unread, 0], unread[at_unread, 1] = state, layout.target[chain]
            at_unread += 1
        for place in range(layout.offsets[chain], end):
            arcs[at, 0], arcs[at, 1], arcs[at, 2] = state, layout.text[place], layout.text[place]
            if place + 1 < end:
                state = num_states
                num_states += 1
            else:
                state = layout.target[chain]
            arcs[at, 3] = state
            at += 1
    for copy in range(len(copies.piece)):
        piece = copies.piece[copy]
        # States 0 and 1 are those that it is copied between; the others are new.
        base = num_states - 2
        num_states += copies.num_states[piece] - 2
        for row in range(copies.arc_offsets[piece], copies.arc_offsets[piece + 1]):
            arcs[at, 0] = _copied(copies.arcs[row, 0], base, copies.source[copy], copies.target[copy])
            arcs[at, 1], arcs[at, 2] = copies.arcs[row, 1], copies.arcs[row, 2]
            arcs[at, 3] = _copied(copies.arcs[row, 3], base, copies.source[copy], copies.target[copy])
            at += 1
        for row in range(copies.epsilon_offsets[piece], copies.epsilon_offsets[piece + 1]):
            unread[at_unread, 0] = _copied(copies.epsilon[row, 0], base, copies.source[copy], copies.target[copy])
            unread[at_unread, 1] = _copied(copies.epsilon[row, 1], base, copies.source[copy], copies.target[copy])
            at_unread += 1
    return num_states, arcs, unread


@plain_kernel
def _copied(state: int, base: int, source: int, target: int) -> int:
    return source if state == 0 else target if state == 1 else base + state
