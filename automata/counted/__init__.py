"""CountedByteAutomaton: a deterministic automaton over bytes with one counter, for repetitions with large bounds.

`[^"]{0,100000}` written out is 800,000 states; as a loop that counts it is eight and a number. So an automaton may have
a register, which holds how often the loop that the text is inside of has been gone round. An arc has a guard, an
interval that the register must lie in, and an action: add something to the register, or set it.

    which repetitions     `choose`, large ones                                      automata.counted.layout
    layout                each counted loop once, with marks enter, iterate, exit   CountedLayout -> Marked
    intersections         pairs of states, the other side reading along             automata.counted.product
    subset construction   states inside loops share one count                       automata.counted.subsets
    minimization          (bytes, guard, action) together are the symbols           here

The count is that of the round in which the last byte was read: it grows with the first byte of the next round and not
with the last byte of this one, so that whether a round has ended need not be known before it matters. In this way
`(ab?){0,1000}` is deterministic, and `(a|aa){0,1000}` is not: after `aa` it holds two counts. Several loops share the
register as long as no text is inside two of them with different counts; outside of loops it is 0. Where two counts
would be needed, the repetition with the smaller bound is written out instead, and what remains is tried again.

The register runs from 0 to R. From every state with every value that can occur in it some text leads to an end: a
loop's inner expression can always be finished, gone round until the lower bound is reached, and left. After an
intersection that is not so, and guards are cut to the values from which an end is reached.

    (Counting-set automata, Turoňová et al., OOPSLA 2020, hold many counts at a time; automata with counters and their
    determinism, Gelade, Gyssens & Martens, SIAM J. Comput. 41, 2012.)

Rejected: an automaton for each bound (memory grows with the bound); a register for each loop (the functions of tokens
would have guards of several dimensions, and texts that need it are rare); counting sets (a state of unbounded size,
which tensors do not hold).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from automata.blame import excerpt
from automata.arrays import ByteArray
from automata.compile import Compiler
from automata.counted.layout import CountedLayout, choose, counts, size_without
from automata.counted.product import Marked
from automata.counted.register_distance import joined, live_parts, pieces_by_distance
from automata.counted.subsets import ACTION, FROM, SOURCE, SYMBOL, TARGET, UPTO, counted_subsets
from automata.transition.determinize import DONE, Transitions
from automata.errors import LimitExceeded
from automata.expr import Expr
from automata.transition.intervals import over_intervals
from automata.limits import Work, under_way
from automata.transition.minimize import minimize
from automata.arrays import IntArray
from automata.thompson import AssertionMet

# Leaves of a repetition, written out, from which on it is counted.
THRESHOLD = 300
# Counting may take this part of the limits, so that what does not gain by it is soon given up.
SHARE = 8
# Bounds beyond this would leave the range of 32-bit numbers.
MAX_REGISTER = 1_000_000_000
# Columns of the arcs of an automaton.
ARC_FROM, ARC_UPTO, ARC_TARGET, ARC_ACTION = range(4)


@dataclass(frozen=True, eq=False, slots=True)
class CountedByteAutomaton:
    """A deterministic automaton over bytes with a register, from which every text can be completed; immutable.

    Attributes:
        start: the state where every text begins, with 0 in the register; -1 where there is no state.
        max_register: R.
        byte_class: `[256]` uint8, the class of each byte, below C.
        offsets: `[Q x C + 1]` int32, where the arcs of state q by class c begin, at q x C + c.
        arcs: `[A, 4]` int32, least and greatest register value, target, and action: n >= 0 adds n, ~n sets to n.
            Arcs of one state and class are in order and do not overlap.
        final_from: `[Q]` int32, a text may end with at least this in the register; -1 where it may not end.
    """

    start: int
    max_register: int
    byte_class: ByteArray
    offsets: IntArray
    arcs: IntArray
    final_from: IntArray

    def __post_init__(self) -> None:
        for array in (self.byte_class, self.offsets, self.arcs, self.final_from):
            array.setflags(write=False)

    @property
    def num_states(self) -> int:
        """Q, whatever the register holds."""
        return len(self.final_from)

    @property
    def num_classes(self) -> int:
        """C, the number of byte classes."""
        return int(self.byte_class.max()) + 1

    @property
    def is_empty(self) -> bool:
        """Whether no text at all is accepted."""
        return self.start < 0

    def step(self, state: int, register: int, byte: int) -> tuple[int, int] | None:
        """The state and the register after a byte."""
        place = state * self.num_classes + int(self.byte_class[byte])
        for low, high, target, action in self.arcs[self.offsets[place] : self.offsets[place + 1]].tolist():
            if low <= register <= high:
                return target, register + action if action >= 0 else ~action
        return None

    def accepts(self, text: bytes) -> bool:
        """Whether the text is in the language."""
        reached: tuple[int, int] | None = None if self.is_empty else (self.start, 0)
        for byte in text:
            if reached is None:
                return False
            reached = self.step(*reached, byte)
        return reached is not None and 0 <= self.final_from[reached[0]] <= reached[1]


def compile_counted(expr: Expr, work: Work | None = None, *, threshold: int = THRESHOLD) -> CountedByteAutomaton | None:
    """The automaton of an expression, with its large repetitions counted; None where there are none that can be.

    Args:
        expr: the expression.
        work: the limits, and how the compilation is stopped; without it, the default limits.
        threshold: repetitions of more leaves than this are counted.

    Raises:
        LimitExceeded: a limit was passed, or a bound is past `MAX_REGISTER`.
        Cancelled: another thread cancelled the compilation.
    """
    if expr.size <= threshold:
        return None
    with under_way(work) as work:
        compiler, barred = Compiler(work), set[Expr]()
        while counted := choose(expr, threshold, barred):
            if size_without(expr, threshold, counted) > work.limits.arcs:
                return None
            farthest = max(counted, key=counts)
            if counts(farthest) > MAX_REGISTER:
                raise LimitExceeded(f"{excerpt(farthest)} counts to more than {MAX_REGISTER:,}")
            layout = CountedLayout(compiler.part, work, counted)
            try:
                marked = layout.lay_marked(expr)
            except AssertionMet:
                return None
            if layout.fragment.labels:
                return None
            automaton = _deterministic(marked, counts(farthest), work, is_product=bool(layout.products))
            if automaton is None or isinstance(automaton, CountedByteAutomaton):
                return automaton
            barred.add(min((marked.repetitions[number] for number in automaton), key=counts))
    return None


def _deterministic(
    marked: Marked, max_register: int, work: Work, *, is_product: bool
) -> CountedByteAutomaton | tuple[int, int] | None:
    """The minimal automaton of a layout; or two loops that would need counts of their own at the same time; or None
    where a product leads on with so many separate counts, or what is around the loops explodes so, that nothing is won.
    """
    max_states, max_bytes = work.limits.states // SHARE, work.limits.table_bytes // SHARE
    interval, written, arcs = over_intervals(marked.ranges, 0, max_bytes)
    if not written:
        return None
    epsilon = np.ascontiguousarray(marked.epsilon.T)
    status, final_from, made, clash = counted_subsets(
        int(interval[255]) + 1,
        arcs,
        epsilon,
        marked.loop_of,
        marked.loops,
        max_states,
        max_bytes,
        work.stop,
    )
    work.check()
    if clash[0] >= 0:
        return int(clash[0]), int(clash[1])
    if status != DONE:
        return None
    if is_product:
        live = _live(final_from, made, max_register)
        if live is None:
            return None
        made = live
    return _minimal(final_from, made, interval, max_register, work)


def _live(final_from: IntArray, made: IntArray, max_register: int) -> IntArray | None:
    """The arcs as far as they lead to values from which an end can be reached; None where there are very many parts."""
    edges = np.ascontiguousarray(made[[SOURCE, FROM, UPTO, TARGET, ACTION]].T)
    ending, max_parts = np.flatnonzero(final_from >= 0).astype(np.int32), 10 * len(edges) + 1000
    goals = np.stack([ending, final_from[ending], np.full(len(ending), max_register, np.int32)], axis=1)
    try:
        pieces = pieces_by_distance(len(final_from), max_register, edges, goals)
    except LimitExceeded:
        return None
    which, low, high = live_parts(len(final_from), edges, joined(pieces), max_parts)
    parts = made[:, which]
    parts[FROM], parts[UPTO] = low, high
    return parts if len(which) <= max_parts else None


def _merged(made: IntArray) -> IntArray:
    """The arcs in order, neighbouring guards with one outcome as one."""
    made = made[:, np.lexsort((made[FROM], made[SYMBOL], made[SOURCE]))]
    before, after = made[:, :-1], made[:, 1:]
    same = (before[[SOURCE, SYMBOL, TARGET, ACTION]] == after[[SOURCE, SYMBOL, TARGET, ACTION]]).all(axis=0)
    goes_on = same & (before[UPTO] + 1 == after[FROM])
    merged = made[:, np.append(True, ~goes_on)[: made.shape[1]]]
    merged[UPTO] = made[UPTO, np.append(~goes_on, True)[: made.shape[1]]]
    return merged


def _minimal(
    final_from: IntArray, made: IntArray, interval: IntArray, max_register: int, work: Work
) -> CountedByteAutomaton:
    """The automaton with the fewest states in which bytes, guard and action together are one symbol."""
    made = _merged(made)
    # To end is an arc as well, by a symbol of its own for each least value, to one more state, the only final one.
    num_states, ending = len(final_from), np.flatnonzero(final_from >= 0)
    ends = np.zeros((4, len(ending)), np.int32)
    ends[0], ends[1] = -1, final_from[ending]
    labels = np.concatenate([made[[SYMBOL, FROM, UPTO, ACTION]], ends], axis=1)
    symbols, symbol_of = np.unique(labels, axis=1, return_inverse=True)
    source = np.concatenate([made[SOURCE], ending.astype(np.int32)])
    target = np.concatenate([made[TARGET], np.full(len(ending), num_states, np.int32)])
    final = np.arange(num_states + 1) == num_states
    arcs = Transitions(final, source, symbol_of.reshape(-1).astype(np.int32), target)
    start, (final, source, symbol, target) = minimize(arcs, work.stop)
    work.check()
    if start < 0:
        nothing = np.zeros(0, np.int32)
        return CountedByteAutomaton(
            -1, 0, np.zeros(256, np.uint8), np.zeros(1, np.int32), nothing.reshape(0, 4), nothing
        )
    # States lose their numbers to the one more.
    number = (np.cumsum(~final) - 1).astype(np.int32)
    is_end = symbols[0, symbol] < 0
    least = np.full(len(final) - 1, -1, np.int32)
    least[number[source[is_end]]] = symbols[1, symbol[is_end]]
    source, symbol, target = source[~is_end], symbol[~is_end], target[~is_end]
    rows = np.stack([symbols[0, symbol], number[source], *symbols[1:3, symbol], number[target], symbols[3, symbol]])
    byte_class, offsets, arcs_by_class = _by_class(rows.astype(np.int32), interval, len(least))
    return CountedByteAutomaton(int(number[start]), max_register, byte_class, offsets, arcs_by_class, least)


def _by_class(rows: IntArray, interval: IntArray, num_states: int) -> tuple[ByteArray, IntArray, IntArray]:
    """Intervals of bytes with the same arcs are one class: the class of each byte, and offsets and arcs.

    Args:
        rows: `[6, A]`, interval, source, least and greatest value, target and action.
        interval: `[256]`, the interval of each byte.
        num_states: Q.
    """
    rows = rows[:, np.lexsort((rows[2], rows[1], rows[0]))]
    bounds = np.searchsorted(rows[0], np.arange(interval[255] + 2))
    classes: dict[bytes, int] = {}
    firsts: list[IntArray] = []
    class_of = np.empty(interval[255] + 1, np.uint8)
    for place, (begin, end) in enumerate(pairwise(bounds.tolist())):
        arcs = rows[1:, begin:end]
        class_of[place] = classes.setdefault(arcs.tobytes(), len(classes))
        if len(classes) > len(firsts):
            firsts.append(np.concatenate([np.full((1, end - begin), len(firsts), np.int32), arcs]))
    kept = np.concatenate(firsts, axis=1)
    key = kept[1] * len(firsts) + kept[0]
    kept = kept[:, np.lexsort((kept[2], key))]
    offsets = np.searchsorted(np.sort(key), np.arange(num_states * len(firsts) + 1)).astype(np.int32)
    return class_of[interval], offsets, np.ascontiguousarray(kept[2:].T)
