"""SchemaGrammarBuilder: from the formulas of a schema to a visibly pushdown grammar.

The values at one place of a text have outcomes: mutually exclusive formulas, each with the state to which its values
lead. Scalars are arcs that read regular languages, which determinization tells apart. For an array or an object, one
rule is called. It reads the text between the brackets for all formulas of the place at once, and its exit says which
one was satisfied. Strings whose automaton is large have rules too, because quotes can serve as brackets.

If telling the variants of an object apart takes too much work, each variant has a rule of its own, and the call is
nondeterministic: a lazy automaton follows all of them until the text tells them apart.

A rule is identified by the kind of its brackets and by what the formulas say about values of that kind. So a recursive
schema leads back to existing rules, and equal sub-schemas share one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

from automata import expressions as ex
from automata.errors import LimitExceeded, UnsupportedSchema
from automata.visibly_pushdown import VisiblyPushdownCall, VisiblyPushdownGrammar, VisiblyPushdownRule
from constraints.json_schema.building.anything import ANYTHING, build_anything
from constraints.json_schema.building.container_rule import STATE_WEIGHT, ContainerBuilder, PlainBuilder, Ways
from constraints.json_schema.building.flagged_rule import FlaggedBuilder
from constraints.json_schema.building.layout import Layout
from constraints.json_schema.building.marks import marks_at, shows_comma
from constraints.json_schema.building.plans import OnlyWay, Plans, after_quote
from constraints.json_schema.building.side_by_side import SideBySide
from constraints.json_schema.building.values import RuleKey, RuleNumbers, ValueSearch
from constraints.json_schema.building.whitespace import MAX_DEPTH, Whitespace
from constraints.json_schema.containers.all_orders import AllOrders
from constraints.json_schema.containers.allowance import MAX_WORK, VARIANTS_WORK, Allowance
from constraints.json_schema.containers.arrays import ArrayAutomaton, PlainArray, array_automaton
from constraints.json_schema.containers.automaton import ByMoves, Plain, Vector
from constraints.json_schema.containers.flagged import FlaggedObject
from constraints.json_schema.containers.lengths import Lengths, counts_members
from constraints.json_schema.containers.objects import object_in_any_order
from constraints.json_schema.containers.plain import PlainInOrder
from constraints.json_schema.containers.shannon import ShannonExpansion
from constraints.json_schema.containers.supply import Supply
from constraints.json_schema.containers.variants import parts_or_variants
from constraints.json_schema.formulas.connectives import FALSE, TRUE, Formula
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import Kind, UniqueItems

# The most states of all rules of a schema, by their weight.
MAX_STATES = 240_000
# With up to this many variants of a rule, less work is spent on telling them apart before they have rules of their own.
FEW_VARIANTS = 32
# The most work on variants with "any-if-cheap", not counting that on objects in any order. If it is not enough,
# objects with variants keep the order of the schema.
CHEAP_WORK = 200_000

_OPENING = {Kind.STRING: ex.literal('"'), Kind.ARRAY: ex.literal("["), Kind.OBJECT: ex.literal("{")}
_CLOSING = {Kind.ARRAY: "]", Kind.OBJECT: "}"}
_BRACKETED, _NESTED = (Kind.ARRAY, Kind.OBJECT), (Kind.STRING, Kind.ARRAY, Kind.OBJECT)


class Earlier(NamedTuple):
    """What earlier attempts to build the same grammar have shown.

    Attributes:
        expansion: the expansion, which knows the vectors that were expanded; None before the first attempt.
        empty: values of members in any order that are known to be empty.
        may_have_flags: whether objects may be read with flags for the members read so far.
        had_too_many_combinations: whether combinations of variants took too much work (`CombinationsError`).
        took_too_much: whether the schema took too much with "any-if-cheap"; objects with variants then keep its order.
    """

    expansion: ShannonExpansion | None = None
    empty: frozenset[Formula] = frozenset()
    may_have_flags: bool = True
    had_too_many_combinations: bool = False
    took_too_much: bool = False


NOTHING_KNOWN: Final = Earlier()


class SchemaGrammarBuilder:
    """Builds one grammar.

    Attributes:
        rules: the rules so far; the first is that of the whole text.
        keys: the kind and the formulas of each rule but the first.
        layout: the input.
        whitespace: that of the layout.
        value_at_hand: a formula of the array or object whose rule is being built.
        unique: by rule, the statement that all items of its array differ, where the grammar cannot say so.
        numbers: the numbers of rules.
        values: which formulas have values, once the grammar has been built.
        side_by_side: the variants that have rules of their own.
    """

    def __init__(
        self,
        restriction: Restriction,
        layout: Layout,
        earlier: Earlier = NOTHING_KNOWN,
        *,
        every_string: Formula = TRUE,
    ) -> None:
        self.restriction, self.layout, self.whitespace = restriction, layout, layout.whitespace
        self._earlier = earlier
        most = CHEAP_WORK if layout.order == "any-if-cheap" and not earlier.took_too_much else None
        self.expansion = earlier.expansion or ShannonExpansion(Outlines(restriction), most)
        self.expansion.restart()
        max_digits = layout.max_digits
        self.plans = Plans(restriction, layout.spellings == "plain", max_digits, every_string, layout.integers)
        self.rules: list[VisiblyPushdownRule] = [VisiblyPushdownRule()]
        self.keys: list[RuleKey] = []
        self.value_at_hand: Formula = FALSE
        self.unique: dict[int, UniqueItems] = {}
        self.supply = Supply(restriction, self.expansion, max_digits, every_string)
        # By rule: how long its next item or member may be, where it has to continue.
        self._detours: dict[int, int] = {}
        # The number of brackets that are open within the rule that is being built, as far as is known.
        self.depth = 0
        self._depths = [0]
        self.numbers = RuleNumbers()
        self._waiting: deque[RuleKey] = deque()
        # By rule but the first: the first formula that called it.
        self._callers: list[Formula] = []
        self.side_by_side = SideBySide()
        self.values = ValueSearch(self.plans, self.numbers)
        self._num_states = 0
        self._allowance = Allowance(is_second=earlier.had_too_many_combinations)

    @property
    def plain(self) -> bool:
        """Whether strings have only plain spellings."""
        return self.plans.plain

    @cached_property
    def lengths(self) -> Lengths:
        """The lengths of the values of formulas."""
        return Lengths(self.supply, marks_at(self.whitespace, MAX_DEPTH).widths, self.without_flags)

    @property
    def every_string(self) -> Formula:
        """A formula that holds for every string and every name that the schema does not list."""
        return self.plans.every_string

    def grammar(self, root: Formula) -> VisiblyPushdownGrammar:
        """Return the grammar of the texts whose value satisfies a formula.

        Raises:
            LimitExceeded: the container automata have more states than allowed.
            CombinationsError: see `Allowance.record`.
            UnsupportedSchema: a statement cannot be expressed exactly.
            SchemaError: a reference leads back to itself.
        """
        self._read_root(root)
        while self._waiting:
            key = self._waiting.popleft()
            number = self.numbers[key]
            self.depth, self.value_at_hand = self._depths[number], self._callers[number - 1]
            self._build(number, *key)
        if self.unique:
            self._check_names()
            self._add_detours()
        if self.side_by_side.called:
            self.side_by_side.call(self.rules, self.keys)
        if self.whitespace == "default":
            self._indent()
        return VisiblyPushdownGrammar(tuple(self.rules), has_nondeterministic_calls=bool(self.side_by_side.called))

    def _read_root(self, root: Formula) -> None:
        """Build the rule of the whole text."""
        rule, (languages, calls) = self.rules[0], self.only_way(root)
        end = rule.state()
        rule.ends.append((end, 0))
        rule.arcs += [(0, language, end) for language in languages]
        for opening, number in calls:
            called = rule.state()
            rule.arcs.append((0, opening, called))
            rule.calls.append(VisiblyPushdownCall(called, number, (end,)))

    def ways(self, formulas: Sequence[Formula]) -> Ways:
        """Return how to read the values of several formulas, each of which leads to a state of its own."""
        if len(formulas) == 1:
            only, calls = self.only_way(formulas[0])
            return [(language, 0) for language in only], [(opening, rule, (0,)) for opening, rule in calls]
        plans = [self.plans(formula) for formula in formulas]
        nested = any(plan.is_long for plan in plans)
        languages = [(language, way) for way, plan in enumerate(plans) for language in plan.plain]
        if not nested:
            languages += [(plan.text, way) for way, plan in enumerate(plans) if plan.text is not None]
        called = []
        for kind in _NESTED if nested else _BRACKETED:
            possible = [(plan.inside[kind], way) for way, plan in enumerate(plans) if kind in plan.inside]
            if possible:
                number = self._number(kind, tuple([part for part, _ in possible]), formulas[0])
                for place, (part, _) in enumerate(possible):
                    self.values.inside.setdefault((kind, part), {})[number] = place
                called.append((_OPENING[kind], number, tuple([way for _, way in possible])))
        return languages, called

    def only_way(self, formula: Formula) -> OnlyWay:
        """Return how to read the values of a formula, all of which lead to one state."""
        plan = self.plans(formula)
        if plan.only_way is None:
            kinds = [kind for kind in (_NESTED if plan.is_long else _BRACKETED) if kind in plan.inside]
            calls = [(_OPENING[kind], self._number(kind, (plan.inside[kind],), formula)) for kind in kinds]
            texts = [] if plan.text is None or plan.is_long else [plan.text]
            plan.only_way = [*plan.plain, *texts], calls
        return plan.only_way

    def _number(self, kind: Kind, vector: Vector, caller: Formula) -> int:
        """Return the number of a rule; a new one waits to be built."""
        key = self.numbers.key(kind, vector)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.rules)
            self.rules.append(VisiblyPushdownRule(num_exits=len(vector)))
            # An array or object of anything may contain itself.
            self._depths.append(MAX_DEPTH if vector == ANYTHING else min(self.depth + 1, MAX_DEPTH))
            self.keys.append(key)
            self._callers.append(caller)
            self._waiting.append(key)
        return found

    def _build(self, number: int, kind: Kind, vector: Vector) -> None:
        """Build the rule of the text between two brackets, or between two quotes."""
        if kind is Kind.STRING:
            self._build_string(self.rules[number], vector)
        elif vector == ANYTHING:
            build_anything(self, self.rules[number], kind, self.plans.max_digits)
            self.values.needs[number, 0] = ()
        elif kind is Kind.ARRAY:
            self._build_array(number, vector)
        else:
            self._build_object(number, vector)

    def _build_string(self, rule: VisiblyPushdownRule, vector: Vector) -> None:
        for way, formula in enumerate(vector):
            end = rule.state()
            rule.arcs.append((0, after_quote(formula, self.plain), end))
            rule.ends.append((end, way))

    def _build_array(self, number: int, vector: Vector) -> None:
        automaton = self._array(number, vector)
        if automaton is None:
            return
        if isinstance(automaton, PlainArray):
            self._expect_states(2 * automaton.num_states - 1)
        elif isinstance(automaton, ArrayAutomaton) and automaton.unique is not None:
            self._remember(number, automaton, automaton.unique)
        self._build_container(number, Kind.ARRAY, vector, automaton)

    def _build_object(self, number: int, vector: Vector) -> None:
        found = None if self.layout.order == "schema" else self._in_any_order(number, vector)
        if isinstance(found, FlaggedObject):
            self.values.flagged[number] = found
            FlaggedBuilder(self, self.rules[number], found).build()
        elif number not in self.side_by_side.called:
            self._build_container(number, Kind.OBJECT, vector, found or self.supply.object_automaton(vector))

    def _build_container(self, number: int, kind: Kind, vector: Vector, automaton: ByMoves | Plain) -> None:
        if isinstance(automaton, Plain):
            self._build_plain(number, kind, automaton)
        else:
            self._build_by_moves(number, kind, vector, automaton)

    def _build_plain(self, number: int, kind: Kind, automaton: Plain) -> None:
        if automaton.end(automaton.start) >= 0:
            self.values.needs[number, 0] = ()
        elif isinstance(automaton, PlainInOrder):
            self.values.needs[number, 0] = automaton.statements.needed
        elif isinstance(automaton, PlainArray):
            self.values.needs[number, 0] = automaton.needed
        PlainBuilder(self, self.rules[number], automaton, _CLOSING[kind]).build()

    def _build_by_moves(self, number: int, kind: Kind, vector: Vector, automaton: ByMoves) -> None:
        """Build the rule of a container from all of its states. If they exceed a limit, read its variants side by side.

        Raises:
            LimitExceeded: the states exceed a limit, and there are no variants, or too many.
        """
        before = self._num_states
        try:
            way = automaton.end(automaton.start)
            if way >= 0:
                self.values.needs[number, way] = ()
            self.values.states[number] = ContainerBuilder(self, self.rules[number], automaton, _CLOSING[kind]).build()
        except LimitExceeded as error:
            split = [] if error.limit else self.side_by_side.split(number, vector, parts_or_variants)
            if not split:
                raise
            self._num_states = before
            self.expansion.restart(VARIANTS_WORK if self.side_by_side.called else None)
            self._add_variants(number, kind, split)

    def _array(self, number: int, vector: Vector) -> ByMoves | Plain | None:
        """Return the automaton of an array; None if its variants are read side by side, since the items of some of
        them must differ.

        Raises:
            UnsupportedSchema: in some arrays the items need not or must not all differ, which takes a memory of them,
                and there are no variants, or too many.
        """
        try:
            return array_automaton(vector, self.expansion)
        except UnsupportedSchema:
            split = self.side_by_side.split(number, vector)
            if not split:
                raise
            self._add_variants(number, Kind.ARRAY, split)
            return None

    def _in_any_order(self, number: int, vector: Vector) -> FlaggedObject | AllOrders | None:
        """Return the automaton of an object in any order; None if it keeps the order of the schema, or if its variants
        are read side by side."""

        split: list[tuple[Formula, int]] = []

        def most() -> int:
            split.extend(self.side_by_side.split(number, vector) if self.layout.order == "any-if-cheap" else ())
            return self._allowance.variants_work if 0 < len(split) <= FEW_VARIANTS else MAX_WORK

        is_empty = self.is_empty if self._earlier.may_have_flags else None
        given = vector, self.restriction, self.expansion, self.layout.order, self._allowance, is_empty, most
        before = self._allowance.work
        found = object_in_any_order(*given, only_plain=self._earlier.took_too_much)
        if found is None and split:
            self._add_variants(number, Kind.OBJECT, split)
            return None
        work = self._allowance.work - before
        if work:
            self._allowance.record(work, len(vector), 0 < len(split) <= FEW_VARIANTS, found is not None)
        return found

    def _add_variants(self, number: int, kind: Kind, split: list[tuple[Formula, int]]) -> None:
        """Make a rule for each variant, to be called instead of the rule of all."""
        self.depth -= 1  # they are called in the place of the rule, not in it
        called = [(self._number(kind, (part,), self.value_at_hand), way) for part, way in split]
        self.side_by_side.add(number, called)
        self.values.variants[number] = called

    def _remember(self, number: int, automaton: ArrayAutomaton, unique: UniqueItems) -> None:
        """Note that the items of a rule's array have to be remembered.

        Raises:
            UnsupportedSchema: the items may run out of values, or blanks after the last one may show that another must
                follow.
        """
        if isinstance(self.whitespace, Whitespace) and shows_comma(self.whitespace):
            raise UnsupportedSchema(
                "needs memory of all items, and blanks before commas that may also stand before closing brackets",
                pointer=unique.pointer,
                keyword="uniqueItems",
            )
        self.unique[number] = unique
        if self.supply.runs_out(automaton):
            raise UnsupportedSchema(
                "needs memory of all items, and more items than there may be different values for",
                pointer=unique.pointer,
                keyword="uniqueItems",
            )
        self._detours[number] = self.lengths.detour(automaton)

    def _check_names(self) -> None:
        """Check that objects that must have several members have enough names: in items that are remembered, no name
        may occur twice.

        Raises:
            UnsupportedSchema: the names may run out.
        """
        for number, (kind, vector) in enumerate(self.keys, 1):
            if number in self.side_by_side.called or kind is not Kind.OBJECT or not counts_members(vector):
                continue
            automaton = self.without_flags(vector)
            if self.supply.names_run_out(automaton):
                raise UnsupportedSchema(
                    "needs memory of all items, and objects with more members than there may be names for",
                    pointer=next(iter(self.unique.values())).pointer,
                    keyword="uniqueItems",
                )
            self._detours[number] = self.lengths.detour_of_names(automaton)

    def without_flags(self, vector: Vector) -> ByMoves | Plain:
        """Return the automaton of an object that has no flags."""
        if self.layout.order != "schema":
            given = vector, self.restriction, self.expansion, self.layout.order, self._allowance, None, lambda: MAX_WORK
            found = object_in_any_order(*given, only_plain=self._earlier.took_too_much)
            if found is not None:
                assert not isinstance(found, FlaggedObject)
                return found
        return self.supply.object_automaton(vector)

    def _add_detours(self) -> None:
        """Add the detours of each rule: after the comma."""
        for number, length in self._detours.items():
            rule, comma = self.rules[number], marks_at(self.whitespace, self._depths[number]).comma
            if length:
                rule.detours = [(target, length) for target in {to for _, read, to in rule.arcs if read is comma}]

    def count_states(self, weight: int) -> None:
        """Count more states of a container automaton, each with its weight.

        Raises:
            LimitExceeded: there are too many.
        """
        self._num_states += weight
        self._expect_states(0)

    def _expect_states(self, more: int) -> None:
        """Check that some more states, by their weight, would not be too many.

        Raises:
            LimitExceeded: they would be.
        """
        if self._num_states + more > MAX_STATES:
            most = f"{MAX_STATES // STATE_WEIGHT:,} states, or {MAX_STATES:,} of plain ones"
            raise LimitExceeded(f"the schema's arrays and objects have more than {most}")

    def _indent(self) -> None:
        """Give each rule the whitespace for the largest number of brackets that may be open around it."""
        depths = [0] * len(self.rules)
        calls = [{call.rule for call in rule.calls} for rule in self.rules]
        waiting = [0]
        while waiting:
            number = waiting.pop()
            depth = min(depths[number] + 1, MAX_DEPTH)
            for called in calls[number]:
                if depths[called] < depth:
                    depths[called] = depth
                    waiting.append(called)
        for rule, depth, built in zip(self.rules, depths, self._depths, strict=True):
            if depth != built:
                marks = marks_at(self.whitespace, depth).instead_of(marks_at(self.whitespace, built))
                rule.arcs = [(source, marks.get(id(read), read), target) for source, read, target in rule.arcs]

    def is_empty(self, formula: Formula) -> bool:
        """Return whether it is known that no value satisfies a formula."""
        return self.plans.is_empty(formula) or formula in self._earlier.empty
