"""Supply: whether an array whose items must all differ can always be completed, whatever its items have been so far.

    Supply.runs_out(A)      whether an array may run out of different items; true unless it is known that it cannot
    Supply.names_run_out(O) whether an object may run out of different names

If items must differ, each value can be used only once. An array that may end after every item can always be completed.
Any other array must have a path to its end on which each item has more values than there can be earlier items with one
of these values. The number of values is a lower bound, found from the automata of strings and numbers and from the
states of arrays and objects; so an array about which nothing is known counts as one that may run out.

Two paths to an end read different arrays, so the number of arrays is a sum over all paths. If their items must differ,
an item with n values, after k others, has at least n - k that are new. Variants that are read side by side may read the
same arrays, so only the variant with the most counts. If what is required of each member does not depend on the others,
objects are counted by their size, name by name. For other objects, two paths may read the same one, with its members in
different orders, so these are counted along a single path, the one that reads most. If k names on that path are not
listed, they must differ from each other, and their k! orders are the same object.

Rejected: a search for different items, position by position, while a text is written (a bipartite matching for each
token, for arrays that hardly occur).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import ceil, inf
from typing import TypeAlias

from automata import expressions as ex
from automata.algebra.operations import intersection
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded, UnsupportedSchema
from automata.expressions import Expr
from automata.queries.counting import total
from constraints.json_schema.containers.arrays import ArrayAutomaton, array_automaton
from constraints.json_schema.containers.automaton import ByMoves, ContainerAutomaton, Plain, State, Vector
from constraints.json_schema.containers.distinct import MAX_VALUES
from constraints.json_schema.containers.objects import object_automaton
from constraints.json_schema.containers.plain import PlainMembers, plain_members
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.containers.steps import (
    MANY,
    Step,
    all_ways,
    before_ends,
    choices,
    different_ways,
    joined,
    most_alike,
    most_before,
    product,
    reached,
    targets_first,
    unused_names,
    with_listed,
)
from constraints.json_schema.containers.variants import variants
from constraints.json_schema.formulas.connectives import Always, Formula, Never, conjunction, parts_of
from constraints.json_schema.formulas.finite import finite_values
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import MemberCount, TextLength
from constraints.json_schema.numbers import bounded_number_language, number_language
from constraints.json_schema.strings.content import content, listed, normalized

# The most states of a container that are visited, and the most containers within each other.
MAX_STATES, MAX_DEPTH = 1_000, 32
# The most times that formulas whose values contain values of the same formula are counted again.
MAX_RECOUNTS = 64
# Objects that must have more members are counted along a single path.
_MAX_MEMBERS = 100
# Of the others, those are counted that have up to this many members more than they must have.
_MORE_MEMBERS = 32
# Where a bound on the length is known, only strings up to this many characters above the lower bound are counted.
_LONGER = 8
# One spelling of each number: without exponent, without redundant zeros, and zero without a sign.
_DIGITS = ex.repeat(ex.char_set("0123456789"), 0)
_FRACTION = ex.concat(".", _DIGITS, ex.char_set("123456789"))
_NOT_ZERO = ex.alternation(
    ex.concat(ex.char_set("123456789"), _DIGITS, ex.repeat(_FRACTION, 0, 1)), ex.concat("0", _FRACTION)
)
_DECIMAL = ex.alternation("0", ex.concat(ex.repeat("-", 0, 1), _NOT_ZERO))

_Following: TypeAlias = Callable[[ContainerAutomaton, State], Iterable[Step]]


class Supply:
    """Counts the values of formulas.

    Args:
        restriction, expansion: the restriction and the expansion of the schema.
        max_digits: see `json_schema`.
        every_string: a formula that holds for every string, whatever the schema says.
    """

    def __init__(
        self, restriction: Restriction, expansion: ShannonExpansion, max_digits: int | None, every_string: Formula
    ) -> None:
        self.restriction = restriction
        self.expansion = expansion
        self.max_digits = max_digits
        self.every_string = every_string
        self.depth = 0
        self._num_recounts = 0
        self._known: dict[Formula, float] = {}
        self._objects_of: dict[Vector, ByMoves | Plain] = {}
        # Formulas that were met again while they were being counted, such as those of recursive values.
        self._met: set[Formula] = set()

    def object_automaton(self, vector: Vector) -> ByMoves | Plain:
        """Return the automaton of objects whose listed names come in order, which is made once."""
        if vector not in self._objects_of:
            self._objects_of[vector] = object_automaton(vector, self.restriction, self.expansion)
        return self._objects_of[vector]

    def array_automata(self, formula: Formula) -> list[ContainerAutomaton]:
        """Return the automaton of the arrays that satisfy a formula; if items have to be remembered in only some of
        them, return one for each variant.

        Raises:
            UnsupportedSchema: see `ArrayAutomaton`.
        """
        try:
            return [array_automaton((formula,), self.expansion)]
        except UnsupportedSchema:
            return [array_automaton((part,), self.expansion) for part in variants(formula)]

    def runs_out(self, automaton: ArrayAutomaton) -> bool:
        """Return whether items may leave no way to the end of an array; True unless it is known that none do."""
        needed = automaton.needed
        if needed is not None and all(self.values(item) > place for place, item in enumerate(needed)):
            return False
        steps = self.steps(automaton)
        if steps is None:
            return True
        before, alike = most_before(steps), self.alike_before(automaton.start, steps)

        def used(state: State, step: Step) -> float:
            # The number of all items before is quick to find, and often small enough.
            return before[state] if step.values > before[state] else alike(step.value)[state]

        return _lacks(automaton, steps, used)

    def names_run_out(self, automaton: ContainerAutomaton) -> bool:
        """Return whether members may leave no way to the end of an object unless a name is repeated; True unless it is
        known that none do.

        The automaton itself lets listed names occur once at most; only the others have to be remembered."""
        steps = self.steps(automaton, self._names)
        if steps is None:
            return True
        # Classes of names are disjoint, so only members whose names are of a finite class use up names of such a class.
        before = most_before(steps, lambda step: step.values < inf)
        return _lacks(automaton, steps, lambda state, _: before[state])

    def exclude(self, one: Formula, other: Formula) -> bool:
        """Return whether no value satisfies both formulas, as far as is known."""
        if self.expansion.outlines.exclude(one, other):
            return True
        return finite_values(conjunction([one, other]), self.restriction, MAX_VALUES) == set()

    def is_empty(self, formula: Formula) -> bool:
        """Return whether no value satisfies a formula, as far as is known."""
        if type(formula) is Never or self.expansion.outlines(formula).is_empty:
            return True
        return finite_values(formula, self.restriction, MAX_VALUES) == set()

    def alike_before(self, start: State, steps: dict[State, list[Step]]) -> Callable[[Formula], dict[State, float]]:
        """Return a function from a formula to the greatest number of items before each state that may have a value of
        this formula."""
        values = {step.value for own in steps.values() for step in own}

        @cache
        def before(value: Formula) -> dict[State, float]:
            alike = {other for other in values if not self.exclude(value, other)}
            return most_alike(start, steps, lambda step: step.value in alike)

        return before

    def values(self, formula: Formula) -> float:
        """Return a lower bound on the number of values that satisfy a formula."""
        found = self._known.get(formula)
        if found is not None:
            self._met.add(formula)
            return found
        self._known[formula] = 0  # for values within values of the same formula
        if self.depth == MAX_DEPTH:
            return 0
        self.depth += 1
        self._met.discard(formula)
        try:
            num_known = len(self._known)
            found = self._values(formula)
            if found and formula in self._met:
                found = self._recounted(formula, found, num_known)
        except LimitExceeded as error:
            if error.limit == "seconds":
                raise
            found = 0
        finally:
            self.depth -= 1
        self._known[formula] = found
        return found

    def _recounted(self, formula: Formula, found: float, num_known: int) -> float:
        """Count the values of a formula again, with a bound in place of 0 for those within values of the same formula.

        Each count gives a lower bound, which grows as long as it finds more values.

        Args:
            formula: the formula.
            found: the bound.
            num_known: how many formulas were counted before this one: those after it may have more values, too.
        """
        before = 0.0
        while before < found < MANY and (not before or self._num_recounts < MAX_RECOUNTS):
            self._num_recounts += 1
            for other in list(self._known)[num_known:]:
                del self._known[other]
            self._known[formula] = before = found
            found = self._values(formula)
        return found

    def _values(self, formula: Formula) -> float:
        to = self.restriction
        found = len(to.booleans(formula)) + to.null(formula) + self._strings(to.string(formula))
        found += self._numbers(to.number(formula))
        array, members = to.array(formula), to.object(formula)
        if found < inf and type(array) is not Never:
            found += inf if type(array) is Always else max(map(self._arrays, self.array_automata(array)), default=0)
        if found < inf and type(members) is not Never:
            found += inf if type(members) is Always else self._objects(members)
        return found

    def _strings(self, formula: Formula) -> float:
        if isinstance(formula, Always | Never):
            return 0 if isinstance(formula, Never) else inf
        texts = self.string_texts(formula)
        return _texts(texts) if isinstance(texts, ByteAutomaton) else float(min(len(texts), MANY))

    def string_texts(self, formula: Formula) -> ByteAutomaton | Sequence[str]:
        """Return strings that satisfy a formula: all of them, or those that are not much longer than required."""
        shorter = [
            TextLength(part.low, part.low + _LONGER if part.high is None else min(part.high, part.low + _LONGER))
            if isinstance(part, TextLength)
            else part
            for part in parts_of(formula)
        ]
        bounded = normalized(conjunction([*shorter, self.every_string]))
        texts = listed(bounded)
        return content(bounded) if texts is None else texts

    def _numbers(self, formula: Formula) -> float:
        if isinstance(formula, Never):
            return 0
        is_any = isinstance(formula, Always) and self.max_digits is None
        return inf if is_any else _texts(self.number_texts(formula))

    def number_texts(self, formula: Formula) -> ByteAutomaton:
        """Return one spelling of each number that satisfies a formula."""
        most = self.max_digits
        language = number_language(formula) if most is None else bounded_number_language(formula, most)
        return intersection(_compiled(language), _compiled(_DECIMAL))

    def _arrays(self, automaton: ContainerAutomaton) -> float:
        """Return a lower bound on the number of arrays."""
        steps = self.some_steps(automaton)
        if isinstance(automaton, ArrayAutomaton) and automaton.unique is not None:
            return different_ways(automaton, steps, self.alike_before(automaton.start, steps))
        steps = reached(automaton.start, steps)
        before = most_before(steps)
        # A cycle of items that have values gives arrays of any length.
        is_endless = any(before[state] == inf for state in before_ends(automaton, steps))
        return inf if is_endless else all_ways(automaton, steps)

    def _objects(self, formula: Formula) -> float:
        """Return the number of objects, or a lower bound if their members depend on each other."""
        sizes = [part for part in parts_of(formula) if isinstance(part, MemberCount)]
        low = max((size.low for size in sizes), default=0)
        plain = plain_members(conjunction(part for part in parts_of(formula) if part not in sizes), self.restriction)
        least = low if plain is None else max(low, plain.required.bit_count())
        if plain is None or least > _MAX_MEMBERS:
            return self._on_one_path(self.object_automaton((formula,)))
        by_size = self._plain_objects(plain, least + _MORE_MEMBERS)
        return sum(by_size[low : min((size.high + 1 for size in sizes if size.high is not None), default=None)])

    def _plain_objects(self, members: PlainMembers, most: int) -> list[float]:
        """Return lower bounds on how many objects have 0, 1, ..., `most` members, if these do not depend on each other.
        The bounds are exact if there are no more members, and at most `MAX_STATES` optional names are listed."""
        found = [1.0]
        for value in members.needed:
            found = joined(found, [0.0, self.values(value)], most)
        optional = [value for place, value in enumerate(members.values) if not members.required >> place & 1]
        for value in optional[:MAX_STATES]:
            found = joined(found, [1.0, self.values(value)], most)
        for names, value in members.others:
            found = joined(found, choices(self._strings(names), self.values(value), most), most)
        return found

    def _on_one_path(self, automaton: ContainerAutomaton) -> float:
        """Return the number of objects on the path to an end that reads the most."""
        steps = self.some_steps(automaton)
        by_listed = {state: [step for step in own if step.names is None] for state, own in steps.items()}
        by_others = {state: [step for step in own if step.names is not None] for state, own in steps.items()}
        order = targets_first(by_listed)
        best = with_listed(by_listed, order, {state: 1.0 for state in steps if automaton.end(state) >= 0})
        found = best.get(automaton.start, 0)
        for number in range(len(steps)):
            if not best or found >= MANY:
                break
            before = {
                state: max(product(best.get(step.target, 0), step.values, unused_names(step, number)) for step in own)
                for state, own in by_others.items()
                if own
            }
            best = with_listed(by_listed, order, {state: ways / (number + 1) for state, ways in before.items() if ways})
            found = max(found, best.get(automaton.start, 0))
        # The true number is an integer, so the bound is rounded up; the factor absorbs the rounding of the quotients.
        return found if found == inf else ceil(min(found, MANY) * (1 - 1e-12))

    def steps(
        self, automaton: ContainerAutomaton, following: _Following | None = None
    ) -> dict[State, list[Step]] | None:
        """Return what may come next in each state; None if there are too many states."""
        found = self._first_steps(automaton, following or self._next)
        return found if all(step.target in found for own in found.values() for step in own) else None

    def some_steps(self, automaton: ContainerAutomaton) -> dict[State, list[Step]]:
        """Return what may come next in each of the first states, as far as it leads to one of these."""
        found = self._first_steps(automaton, self._next)
        return {state: [step for step in own if step.target in found] for state, own in found.items()}

    def _first_steps(self, automaton: ContainerAutomaton, following: _Following) -> dict[State, list[Step]]:
        """Return what may come next in each state, up to a number of states."""
        found: dict[State, list[Step]] = {}
        waiting = deque([automaton.start])
        while waiting and len(found) < MAX_STATES:
            state = waiting.popleft()
            if state not in found:
                found[state] = list(following(automaton, state))
                waiting += [step.target for step in found[state]]
        return found

    def _next(self, automaton: ContainerAutomaton, state: State) -> Iterable[Step]:
        for name, outcomes in automaton.moves(state):
            names = self._strings(name) if isinstance(name, Formula) else None
            for value, target in outcomes:
                if not self.is_empty(value):
                    yield Step(self.values(value), target, value, names, name)
        for skipped in automaton.skips(state):
            yield Step(1, skipped, is_skip=True)

    def _names(self, automaton: ContainerAutomaton, state: State) -> Iterable[Step]:
        """Yield the next members with the number of their names in place of values."""
        for name, outcomes in automaton.moves(state):
            names = self._strings(name) if isinstance(name, Formula) else inf
            for value, target in outcomes:
                if not self.is_empty(value):
                    yield Step(names if self.values(value) else 0, target)
        for skipped in automaton.skips(state):
            yield Step(inf, skipped)


def _lacks(automaton: ContainerAutomaton, steps: dict[State, list[Step]], used: Callable[[State, Step], float]) -> bool:
    """Return whether an end may be out of reach; `used` returns how many of the values or names of a step from a state
    earlier steps may have used up."""
    safe = {state for state in steps if automaton.end(state) >= 0}
    more = True
    while more:
        more = False
        for state, found in steps.items():
            if state not in safe and any(
                step.target in safe and (step.values == inf or step.values > used(state, step)) for step in found
            ):
                safe.add(state)
                more = True
    targets = {step.target for found in steps.values() for step in found}
    return not safe >= targets & before_ends(automaton, steps)


def _texts(automaton: ByteAutomaton) -> float:
    number = 0 if automaton.is_empty else total(automaton, most=MANY)
    return inf if number is None else float(number)


def _compiled(language: Expr | ByteAutomaton) -> ByteAutomaton:
    return language if isinstance(language, ByteAutomaton) else compile_expr(language)
