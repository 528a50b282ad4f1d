"""ContainerBuilder: the rule for the text between two brackets, from the container automaton.

ValueBuilder        defines how the values of items and members are read
ContainerBuilder    builds the rule of any container
PlainBuilder        builds the rule of a plain container, whose items or members are the same in all states

The native core writes the rules (`native/constraints/containers/rule_writer.h`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from automata import expressions as ex
from automata.cache import kept
from automata.expressions import Expr
from automata.limits import spend
from automata.visibly_pushdown import ArcLanguage, VisiblyPushdownCall, VisiblyPushdownRule
from constraints._native import container_rule, plain_rule
from constraints.json_schema.building.marks import marks_at
from constraints.json_schema.building.plans import OnlyWay
from constraints.json_schema.building.whitespace import Habit, Whitespace
from constraints.json_schema.containers.automaton import AllStates, ByMoves, Plain
from constraints.json_schema.formulas.connectives import Formula, conjunction
from constraints.json_schema.formulas.statements import StringIn
from constraints.json_schema.strings import counted_language
from constraints.json_schema.strings.spelling import encodable, plain_name

# The weight of a state of a container that is not plain, towards the most states of a schema.
STATE_WEIGHT = 8

# How to read the values of several formulas that exclude each other. Some are texts of a language, given with the index
# of its formula. The others are read by rules: the opening bracket or quote, the number of the rule after it, and for
# each exit of the rule the index of the formula that it stands for.
Ways: TypeAlias = tuple[list[tuple[ArcLanguage, int]], list[tuple[Expr, int, tuple[int, ...]]]]


class ValueBuilder(Protocol):
    """Defines how the values of items and members are read.

    Attributes:
        whitespace: how the text is spaced.
        depth: the number of brackets that are open within the rule that is being built, as far as is known.
    """

    whitespace: Habit | Whitespace
    depth: int

    @property
    def plain(self) -> bool:
        """Whether strings have only plain spellings."""

    @property
    def every_string(self) -> Formula:
        """A formula that holds for every string and every name that the schema does not list."""

    def ways(self, formulas: Sequence[Formula]) -> Ways:
        """Return how to read the values of several formulas, each of which leads to a state of its own."""

    def only_way(self, formula: Formula) -> OnlyWay:
        """Return how to read the values of a formula, all of which lead to one state."""

    def is_empty(self, formula: Formula) -> bool:
        """Return whether it is known that no value satisfies a formula."""

    def count_states(self, weight: int) -> None:
        """Count more states of a rule, each with its weight."""


class RuleBuilder:
    """Builds one rule.

    Attributes:
        marks: what stands before the first item or member (None for nothing), the bracket that closes an empty
            container, the comma, and the bracket that closes any other, all with their whitespace.
    """

    def __init__(self, builder: ValueBuilder, rule: VisiblyPushdownRule, bracket: str) -> None:
        self.builder, self.rule = builder, rule
        self.whitespace, self.plain = builder.whitespace, builder.plain
        marks = marks_at(builder.whitespace, builder.depth)
        opened = None if ex.is_epsilon(marks.opened) else marks.opened
        self.colon = marks.colon
        self.marks = opened, marks.empty[bracket], marks.comma, marks.close[bracket]

    def named(self, name: str | Formula | None) -> tuple[ArcLanguage, ...]:
        """Return what is read before the value of an item or a member, one language after the other."""
        if name is None:
            return ()
        if isinstance(name, str) and (self.plain or not encodable([name])):
            return (_named(name, self.whitespace),)
        names = StringIn(frozenset([name])) if isinstance(name, str) else conjunction((name, self.builder.every_string))
        return counted_language(names, plain=self.plain), self.colon


class ContainerBuilder(RuleBuilder):
    """Builds the rule of any container."""

    def __init__(self, builder: ValueBuilder, rule: VisiblyPushdownRule, automaton: ByMoves, bracket: str) -> None:
        super().__init__(builder, rule, bracket)
        self.automaton = automaton

    def build(self) -> AllStates:
        """Build the rule; return the states of the container."""
        rule, made = self.rule, self.automaton.all_states(self.count)
        states, names, values = made
        spend(100 * states.num_states + 20 * states.num_outcomes)
        rule.num_states, rule.arcs, rule.epsilon, rule.calls, rule.ends = container_rule(
            states,
            lambda number: self.named(names[number]),
            lambda numbers: self.builder.ways([values[number] for number in numbers]),
            {number for number, value in enumerate(values) if self.builder.is_empty(value)},
            VisiblyPushdownCall,
            *self.marks,
        )
        return made

    def count(self, states: int) -> None:
        """Count more states."""
        self.builder.count_states(states * STATE_WEIGHT)


class PlainBuilder(RuleBuilder):
    """Builds the rule of a plain array or object. How to read an item or a member is found once for all states."""

    def __init__(self, builder: ValueBuilder, rule: VisiblyPushdownRule, automaton: Plain, bracket: str) -> None:
        super().__init__(builder, rule, bracket)
        self.automaton = automaton

    def build(self) -> None:
        """Build the rule."""
        rule = self.rule
        used, rule.num_states, rule.arcs, rule.epsilon, rule.calls, rule.ends = plain_rule(
            self.automaton.states, self.member, VisiblyPushdownCall, *self.marks
        )
        self.builder.count_states(used)
        spend(20 * used)

    def member(self, number: int) -> tuple[tuple[ArcLanguage, ...], list[ArcLanguage], list[tuple[Expr, int]]]:
        """Return what stands before an item or a member's value, and how the value is read."""
        name, value = self.automaton.members[number]
        return (self.named(name), *self.builder.only_way(value))


@kept(65_536)
def _named(name: str, whitespace: Habit | Whitespace) -> Expr:
    """Return the expression of a listed name, plainly spelled, and the colon."""
    return ex.concat(plain_name(name), marks_at(whitespace, 1).colon)
