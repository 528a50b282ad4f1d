"""Supply: whether an array whose items must all differ can always be completed, whatever its items have been so far.

    Supply.runs_out(A)      whether an array may run out of different items; true unless it is known that it cannot
    Supply.needs_more(A)    whether an array may have to continue after an item
    Supply.names_run_out(O) whether an object may run out of different names

If items must differ, each value can be used only once. An array that may end after every item can always be completed.
Any other array must have a path to its end on which each item has more values than can have been used before it, or
values that no earlier item can have had, such as the one that `contains` requires. The number of values is a lower
bound, found from the automata of strings and numbers and from the states of arrays and objects; so an array about which
nothing is known counts as one that may run out.

Two paths to an end read different arrays, so the number of arrays is a sum over all paths. If the requirements on each
member do not depend on the others, the number of objects is a product over the names. For any other objects, two paths
may read the same object, with its members in different orders, so these are counted along a single path, the one that
reads most. If k names on that path are not listed, they must differ from each other, and their k! orders are the same
object.

Rejected: a search for different items, position by position, while a text is written (a bipartite matching for each
token, for arrays that hardly occur).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, inf, prod
from typing import NamedTuple, TypeAlias

from automata import expressions as ex
from automata.algebra.operations import intersection
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded
from automata.expressions import Expr
from automata.queries.counting import total
from constraints.json_schema.containers.arrays import ArrayAutomaton
from constraints.json_schema.containers.automaton import ContainerAutomaton, State
from constraints.json_schema.containers.distinct import MAX_VALUES
from constraints.json_schema.containers.objects import object_automaton
from constraints.json_schema.containers.plain import PlainMembers, plain_members
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.connectives import TRUE, Always, Formula, Never, conjunction, parts_of
from constraints.json_schema.formulas.finite import finite_values
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import TextLength
from constraints.json_schema.numbers import bounded_number_language, number_language
from constraints.json_schema.strings.content import content, listed, normalized

# The most states of a container that are visited, and the most containers within each other.
MAX_STATES, MAX_DEPTH = 1_000, 8
# Values are counted up to this number.
_MANY = 10**9
# Where a bound on the length is known, only strings up to this many characters above the lower bound are counted.
_LONGER = 4
# One spelling of each number: without exponent, without redundant zeros, and zero without a sign.
_DIGITS = ex.repeat(ex.char_set("0123456789"), 0)
_FRACTION = ex.concat(".", _DIGITS, ex.char_set("123456789"))
_NOT_ZERO = ex.alternation(
    ex.concat(ex.char_set("123456789"), _DIGITS, ex.repeat(_FRACTION, 0, 1)), ex.concat("0", _FRACTION)
)
_DECIMAL = ex.alternation("0", ex.concat(ex.repeat("-", 0, 1), _NOT_ZERO))


class _Step(NamedTuple):
    """One more item or member: a lower bound on the number of values that it may have, the state after it, the formula
    of its value, which is TRUE where only names are counted or a name is left out, and a lower bound on the number of
    its names, if the name of a member is not listed."""

    values: float
    target: State
    value: Formula = TRUE
    names: float | None = None


_Following: TypeAlias = Callable[[ContainerAutomaton, State], Iterable[_Step]]


class Supply:
    """Counts the values of formulas.

    Args:
        restriction, expansion: the restriction and the expansion of the schema.
        max_digits: see `json_schema`.
    """

    def __init__(self, restriction: Restriction, expansion: ShannonExpansion, max_digits: int | None) -> None:
        self.restriction = restriction
        self.expansion = expansion
        self.max_digits = max_digits
        self.depth = 0
        self._known: dict[Formula, float] = {}
        # The formulas that were asked for again, such as those of values within their own values.
        self._met: set[Formula] = set()

    def needs_more(self, automaton: ArrayAutomaton) -> bool:
        """Return whether an array may have to continue after an item."""
        steps = self._steps(automaton)
        if steps is None:
            return True
        return any(automaton.end(step.target) < 0 for found in steps.values() for step in found)

    def runs_out(self, automaton: ArrayAutomaton) -> bool:
        """Return whether items may leave no way to the end of an array; True unless it is known that none do."""
        steps = self._steps(automaton)
        return steps is None or self._lacks(automaton, steps)

    def names_run_out(self, automaton: ContainerAutomaton) -> bool:
        """Return whether members may leave no way to the end of an object unless a name is repeated; True unless it is
        known that none do.

        The automaton itself lets listed names come once at most; only the others have to be remembered."""
        found = self._steps(automaton, self._names)
        return found is None or self._lacks(automaton, found)

    def _lacks(self, automaton: ContainerAutomaton, steps: dict[State, list[_Step]]) -> bool:
        targets = {step.target for found in steps.values() for step in found}
        most_before = _most_before(steps)
        safe = {state for state in steps if automaton.end(state) >= 0}
        more = True
        while more:
            more = False
            for state, found in steps.items():
                used = most_before[state]
                ways = [step for step in found if step.target in safe and step.values]
                if state not in safe and any(
                    step.values == inf or step.values > used or self._is_new(steps, state, step) for step in ways
                ):
                    safe.add(state)
                    more = True
        return not safe >= targets & _before_ends(automaton, steps)

    def _is_new(self, steps: dict[State, list[_Step]], state: State, step: _Step) -> bool:
        """Return whether no item before a state can have a value that this step from the state reads."""
        before, more = {state}, True
        while more:
            found = {other for other, own in steps.items() if any(each.target in before for each in own)}
            more = not found <= before
            before |= found
        earlier = {each.value for own in steps.values() for each in own if each.target in before}
        return all(self._exclude(step.value, value) for value in earlier)

    def _exclude(self, one: Formula, other: Formula) -> bool:
        """Return whether no value satisfies both formulas, as far as is known."""
        if self.expansion.outlines.exclude(one, other):
            return True
        return finite_values(conjunction([one, other]), self.restriction, MAX_VALUES) == set()

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
                # Count again with this bound in place of 0: it and the formulas counted meanwhile may have more values.
                for other in list(self._known)[num_known:]:
                    del self._known[other]
                self._known[formula] = found
                found = self._values(formula)
        except LimitExceeded as error:
            if error.limit == "seconds":
                raise
            found = 0
        finally:
            self.depth -= 1
        self._known[formula] = found
        return found

    def _values(self, formula: Formula) -> float:
        to = self.restriction
        found = len(to.booleans(formula)) + to.null(formula) + self._strings(to.string(formula))
        found += self._numbers(to.number(formula))
        array, members = to.array(formula), to.object(formula)
        if found < inf and type(array) is not Never:
            found += inf if type(array) is Always else self._arrays(ArrayAutomaton((array,), self.expansion))
        if found < inf and type(members) is not Never:
            found += inf if type(members) is Always else self._objects(members)
        return found

    def _strings(self, formula: Formula) -> float:
        if isinstance(formula, Always | Never):
            return 0 if isinstance(formula, Never) else inf
        shorter = [
            TextLength(part.low, part.low + _LONGER if part.high is None else min(part.high, part.low + _LONGER))
            if isinstance(part, TextLength)
            else part
            for part in parts_of(formula)
        ]
        bounded = normalized(conjunction(shorter))
        texts = listed(bounded)
        return _texts(content(bounded)) if texts is None else float(min(len(texts), _MANY))

    def _numbers(self, formula: Formula) -> float:
        if isinstance(formula, Always | Never):
            return 0 if isinstance(formula, Never) else inf if self.max_digits is None else 10.0
        most = self.max_digits
        language = number_language(formula) if most is None else bounded_number_language(formula, most)
        return _texts(intersection(_compiled(language), _compiled(_DECIMAL)))

    def _arrays(self, automaton: ArrayAutomaton) -> float:
        """Return the number of arrays."""
        steps = self._steps(automaton)
        if steps is None:
            return 0
        reached = _reached(automaton.start, steps)
        most_before = _most_before(reached)
        # A cycle of items that have values gives arrays of any length.
        is_endless = any(most_before[state] == inf for state in _before_ends(automaton, reached))
        found = inf if is_endless else _all_ways(automaton, reached)
        # Without a memory of its items, nothing is known of how many differ.
        return min(found, 1) if automaton.unique and found < inf else found

    def _objects(self, formula: Formula) -> float:
        plain = plain_members(formula, self.restriction)
        if plain is not None:
            return self._plain_objects(plain)
        return self._on_one_path(object_automaton((formula,), self.restriction, self.expansion))

    def _plain_objects(self, said: PlainMembers) -> float:
        """Return the number of objects whose members do not depend on each other."""
        listed = [self.values(value) + (not said.required >> place & 1) for place, value in enumerate(said.values)]
        others = [_choices(self._strings(names), self.values(value)) for names, value in said.others]
        return _product(*listed, *others)

    def _on_one_path(self, automaton: ContainerAutomaton) -> float:
        """Return the number of objects on the path to an end that reads the most."""
        steps = self._steps(automaton)
        if steps is None:
            return 0
        by_listed = {state: [step for step in own if step.names is None] for state, own in steps.items()}
        by_others = {state: [step for step in own if step.names is not None] for state, own in steps.items()}
        order = _targets_first(by_listed)
        best = _with_listed(by_listed, order, {state: 1.0 for state in steps if automaton.end(state) >= 0})
        found = best.get(automaton.start, 0)
        for number in range(len(steps)):
            if not best or found >= _MANY:
                break
            before = {
                state: max(_product(best.get(step.target, 0), step.values, _rest(step, number)) for step in own)
                for state, own in by_others.items()
                if own
            }
            best = _with_listed(
                by_listed, order, {state: ways / (number + 1) for state, ways in before.items() if ways}
            )
            found = max(found, best.get(automaton.start, 0))
        # The true number is an integer, so the bound is rounded up; the factor absorbs the rounding of the quotients.
        return found if found == inf else ceil(min(found, _MANY) * (1 - 1e-12))

    def _steps(
        self, automaton: ContainerAutomaton, following: _Following | None = None
    ) -> dict[State, list[_Step]] | None:
        """Return what may come next in each state; None if there are too many states."""
        following = following or self._next
        found: dict[State, list[_Step]] = {}
        waiting = [automaton.start]
        while waiting:
            state = waiting.pop()
            if state in found:
                continue
            if len(found) == MAX_STATES:
                return None
            found[state] = list(following(automaton, state))
            waiting += [step.target for step in found[state]]
        return found

    def _next(self, automaton: ContainerAutomaton, state: State) -> Iterable[_Step]:
        for name, outcomes in automaton.moves(state):
            names = self._strings(name) if isinstance(name, Formula) else None
            for value, target in outcomes:
                if type(value) is not Never and names != 0:
                    yield _Step(self.values(value), target, value, names)
        for skipped in automaton.skips(state):
            yield _Step(1, skipped)

    def _names(self, automaton: ContainerAutomaton, state: State) -> Iterable[_Step]:
        """Yield the next members with the number of their names in place of values."""
        for name, outcomes in automaton.moves(state):
            names = self._strings(name) if isinstance(name, Formula) else inf
            yield from (_Step(names, target) for value, target in outcomes if self.values(value))
        for skipped in automaton.skips(state):
            yield _Step(inf, skipped)


def _reached(start: State, steps: dict[State, list[_Step]]) -> dict[State, list[_Step]]:
    """Return the states that items with values lead to, with the steps of such items."""
    found: dict[State, list[_Step]] = {}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if state not in found:
            found[state] = [step for step in steps[state] if step.values]
            waiting += [step.target for step in found[state]]
    return found


def _most_before(steps: dict[State, list[_Step]]) -> dict[State, float]:
    """Return the greatest number of steps that may come before each state; infinity for a state on or after a cycle."""
    missing = dict.fromkeys(steps, 0)
    for found in steps.values():
        for step in found:
            missing[step.target] += 1
    free = [state for state, count in missing.items() if not count]
    longest = dict.fromkeys(steps, 0.0)
    known = set[State]()
    while free:
        state = free.pop()
        known.add(state)
        for step in steps[state]:
            longest[step.target] = max(longest[step.target], longest[state] + 1)
            missing[step.target] -= 1
            if not missing[step.target]:
                free.append(step.target)
    return {state: number if state in known else inf for state, number in longest.items()}


def _targets_first(steps: dict[State, list[_Step]]) -> list[State]:
    """Return the states in an order in which each one follows the targets of its steps, except on a cycle."""
    order: list[State] = []
    seen = set[State]()
    for root in steps:
        path = [] if root in seen else [(root, iter(steps[root]))]
        seen.add(root)
        while path:
            state, rest = path[-1]
            target = next((step.target for step in rest if step.target not in seen), None)
            if target is None:
                order.append(state)
                path.pop()
            else:
                seen.add(target)
                path.append((target, iter(steps[target])))
    return order


def _all_ways(automaton: ContainerAutomaton, steps: dict[State, list[_Step]]) -> float:
    """Return the number of containers on all paths to an end, if no cycle leads to one."""
    found = dict.fromkeys(steps, 0.0)
    for state in _targets_first(steps):
        ways = sum(_product(step.values, found[step.target]) for step in steps[state])
        found[state] = float(automaton.end(state) >= 0) + ways
    return found[automaton.start]


def _with_listed(steps: dict[State, list[_Step]], order: list[State], best: dict[State, float]) -> dict[State, float]:
    """Return, for each state, the greatest number of objects on a path of listed members to a state whose number is
    known.

    Args:
        steps: the steps of listed members. No listed name comes twice, so they make no cycle.
        order: the states, each after the targets of its steps.
        best: the known numbers.
    """
    found = dict(best)
    for state in order:
        most = max((_product(step.values, found.get(step.target, 0)) for step in steps[state]), default=0)
        if most > found.get(state, 0):
            found[state] = most
    return found


def _choices(names: float, values: float) -> float:
    """Return how many ways there are to give a value to each of some names or to leave it out."""
    if 0 in (names, values):
        return 1
    if inf in (names, values):
        return inf
    # Each name at least doubles the number.
    return float((1 + min(values, _MANY)) ** min(names, _MANY.bit_length()))


def _rest(step: _Step, used: int) -> float:
    """Return a lower bound on the number of names of a step that are still unused."""
    assert step.names is not None
    return max(step.names - used, 0)


def _product(*numbers: float) -> float:
    """Return the product of some numbers, any of which may be infinite; a finite product is at most `_MANY`."""
    found = prod(numbers) if 0 not in numbers else 0.0
    return found if found == inf else min(found, _MANY)


def _before_ends(automaton: ContainerAutomaton, steps: dict[State, list[_Step]]) -> set[State]:
    """Return the states from which an end can be reached by items that have values."""
    found = {state for state in steps if automaton.end(state) >= 0}
    while True:
        more = {state for state, own in steps.items() if any(step.values and step.target in found for step in own)}
        if more <= found:
            return found
        found |= more


def _texts(automaton: ByteAutomaton) -> float:
    number = 0 if automaton.is_empty else total(automaton, most=_MANY)
    return inf if number is None else float(number)


def _compiled(language: Expr | ByteAutomaton) -> ByteAutomaton:
    return language if isinstance(language, ByteAutomaton) else compile_expr(language)
