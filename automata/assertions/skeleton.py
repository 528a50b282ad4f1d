"""The NFAs of a text with assertions, over classes of characters.

The expression is laid out as in `automata.compile.nfa`, with an arc for each class of characters. Where an assertion
stands there is a *guarded* jump, which reads nothing and may be taken only where the assertion holds. Each assertion
has an automaton of its own in the same pool of states, laid out once however often it occurs. Texts of their own come
as deterministic automata and are copied in.

    CharDfa         a deterministic automaton over classes of characters
    Guard           an assertion, or its negation
    Assertion       the automaton of an assertion's content
    StateBudget     the limit on states
    Skeleton        all automata of one text
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from automata.arrays import IntArray, int_rows
from automata.assertions.alphabet import Alphabet
from automata.compile.blame import excerpt
from automata.errors import LimitExceeded
from automata.expressions import (
    Alternation,
    CharSet,
    Concatenation,
    Expr,
    Label,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
)
from automata.expressions.ranges import MAX_CODE_POINT
from automata.limits import Work

# Skeletons are laid out, and results read, in Python, which takes ten to twenty microseconds for each state.
MAX_STATES = 100_000
# The owner of states that belong to no assertion.
TEXT = -1
# The cost of a state, in steps of the budget.
_STEPS_OF_STATE = 10_000
# The memory of an entry of a table, in bytes.
_ENTRY_BYTES = 200
# An expression that is still to be laid, and the two states between which it belongs.
_Task = tuple[Expr, int, int]


class CharDfa(NamedTuple):
    """A deterministic automaton: state 0 is the start; a class that leads nowhere has no entry."""

    next: list[dict[int, int]]
    final: list[bool]


class Guard(NamedTuple):
    assertion: int
    negated: bool


class Assertion(NamedTuple):
    """The automaton of an assertion's content."""

    behind: bool
    start: int
    end: int


class StateBudget:
    """The limits on states and memory while a text with assertions is resolved. The limit on states holds for each
    construction separately."""

    def __init__(self, expr: Expr, work: Work, doing: str = "resolving the assertions of") -> None:
        """Start with nothing charged. Errors begin with `doing`, what is being done, and name the expression."""
        self.expr, self.work, self.doing = expr, work, doing
        self.states = min(work.limits.states, MAX_STATES)
        self.num_entries = 0

    def check(self, num_states: int) -> None:
        """Raise if there are too many states or the compilation has to stop.

        Raises:
            LimitExceeded: there are too many states, or the time is up.
            Cancelled: the compilation was cancelled.
        """
        if num_states > self.states:
            raise self.too_many_states()
        self.work.budget.spend(_STEPS_OF_STATE)

    def too_many_states(self) -> LimitExceeded:
        """Return the error for too many states."""
        what = f"{self.doing} {excerpt(self.expr)} takes more than {self.states:,} states over characters"
        return LimitExceeded(f"{what} (limit `states`)", limit="states")

    def charge(self, num_entries: int) -> None:
        """Charge the memory of entries of tables, until `release`."""
        self.work.budget.charge(_ENTRY_BYTES * num_entries)
        self.num_entries += num_entries

    def release(self) -> None:
        """Release the memory that was charged."""
        self.work.budget.release(_ENTRY_BYTES * self.num_entries)
        self.num_entries = 0


