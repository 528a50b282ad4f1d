"""The subset construction over configurations with a common stack.

A state of the deterministic automaton is a set of elements, each a local stack and a state of the network: the
configurations that the text so far may have led to, as far as they differ. What all local stacks begin with lies on the
real stack, so most sets are one element with an empty local stack, which is a state of the network.

    explore    the steps of a set: a decision tree. At its root, what the elements can read by themselves. Where an
               element's rule can end and its local stack is empty, the text goes on where the caller does, which the
               real stack tells: for each symbol that may lie there, the step pops it, it is put under all local stacks,
               and the tree has a branch
    group      many columns at once: those that only one place reads
    collision  columns that several places read lead to sets, one by one

Elements that have become equal are one, so two derivations of the same text that lead to the same place cost nothing.

Words (see `automata.pushdown.grammar`) are resolved in a set as a whole: what a place reads comes first, and only
columns that none does read end words, of those that can end the one of the highest priority.

Which symbols may lie under a set: those that may lie under each of its elements.

Rejected: one column at a time (fifty times as many steps of Python as groups); sets with their stacks unbounded (a
construction that need not end, in place of an answer).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from automata.errors import LimitExceeded
from automata.openfst import IntArray
from automata.pushdown.places import Leaf, Places, Stack
from automata.pushdown.steps import Steps

Element = tuple[Stack, int]
Elements = tuple[Element, ...]

# Past these bounds a grammar is not deterministic.
MAX_LOCAL_STACK = 64
MAX_ELEMENTS = 64
MAX_POPS = 64
MAX_SETS = 10_000


class Unbounded(Exception):  # noqa: N818  # no error but an answer: the caller explains it
    """A set that goes past a bound, and how it came about."""

    def __init__(self, reason: str, elements: Elements, state: int) -> None:
        super().__init__(reason)
        self.reason, self.elements, self.state = reason, elements, state


class Determinizer:
    """The construction: states as they are found, and their steps."""

    def __init__(self, places: Places, max_states: int) -> None:
        self.places = places
        self.steps = Steps()
        self.max_states = max_states
        self.state_of_place: dict[int, int] = {}
        self.state_of_set: dict[Elements, int] = {}
        self.elements: list[Elements] = []
        self.came_from: list[int] = []
        self.todo: list[int] = []
        self.at = -1
        self._reached: dict[tuple[int, int], list[int]] = {}
        self._rows: dict[int, list[int]] = {}

    # States

    def place(self, state: int) -> int:
        """The state for a state of the network alone."""
        found = self.state_of_place.get(state)
        if found is None:
            found = self.state_of_place[state] = self._new((((), state),))
        return found

    def set(self, elements: Elements) -> int:
        """The state for a set of elements, sorted and without what their stacks have in common."""
        if len(elements) == 1:
            return self.place(elements[0][1])
        found = self.state_of_set.get(elements)
        if found is None:
            if len(elements) > MAX_ELEMENTS:
                raise Unbounded("derivations", elements, self.at)
            if len(self.state_of_set) >= MAX_SETS or max(len(stack) for stack, _ in elements) > MAX_LOCAL_STACK:
                raise Unbounded("stack", elements, self.at)
            found = self.state_of_set[elements] = self._new(elements)
        return found

    def _new(self, elements: Elements) -> int:
        if len(self.elements) >= self.max_states:
            raise LimitExceeded(f"a pushdown automaton has more than {self.max_states:,} states (limit `states`)")
        self.elements.append(elements)
        self.came_from.append(self.at)
        self.todo.append(len(self.elements) - 1)
        return len(self.elements) - 1

    # Steps

    def expand(self, state: int) -> None:
        """Finds the steps of a state."""
        self.at = state
        self.explore(self.elements[state], (), (1 << self.places.num_columns) - 1)

    def explore(self, elements: Iterable[Element], popped: Stack, columns: int) -> None:
        """Finds the steps over some columns once some symbols have been popped, from the top of the stack down."""
        leaves, ends = self.leaves(elements)
        once = twice = 0
        for leaf in leaves:
            reads = leaf.columns & columns
            twice |= once & reads
            once |= reads
        after = 0
        for rule in ends:
            after |= self.places.first[rule]
        known = once & ~after
        self.emit(leaves, popped, known & ~twice)
        self.collide(leaves, popped, known & twice)
        columns &= ~known
        if ends:
            self.look_below(tuple(elements), popped, columns)
        elif columns:
            self.end_words(leaves, popped, columns)

    def leaves(self, elements: Iterable[Element]) -> tuple[dict[Leaf, None], set[int]]:
        """The places that some elements reach without reading, and the rules that can end at the bottom."""
        leaves: dict[Leaf, None] = {}
        ends = set[int]()
        for stack, state in elements:
            while True:
                closure = self.places.closure(state)
                if stack:
                    leaves.update({Leaf(stack + leaf.pushed, leaf.state, leaf.columns): None for leaf in closure.leaves})
                else:
                    leaves.update(dict.fromkeys(closure.leaves))
                if not closure.ends:
                    break
                if not stack:
                    ends.add(self.places.rule_of[state])
                    break
                stack, state = stack[:-1], stack[-1]
        return leaves, ends

    def emit(self, leaves: Iterable[Leaf], popped: Stack, columns: int) -> None:
        """Adds the steps over columns that one place reads, each."""
        if not columns:
            return
        sequences = self.steps.sequences
        for leaf in leaves:
            reads = leaf.columns & columns
            if reads:
                pops, pushes = sequences.of(popped), sequences.of(leaf.pushed)
                self.steps.groups.append((self.at, pops, pushes, leaf.state, reads))
                for target in self.reached(leaf.state, reads):
                    self.place(target)

    def reached(self, state: int, columns: int) -> list[int]:
        """The states of the network that some columns lead to."""
        found = self._reached.get((state, columns))
        if found is None:
            row = self.row(state)
            found = self._reached[state, columns] = list({row[column]: None for column in each_bit(columns)})
        return found

    def row(self, state: int) -> list[int]:
        """Where the network's columns lead from a state."""
        row = self._rows.get(state)
        if row is None:
            row = self._rows[state] = self.places.go[state].tolist()
        return row

    def collide(self, leaves: Iterable[Leaf], popped: Stack, columns: int) -> None:
        """Adds the steps over columns that several places read."""
        for column in each_bit(columns):
            reached = {(leaf.pushed, self.row(leaf.state)[column]) for leaf in leaves if leaf.columns >> column & 1}
            pushes, elements = common(reached)
            target = self.set(elements)
            sequences = self.steps.sequences
            self.steps.single.append((self.at, column, sequences.of(popped), sequences.of(pushes), target))

    def look_below(self, elements: Elements, popped: Stack, columns: int) -> None:
        """Adds a branch for each symbol that may lie below."""
        if len(popped) >= MAX_POPS:
            raise Unbounded("pops", elements, self.at)
        for symbol in self.symbols_under(elements):
            self.explore([((symbol, *stack), state) for stack, state in elements], (*popped, symbol), columns)

    def symbols_under(self, elements: Elements) -> Iterable[int]:
        """The symbols that may lie under all of some elements."""
        rules = {self.places.rule_of[stack[0] if stack else state] for stack, state in elements}
        first, *others = [self.places.under[rule] for rule in rules]
        return [symbol for symbol in first if all(symbol in other for other in others)] if others else first

    def end_words(self, leaves: Iterable[Leaf], popped: Stack, columns: int) -> None:
        """Ends the words of the highest priority, over columns that go on with none."""
        ending = [(word, leaf.pushed, target) for leaf in leaves for word, target in self.places.words[leaf.state]]
        if ending:
            best = min(ending)[0]
            self.explore(sorted({(pushed, target) for word, pushed, target in ending if word == best}), popped, columns)


def common(elements: set[Element]) -> tuple[Stack, Elements]:
    """What all local stacks begin with, and the elements without it."""
    if len(elements) == 1:
        ((stack, state),) = elements
        return stack, (((), state),)
    low, high = min(stack for stack, _ in elements), max(stack for stack, _ in elements)
    size = 0
    while size < len(low) and low[size] == high[size]:
        size += 1
    return low[:size], tuple(sorted((stack[size:], state) for stack, state in elements))


def each_bit(columns: int) -> list[int]:
    """The columns of a set."""
    found = []
    while columns:
        low = columns & -columns
        found.append(low.bit_length() - 1)
        columns ^= low
    return found


def target_of_place(determinizer: Determinizer) -> IntArray:
    """`[N]`, the state for each state of the network alone, or -1."""
    numbers = np.full(len(determinizer.places.go), -1, np.int32)
    numbers[list(determinizer.state_of_place)] = list(determinizer.state_of_place.values())
    return numbers
