"""Lengths: how many bytes suffice for an item or a member that has not occurred before.

    Lengths.detour(A)           of the items of an array that must all differ, where it has to continue
    Lengths.detour_of_names(O)  of the members of an object, where it has to continue
    Lengths.longest(F, n)       a length up to which there are texts of n different values

Where an array has to continue, the shortest item may have occurred already. If k items may have, one of the k + 1
shortest is new, so the longest of these bounds the way to the next item. How many items there are of each length is
counted in the automata of strings and numbers. The number of arrays or objects on a path to the end is the product of
the choices on it; their own detours count, since budgets count them while they are read. If no path has enough values
and there are few paths, the values of all of them are counted together. Few scalars are counted together with arrays or
objects.

Lengths are found only for the items that an array needs, which are few and simple in practice. If none is known, the
length is infinite.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate, chain, islice, zip_longest
from math import ceil, inf
from typing import Final, NamedTuple

from automata import expressions as ex
from automata.algebra.operations import intersection
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded
from automata.queries.counting import lengths
from automata.visibly_pushdown.grammar import MAX_DETOUR
from constraints.json_schema.containers.arrays import ArrayAutomaton
from constraints.json_schema.containers.automaton import ContainerAutomaton, State, Vector
from constraints.json_schema.containers.steps import MANY, Step, before_ends, most_before, product
from constraints.json_schema.containers.supply import Supply
from constraints.json_schema.formulas.connectives import Formula, Never, statements
from constraints.json_schema.formulas.statements import MemberCount

# A text of as many tokens as a budget can have has no more items than this.
_MAX_ITEMS: Final = 1 << 31
# The most paths and prefixes of paths whose values are counted together.
_MAX_PATHS: Final = 256
# The most containers within each other.
_MAX_DEPTH: Final = 8
# Longer texts of strings and numbers are not counted.
_LONGEST: Final = 4096


class Widths(NamedTuple):
    """The least lengths in bytes of a comma, a colon, and both brackets, each with its whitespace."""

    comma: int
    colon: int
    brackets: int


class _Reading(NamedTuple):
    """How an array or an object is read.

    Attributes:
        automaton, steps: the container.
        reserve: how much longer budgets take each item or member after the first to be.
        is_array, is_unique: whether it is an array, and whether its items are remembered.
    """

    automaton: ContainerAutomaton
    steps: dict[State, list[Step]]
    reserve: float
    is_array: bool
    is_unique: bool


class Lengths:
    """Finds lengths of texts.

    Args:
        supply: counts the values of formulas.
        widths: the lengths of the punctuation.
        object_of: returns the automaton of an object as the grammar reads it.
    """

    def __init__(self, supply: Supply, widths: Widths, object_of: Callable[[Vector], ContainerAutomaton]) -> None:
        self.supply, self.widths, self._object_of = supply, widths, object_of
        self._known: dict[tuple[Formula, float], float] = {}
        self._by_length: dict[Formula, _Counts] = {}
        self._names: dict[Formula, _Counts] = {}
        self._read: dict[Formula, list[_Reading]] = {}
        self._depth = 0

    def detour(self, array: ContainerAutomaton) -> int:
        """Return how much longer than one byte an item may have to be to differ from all before it, wherever the array
        has to continue after an item; 0 if it never has to, `MAX_DETOUR` if no bound is known."""
        steps = self.supply.steps(array)
        if steps is None:
            return MAX_DETOUR

        before = self.supply.alike_before(array.start, steps)

        def number(state: State, step: Step) -> float:
            return min(before(step.value)[state] + 1, _MAX_ITEMS)

        return _longest_needed(array, steps, number, lambda step, number: self.longest(step.value, number))

    def detour_of_names(self, members: ContainerAutomaton) -> int:
        """Return the same for the members of an object, whose names must differ."""
        steps = self.supply.steps(members)
        if steps is None:
            return MAX_DETOUR
        before = most_before(steps)
        return _longest_needed(
            members, steps, lambda state, step: before[state] + 1, lambda step, number: self._member(step, 1, number)
        )

    def longest(self, formula: Formula, number: float) -> float:
        """Return a length in bytes up to which there are texts of at least `number` different values of a formula;
        infinity if none is known."""
        key = formula, number
        if key not in self._known:
            self._known[key] = inf  # for values within values of the same formula
            if self._depth == _MAX_DEPTH:
                return inf
            self._depth += 1
            try:
                scalars = self._scalars(formula)
                found = min(scalars.longest(number), self._containers(formula, number))
                if found == inf and scalars.known:
                    # The few scalars that there are, and arrays or objects.
                    few = scalars.known[-1]
                    found = max(scalars.longest(few), self._containers(formula, number - few))
                self._known[key] = found
            except LimitExceeded as error:
                if error.limit == "seconds":
                    raise
            finally:
                self._depth -= 1
        return self._known[key]

    def _scalars(self, formula: Formula) -> _Counts:
        if formula not in self._by_length:
            to = self.supply.restriction
            words = Counter([*(4 if value else 5 for value in to.booleans(formula)), *[4] * to.null(formula)])
            strings = self._strings(to.string(formula))
            numbers = _by_length(self.supply.number_texts(to.number(formula)))
            of_words = (words[length] for length in range(6))
            self._by_length[formula] = _Counts(map(sum, zip_longest(of_words, strings, numbers, fillvalue=0)))
        return self._by_length[formula]

    def _strings(self, formula: Formula) -> Iterator[int]:
        """Yield how many strings have each length in bytes."""
        texts = self.supply.string_texts(formula)
        if isinstance(texts, ByteAutomaton):
            return chain([0, 0], _by_length(intersection(texts, _plain())))
        by_length = Counter(map(_spelled, texts))
        return (by_length[length] for length in range(max(by_length, default=-1) + 1))

    def _containers(self, formula: Formula, number: float) -> float:
        if formula not in self._read:
            self._read[formula] = list(self._readings(formula))
        found = min((self._path(each, number) for each in self._read[formula]), default=inf)
        return found if found < inf else min((self._paths(each, number) for each in self._read[formula]), default=inf)

    def _readings(self, formula: Formula) -> Iterator[_Reading]:
        """Yield how the arrays and the objects of a formula are read; objects with too many states are left out."""
        to, supply = self.supply.restriction, self.supply
        array, members = to.array(formula), to.object(formula)
        for items in supply.array_automata(array) if type(array) is not Never else ():
            is_unique = isinstance(items, ArrayAutomaton) and items.unique is not None
            reserve = self.detour(items) if is_unique else 0
            yield _Reading(items, supply.some_steps(items), _unbounded(reserve), True, is_unique)
        if type(members) is not Never:
            found = supply.object_automaton((members,))
            reserve = self.detour_of_names(self._object_of((members,))) if counts_members((members,)) else 0
            if (steps := supply.steps(found)) is not None:
                yield _Reading(found, steps, _unbounded(reserve), False, False)

    def _path(self, read: _Reading, number: float) -> float:
        """Return the length of the shortest path that has `number` values, as the product of those of its steps."""
        alike = self.supply.alike_before(read.automaton.start, read.steps)
        heap: list[tuple[float, int, State, float, int]] = [(self.widths.brackets, 0, read.automaton.start, 1, 0)]
        seen, count = set[tuple[State, float]](), 0
        while heap:
            length, _, state, values, before = heappop(heap)
            if values >= number and read.automaton.end(state) >= 0:
                return length
            if (state, values) in seen:
                continue
            seen.add((state, values))
            for step in read.steps[state]:
                used = min(before, alike(step.value)[state]) if read.is_unique else 0
                for chosen in {1, min(step.values - used, ceil(number / values))}:
                    more = self._item(read, step, chosen + used, before) if chosen > 0 else inf
                    if length + more < inf and (chosen == 1 or not step.is_skip):
                        count += 1
                        then = before + (not step.is_skip)
                        heappush(heap, (length + more, count, step.target, min(values * chosen, number), then))
        return inf

    def _paths(self, read: _Reading, number: float) -> float:
        """Return a length up to which all paths together have `number` values; infinity if the shortest paths have
        fewer, or might read the same value."""
        if read.is_unique or any(step.names is not None for own in read.steps.values() for step in own):
            return inf
        heap: list[tuple[float, int, State, float, int, bool]] = [
            (self.widths.brackets, 0, read.automaton.start, 1, 0, False)
        ]
        known, count = 0.0, 0
        while heap and count < _MAX_PATHS:
            length, _, state, values, before, is_skipped = heappop(heap)
            if read.automaton.end(state) >= 0 and not is_skipped:  # before skips, the same object has ended already
                known += values
                if known >= number:
                    return length
            for step in read.steps[state]:
                more = self._item(read, step, step.values, before) if 0 < step.values < MANY else inf
                if length + more < inf:
                    count += 1
                    then = step.target, product(values, step.values), before + (not step.is_skip), step.is_skip
                    heappush(heap, (length + more, count, *then))
        return inf

    def _item(self, read: _Reading, step: Step, number: float, before: int) -> float:
        """Return the length up to which a step has `number` items, or members with `number` values, after
        `before` others."""
        if step.is_skip:
            return 0
        reserve = read.reserve if before else 0
        if read.is_array:
            return self.widths.comma + reserve + self.longest(step.value, number)
        return self.widths.comma + reserve + self._member(step, number, before + 1)

    def _member(self, step: Step, number: float, names: float) -> float:
        """Return the length up to which a step has members with `number` values, for each of `names` names if there
        are that many."""
        if step.name is None:
            return inf
        if isinstance(step.name, str):
            name: float = _spelled(step.name)
        else:
            assert step.names is not None
            name = self._longest_name(step.name, max(1, min(names, step.names, _MAX_ITEMS)))
        return name + self.widths.colon + self.longest(step.value, number)

    def _longest_name(self, formula: Formula, number: float) -> float:
        """Return a length in bytes up to which there are at least `number` strings; infinity if none is known."""
        if formula not in self._names:
            self._names[formula] = _Counts(self._strings(formula))
        return self._names[formula].longest(number)


class _Counts:
    """The number of texts up to each length, found as far as it is asked for.

    Args:
        by_length: yields how many texts have each length.
    """

    def __init__(self, by_length: Iterator[int]) -> None:
        self.all = accumulate(islice(by_length, _LONGEST))
        self.known: list[int] = []

    def longest(self, number: float) -> float:
        """Return a length up to which there are at least `number` texts; infinity if none is known."""
        while not self.known or self.known[-1] < number:
            found = next(self.all, None)
            if found is None:
                return inf
            self.known.append(found)
        return bisect_left(self.known, number)


def counts_members(vector: Vector) -> bool:
    """Return whether objects must have two members or more, whatever their names are."""
    found = (part for formula in vector for part in statements(formula))
    return any(isinstance(part, MemberCount) and part.low > 1 for part in found)


def _unbounded(detour: int) -> float:
    return inf if detour == MAX_DETOUR else detour


def _longest_needed(
    automaton: ContainerAutomaton,
    steps: dict[State, list[Step]],
    number: Callable[[State, Step], float],
    length: Callable[[Step, float], float],
) -> int:
    """Return the greatest length beyond one byte of the steps that a container may need after another one.

    Args:
        automaton, steps: the container.
        number: returns how many values or names a step from a state must have, so that one of them is new.
        length: returns the length up to which a step has a number of values or names.
    """
    ends, longest = before_ends(automaton, steps), 1.0
    after_one = {step.target for own in steps.values() for step in own if not step.is_skip}
    waiting = list(after_one)
    for state in waiting:
        skipped = {step.target for step in steps[state] if step.is_skip} - after_one
        after_one |= skipped
        waiting += skipped
    for state in after_one & ends:
        if automaton.end(state) >= 0:
            continue
        by_target: dict[State, list[tuple[Step, float]]] = {}
        for step in steps[state]:
            # The shortest way does not lead back.
            if step.target in ends and step.target != state and not step.is_skip:
                by_target.setdefault(step.target, []).append((step, number(state, step)))
        for known in by_target.values():
            if any(needed > 1 for _, needed in known):
                longest = max(longest, min(length(step, needed) for step, needed in known))
    return int(min(longest - 1, MAX_DETOUR))


@cache
def _plain() -> ByteAutomaton:
    """Return the texts of characters that take one byte in JSON."""
    return compile_expr(ex.repeat(ex.char_set("".join(set(map(chr, range(0x20, 0x7F))) - {'"', "\\"})), 0))


def _spelled(text: str) -> int:
    """Return the length of a string in ASCII, which no other spelling has to exceed."""
    return len(json.dumps(text))


def _by_length(automaton: ByteAutomaton) -> Iterator[int]:
    """Yield how many texts have each length."""
    if not automaton.is_empty:
        for numbers in lengths(automaton):
            yield int(numbers[automaton.start])
