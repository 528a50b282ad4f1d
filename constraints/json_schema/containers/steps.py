"""The steps of a container: which items or members may come next in each state, and what follows from them.

    Step                         one more item or member
    reached, before_ends         the states that steps with values lead to, and those from which an end can be reached
    most_before, most_alike      how many steps, or steps of some kind, may come before a state
    all_ways, different_ways     how many containers, and how many arrays of different items, there are on all paths
    with_listed                  how many objects there are on the best path of listed members
    choices, joined              how many objects there are of each size, name by name

Numbers of values are lower bounds, and 0 says that none is known; infinity stands for infinitely many, and finite
numbers are capped at `MANY`. Steps that certainly have no values are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, inf, prod
from typing import Final, NamedTuple

from constraints.json_schema.containers.automaton import ContainerAutomaton, State
from constraints.json_schema.formulas.connectives import TRUE, Formula

# Values are counted up to this number.
MANY: Final = 10**9
# Arrays whose items must differ are counted that have up to this many items more than states.
_MORE_ITEMS: Final = 16


class Step(NamedTuple):
    """One more item or member, or a listed name that is left out.

    Attributes:
        values: a lower bound on the number of values that it may have; where names are counted, on that of its names.
        target: the state after it.
        value: the formula of its value; TRUE where names are counted, or a name is left out.
        names: a lower bound on the number of its names; None for an item, and for a member whose name is listed.
        name: as in `Move`; None where names are counted.
        is_skip: whether a listed name is left out.
    """

    values: float
    target: State
    value: Formula = TRUE
    names: float | None = None
    name: str | Formula | None = None
    is_skip: bool = False


def reached(start: State, steps: dict[State, list[Step]]) -> dict[State, list[Step]]:
    """Return the states that items with values lead to, with the steps of such items."""
    found: dict[State, list[Step]] = {}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if state not in found:
            found[state] = [step for step in steps[state] if step.values]
            waiting += [step.target for step in found[state]]
    return found


def most_before(
    steps: dict[State, list[Step]], counts: Callable[[Step], bool] = lambda step: True
) -> dict[State, float]:
    """Return the greatest number of steps that count and may come before each state; infinity for a state on or after a
    cycle."""
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
            longest[step.target] = max(longest[step.target], longest[state] + counts(step))
            missing[step.target] -= 1
            if not missing[step.target]:
                free.append(step.target)
    return {state: number if state in known else inf for state, number in longest.items()}


def most_alike(start: State, steps: dict[State, list[Step]], counts: Callable[[Step], bool]) -> dict[State, float]:
    """Return the greatest number of steps that count on a path to each state; infinity if a cycle has one."""
    found: dict[State, float] = {start: 0}
    for times in range(len(steps) + 1):
        before = dict(found)
        for state, own in steps.items():
            for step in own if state in before else ():
                number = found[state] + counts(step)
                if number > found.get(step.target, -1):
                    found[step.target] = inf if times == len(steps) else number
        if found == before:
            break
    return found


def targets_first(steps: dict[State, list[Step]]) -> list[State]:
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


def all_ways(automaton: ContainerAutomaton, steps: dict[State, list[Step]]) -> float:
    """Return the number of containers on all paths to an end, if no cycle leads to one."""
    found = dict.fromkeys(steps, 0.0)
    for state in targets_first(steps):
        ways = sum(product(step.values, found[step.target]) for step in steps[state])
        found[state] = float(automaton.end(state) >= 0) + ways
    return found[automaton.start]


def different_ways(
    automaton: ContainerAutomaton,
    steps: dict[State, list[Step]],
    alike: Callable[[Formula], dict[State, float]],
) -> float:
    """Return a lower bound on the number of arrays whose items all differ: after k items that may equal it, a step
    with n values has at least n - k new ones.

    Args:
        automaton, steps: the array.
        alike: returns how many items that may have a value of a formula may come before each state.
    """

    def new(state: State, step: Step, used: int) -> float:
        return max(step.values - min(used, alike(step.value)[state]), 0)

    levels = [{automaton.start}]
    while levels[-1] and len(levels) <= len(steps) + _MORE_ITEMS:
        used = len(levels) - 1
        levels.append({step.target for state in levels[-1] for step in steps[state] if new(state, step, used)})
    found: dict[State, float] = {}
    for used, level in reversed([*enumerate(levels)]):
        ways = {
            state: sum(product(new(state, step, used), found.get(step.target, 0)) for step in steps[state])
            for state in level
        }
        found = {state: float(automaton.end(state) >= 0) + more for state, more in ways.items()}
    return product(found[automaton.start])


def with_listed(steps: dict[State, list[Step]], order: list[State], best: dict[State, float]) -> dict[State, float]:
    """Return, for each state, the greatest number of objects on a path of listed members to a state whose number is
    known.

    Args:
        steps: the steps of listed members. No listed name occurs twice, so they make no cycle.
        order: the states, each after the targets of its steps.
        best: the known numbers.
    """
    found = dict(best)
    for state in order:
        most = max((product(step.values, found.get(step.target, 0)) for step in steps[state]), default=0)
        if most > found.get(state, 0):
            found[state] = most
    return found


def choices(names: float, values: float, most: int) -> list[float]:
    """Return how many ways there are to give a value to 0, 1, ..., `most` of some names."""
    if 0 in (names, values):
        return [1.0]
    if inf in (names, values):
        return [1.0, *[inf] * int(min(names, most))]
    number, each = int(names), int(values)
    return [float(min(comb(number, chosen) * each**chosen, MANY)) for chosen in range(min(number, most) + 1)]


def joined(one: list[float], other: list[float], most: int) -> list[float]:
    """Return how many objects have 0, 1, ..., `most` members, some of one kind and some of another kind."""
    found = [0.0] * min(len(one) + len(other) - 1, most + 1)
    for size, ways in enumerate(one):
        for more, others in enumerate(other[: len(found) - size]):
            found[size + more] += product(ways, others)
    return [ways if ways == inf else min(ways, MANY) for ways in found]


def unused_names(step: Step, used: int) -> float:
    """Return a lower bound on the number of names of a step that are still unused."""
    assert step.names is not None
    return max(step.names - used, 0)


def product(*numbers: float) -> float:
    """Return the product of some numbers, any of which may be infinite; a finite product is at most `MANY`."""
    found = prod(numbers) if 0 not in numbers else 0.0
    return found if found == inf else min(found, MANY)


def before_ends(automaton: ContainerAutomaton, steps: dict[State, list[Step]]) -> set[State]:
    """Return the states from which an end may be reached."""
    found = {state for state in steps if automaton.end(state) >= 0}
    while True:
        more = {state for state, own in steps.items() if any(step.target in found for step in own)}
        if more <= found:
            return found
        found |= more
