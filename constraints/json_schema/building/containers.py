"""ContainerBuilder: the rule of what stands between two brackets, from the container automaton.

ValueBuilder        adds what reads the values of items and members
ContainerBuilder    builds the rule of any container
PlainBuilder        builds that of a plain one, whose items or members are the same in all states
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Protocol, TypeAlias

from automata import expressions as ex
from automata.expressions import Expr
from automata.limits import spend
from automata.visibly_pushdown import ArcLanguage, VisiblyPushdownCall, VisiblyPushdownRule
from constraints._native import plain_rule
from constraints.json_schema.building.marks import marks_at
from constraints.json_schema.building.plans import OnlyWay
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.automaton import ContainerAutomaton, Plain, State
from constraints.json_schema.formulas.connectives import Formula, Never
from constraints.json_schema.formulas.statements import StringIn
from constraints.json_schema.strings import counted_language
from constraints.json_schema.strings.spelling import encodable, plain_name

# The states that the values of several formulas lead to.
Ways: TypeAlias = Sequence[tuple[Formula, int]]


class ValueBuilder(Protocol):
    """What builds the values of items and members.

    Attributes:
        habit: the whitespace.
        depth: the number of brackets that are open within the rule that is being built, as far as is known.
    """

    habit: Habit | Whitespace
    depth: int

    @property
    def plain(self) -> bool:
        """Whether strings have only plain spellings."""

    def value(self, rule: VisiblyPushdownRule, source: int, ways: Ways) -> None:
        """Add what reads a value from a state."""

    def only_way(self, formula: Formula) -> OnlyWay:
        """Return how values are read that all lead to one state."""

    def count_states(self, weight: int) -> None:
        """Count more states of a container automaton, each with its weight."""


class ContainerBuilder:
    """Builds one rule from a container automaton. Each state of the automaton is up to two of the rule: before the next
    item or member, and after one, where a comma or the bracket comes.

    Attributes:
        weight: what a state counts towards the most that a schema may have.
    """

    weight: ClassVar[int] = 4

    def __init__(
        self, builder: ValueBuilder, rule: VisiblyPushdownRule, automaton: ContainerAutomaton, bracket: str
    ) -> None:
        self.builder, self.rule, self.automaton = builder, rule, automaton
        self.habit, self.plain = builder.habit, builder.plain
        self.marks = marks_at(builder.habit, builder.depth)
        self.close, self.empty = self.marks.close[bracket], self.marks.empty[bracket]
        self.before: dict[State, int] = {}
        self.after: dict[State, int] = {}
        self.values: dict[tuple[tuple[Formula, int], ...], int] = {}
        self.waiting: list[tuple[State, bool]] = []
        # The states in which the rule ends, by exit.
        self.ends: dict[int, int] = {}

    def build(self) -> None:
        """Build the rule."""
        start = self.automaton.start
        self.join(0, self.marks.opened, self.at(start, after=False))
        found = self.automaton.end(start)
        if found >= 0:
            self.rule.arcs.append((0, self.empty, self.ended(found)))
        while self.waiting:
            spend(100)
            state, after = self.waiting.pop()
            if after:
                self.add_after(state)
            else:
                self.add_before(state)

    def at(self, state: State, *, after: bool) -> int:
        """Return the rule's state for a state of the automaton."""
        known = self.after if after else self.before
        found = known.get(state)
        if found is None:
            found = known[state] = self.rule.state()
            self.waiting.append((state, after))
            self.builder.count_states(self.weight)
        return found

    def join(self, source: int, read: Expr, target: int) -> None:
        """Add an arc, or an epsilon arc where nothing is read."""
        if ex.is_epsilon(read):
            self.rule.epsilon.append((source, target))
        else:
            self.rule.arcs.append((source, read, target))

    def ended(self, number: int) -> int:
        """Return the state in which the rule ends in an exit."""
        if number not in self.ends:
            self.ends[number] = self.rule.state()
            self.rule.ends.append((self.ends[number], number))
        return self.ends[number]

    def add_before(self, state: State) -> None:
        """Add the next item or member."""
        source = self.before[state]
        for name, outcomes in self.automaton.moves(state):
            ways = [(value, self.at(target, after=True)) for value, target in outcomes if type(value) is not Never]
            if not ways:
                continue
            if name is None:
                self.builder.value(self.rule, source, ways)
            else:
                self.join_name(source, name, self.before_value(tuple(ways)))
        for skipped in self.automaton.skips(state):
            self.rule.epsilon.append((source, self.at(skipped, after=False)))

    def before_value(self, ways: tuple[tuple[Formula, int], ...]) -> int:
        """Return the state where the value of a member begins, the same for all members whose values lead alike."""
        found = self.values.get(ways)
        if found is None:
            found = self.values[ways] = self.rule.state()
            self.builder.value(self.rule, found, ways)
        return found

    def join_name(self, source: int, name: str | Formula, target: int) -> None:
        """Add the name of a member, up to the state where its value begins."""
        *first, last = self.named(name)
        for language in first:
            self.rule.arcs.append((source, language, self.rule.num_states))
            source = self.rule.state()
        self.rule.arcs.append((source, last, target))

    def named(self, name: str | Formula) -> tuple[ArcLanguage, ...]:
        """Return what is read before the value of a member, one language after the other."""
        if isinstance(name, str) and (self.plain or not encodable([name])):
            return (_named(name, self.habit),)
        names = StringIn(frozenset([name])) if isinstance(name, str) else name
        return counted_language(names, plain=self.plain), self.marks.colon

    def add_after(self, state: State) -> None:
        """Add what follows an item or member."""
        source = self.after[state]
        self.rule.arcs.append((source, self.marks.comma, self.at(state, after=False)))
        found = self.automaton.end(state)
        if found >= 0:
            self.rule.arcs.append((source, self.close, self.ended(found)))


class PlainBuilder(ContainerBuilder):
    """Builds the rule of a plain array or object: what an item or a member reads is found once for all states."""

    weight = 1
    automaton: Plain

    def build(self) -> None:
        """Build the rule."""
        rule, marks = self.rule, self.marks
        opened = None if ex.is_epsilon(marks.opened) else marks.opened
        member, states = self.member, self.automaton.states
        used, rule.num_states, rule.arcs, rule.epsilon, rule.calls, rule.ends = plain_rule(
            states, member, VisiblyPushdownCall, opened, self.empty, marks.comma, self.close
        )
        self.builder.count_states(used * self.weight)
        spend(20 * used)

    def member(self, number: int) -> tuple[tuple[ArcLanguage, ...], list[ArcLanguage], list[tuple[Expr, int]]]:
        """Return what stands before an item or a member's value, and how the value is read."""
        name, value = self.automaton.members[number]
        return (() if name is None else self.named(name), *self.builder.only_way(value))


@lru_cache(65_536)
def _named(name: str, habit: Habit | Whitespace) -> Expr:
    """Return the expression of a listed name, plainly spelled, and the colon."""
    return ex.concat(plain_name(name), marks_at(habit, 1).colon)
