"""The subset construction over configurations with a common stack.

A state of the deterministic automaton is a set of elements, each a local stack and a state of the network: the
configurations that the text so far may have led to, as far as they differ. What all local stacks begin with lies on the
real stack, so most sets are one element with an empty local stack, which is a state of the network.

Where callers differ but what is called does not, the set is a product: any of some stacks, with any of some elements
above it. The stacks become one symbol, a choice, and the elements above it the state. So `return f(...)` and a call of
`returnf(...)` are two derivations at both ends of the brackets, but not within them.

    explore    the steps of a set: a decision tree. At its root, what the elements can read by themselves. Where an
               element's rule can end and its local stack is empty, the text goes on where the caller does, which the
               real stack tells: for each symbol that may lie there, the step pops it, it is put under all local stacks,
               and the tree has a branch
    group      many columns at once: those that only one place reads
    collision  columns that several places read lead to sets; those that lead to the same places do so together
    boundary   what follows words over some columns. Many states inside words end them in the same way: it is one more
               state, that no byte leads to, explored once, whose steps all of them share

Elements that have become equal are one, so two derivations of the same text that lead to the same place cost nothing.

Words (see `automata.pushdown.grammar`) are resolved in a set as a whole: what a place reads comes first, and only
columns that none does read end words, of those that can end the one of the highest priority. A lazy word that can end
does so before anything is read.

Which symbols may lie under a set: those that may lie under each of its elements.

Symbols are the network's states, and from `Places.end_state` up the choices.

Rejected: one column at a time (fifty times as many steps of Python as groups); sets with their stacks unbounded (a
construction that need not end, in place of an answer).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.limits import Work
from automata.pushdown.places import Leaf, Places, Stack
from automata.pushdown.steps import Steps

Element = tuple[Stack, int]
Elements = tuple[Element, ...]

# Past these bounds a grammar is not deterministic.
MAX_LOCAL_STACK = 64
MAX_ELEMENTS = 64
MAX_POPS = 64
MAX_SETS = 10_000
# What a visit of a state takes, in steps of the budget.
_VISIT_STEPS = 500


class Unbounded(Exception):
    """A set that goes past a bound, and how it came about."""

    def __init__(self, reason: str, elements: Elements, state: int) -> None:
        super().__init__(reason)
        self.reason, self.elements, self.state = reason, elements, state


@dataclass(slots=True)
class _Look:
    """A place in a decision tree that looks at the symbol below, and the symbols that have their branches."""

    state: int
    elements: Elements
    popped: Stack
    columns: int
    done: set[int] = field(default_factory=set)


class Determinizer:
    """The construction: states as they are found, and their steps."""

    def __init__(self, places: Places, work: Work) -> None:
        self.places, self.work = places, work
        self.steps = Steps()
        self.state_of_place: dict[int, int] = {}
        self.state_of_set: dict[Elements, int] = {}
        self.elements: list[Elements] = []
        self.came_from: list[int] = []
        self.waiting: list[int] = []
        self.too_many: list[int] = []
        self.at = -1
        self.boundaries: dict[tuple[Elements, int], int] = {}
        self.after_words: set[int] = set()
        self.choices: list[tuple[Stack, ...]] = []
        self.number_of_choice: dict[tuple[Stack, ...], int] = {}
        self.choices_under: list[set[int]] = [set() for _ in places.under]
        self.looks: list[list[_Look]] = [[] for _ in places.under]
        self.look_again: list[_Look] = []
        self._reached: dict[tuple[int, int], tuple[int, ...]] = {}
        self._rows: dict[int, list[int]] = {}

    # States

    def place(self, state: int) -> int:
        """The state for a state of the network alone."""
        found = self.state_of_place.get(state)
        if found is None:
            found = self.state_of_place[state] = self._new((((), state),))
            self.waiting.append(found)
        return found

    def set_of(self, elements: Elements) -> int:
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
            self.waiting.append(found)
        return found

    def _new(self, elements: Elements) -> int:
        if len(self.elements) >= self.work.limits.states:
            limit = self.work.limits.states
            raise LimitExceeded(f"a pushdown automaton has more than {limit:,} states (limit `states`)")
        self.elements.append(elements)
        self.came_from.append(self.at)
        return len(self.elements) - 1

    def target_of_place(self) -> IntArray:
        """`[N]`, the state for each state of the network alone, or -1."""
        numbers = np.full(len(self.places.go), -1, np.int32)
        numbers[list(self.state_of_place)] = list(self.state_of_place.values())
        return numbers

    # Steps

    def run(self, start: int) -> None:
        """Finds all states that the start leads to, and their steps."""
        self.place(start)
        is_plain, spend = self.places.is_plain, self.work.budget.spend
        while self.waiting or self.look_again:
            spend(_VISIT_STEPS)
            if self.waiting:
                self.at = self.waiting.pop()
                elements = self.elements[self.at]
                if len(elements) == 1 and is_plain[elements[0][1]]:
                    self.read_on(elements[0][1])
                else:
                    self.explore(elements, (), (1 << self.places.num_columns) - 1)
            else:
                look = self.look_again.pop()
                self.at = look.state
                self.branch(look)

    def read_on(self, state: int) -> None:
        """Adds the steps from a state of the network that does nothing but read, as most do."""
        places, known = self.places, self.state_of_place
        self.steps.groups.append((self.at, 0, 0, state, places.columns[state]))
        for target in places.targets(state):
            if target not in known:
                self.place(target)

    def explore(self, elements: Sequence[Element], popped: Stack, columns: int) -> None:
        """Finds the steps over some columns once some symbols have been popped, from the top of the stack down."""
        if len(elements) == 1 and self.places.is_plain[elements[0][1]]:
            self.emit([(*elements[0], self.places.columns[elements[0][1]])], popped, columns)
            return
        leaves, ends = self.leaves(elements)
        if self.places.any_lazy(state for _, state, _ in leaves):
            self.end_words(leaves, popped, columns)
            return
        once = twice = 0
        for _, _, reads in leaves:
            reads &= columns
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
                reached, may_end = self.places.closure(state)
                if stack:
                    leaves.update({(stack + pushed, at, columns): None for pushed, at, columns in reached})
                else:
                    leaves.update(dict.fromkeys(reached))
                if not may_end:
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
        sequences, known = self.steps.sequences, self.state_of_place
        for pushed, state, reads in leaves:
            reads &= columns
            if reads:
                pops, pushes = sequences.of(popped), sequences.of(pushed)
                self.steps.groups.append((self.at, pops, pushes, state, reads))
                for target in self.reached(state, reads):
                    if target not in known:
                        self.place(target)

    def reached(self, state: int, columns: int) -> Sequence[int]:
        """The states of the network that some columns lead to."""
        if columns == self.places.columns[state]:
            return self.places.targets(state)
        found = self._reached.get((state, columns))
        if found is None:
            row = self.row(state)
            found = self._reached[state, columns] = tuple({row[column]: None for column in each_bit(columns)})
        return found

    def row(self, state: int) -> list[int]:
        """Where the network's columns lead from a state."""
        row = self._rows.get(state)
        if row is None:
            row = self._rows[state] = self.places.go[state].tolist()
        return row

    def collide(self, leaves: Iterable[Leaf], popped: Stack, columns: int) -> None:
        """Adds the steps over columns that several places read."""
        if not columns:
            return
        leaves = [leaf for leaf in leaves if leaf[2] & columns]
        same: dict[tuple[int, ...], int] = {}
        by_column = list(zip(*(self.row(state) for _, state, _ in leaves), strict=True))
        for column in each_bit(columns):
            targets = by_column[column]
            same[targets] = same.get(targets, 0) | 1 << column
        for targets, reading in same.items():
            reached = {(pushed, target) for (pushed, _, _), target in zip(leaves, targets, strict=True) if target >= 0}
            pushes, elements = common(reached)
            if len(elements) > 1:
                chosen = factored(elements)
                if chosen is not None:
                    choice, above, elements = chosen
                    pushes = (*pushes, self.choice(choice, above, elements), *above)
            target = self.set_of(elements)
            sequences = self.steps.sequences
            self.steps.sets.append((self.at, sequences.of(popped), sequences.of(pushes), target, reading))

    def choice(self, stacks: tuple[Stack, ...], above: Stack, elements: Elements) -> int:
        """The symbol for any of some stacks, with others and some elements above it."""
        number = self.number_of_choice.get(stacks)
        if number is None:
            number = self.number_of_choice[stacks] = self.places.end_state + 1 + len(self.choices)
            self.choices.append(stacks)
        lowest = {self.places.rule_of[above[0]]} if above else self.lowest_rules(elements)
        for first in lowest:
            for rule in self.places.called_last[first]:
                if number not in self.choices_under[rule]:
                    self.choices_under[rule].add(number)
                    self.look_again += self.looks[rule]
        return number

    def look_below(self, elements: Elements, popped: Stack, columns: int) -> None:
        """Adds a branch for each symbol that may lie below."""
        if len(popped) >= MAX_POPS:
            raise Unbounded("pops", elements, self.at)
        look = _Look(self.at, elements, popped, columns)
        for rule in self.lowest_rules(elements):
            self.looks[rule].append(look)
        self.branch(look)

    def branch(self, look: _Look) -> None:
        """Adds the branches that are not there yet."""
        for symbol in self.symbols_under(look.elements):
            self.work.budget.spend(_VISIT_STEPS)
            if symbol not in look.done:
                look.done.add(symbol)
                self.explore(self.over(symbol, look.elements), (*look.popped, symbol), look.columns)

    def over(self, symbol: int, elements: Elements) -> list[Element]:
        """Some elements with the symbol that lies under them."""
        return [(below + stack, state) for below in self.stacks(symbol) for stack, state in elements]

    def stacks(self, symbol: int) -> tuple[Stack, ...]:
        """The stacks that a symbol stands for."""
        choice = symbol - self.places.end_state - 1
        return self.choices[choice] if choice >= 0 else ((symbol,),)

    def symbols_under(self, elements: Iterable[Element]) -> list[int]:
        """The symbols that may lie under all of some elements."""
        return self.under_all(self.lowest_rules(elements))

    def under_all(self, rules: Iterable[int]) -> list[int]:
        """The symbols that may lie under all of some rules."""
        first, *others = [{*self.places.under[rule], *self.choices_under[rule]} for rule in rules]
        return sorted(first.intersection(*others))

    def symbols_below(self, symbol: int) -> list[int]:
        """The symbols that may lie under a symbol."""
        return self.under_all(self.rules_below(symbol))

    def rules_below(self, symbol: int) -> frozenset[int]:
        """The rules that a symbol is pushed in."""
        return frozenset(self.lowest_rules((stack[:-1], stack[-1]) for stack in self.stacks(symbol)))

    def lowest_rules(self, elements: Iterable[Element]) -> set[int]:
        """The rules that lie directly on the stack."""
        rule_of = self.places.rule_of
        return {rule_of[stack[0] if stack else state] for stack, state in elements}

    def end_words(self, leaves: Iterable[Leaf], popped: Stack, columns: int) -> None:
        """Ends the words of the highest priority, over columns that go on with none."""
        words = self.places.words
        ending = [(word, pushed, target) for pushed, state, _ in leaves for word, target in words[state]]
        if ending:
            best = min(ending)[0]
            elements = tuple(sorted({(pushed, target) for word, pushed, target in ending if word == best}))
            # States share the steps of one that shares none.
            if popped or self.at in self.after_words:
                self.explore(elements, popped, columns)
            else:
                self.steps.shared.append((self.at, self.boundary(elements, columns)))

    def boundary(self, elements: Elements, columns: int) -> int:
        """The state for what follows some words over some columns; its steps are found."""
        found = self.boundaries.get((elements, columns))
        if found is None:
            at = self.at
            found = self.boundaries[elements, columns] = self.at = self._new(elements)
            self.after_words.add(found)
            self.explore(elements, (), columns)
            self.at = at
        return found


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


def factored(elements: Elements) -> tuple[tuple[Stack, ...], Stack, Elements] | None:
    """A set as a product: some stacks, what lies above all of them, and the elements above that; or None."""
    by_state: dict[int, list[Stack]] = {}
    for stack, state in elements:
        by_state.setdefault(state, []).append(stack)
    stacks = min(by_state.values(), key=len)
    least = min(len(stack) for stack in stacks)
    if len(stacks) < 2 or not least:
        return None
    size = 0
    while size < least - 1 and all(stack[-1 - size] == stacks[0][-1 - size] for stack in stacks):
        size += 1
    below = tuple(sorted({stack[: len(stack) - size] for stack in stacks}))
    above = {(stack[len(each) :], state) for stack, state in elements for each in below if stack[: len(each)] == each}
    product = {(low + high, state) for low in below for high, state in above}
    if product != set(elements):
        return None
    return below, *common(above)


def each_bit(columns: int) -> list[int]:
    """The columns of a set."""
    found = []
    while columns:
        low = columns & -columns
        found.append(low.bit_length() - 1)
        columns ^= low
    return found
