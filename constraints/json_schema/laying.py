"""Laying: from what a schema says to a network of nested rules.

    Laying.root(F)    the rule of the whole text, and with it, one after the other, all rules that it takes

A value position has outcomes: formulas that no value satisfies two of, each with the state that its values lead to.
Scalars are arcs over regular languages, which the automaton's construction tells apart by itself. For an array or an
object one rule is called, that reads for all formulas of the position at once what lies between the brackets, and whose
exit says which formula was satisfied. So is one for strings where their automaton is large, since a quote is a bracket
too. Rules are known by the kind of bracket and what the formulas say of that kind: so
a recursive schema comes back to rules that it has, and equal sub-schemas have one rule.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from automata import expressions as ex
from automata.algebra.derivative import derivative
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.errors import LimitExceeded
from automata.expressions import Expr
from automata.limits import spend
from automata.visibly_pushdown import (
    ArcLanguage,
    CountedPaths,
    CountedUnits,
    VisiblyPushdownCall,
    VisiblyPushdownGrammar,
    VisiblyPushdownRule,
)
from constraints.json_schema.formula import FALSE, Formula, Kind, Never
from constraints.json_schema.levels import ArrayLevel, Level, object_level
from constraints.json_schema.levels.level import State, Vector
from constraints.json_schema.levels.objects import PropertyOrder
from constraints.json_schema.levels.outcomes import Outcomes
from constraints.json_schema.levels.outlines import Outlines
from constraints.json_schema.levels.plain import PlainInAnyOrder, PlainInOrder
from constraints.json_schema.numbers import number_language
from constraints.json_schema.restriction import Restriction, only_kind
from constraints.json_schema.strings import counted_language
from constraints.json_schema.whitespace import MAX_DEPTH, Habit, Whitespace, whitespace_at
from constraints.rewriting.liveness import is_empty

# States of one level, and of all levels together.
MAX_STATES = 30_000
# The same where properties come in any order if that is cheap.
CHEAP_STATES = 1_500

_RuleKey: TypeAlias = tuple[Kind, Vector]
# Where each of several formulas leads.
_Ways: TypeAlias = Sequence[tuple[Formula, int]]

_OPENING = {Kind.STRING: ex.literal('"'), Kind.ARRAY: ex.literal("["), Kind.OBJECT: ex.literal("{")}
_CLOSING = {Kind.ARRAY: "]", Kind.OBJECT: "}"}
_BRACKETED, _NESTED = (Kind.ARRAY, Kind.OBJECT), (Kind.STRING, Kind.ARRAY, Kind.OBJECT)

# Strings with more states than this have a rule, and lie there once however often they occur.
LONG_TEXT = 100


@dataclass(slots=True)
class _Plan:
    """How the values of a formula are laid: scalars but strings, strings, and what is said of strings, arrays and
    objects if there can be any. `called` are the brackets, and the rules behind them, where all values lead to one
    state; it is None until that is asked for."""

    plain: list[ArcLanguage]
    text: ArcLanguage | None
    inside: dict[Kind, Formula]
    is_long: bool
    called: list[tuple[Expr, int]] | None = None


class Laying:
    """A network as it is being laid; one object lays one network.

    Attributes:
        rules: those so far; the first is that of the whole text.
        keys: of each rule but the first, in order: the kind and the formulas.
        number_at_hand: what is said of the number that is being laid, if one is.
        value_at_hand: a formula that asks for the array or object that is being laid.
        needs: of rules with one exit that have a text as soon as each of some formulas has a value: these.
    """

    def __init__(self, restriction: Restriction, habit: Habit | Whitespace, order: PropertyOrder) -> None:
        self.restriction = restriction
        self.outcomes = Outcomes(Outlines(restriction))
        self.order = order
        self.habit = habit
        self.rules: list[VisiblyPushdownRule] = [VisiblyPushdownRule()]
        self.keys: list[_RuleKey] = []
        self.numbers: dict[_RuleKey, int] = {}
        self.waiting: deque[_RuleKey] = deque()
        self.plans: dict[Formula, _Plan] = {}
        self.number_at_hand: Formula | None = None
        self.value_at_hand: Formula = FALSE
        # By rule but the first, in order: the first formula that it was asked for by.
        self.askers: list[Formula] = []
        self.needs: dict[int, Sequence[Formula]] = {}
        # How many brackets are open within each rule, as far as is known, and within the one that is being laid.
        self.depths = [0]
        self.depth = 0
        self._valued: dict[Formula, bool] = {}
        self.num_states = 0
        self.most_states = CHEAP_STATES if order == "any-if-cheap" else MAX_STATES

    def network(self, root: Formula) -> VisiblyPushdownGrammar:
        """The network of the texts whose value satisfies a formula.

        Raises:
            LimitExceeded: the levels have more states than allowed.
            UnsupportedSchema: a statement cannot be held exactly.
            SchemaError: a reference leads back to itself.
        """
        rule = self.rules[0]
        end = rule.state()
        rule.ends.append((end, 0))
        self.value(rule, 0, [(root, end)])
        while self.waiting:
            key = self.waiting.popleft()
            number = self.numbers[key]
            self.depth, self.value_at_hand = self.depths[number], self.askers[number - 1]
            self.lay(number, *key)
        if self.habit == "default":
            self.indent()
        return VisiblyPushdownGrammar(tuple(self.rules))

    def indent(self) -> None:
        """Gives each rule the whitespace for as many brackets as may be open around it, or that of the deepest."""
        depths = [0] * len(self.rules)
        waiting = [0]
        while waiting:
            number = waiting.pop()
            depth = min(depths[number] + 1, MAX_DEPTH)
            for called in {call.rule for call in self.rules[number].calls}:
                if depths[called] < depth:
                    depths[called] = depth
                    waiting.append(called)
        for rule, depth, laid in zip(self.rules, depths, self.depths, strict=True):
            if depth != laid:
                marks = _marks(self.habit, depth).instead_of(_marks(self.habit, laid))
                rule.arcs = [(source, marks.get(id(read), read), target) for source, read, target in rule.arcs]

    def number(self, kind: Kind, vector: Vector, asker: Formula) -> int:
        """The number of a rule, which a formula asks for."""
        key = kind, vector
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.rules)
            self.rules.append(VisiblyPushdownRule(num_exits=len(vector)))
            self.depths.append(min(self.depth + 1, MAX_DEPTH))
            self.keys.append(key)
            self.askers.append(asker)
            self.waiting.append(key)
        return found

    def value(self, rule: VisiblyPushdownRule, source: int, ways: _Ways) -> None:
        """Lays a value that is read from a state."""
        if len(ways) == 1:
            self.alone(rule, source, *ways[0])
            return
        plans = [(self.plan(formula), target) for formula, target in ways]
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
                number = self.number(kind, tuple([part for part, _ in possible]), ways[0][0])
                rule.calls.append(VisiblyPushdownCall(called, number, tuple([target for _, target in possible])))

    def alone(self, rule: VisiblyPushdownRule, source: int, formula: Formula, target: int) -> None:
        """Lays a value of which all that are possible lead to one state."""
        plan, arcs = self.plan(formula), rule.arcs
        if plan.called is None:
            kinds = [kind for kind in (_NESTED if plan.is_long else _BRACKETED) if kind in plan.inside]
            plan.called = [(_OPENING[kind], self.number(kind, (plan.inside[kind],), formula)) for kind in kinds]
        for language in plan.plain:
            arcs.append((source, language, target))
        if plan.text is not None and not plan.is_long:
            arcs.append((source, plan.text, target))
        for opening, number in plan.called:
            called = rule.state()
            arcs.append((source, opening, called))
            rule.calls.append(VisiblyPushdownCall(called, number, (target,)))

    def plan(self, formula: Formula) -> _Plan:
        """How the values of a formula are laid."""
        found = self.plans.get(formula)
        if found is None:
            found = self.plans[formula] = self._plan(formula)
        return found

    def _plan(self, formula: Formula) -> _Plan:
        to, only = self.restriction, only_kind(formula)
        plain: list[ArcLanguage] = []
        if only in (None, Kind.NULL, Kind.BOOLEAN):
            words = ["null"] if to.null(formula) else []
            words += ["true" if value else "false" for value in to.booleans(formula)]
            plain += [ex.strings(words)] if words else []
        number = to.number(formula) if only in (None, Kind.NUMBER) else FALSE
        if type(number) is not Never:
            self.number_at_hand = number
            plain.append(number_language(number))
            self.number_at_hand = None
        string = to.string(formula) if only in (None, Kind.STRING) else FALSE
        text = None if type(string) is Never else counted_language(string)
        array = to.array(formula) if only in (None, Kind.ARRAY) else FALSE
        members = to.object(formula) if only in (None, Kind.OBJECT) else FALSE
        found = ((Kind.STRING, string), (Kind.ARRAY, array), (Kind.OBJECT, members))
        inside = {kind: part for kind, part in found if type(part) is not Never}
        is_long = isinstance(text, CountedUnits | CountedPaths) or (
            isinstance(text, ByteAutomaton) and text.num_states > LONG_TEXT
        )
        return _Plan(plain, text, inside, is_long)

    def lay(self, number: int, kind: Kind, vector: Vector) -> None:
        """Lays what stands between two brackets, or two quotes."""
        rule = self.rules[number]
        if kind is Kind.STRING:
            for way, formula in enumerate(vector):
                end = rule.state()
                rule.arcs.append((0, _behind_quote(formula), end))
                rule.ends.append((end, way))
            return
        level: Level
        if kind is Kind.ARRAY:
            level = ArrayLevel(vector, self.outcomes)
        else:
            level = object_level(vector, self.restriction, self.outcomes, self.order)
        if level.end(level.start) >= 0:
            self.needs[number] = ()
        elif isinstance(level, PlainInOrder | PlainInAnyOrder):
            self.needs[number] = level.members.needed
        _LevelLaying(self, rule, level, _CLOSING[kind]).run()

    def has_value(self, formula: Formula) -> bool:
        """Whether it is easily seen, once the network is laid, that some value satisfies a formula in it."""
        found = self._valued.get(formula)
        if found is None:
            self._valued[formula] = False
            plan = self.plan(formula)
            texts = plan.plain if plan.text is None else [*plan.plain, plan.text]
            found = not all(map(is_empty, texts)) or any(
                number in self.needs and all(map(self.has_value, self.needs[number]))
                for number in [self.numbers.get((kind, (plan.inside[kind],)), 0) for kind in plan.inside]
            )
            self._valued[formula] = found
        return found


class _LevelLaying:
    """One rule as it is being laid. Each state of the level is up to two of the rule: where the next item or member
    begins, and behind the last one, where a comma or the bracket comes."""

    def __init__(self, laying: Laying, rule: VisiblyPushdownRule, level: Level, bracket: str) -> None:
        self.laying, self.rule, self.level = laying, rule, level
        self.marks = _marks(laying.habit, laying.depth)
        self.close, self.empty = self.marks.close[bracket], self.marks.empty[bracket]
        self.before: dict[State, int] = {}
        self.behind: dict[State, int] = {}
        self.waiting: list[tuple[State, bool]] = []
        # The states that a rule ends in, by exit.
        self.ends: dict[int, int] = {}

    def run(self) -> None:
        """Lays the rule."""
        rule, marks, start = self.rule, self.marks, self.level.start
        self.join(0, marks.opened, self.at(start, behind=False))
        found = self.level.end(start)
        if found >= 0:
            rule.arcs.append((0, self.empty, self.ended(found)))
        while self.waiting:
            spend(100)
            state, behind = self.waiting.pop()
            if behind:
                self.lay_behind(state)
            else:
                self.lay_before(state)

    def at(self, state: State, *, behind: bool) -> int:
        """The rule's state for a state of the level."""
        known = self.behind if behind else self.before
        found = known.get(state)
        if found is None:
            found = known[state] = self.rule.state()
            self.waiting.append((state, behind))
            self.laying.num_states += 1
            if self.laying.num_states > (most := self.laying.most_states):
                raise LimitExceeded(f"the schema's arrays and objects have more than {most:,} states")
        return found

    def join(self, source: int, read: Expr, target: int) -> None:
        """An arc, or none where nothing is read."""
        if ex.is_epsilon(read):
            self.rule.epsilon.append((source, target))
        else:
            self.rule.arcs.append((source, read, target))

    def ended(self, number: int) -> int:
        """The state where the rule ends in an exit."""
        if number not in self.ends:
            self.ends[number] = self.rule.state()
            self.rule.ends.append((self.ends[number], number))
        return self.ends[number]

    def lay_before(self, state: State) -> None:
        """The next item or member."""
        source = self.before[state]
        for name, outcomes in self.level.moves(state):
            ways = [(value, self.at(target, behind=True)) for value, target in outcomes if type(value) is not Never]
            if ways:
                self.laying.value(self.rule, source if name is None else self.named(source, name), ways)
        for skipped in self.level.skips(state):
            self.rule.epsilon.append((source, self.at(skipped, behind=False)))

    def named(self, source: int, name: str | Formula) -> int:
        """The state behind the name of a member, where its value begins."""
        arcs, target = self.rule.arcs, self.rule.state()
        if isinstance(name, str):
            arcs.append((source, _named(name, self.laying.habit), target))
        else:
            between = self.rule.state()
            arcs.append((source, counted_language(name), between))
            arcs.append((between, self.marks.colon, target))
        return target

    def lay_behind(self, state: State) -> None:
        """What follows an item or member."""
        source = self.behind[state]
        self.rule.arcs.append((source, self.marks.comma, self.at(state, behind=False)))
        found = self.level.end(state)
        if found >= 0:
            self.rule.arcs.append((source, self.close, self.ended(found)))


