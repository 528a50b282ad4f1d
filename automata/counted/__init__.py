"""CountedByteAutomaton: a deterministic automaton over bytes with one counter, for repetitions with large bounds.

Written out, `[^"]{0,100000}` has 800,000 states; as a loop with a counter it has eight states and a number. So an
automaton may have a register, which holds how many rounds of the current loop the text has started. An arc has a guard,
an interval that must contain the register, and an action: add a number to the register, or set it.

    which repetitions     `choose`, large ones                                      automata.counted.layout
    layout                each counted loop once, with marks enter, iterate, exit   CountingConstruction -> CountingNfa
    intersections         pairs of states of the layout and of an automaton         native/automata/counted/product.h
    subset construction   states inside loops share one count                       native/automata/counted/subsets.h
    minimization          symbols are triples of bytes, guard and action            native/automata/counted/compile.h

The count is the number of the round in which the last byte was read. It grows with the first byte of the next round,
not with the last byte of this one, so the automaton need not know that a round has ended before that matters. Thus
`(ab?){0,1000}` is deterministic. `(a|aa){0,1000}` is not: after `aa` there are two possible counts. Several loops share
the register as long as no text is inside two of them with different counts; outside of loops it is 0. If two counts
would be needed, the repetition with the smaller bound is written out, and the construction is tried again.

The register runs from 0 to R. Every state, with every register value that can occur in it, can reach an end: a loop's
inner expression can always be finished, repeated until the lower bound is reached, and left. This need not hold after
an intersection, so guards are then restricted to the values from which an end can be reached.

    (Counting-set automata, Turoňová et al., OOPSLA 2020, hold many counts at a time; automata with counters and their
    determinism, Gelade, Gyssens & Martens, SIAM J. Comput. 41, 2012.)

Counts inside the rules of a bracketed language use another mechanism; `automata.visibly_pushdown.units` says why.

Rejected: an automaton for each bound (memory grows with the bound); a register for each loop (the functions of tokens
would have guards of several dimensions, and few texts need it); counting sets (the state is unbounded in size and does
not fit in a tensor).
"""

from __future__ import annotations

from functools import cached_property

from automata import _native
from automata._native import CountedTables
from automata.arrays import ByteArray, IntArray
from automata.compile.blame import excerpt
from automata.compile.compiler import Compiler
from automata.compile.nfa import AssertionMet
from automata.counted.layout import CountingConstruction, choose, counts, size_without
from automata.counted.product import CountingNfa
from automata.drawing import shown
from automata.errors import LimitExceeded
from automata.expressions import Expr
from automata.limits import Work, current_work
from automata.texts import bytes_or_none

# Repetitions with more leaves, written out, are counted.
THRESHOLD = 300
# Counting may use only the limits divided by this number, so that it is abandoned early if it gains nothing.
SHARE = 8
# Greater bounds could overflow 32-bit numbers.
MAX_REGISTER = 1_000_000_000


