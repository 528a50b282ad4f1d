"""From an expression to an NFA over byte ranges: Thompson's construction, in flat arrays.

    NfaBuilder              arcs over byte ranges, arcs over labels and epsilon arcs; one start, one end
    ThompsonConstruction    lays out expressions in one NFA

Every sub-expression is laid between two given states and adds no arc into its first state and none out of its last, so
neighbours may share states: concatenation needs no epsilon arc, alternation none, a loop two. (Thompson 1968, with the
sharing of Hopcroft, Motwani & Ullman 3.2.3.)

Sub-expressions that cannot be laid out this way (intersection, difference, complement) and large ones that occur more
than once are compiled to minimal automata, once, and those are copied in: a bound of 50 on a large group then costs 50
copies of its minimal form.

A stack holds what is still to be laid, so that nesting has no limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from automata.acceptor_tables import AcceptorTables
from automata.arrays import IntArray, int_rows
from automata.byte_automaton import ByteAutomaton
from automata.compile.blame import excerpt, largest, numeral
from automata.errors import ExpressionError, LimitExceeded
from automata.expressions import (
    Alternation,
    ByteSet,
    Call,
    CharSet,
    Concatenation,
    Expr,
    Label,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
    literal,
)
from automata.expressions.ranges import Ranges
from automata.expressions.utf8 import character_arcs
from automata.limits import Work

# The symbols of arcs are bytes, and from here up labels.
FIRST_LABEL = 256
# The number of expressions that are laid between two checks of the limits.
_LOOK_EVERY = 256
# Literals of at least this many bytes are written as rows of an array.
_LONG = 1024
# The memory in bytes of an arc in lists of numbers, and of an expression that is still to be laid.
_ARC_BYTES, _TASK_BYTES = 64, 100
# An expression below this size is laid out again where it recurs, which is cheaper than a minimal automaton.
SHARED_SIZE = 64
# With at least this many copies, such an expression is laid out once and its arcs are copied.
_MANY_COPIES = 16
# With at least this many alternatives, equal beginnings of words are laid out once.
_MANY_ALTERNATIVES = 32


class AssertionMet(Exception):
    """An expression contains an assertion, whose meaning depends on the text around it, and cannot be laid out."""


@dataclass(slots=True)
class NfaBuilder:
    """Arcs over byte ranges or labels, and epsilon arcs, between states 0 (the start), 1 (the end) and up."""

    num_states: int = 2
    arcs: list[int] = field(default_factory=list)  # source, lowest byte, highest byte and target in turn
    epsilon: list[int] = field(default_factory=list)  # source and target in turn
    labels: dict[str, int] = field(default_factory=dict)  # their symbols, from FIRST_LABEL up
    # The rows of automata that were copied in, `[n, 4]` and `[n, 2]` as in `arcs` and `epsilon`, and their numbers.
    copied_arcs: list[IntArray] = field(default_factory=list)
    copied_epsilon: list[IntArray] = field(default_factory=list)
    num_copied_states: int = 0
    num_copied_arcs: int = 0

    def state(self) -> int:
        self.num_states += 1
        return self.num_states - 1

    def states(self, count: int) -> range:
        """Add states; none if the count is negative."""
        first = self.num_states
        self.num_states += max(count, 0)
        return range(first, self.num_states)

    def chain(self, value: bytes, start: int, end: int) -> None:
        """Add one arc for each byte, from `start` to `end`."""
        if not value:
            self.epsilon += (start, end)
            return
        if len(value) >= _LONG:
            self.long_chain(value, start, end)
            return
        state, arcs = self.num_states, self.arcs
        for byte in value[:-1]:
            arcs += (start, byte, byte, state)
            start = state
            state += 1
        self.num_states = state
        arcs += (start, value[-1], value[-1], end)

    def long_chain(self, value: bytes, start: int, end: int) -> None:
        """Add the arcs of a literal that is too long for lists of numbers."""
        states = np.arange(self.num_states, self.num_states + len(value) - 1, dtype=np.int32)
        letters = np.frombuffer(value, np.uint8)
        rows = np.stack(
            [np.append(np.int32(start), states), letters, letters, np.append(states, np.int32(end))], axis=1
        )
        self.num_states += len(states)
        self.num_copied_arcs += len(rows)
        self.copied_arcs.append(rows.astype(np.int32))

    def characters(self, ranges: Ranges, start: int, end: int) -> None:
        """Add the arcs over one character of a set."""
        num_states, arcs = character_arcs(ranges)
        if num_states == 2:
            for _, low, high, _ in arcs:
                self.arcs += (start, low, high, end)
            return
        # States 0 and 1 of the character automaton are the start and the end given; the others are new.
        first = self.num_states
        names = [start, end, *range(first, first + num_states - 2)]
        self.num_states += num_states - 2
        for source, low, high, target in arcs:
            self.arcs += (names[source], low, high, names[target])

    def label(self, name: str, start: int, end: int) -> None:
        """Add one arc over a label."""
        symbol = self.labels.setdefault(name, FIRST_LABEL + len(self.labels))
        self.arcs += (start, symbol, symbol, end)

    def tables(self) -> tuple[IntArray, IntArray]:
        """Return the arcs `[A, 4]`, with labels numbered in the order of their names, and the epsilon arcs `[N, 2]`."""
        arcs, epsilon = int_rows(self.arcs, 4), int_rows(self.epsilon, 2)
        if self.labels:
            place = {name: FIRST_LABEL + number for number, name in enumerate(sorted(self.labels))}
            symbols = np.array([*range(FIRST_LABEL), *(place[name] for name in self.labels)], np.int32)
            arcs[:, 1:3] = symbols[arcs[:, 1:3]]
        if self.copied_arcs:
            arcs = np.concatenate([arcs, *self.copied_arcs])
        if self.copied_epsilon:
            epsilon = np.concatenate([epsilon, *self.copied_epsilon])
        return arcs, epsilon

    def copy_arcs(self, num_states: int, arcs: IntArray, epsilon: IntArray) -> None:
        """Add states after the present ones, and rows of arcs and epsilon arcs, in which states have their final
        numbers."""
        self.num_states += num_states
        self.num_copied_states += num_states
        self.num_copied_arcs += len(arcs)
        self.copied_arcs.append(arcs)
        self.copied_epsilon.append(epsilon)

    def copies(self, one: NfaBuilder, between: IntArray) -> None:
        """Add copies of an NFA without labels, one after the other.

        Args:
            one: the NFA.
            between: `[K + 1]`, the state before each copy and the one after the last.
        """
        inner, num_copies = one.num_states - 2, len(between) - 1
        names = np.empty((num_copies, one.num_states), np.int32)
        names[:, 0], names[:, 1] = between[:-1], between[1:]
        names[:, 2:] = np.arange(self.num_states, self.num_states + num_copies * inner).reshape(num_copies, inner)
        arcs, epsilon = one.tables()
        rows = np.repeat(arcs[None], num_copies, axis=0)
        rows[:, :, 0], rows[:, :, 3] = names[:, arcs[:, 0]], names[:, arcs[:, 3]]
        pairs = np.ascontiguousarray(names[:, epsilon]).reshape(-1, 2)
        self.copy_arcs(num_copies * inner, rows.reshape(-1, 4), pairs)

    def copy_of(self, automaton: ByteAutomaton, start: int, end: int) -> None:
        """Add the arcs of a compiled automaton, with epsilon arcs from `start` and to `end`."""
        if automaton.is_empty:
            return
        offset = self.num_states
        arcs = automaton.ranges()
        arcs[:, 0] += offset
        arcs[:, 3] += offset
        final = np.flatnonzero(automaton.final)
        ends = np.full((len(final), 2), end, np.int32)
        ends[:, 0] = final + offset
        self.copy_arcs(automaton.num_states, arcs, ends)
        self.epsilon += (start, automaton.start + offset)
        if automaton.labels:
            for source, number in np.argwhere(automaton.by_label >= 0).tolist():
                target = int(automaton.by_label[source, number])
                self.label(automaton.labels[number], source + offset, target + offset)


def acceptor_fragment(tables: AcceptorTables) -> NfaBuilder:
    """Return the NFA of an acceptor without weights."""
    fragment = NfaBuilder(num_states=0, labels={name: FIRST_LABEL + at for at, name in enumerate(tables.labels)})
    fragment.copy_arcs(tables.num_states, tables.arcs, tables.epsilon)
    return fragment


class ThompsonConstruction:
    """Lays out expressions in one NFA; `compiled` compiles sub-expressions that are copied in."""

    def __init__(self, compiled: Callable[[Expr], ByteAutomaton], work: Work) -> None:
        self.fragment = NfaBuilder()
        self.compiled = compiled
        self.work = work
        self.shared: set[Expr] = set()
        self.num_charged = 0
        # The expressions still to be laid, each between two states; the next one is last.
        self.tasks: list[tuple[Expr, int, int]] = []

    def lay(self, expr: Expr) -> NfaBuilder:
        """Lay out an expression.

        Raises: as for `append`.
        """
        self.append(expr, 0, 1)
        return self.fragment

    def append(self, expr: Expr, start: int, end: int) -> None:
        """Lay one more expression, between a state that no arc enters and a state that no arc leaves.

        Raises:
            LimitExceeded: the NFA has more arcs than allowed, or the time is up; or the expression has more leaves than
                that with its repetitions written out, which is known before anything is laid.
            Cancelled: the compilation was cancelled.
            AssertionMet: the expression holds an assertion.
        """
        limit = self.work.limits.arcs
        if expr.size > limit:
            part = largest(expr, limit)
            raise LimitExceeded(
                f"{excerpt(part)} has {numeral(part.size)} leaves with its repetitions written out, "
                f"more than {limit:,} "
                "(limit `arcs`)",
                limit="arcs",
            )
        self.shared = repeated(expr)
        self.between(expr, start, end, whole=True)
        self.finish(expr)

    def finish(self, expr: Expr) -> None:
        """Lay the parts of an expression that were deferred."""
        tasks, between, until_look = self.tasks, self.between, _LOOK_EVERY
        try:
            while tasks:
                between(*tasks.pop())
                until_look -= 1
                if not until_look or not tasks:
                    self.look(expr)
                    until_look = _LOOK_EVERY
        finally:
            self.work.budget.release(self.num_charged)
            self.num_charged = 0

    def look(self, expr: Expr) -> None:
        """Charge the memory of the layout of an expression, and raise if it exceeds a limit."""
        work, fragment, limit = self.work, self.fragment, self.work.limits.arcs
        work.check()
        if len(fragment.arcs) // 4 + fragment.num_copied_arcs > limit:
            raise LimitExceeded(
                f"laying out {excerpt(expr)} takes more than {limit:,} arcs (limit `arcs`)", limit="arcs"
            )
        num_arcs = len(fragment.arcs) // 4 + len(fragment.epsilon) // 2 + fragment.num_copied_arcs
        num_bytes = _ARC_BYTES * num_arcs + _TASK_BYTES * len(self.tasks)
        work.budget.charge(max(num_bytes - self.num_charged, 0))
        self.num_charged = max(num_bytes, self.num_charged)

    def between(self, expr: Expr, start: int, end: int, *, whole: bool = False) -> None:
        """Lay `expr` between two states, or defer its parts. With `whole`, it is laid out even if it is shared."""
        fragment = self.fragment
        if isinstance(expr, Literal):
            fragment.chain(expr.value, start, end)
        elif isinstance(expr, CharSet):
            fragment.characters(expr.ranges, start, end)
        elif self.shared and not whole and expr in self.shared:
            fragment.copy_of(self.compiled(expr), start, end)
        elif isinstance(expr, Repetition):
            self.repetition(expr, start, end)
        elif isinstance(expr, Concatenation):
            put = self.put
            for part in self.work.watched(expr.parts[:-1]):
                middle = fragment.state()
                put(part, start, middle)
                start = middle
            put(expr.parts[-1], start, end)
        elif isinstance(expr, Alternation):
            self.alternation(expr, start, end)
        elif isinstance(expr, Label):
            fragment.label(expr.name, start, end)
        elif isinstance(expr, ByteSet):
            for low, high in expr.ranges:
                fragment.arcs += (start, low, high, end)
        elif isinstance(expr, Lookahead | Lookbehind):
            raise AssertionMet
        elif isinstance(expr, Call):
            self.call(expr, start, end)
        else:
            fragment.copy_of(self.compiled(expr), start, end)

    def call(self, expr: Call, start: int, end: int) -> None:
        """Raise an error: only the construction for grammars can lay the call of a rule."""
        raise ExpressionError(f"the call of rule {expr.name!r} means something only within a grammar")

    def put(self, expr: Expr, start: int, end: int) -> None:
        """Lay a part now if it is a chain of bytes or one character, as most parts are; defer other parts."""
        if isinstance(expr, Literal):
            self.fragment.chain(expr.value, start, end)
        elif isinstance(expr, CharSet):
            self.fragment.characters(expr.ranges, start, end)
        else:
            self.tasks.append((expr, start, end))

    def alternation(self, expr: Alternation, start: int, end: int) -> None:
        """Lay alternatives; among many, short words share the states of equal beginnings.

        A loop before them, as in the search for one of many words, would otherwise begin all of them at every byte.
        """
        put, parts = self.put, self.work.watched(expr.parts)
        if len(expr.parts) < _MANY_ALTERNATIVES:
            for part in parts:
                put(part, start, end)
            return
        after: dict[tuple[int, Expr], int] = {}
        for part in parts:
            letters = _letters(part)
            if not letters:
                put(part, start, end)
                continue
            state = start
            for letter in letters[:-1]:
                target = after.get((state, letter))
                if target is None:
                    target = after[state, letter] = self.fragment.state()
                    put(letter, state, target)
                state = target
            put(letters[-1], state, end)

    def repetition(self, expr: Repetition, start: int, end: int) -> None:
        """Lay the copies of a repetition, and then a loop or, before each optional copy, an epsilon arc to the end."""
        fragment, inner = self.fragment, expr.inner
        if expr.high == 1:  # as most are
            fragment.epsilon += (start, end)
            self.put(inner, start, end)
            return
        if expr.high is None:
            between = [start, *fragment.states(expr.low - 1)]
            self.loop(inner, between[-1], end, at_least_once=expr.low > 0)
        else:
            between = [start, *fragment.states(expr.high - 1), end]
            for state in between[expr.low : -1]:
                fragment.epsilon += (state, end)
        self.sequence(inner, between)

    def sequence(self, inner: Expr, between: list[int]) -> None:
        """Lay a copy of an expression between each two neighbours of a list of states."""
        # Constructions that add more than arcs, such as weights, lay each copy.
        if type(self) is ThompsonConstruction and len(between) > _MANY_COPIES and inner.size < SHARED_SIZE:
            one = ThompsonConstruction(self.compiled, self.work).lay(inner)
            num_arcs = (len(one.arcs) // 4 + one.num_copied_arcs) * len(between)
            if not one.labels and num_arcs <= self.work.limits.arcs:
                self.fragment.copies(one, np.array(between, np.int32))
                return
        for start, end in pairwise(self.work.watched(between)):
            self.put(inner, start, end)

    def loop(self, inner: Expr, start: int, end: int, *, at_least_once: bool) -> None:
        fragment = self.fragment
        first = fragment.state()
        last = fragment.state() if at_least_once else first
        fragment.epsilon += (start, first)
        self.put(inner, first, last)
        if at_least_once:
            fragment.epsilon += (last, first)
        fragment.epsilon += (last, end)


def _letters(expr: Expr) -> list[Expr]:
    """Return the bytes and characters of a short word; none if the expression is anything else."""
    parts = expr.parts if isinstance(expr, Concatenation) else (expr,)
    found: list[Expr] = []
    if expr.size < SHARED_SIZE and all(isinstance(part, Literal | CharSet) for part in parts):
        for part in parts:
            found += [literal(bytes([byte])) for byte in part.value] if isinstance(part, Literal) else (part,)
    return found


def repeated(expr: Expr) -> set[Expr]:
    """Return the large sub-expressions that would be laid out more than once.

    Hashing an expression reads all of it, so an expression is hashed only if another one has its type and size.
    """
    only: dict[tuple[type[Expr], int], Expr | None] = {}  # None if there are several, which are then in `seen`
    seen: set[Expr] = set()
    found: set[Expr] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if node.size < SHARED_SIZE or isinstance(node, Literal):
            continue
        kind = type(node), node.size
        if kind in only:
            if (other := only[kind]) is not None:
                seen.add(other)
                only[kind] = None
            if node in seen:
                found.add(node)
                continue
            seen.add(node)
        else:
            only[kind] = node
        if isinstance(node, Concatenation | Alternation):
            stack.extend(node.parts)
        elif isinstance(node, Repetition):
            copies = node.low if node.high is None else node.high
            if copies > 1 and node.inner.size >= SHARED_SIZE:
                found.add(node.inner)
            stack.append(node.inner)
    return found
