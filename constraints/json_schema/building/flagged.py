"""FlaggedBuilder: the rule of an object whose members come in any order, from its hubs.

    after      by hub: guarded arcs to `closing` where the object may end, and to `comma` where a member may come
    closing    before the bracket, by exit
    comma      before the comma, by hub
    before     by hub: guarded arcs to `name` of each member that may come
    name       before a name
    named      after the name and the colon: a guarded arc that sets the flag
    value      before a value, the same for all members whose values are read alike and lead alike

In state 0 the guarded arcs are those of the first hub where nothing has come yet.
"""

from __future__ import annotations

from collections.abc import Hashable

from automata.expressions import Expr
from automata.limits import spend
from automata.visibly_pushdown import ArcLanguage, GuardedArc, VisiblyPushdownCall, VisiblyPushdownRule
from constraints.json_schema.building.containers import STATE_WEIGHT, RuleBuilder, ValueBuilder
from constraints.json_schema.containers.flagged import Choice, FlaggedObject, Hub
from constraints.json_schema.formulas.connectives import Formula


class FlaggedBuilder(RuleBuilder):
    """Builds the rule of an object in any order."""

    def __init__(self, builder: ValueBuilder, rule: VisiblyPushdownRule, made: FlaggedObject) -> None:
        super().__init__(builder, rule, "}")
        self.hubs, self.conditions = made
        rule.conditions = self.conditions
        self.after = [rule.state() for _ in made.hubs]
        self.before = [rule.state() for _ in made.hubs]
        # What is read to states that exist, and ends, by what they are for.
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
            for choice in hub.choices:
                rule.guarded.append(GuardedArc(self.before[number], self.before_name(choice), -1, self.open(choice)))
        self.builder.count_states(STATE_WEIGHT * len(self.hubs))
        spend(20 * rule.num_states)

    def state(self, key: Hashable, language: ArcLanguage, target: int) -> int:
        """Return the state that is there for a key, and from which a language leads to another state."""
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = self.rule.state()
            self.rule.arcs.append((found, language, target))
        return found

    def add_ends(self, source: int, hub: Hub, kind: str, bracket: Expr) -> None:
        """Add where an object may end, with a bracket."""
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
        """Add the comma, where some member may come after it."""
        if hub.choices:
            comma = self.state(("comma", number), self.marks[2], self.before[number])
            self.rule.guarded.append(GuardedArc(self.after[number], comma, -1, hub.more))

    def open(self, choice: Choice) -> int:
        """Return when a member may come."""
        if choice.sets < 0:
            return choice.condition
        return self.conditions.both(self.conditions.not_all_of(1 << choice.sets), choice.condition)

    def before_name(self, choice: Choice) -> int:
        """Return the state before a name, from which its member is read."""
        values = tuple([value for value, _ in choice.outcomes])
        targets = tuple([self.after[hub] for _, hub in choice.outcomes])
        key = choice.name, choice.sets, values, targets
        found = self._states.get(key)
        if found is None:
            found = source = self._states[key] = self.rule.state()
            *parts, last = self.named(choice.name)
            for part in parts:
                between = self.rule.state()
                self.rule.arcs.append((source, part, between))
                source = between
            target = self.before_value(values, targets)
            if choice.sets >= 0:
                named = self.rule.state()
                self.rule.guarded.append(GuardedArc(named, target, choice.sets))
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