class CountedByteAutomaton:
    """A deterministic automaton over bytes with a register, from which every text can be completed; immutable.

    Attributes:
        tables: the tables of the native core (`native/automata/counted/counted_tables.h`).
    """

    def __init__(self, tables: CountedTables) -> None:
        self.tables = tables

    @staticmethod
    def of(
        start: int,
        max_register: int,
        num_classes: int,
        byte_class: ByteArray,
        offsets: IntArray,
        arcs: IntArray,
        final_from: IntArray,
    ) -> CountedByteAutomaton:
        """Build the automaton from its numbers and arrays, which the properties of the same names describe.

        Raises:
            ValueError: a number is out of range, guards are not in order, or shapes do not match.
        """
        return CountedByteAutomaton(
            CountedTables(start, max_register, num_classes, byte_class, offsets, arcs, final_from)
        )

    def __reduce__(self) -> tuple[object, ...]:
        numbers = self.start, self.max_register, self.num_classes
        return CountedByteAutomaton.of, (*numbers, self.byte_class, self.offsets, self.arcs, self.final_from)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sizes."""
        return shown("byte automaton with a count", f"{self.num_states:,} states, a count up to {self.max_register:,}")

    @property
    def start(self) -> int:
        """The state where every text begins, with 0 in the register; -1 if there is no state."""
        return self.tables.start

    @property
    def max_register(self) -> int:
        """R, the greatest value of the register."""
        return self.tables.max_register

    @property
    def num_states(self) -> int:
        """Q, the number of states, without the values of the register."""
        return self.tables.num_states

    @property
    def num_classes(self) -> int:
        """C, the number of byte classes."""
        return self.tables.num_classes

    @property
    def is_empty(self) -> bool:
        """Whether no text is accepted."""
        return self.tables.start < 0

    @cached_property
    def byte_class(self) -> ByteArray:
        """`[256]` uint8, the class of each byte, below C."""
        return self.tables.byte_class

    @cached_property
    def offsets(self) -> IntArray:
        """`[Q x C + 1]` int32, the first arc of state q by class c, at q x C + c."""
        return self.tables.offsets

    @cached_property
    def arcs(self) -> IntArray:
        """`[A, 4]` int32, least and greatest register value, target, and action: n >= 0 adds n, ~n sets to n. Arcs of
        one state and class are in order and do not overlap."""
        return self.tables.arcs

    @cached_property
    def final_from(self) -> IntArray:
        """`[Q]` int32, the least register value with which a text may end; -1 if it may not end."""
        return self.tables.final_from

    def step(self, state: int, register: int, byte: int) -> tuple[int, int] | None:
        """Return the state and the register after a byte; None if there is no arc."""
        return self.tables.step(state, register, byte)

    def accepts(self, text: str | bytes) -> bool:
        """Return whether a text (in UTF-8) or bytes are in the language."""
        written = bytes_or_none(text)
        return written is not None and self.tables.accepts(written)


def compile_counted(expr: Expr, work: Work | None = None, *, threshold: int = THRESHOLD) -> CountedByteAutomaton | None:
    """Compile an expression with its large repetitions counted; return None if none can be counted.

    Args:
        expr: the expression.
        work: the limits, and the means to stop the compilation; by default, those of the current compilation.
        threshold: repetitions with more leaves, written out, are counted.

    Raises:
        LimitExceeded: a limit was exceeded, or a bound is greater than `MAX_REGISTER`.
        Cancelled: another thread cancelled the compilation.
    """
    if expr.size <= threshold:
        return None
    work = current_work(work)
    compiler, barred = Compiler(work), set[Expr]()
    while counted := choose(expr, threshold, barred):
        if size_without(expr, threshold, counted) > work.limits.arcs:
            return None
        farthest = max(counted, key=counts)
        if counts(farthest) > MAX_REGISTER:
            raise LimitExceeded(f"{excerpt(farthest)} counts to more than {MAX_REGISTER:,}")
        layout = CountingConstruction(compiler.part, work, counted)
        try:
            marked = layout.counting_nfa(expr)
        except AssertionMet:
            return None
        if layout.fragment.labels:
            return None
        found = _deterministic(marked, counts(farthest), work, is_product=bool(layout.products))
        if not isinstance(found, tuple):
            return None if found is None else CountedByteAutomaton(found)
        barred.add(min((marked.repetitions[number] for number in found), key=counts))
    return None


def _deterministic(
    marked: CountingNfa, max_register: int, work: Work, *, is_product: bool
) -> CountedTables | tuple[int, int] | None:
    """Return the minimal automaton of a layout; or two loops that would need different counts at once; or None if a
    product has so many separate counts, or what surrounds the loops so many states, that counting gains nothing."""
    return _native.compile_counted(
        marked.ranges,
        marked.epsilon,
        marked.loop_of,
        marked.loops,
        max_register,
        is_product,
        work.limits.states // SHARE,
        work.limits.memory // SHARE,
        work.budget,
    )
