"""ValueSearch: a quick search for whether formulas have values, along containers whose rules have been built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from automata.visibly_pushdown import Conditions
from constraints.json_schema.building.plans import Plans
from constraints.json_schema.containers.automaton import AllStates, Vector
from constraints.json_schema.containers.distinct import without_places
from constraints.json_schema.containers.flagged import Choice, FlaggedObject, Hub
from constraints.json_schema.formulas.connectives import Formula, statements
from constraints.json_schema.formulas.statements import Kind, UniqueItems
from constraints.recursion import Task, run

# The most states of an object in any order that a search visits.
MAX_SEEN = 1_000


RuleKey: TypeAlias = tuple[Kind, Vector]


class RuleNumbers(dict[RuleKey, int]):
    """The numbers of rules, by the kind of their brackets and the formulas about the text between these."""

    def __init__(self) -> None:
        super().__init__()
        # By vector about arrays, without the places of `UniqueItems`: the first such vector with its places.
        self._same: dict[Vector, Vector] = {}

    def key(self, kind: Kind, vector: Vector) -> RuleKey:
        """Return the key of a rule. Vectors about arrays that differ only in the places of `UniqueItems` share one."""
        if kind is Kind.ARRAY and any(type(part) is UniqueItems for each in vector for part in statements(each)):
            vector = self._same.setdefault(without_places(vector), vector)
        return kind, vector


class ValueSearch:
    """Searches for values.

    Attributes:
        needs: by rule and exit, formulas: if each of them has a value, some text of the rule ends in the exit.
        states: by rule, the states of the container, for exits without `needs`.
        flagged: by rule, the object in any order, which has no such states.
        variants: by rule, the rules that are called instead of it, each with the exit that it stands for.
        inside: by kind and formula about the text between brackets or quotes: the rules with several exits that read
            it, each with the exit of the formula.
    """

    def __init__(self, plans: Plans, numbers: RuleNumbers) -> None:
        """Make the search.

        Args:
            plans: the plans of formulas.
            numbers: the numbers of rules.
        """
        self.plans, self.numbers = plans, numbers
        self.needs: dict[tuple[int, int], Sequence[Formula]] = {}
        self.states: dict[int, AllStates] = {}
        self.flagged: dict[int, FlaggedObject] = {}
        self.variants: dict[int, list[tuple[int, int]]] = {}
        self.inside: dict[tuple[Kind, Formula], dict[int, int]] = {}
        self._has_value: dict[Formula, bool] = {}
        # Whether some search stopped at `MAX_SEEN` without an answer.
        self._is_cut_short = False

    def has_value(self, formula: Formula) -> bool:
        """Return whether it is easily seen that some value satisfies a formula."""
        known = self._has_value.get(formula)
        if known is None and self.plans.has_scalar(formula):
            known = self._has_value[formula] = True
        return run(self._valued(formula)) if known is None else known

    def _valued(self, formula: Formula) -> Task[bool]:
        known = self._has_value.get(formula)
        if known is not None:
            return known
        self._has_value[formula] = False
        found = self.plans.has_scalar(formula)
        for kind, part in self.plans(formula).inside.items():
            number = self.numbers.get(self.numbers.key(kind, (part,)))
            ways = [] if number is None else [(number, 0)]
            for rule, way in (*ways, *self.inside.get((kind, part), {}).items()):
                found = found or (yield self._filled(rule, way))
        self._has_value[formula] = found
        return found

    def _filled(self, number: int, way: int) -> Task[bool]:
        """Return whether it is easily seen that a rule has a text that ends in an exit."""
        for rule, own in self.variants.get(number, ()):
            if own == way and (yield self._filled(rule, 0)):
                return True
        needs, states, flagged = self.needs.get((number, way)), self.states.get(number), self.flagged.get(number)
        if needs is not None:
            for needed in needs:
                if not (yield self._valued(needed)):
                    return False
            return True
        found: bool = False
        if flagged is not None:
            found = yield self._flagged_reaches_end(flagged, way)
        elif states is not None:
            found = yield self._reaches_end(states, way)
        return found

    def _reaches_end(self, container: AllStates, way: int) -> Task[bool]:
        """Return whether items or members that are easily seen to have values lead to an end."""
        states, waiting, seen = container.states, [0], {0}
        while waiting:
            state = waiting.pop()
            if states.exit(state) == way:
                return True
            found = [*states.skips(state)]
            for _, outcomes in states.moves(state):
                for value, target in outcomes:
                    if target not in seen and (yield self._valued(container.values[value])):
                        found.append(target)
            waiting += [target for target in found if target not in seen]
            seen.update(found)
        return False

    def _flagged_reaches_end(self, container: FlaggedObject, way: int) -> Task[bool]:
        """Return the same for an object in any order. Hubs list the members that lead to an end first, so the search
        follows few ways."""
        conditions, hubs = container.conditions, container.hubs
        hopeful = _leading_to(hubs, way)
        path, seen = [(0, iter(hubs[0].choices))] if 0 in hopeful else [], {(0, 0)}
        if path and _ends(hubs[0], way, conditions, 0):
            return True
        while path and len(seen) < MAX_SEEN:
            flags, choices = path[-1]
            choice = next(choices, None)
            if choice is None:
                path.pop()
                continue
            own = 1 << choice.sets if choice.sets >= 0 else 0
            if flags & own or not conditions.holds(choice.condition, flags):
                continue
            for value, target in choice.outcomes:
                state = target, flags | own
                if target in hopeful and state not in seen and (yield self._valued(value)):
                    if _ends(hubs[target], way, conditions, flags | own):
                        return True
                    seen.add(state)
                    path.append((flags | own, iter(hubs[target].choices)))
        self._is_cut_short = self._is_cut_short or bool(path)
        return False

    def empty_values(self) -> frozenset[Formula] | None:
        """Return the formulas that no value satisfies, among those of members in any order; None if this is not known
        of some.

        The hubs of an object count on such members, so an end to which these seem to lead may be out of reach."""
        values = [value for made in self.flagged.values() for value in made.values()]
        while values:
            num_known = sum(self._has_value.values())
            # A value that needs itself was taken to be empty.
            self._has_value = {formula: True for formula, found in self._has_value.items() if found}
            values = [value for value in values if not self.has_value(value)]
            if sum(self._has_value.values()) == num_known:
                break
        return None if values and self._is_cut_short else frozenset(values)

    def dead_exits(self) -> list[tuple[int, int]]:
        """Return the exits of objects in any order that no object reaches, each with its rule. Call it after
        `empty_values`, which settles which formulas have values."""
        found = list[tuple[int, int]]()
        for number, made in self.flagged.items():
            exits = {end.exit for hub in made.hubs for end in hub.ends}
            if len(exits) > 1:
                found += [(number, way) for way in sorted(exits) if not run(self._reaches(made, way))]
        return found

    def _reaches(self, container: FlaggedObject, way: int) -> Task[bool]:
        before, self._is_cut_short = self._is_cut_short, False
        found: bool = yield self._flagged_reaches_end(container, way)
        if not found and self._is_cut_short:
            found = yield self._may_reach_end(container, way)
        self._is_cut_short = before
        return found

    def _may_reach_end(self, container: FlaggedObject, way: int) -> Task[bool]:
        """Return whether an object may end in an exit, from the condition under which each hub leads there. This covers
        all ways at once, so no search is cut short."""
        conditions, hubs = container.conditions, container.hubs
        live = [conditions.any_of(end.condition for end in hub.ends if end.exit == way) for hub in hubs]
        steps = list[tuple[int, Choice, list[int]]]()
        for number, hub in reversed([*enumerate(hubs)]):
            for choice in hub.choices:
                targets = []
                for value, target in choice.outcomes:
                    if (yield self._valued(value)):
                        targets.append(target)
                steps.append((number, choice, targets))
        more = True
        while more:
            more = False
            for number, choice, targets in steps:
                flag = choice.sets
                ways = conditions.any_of(
                    live[target] if flag < 0 else conditions.known(live[target], flag, True) for target in targets
                )
                ways = conditions.both(choice.condition, ways)
                if flag >= 0:
                    ways = conditions.both(conditions.not_all_of(1 << flag), ways)
                before, live[number] = live[number], conditions.any_of((live[number], ways))
                more = more or live[number] != before
        return conditions.holds(live[0], 0)


def _ends(hub: Hub, way: int, conditions: Conditions, flags: int) -> bool:
    return any(end.exit == way and conditions.holds(end.condition, flags) for end in hub.ends)


def _leading_to(hubs: Sequence[Hub], way: int) -> set[int]:
    """Return the hubs that may lead to an end in an exit, whichever names have occurred."""
    before: list[list[int]] = [[] for _ in hubs]
    for number, hub in enumerate(hubs):
        for choice in hub.choices:
            for _, target in choice.outcomes:
                before[target].append(number)
    waiting = [number for number, hub in enumerate(hubs) if any(end.exit == way for end in hub.ends)]
    found = set(waiting)
    while waiting:
        more = set(before[waiting.pop()]) - found
        found |= more
        waiting += more
    return found
