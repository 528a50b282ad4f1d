"""SchemaGrammarBuilder: from what a schema says to a visibly pushdown grammar.

The values at one place of a text have outcomes: formulas that no value satisfies two of, each with the state that its
values lead to. Scalars are arcs that read regular languages, which determinization tells apart. For an array or an
object one rule is called, which reads what stands between the brackets for all formulas of the place at once, and whose
exit says which one was satisfied. Strings whose automaton is large have rules too, since a quote is a bracket as well.

A rule is known by the kind of its brackets and what the formulas say of that kind: so a recursive schema comes back to
rules that exist, and equal sub-schemas share one.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from automata import expressions as ex
from automata.errors import LimitExceeded
from automata.expressions import Expr
from automata.limits import spend
from automata.visibly_pushdown import VisiblyPushdownCall, VisiblyPushdownGrammar, VisiblyPushdownRule
from constraints.json_schema.building.marks import marks_at
from constraints.json_schema.building.plans import Plans, after_quote
from constraints.json_schema.building.whitespace import MAX_DEPTH, Habit, Whitespace
from constraints.json_schema.containers.arrays import ArrayAutomaton
from constraints.json_schema.containers.automaton import ContainerAutomaton, State, Vector
from constraints.json_schema.containers.objects import PropertyOrder, object_automaton
from constraints.json_schema.containers.plain import PlainInAnyOrder, PlainInOrder
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.formulas.connectives import FALSE, Formula, Never
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Kind, StringIn
from constraints.json_schema.strings import Spellings, counted_language, plain_spellings
from constraints.json_schema.strings.spelling import encodable
from constraints.recursion import Task, run
from constraints.rewriting.liveness import is_empty

# The most states of all container automata of a schema.
MAX_STATES = 30_000
# The same where properties come in any order if that is cheap.
CHEAP_STATES = 1_500

_RuleKey: TypeAlias = tuple[Kind, Vector]
# The states that the values of several formulas lead to.
_Ways: TypeAlias = Sequence[tuple[Formula, int]]

_OPENING = {Kind.STRING: ex.literal('"'), Kind.ARRAY: ex.literal("["), Kind.OBJECT: ex.literal("{")}
_CLOSING = {Kind.ARRAY: "]", Kind.OBJECT: "}"}
_BRACKETED, _NESTED = (Kind.ARRAY, Kind.OBJECT), (Kind.STRING, Kind.ARRAY, Kind.OBJECT)


class SchemaGrammarBuilder:
    """Builds one grammar.

    Attributes:
        rules: the rules so far; the first is that of the whole text.
        keys: the kind and the formulas of each rule but the first.
        value_at_hand: a formula of the array or object whose rule is being built.
    """

    def __init__(
        self,
        restriction: Restriction,
        habit: Habit | Whitespace,
        order: PropertyOrder,
        spellings: Spellings,
        max_digits: int | None,
    ) -> None:
        self.restriction = restriction
        self.expansion = ShannonExpansion(Outlines(restriction))
        self.plans = Plans(restriction, spellings == "plain", max_digits)
        self.order = order
        self.habit = habit
        self.rules: list[VisiblyPushdownRule] = [VisiblyPushdownRule()]
        self.keys: list[_RuleKey] = []
        self.value_at_hand: Formula = FALSE
        # The number of brackets that are open within the rule that is being built, as far as is known.
        self.depth = 0
        self._depths = [0]
        self._numbers: dict[_RuleKey, int] = {}
        self._waiting: deque[_RuleKey] = deque()
        # By rule but the first: the first formula that called it.
        self._callers: list[Formula] = []
        # For rules with one exit that have a text as soon as each of some formulas has a value: these formulas.
        self._needs: dict[int, Sequence[Formula]] = {}
        self._has_value: dict[Formula, bool] = {}
        self._num_states = 0
        self._most_states = CHEAP_STATES if order == "any-if-cheap" else MAX_STATES

    def grammar(self, root: Formula) -> VisiblyPushdownGrammar:
        """Return the grammar of the texts whose value satisfies a formula.

        Raises:
            LimitExceeded: the container automata have more states than allowed.
            UnsupportedSchema: a statement cannot be expressed exactly.
            SchemaError: a reference leads back to itself.
        """
        rule = self.rules[0]
        end = rule.state()
        rule.ends.append((end, 0))
        self.value(rule, 0, [(root, end)])
        while self._waiting:
            key = self._waiting.popleft()
            number = self._numbers[key]
            self.depth, self.value_at_hand = self._depths[number], self._callers[number - 1]
            self._build(number, *key)
        if self.habit == "default":
            self._indent()
        return VisiblyPushdownGrammar(tuple(self.rules))

    def value(self, rule: VisiblyPushdownRule, source: int, ways: _Ways) -> None:
        """Add what reads a value from a state."""
        if len(ways) == 1:
            self._only_value(rule, source, *ways[0])
            return
        plans = [(self.plans(formula), target) for formula, target in ways]
        nested = any(plan.is_long for plan, _ in plans)
        for plan, target in plans:
            for language in plan.plain:
                rule.arcs.append((source, language, target))
            if plan.text is not None and not nested:
                rule.arcs.append((source, plan.text, target))
        for kind in _NESTED if nested else _BRACKETED:
            possible = [(plan.inside[kind], target) for plan, target in plans if kind in plan.inside]
            if possible:
                called = rule.state()
                rule.arcs.append((source, _OPENING[kind], called))
                number = self._number(kind, tuple([part for part, _ in possible]), ways[0][0])
                rule.calls.append(VisiblyPushdownCall(called, number, tuple([target for _, target in possible])))

    def _only_value(self, rule: VisiblyPushdownRule, source: int, formula: Formula, target: int) -> None:
        """Add what reads a value whose outcomes all lead to one state."""
        plan, arcs = self.plans(formula), rule.arcs
        if plan.calls is None:
            kinds = [kind for kind in (_NESTED if plan.is_long else _BRACKETED) if kind in plan.inside]
            plan.calls = [(_OPENING[kind], self._number(kind, (plan.inside[kind],), formula)) for kind in kinds]
        for language in plan.plain:
            arcs.append((source, language, target))
        if plan.text is not None and not plan.is_long:
            arcs.append((source, plan.text, target))
        for opening, number in plan.calls:
            called = rule.state()
            arcs.append((source, opening, called))
            rule.calls.append(VisiblyPushdownCall(called, number, (target,)))

    def _number(self, kind: Kind, vector: Vector, caller: Formula) -> int:
        """Return the number of a rule; a new one waits to be built."""
        key = kind, vector
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.rules)
            self.rules.append(VisiblyPushdownRule(num_exits=len(vector)))
            self._depths.append(min(self.depth + 1, MAX_DEPTH))
            self.keys.append(key)
            self._callers.append(caller)
            self._waiting.append(key)
        return found

    def _build(self, number: int, kind: Kind, vector: Vector) -> None:
        """Build the rule of what stands between two brackets, or two quotes."""
        rule = self.rules[number]
        if kind is Kind.STRING:
            for way, formula in enumerate(vector):
                end = rule.state()
                rule.arcs.append((0, after_quote(formula, self.plans.plain), end))
                rule.ends.append((end, way))
            return
        automaton: ContainerAutomaton
        if kind is Kind.ARRAY:
            automaton = ArrayAutomaton(vector, self.expansion)
        else:
            automaton = object_automaton(vector, self.restriction, self.expansion, self.order)
        if automaton.end(automaton.start) >= 0:
            self._needs[number] = ()
        elif isinstance(automaton, PlainInOrder | PlainInAnyOrder):
            self._needs[number] = automaton.members.needed
        _ContainerBuilder(self, rule, automaton, _CLOSING[kind]).build()

    def count_state(self) -> None:
        """Count one more state of a container automaton.

        Raises:
            LimitExceeded: there are too many.
        """
        self._num_states += 1
        if self._num_states > self._most_states:
            raise LimitExceeded(f"the schema's arrays and objects have more than {self._most_states:,} states")

    def _indent(self) -> None:
        """Give each rule the whitespace for the largest number of brackets that may be open around it."""
        depths = [0] * len(self.rules)
        waiting = [0]
        while waiting:
            number = waiting.pop()
            depth = min(depths[number] + 1, MAX_DEPTH)
            for called in {call.rule for call in self.rules[number].calls}:
                if depths[called] < depth:
                    depths[called] = depth
                    waiting.append(called)
        for rule, depth, built in zip(self.rules, depths, self._depths, strict=True):
            if depth != built:
                marks = marks_at(self.habit, depth).instead_of(marks_at(self.habit, built))
                rule.arcs = [(source, marks.get(id(read), read), target) for source, read, target in rule.arcs]

    def has_value(self, formula: Formula) -> bool:
        """Return whether it is easily seen that some value satisfies a formula; the grammar has been built."""
        return run(self._valued(formula))

    def _valued(self, formula: Formula) -> Task[bool]:
        known = self._has_value.get(formula)
        if known is not None:
            return known
        self._has_value[formula] = False
        plan = self.plans(formula)
        found = not all(map(is_empty, plan.plain if plan.text is None else [*plan.plain, plan.text]))
        for kind, part in plan.inside.items():
            needs = self._needs.get(self._numbers.get((kind, (part,)), 0))
            if not found and needs is not None:
                found = True
                for needed in needs:
                    found = found and (yield self._valued(needed))
        self._has_value[formula] = found
        return found


class _ContainerBuilder:
    """Builds one rule from a container automaton. Each state of the automaton is up to two of the rule: before the next
    item or member, and after one, where a comma or the bracket comes."""

    def __init__(
        self, builder: SchemaGrammarBuilder, rule: VisiblyPushdownRule, automaton: ContainerAutomaton, bracket: str
    ) -> None:
        self.builder, self.rule, self.automaton = builder, rule, automaton
        self.habit, self.plain = builder.habit, builder.plans.plain
        self.marks = marks_at(builder.habit, builder.depth)
        self.close, self.empty = self.marks.close[bracket], self.marks.empty[bracket]
        self.before: dict[State, int] = {}
        self.after: dict[State, int] = {}
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
            self.builder.count_state()
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
            if ways:
                self.builder.value(self.rule, source if name is None else self.named(source, name), ways)
        for skipped in self.automaton.skips(state):
            self.rule.epsilon.append((source, self.at(skipped, after=False)))

    def named(self, source: int, name: str | Formula) -> int:
        """Add the name of a member, and return the state where its value begins."""
        arcs, target, plain = self.rule.arcs, self.rule.state(), self.plain
        if isinstance(name, str) and (plain or not encodable([name])):
            arcs.append((source, _named(name, self.habit), target))
            return target
        names = StringIn(frozenset([name])) if isinstance(name, str) else name
        between = self.rule.state()
        arcs.append((source, counted_language(names, plain=plain), between))
        arcs.append((between, self.marks.colon, target))
        return target

    def add_after(self, state: State) -> None:
        """Add what follows an item or member."""
        source = self.after[state]
        self.rule.arcs.append((source, self.marks.comma, self.at(state, after=False)))
        found = self.automaton.end(state)
        if found >= 0:
            self.rule.arcs.append((source, self.close, self.ended(found)))


@lru_cache(65_536)
def _named(name: str, habit: Habit | Whitespace) -> Expr:
    """Return the expression of a listed name, plainly spelled, and the colon."""
    # Python's dictionaries may have names with halves of surrogate pairs, which have to be escaped.
    spelled = plain_spellings([name]) if encodable([name]) else ex.literal(json.dumps(name))
    return ex.concat(spelled, marks_at(habit, 1).colon)