class _Marks:
    """The marks of JSON with the whitespace around them, within as many brackets."""

    def __init__(self, whitespace: Whitespace) -> None:
        self.opened = whitespace.opened
        self.comma = ex.concat(whitespace.before_comma, ",", whitespace.after_comma)
        self.colon = ex.concat(whitespace.before_colon, ":", whitespace.after_colon)
        self.close = {bracket: ex.concat(whitespace.closing, bracket) for bracket in "]}"}
        self.empty = {bracket: ex.concat(whitespace.empty, bracket) for bracket in "]}"}

    def instead_of(self, other: _Marks) -> dict[int, Expr]:
        """For each mark of the other ones, by identity, that of these."""
        pairs = [(other.opened, self.opened), (other.comma, self.comma)]
        pairs += [(other.close[bracket], self.close[bracket]) for bracket in "]}"]
        return {id(theirs): own for theirs, own in pairs}


@lru_cache(64)
def _marks(habit: Habit | Whitespace, depth: int) -> _Marks:
    return _Marks(whitespace_at(habit, depth))


@lru_cache(1024)
def _behind_quote(formula: Formula) -> ArcLanguage:
    """The spellings of strings without the quote that they begin with."""
    language = counted_language(formula)
    if isinstance(language, CountedUnits):
        return replace(language, opening=b"")
    if isinstance(language, CountedPaths):
        return language.behind(b'"')
    automaton = language if isinstance(language, ByteAutomaton) else compile_expr(language)
    return derivative(automaton, '"')


@lru_cache(65_536)
def _named(name: str, habit: Habit | Whitespace) -> Expr:
    """A listed name and the colon."""
    return ex.concat(spelled(name), _marks(habit, 1).colon)


def spelled(name: str) -> Expr:
    """A listed name as JSON's writers spell it: with and without escapes for what is not ASCII."""
    ascii_alone = json.dumps(name)
    if name.isascii() or any("\ud800" <= character <= "\udfff" for character in name):
        return ex.literal(ascii_alone)
    return ex.strings([ascii_alone, json.dumps(name, ensure_ascii=False)])
