"""FlaggedBuilder: the rule of an object whose members come in any order, from its hubs.

    after      by hub: guarded arcs to `closing` where the object may end, and to `comma` where a member may follow
    closing    before the bracket, by exit
    comma      before the comma, by hub
    before     by hub: guarded arcs to `name` of the members that may follow
    name       before a name, or before the rest of one, where names with a common prefix diverge
    named      after the name and the colon: a guarded arc that sets the flag, where it is not set before the name
    value      before a value, shared by all members with the same languages of values and the same targets

State 0 has the guarded arcs of the first hub, with no flag set.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import groupby
from typing import Final, NamedTuple

from automata import expressions as ex
from automata.cache import kept
from automata.expressions import Expr, Literal
from automata.limits import spend
from automata.visibly_pushdown import ArcLanguage, GuardedArc, VisiblyPushdownCall, VisiblyPushdownRule
from constraints.json_schema.building.container_rule import STATE_WEIGHT, RuleBuilder, ValueBuilder
from constraints.json_schema.building.marks import marks_at
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.flagged import Choice, FlaggedObject, Hub, some_may_come
from constraints.json_schema.formulas.connectives import Formula
from constraints.json_schema.strings.spelling import plain_name

# From this many members on, names that begin alike are read together.
MANY_NAMES: Final = 8


class _Spelled(NamedTuple):
    """A member, and how its name is spelled, in quotes."""

    text: bytes
    choice: Choice


class FlaggedBuilder(RuleBuilder):
    """Builds the rule of an object in any order."""

    def __init__(self, builder: ValueBuilder, rule: VisiblyPushdownRule, made: FlaggedObject) -> None:
        super().__init__(builder, rule, "}")
        self.hubs, self.conditions = made
        rule.conditions = self.conditions
        self.after = [rule.state() for _ in made.hubs]
        self.before = [rule.state() for _ in made.hubs]
        # The states before a mark, a name or a value, and at an end, by all that they depend on.
        self._states: dict[Hashable, int] = {}

    def build(self) -> None:
        """Build the rule."""
        rule, (opened, empty, _, close) = self.rule, self.marks
        self.add_ends(0, self.hubs[0], "empty", empty)
        if self.hubs[0].choices:
            first = self.before[0] if opened is None else self.state("opened", opened, self.before[0])
            rule.guarded.append(GuardedArc(0, first, -1, self.hubs[0].more))
        for number, hub in enumerate(self.hubs):
            self.add_ends(self.after[number], hub, "close", close)
            self.add_comma(number, hub)
            self.add_members(self.before[number], hub)
        self.builder.count_states(STATE_WEIGHT * len(self.hubs))
        spend(20 * rule.num_states)

    def state(self, key: Hashable, language: ArcLanguage, target: int) -> int:
        """Return the state for a key; if it is new, add an arc that reads a language from there to a target."""
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = self.rule.state()
            self.rule.arcs.append((found, language, target))
        return found

    def add_ends(self, source: int, hub: Hub, kind: str, bracket: Expr) -> None:
        """Add guarded arcs to the bracket, for each way in which the object may end."""
        for way, condition in hub.ends:
            target = self.state((kind, way), bracket, self.ended(way))
            self.rule.guarded.append(GuardedArc(source, target, -1, condition))

    def ended(self, way: int) -> int:
        found = self._states.get(way)
        if found is None:
            found = self._states[way] = self.rule.state()
            self.rule.ends.append((found, way))
        return found

    def add_comma(self, number: int, hub: Hub) -> None:
        """Add the comma, with a guarded arc that is open where a member may follow."""
        if hub.choices:
            comma = self.state(("comma", number), self.marks[2], self.before[number])
            self.rule.guarded.append(GuardedArc(self.after[number], comma, -1, hub.more))

    def add_members(self, source: int, hub: Hub) -> None:
        """Add the members that may come next: first those that are needed, so that the first open arcs lead to an end,
        and last those that may be repeated."""
        by_turn: tuple[list[Choice], ...] = [], [], []
        for choice in hub.choices:
            by_turn[2 if choice.sets < 0 else 0 if hub.needed >> choice.sets & 1 else 1].append(choice)
        for choices in by_turn:
            if len(choices) >= MANY_NAMES and self.plain:
                self.add_many(source, choices)
            else:
                for choice in choices:
                    name = self.before_name(choice, None, -1)
                    self.rule.guarded.append(GuardedArc(source, name, choice.sets, choice.condition))

    def add_many(self, source: int, choices: list[Choice]) -> None:
        """Add members. Names that begin alike are read together."""
        spelled = list[_Spelled]()
        for choice in choices:
            text = plain_name(choice.name) if isinstance(choice.name, str) else None
            if type(text) is Literal:
                spelled.append(_Spelled(text.value, choice))
            else:
                self.lead(source, [choice], self.before_name(choice, None, choice.sets))
        waiting = [(source, sorted(spelled, key=lambda member: member.text), 0)]
        while waiting:
            waiting += self.add_names(*waiting.pop())

    def add_names(self, source: int, members: list[_Spelled], begin: int) -> list[tuple[int, list[_Spelled], int]]:
        """Add members, sorted by their names, which agree in the bytes before `begin`; no name is a prefix of another.

        Names that also agree in the bytes after it are read together. For each such group, return the state after these
        bytes, the members, and the place where their names part."""
        found = []
        for _, group in groupby(members, key=lambda member: member.text[begin]):
            alike = list(group)
            first, last = alike[0].text, alike[-1].text
            if first == last:
                for member in alike:
                    self.lead(
                        source, [member.choice], self.before_name(member.choice, first[begin:], member.choice.sets)
                    )
                continue
            end = next(at for at in range(begin, len(first)) if first[at] != last[at])
            between, read = self.rule.state(), self.rule.state()
            self.rule.arcs.append((read, ex.literal(first[begin:end]), between))
            self.lead(source, [member.choice for member in alike], read)
            found.append((between, alike, end))
        return found

    def lead(self, source: int, choices: list[Choice], target: int) -> None:
        """Add a guarded arc that is open where some of the choices are possible."""
        condition = some_may_come(choices, self.conditions)
        self.rule.guarded.append(GuardedArc(source, target, -1, condition))

    def before_name(self, choice: Choice, rest: bytes | None, sets: int) -> int:
        """Return the state before a name, or before the rest of it, from which its member is read.

        Args:
            choice: the member.
            rest: the rest of the name; None for all of it.
            sets: the flag that is set after the name; -1 for none, since it is set before.
        """
        values = tuple([value for value, _ in choice.outcomes])
        targets = tuple([self.after[hub] for _, hub in choice.outcomes])
        key = choice.name, rest, sets, values, targets
        found = self._states.get(key)
        if found is None:
            found = source = self._states[key] = self.rule.state()
            *parts, last = self.named(choice.name) if rest is None else (_rest_of_name(rest, self.whitespace),)
            for part in parts:
                between = self.rule.state()
                self.rule.arcs.append((source, part, between))
                source = between
            target = self.before_value(values, targets)
            if sets >= 0:
                named = self.rule.state()
                self.rule.guarded.append(GuardedArc(named, target, sets))
                target = named
            self.rule.arcs.append((source, last, target))
        return found

    def before_value(self, values: tuple[Formula, ...], targets: tuple[int, ...]) -> int:
        """Return the state before a value, from which each way leads to a state of its own."""
        found = self._states.get((values, targets))
        if found is None:
            rule = self.rule
            found = self._states[values, targets] = rule.state()
            languages, calls = self.builder.ways(values)
            rule.arcs += [(found, language, targets[way]) for language, way in languages]
            for opening, called, ways in calls:
                source = rule.state()
                rule.arcs.append((found, opening, source))
                rule.calls.append(VisiblyPushdownCall(source, called, tuple([targets[way] for way in ways])))
        return found


@kept(65_536)
def _rest_of_name(text: bytes, habit: Habit | Whitespace) -> Expr:
    """Return the expression of the rest of a name, and the colon."""
    return ex.concat(ex.literal(text), marks_at(habit, 1).colon)