class Skeleton:
    """The NFAs of a text: its own, and one for each distinct assertion.

    Attributes:
        arcs: for each state, the states that a class leads to.
        jumps: for each state, the states reached without reading, each with the guard of the jump, if any.
        owner: for each state, the number of the assertion that it belongs to; `TEXT` for the text's own.
        assertions: inner ones first.
        start, end: the first and the last state of the text's own NFA.
    """

    def __init__(
        self, expr: Expr, alphabet: Alphabet, budget: StateBudget, language: Callable[[Expr], CharDfa]
    ) -> None:
        """Lay a text out; `language` returns the automaton of a part that is copied in."""
        self.alphabet, self.budget, self.language = alphabet, budget, language
        self.arcs: list[dict[int, list[int]]] = []
        self.jumps: list[list[tuple[Guard | None, int]]] = []
        self.owner: list[int] = []
        self.assertions: list[Assertion] = []
        self.numbers: dict[tuple[bool, Expr], int] = {}
        self.depth = 0  # the number of assertions around the part that is being laid
        self.start, self.end = self.state(), self.state()
        self.lay(expr, self.start, self.end)

    def tables(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the owners `[Q]`, the arcs `[A, 3]`, the guarded jumps `[J, 3]` and the assertions `[N, 3]`, as
        `native/automata/assertions/skeleton.h` describes them."""
        arcs: list[int] = []
        jumps: list[int] = []
        for source, row in enumerate(self.arcs):
            for symbol in sorted(row):
                for target in row[symbol]:
                    arcs += (source, symbol, target)
            for guard, target in self.jumps[source]:
                jumps += (source, -1 if guard is None else 2 * guard.assertion + guard.negated, target)
        assertions = [int(field) for assertion in self.assertions for field in assertion]
        return np.array(self.owner, np.int32), int_rows(arcs, 3), int_rows(jumps, 3), int_rows(assertions, 3)

    def state(self) -> int:
        self.budget.check(len(self.arcs))
        self.arcs.append({})
        self.jumps.append([])
        self.owner.append(TEXT)
        return len(self.arcs) - 1

    def arc(self, start: int, classes: Iterable[int], end: int) -> None:
        arcs, before = self.arcs[start], len(self.arcs[start])
        for number in classes:
            arcs.setdefault(number, []).append(end)
        self.budget.charge(len(arcs) - before)

    def lay(self, expr: Expr, start: int, end: int) -> None:
        """Lay an expression between two states: no arc enters the first and none leaves the last. A stack holds the
        parts still to be laid, so that only assertions within assertions recurse."""
        tasks = [(expr, start, end)]
        while tasks:
            tasks += self.between(*tasks.pop())

    def between(self, expr: Expr, start: int, end: int) -> list[_Task]:
        """Lay an expression between two states, except for its parts; return the parts as tasks."""
        if isinstance(expr, Concatenation):
            middles = [self.state() for _ in expr.parts[1:]]
            return list(zip(expr.parts, [start, *middles], [*middles, end], strict=True))
        if isinstance(expr, Alternation):
            return [(part, start, end) for part in expr.parts]
        if isinstance(expr, Repetition):
            return self.repetition(expr, start, end)
        if isinstance(expr, Literal):
            self.chain([*map(ord, expr.value.decode())], start, end)
        elif isinstance(expr, CharSet):
            self.arc(start, self.alphabet.classes(expr.ranges), end)
            if self.depth and expr.ranges[-1][1] == MAX_CODE_POINT:
                self.arc(start, self.alphabet.labels.values(), end)
        elif isinstance(expr, Label):
            self.arc(start, [self.alphabet.labels[expr.name]], end)
        elif isinstance(expr, Lookahead | Lookbehind):
            guard = Guard(self.assertion(expr.inner, isinstance(expr, Lookbehind)), expr.negated)
            self.jumps[start].append((guard, end))
        else:
            self.copy(self.language(expr), start, end)
        return []

    def chain(self, codes: list[int], start: int, end: int) -> None:
        if not codes:
            self.jumps[start].append((None, end))
        for place, code in enumerate(codes):
            following = end if place + 1 == len(codes) else self.state()
            self.arc(start, self.alphabet.classes(((code, code),)), following)
            start = following

    def repetition(self, expr: Repetition, start: int, end: int) -> list[_Task]:
        tasks: list[_Task] = []
        for count in range(expr.low if expr.high is None else expr.high):
            if count >= expr.low:
                self.jumps[start].append((None, end))
            middle = self.state()
            tasks.append((expr.inner, start, middle))
            start = middle
        if expr.high is None:
            first, last = self.state(), self.state()
            self.jumps[start] += [(None, first), (None, end)]
            self.jumps[last] += [(None, first), (None, end)]
            tasks.append((expr.inner, first, last))
        else:
            self.jumps[start].append((None, end))
        return tasks

    def copy(self, automaton: CharDfa, start: int, end: int) -> None:
        names = [self.state() for _ in automaton.final]
        self.jumps[start].append((None, names[0]))
        for name, row, final in zip(names, automaton.next, automaton.final, strict=True):
            for symbol, target in row.items():
                self.arc(name, [symbol], names[target])
            if final:
                self.jumps[name].append((None, end))

    def assertion(self, inner: Expr, behind: bool) -> int:
        """Return the number of an assertion; lay its automaton when it is new."""
        number = self.numbers.get((behind, inner))
        if number is None:
            self.depth += 1
            start, end = self.state(), self.state()
            self.lay(inner, start, end)
            self.depth -= 1
            number = self.numbers[behind, inner] = len(self.assertions)
            states = [state for state in range(start, len(self.owner)) if self.owner[state] == TEXT]
            for state in states:
                self.owner[state] = number
            self.assertions.append(Assertion(behind, start, end))
        return number
