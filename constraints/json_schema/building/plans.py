"""Plans: how the values of a formula are read.

Scalars are regular languages of their texts, which determinization tells apart. Arrays, objects, and strings whose
automaton is large are read by rules of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from automata import expressions as ex
from automata.algebra.derivative import derivative
from automata.byte_automaton import ByteAutomaton
from automata.cache import BoundedCache, kept
from automata.compile.compiler import compile_expr
from automata.expressions import Expr
from automata.visibly_pushdown import ArcLanguage, CountedPaths, CountedUnits
from constraints.json_schema.formulas.connectives import FALSE, TRUE, Formula, Never, conjunction, statements
from constraints.json_schema.formulas.restriction import Restriction, only_kind
from constraints.json_schema.formulas.statements import Kind, Reference
from constraints.json_schema.numbers import Integers, bounded_number_language, in_digits_alone, number_language
from constraints.json_schema.strings import counted_language
from constraints.rewriting.liveness import is_empty

# Strings with more states than this have a rule, and so are laid out once however often they occur.
LONG_TEXT = 100

# How to read values that all lead to one state: the languages of some, and for the others the opening bracket or quote
# and the number of the rule after it.
OnlyWay: TypeAlias = tuple[list[ArcLanguage], list[tuple[Expr, int]]]


@dataclass(slots=True)
class Plan:
    """How the values of a formula are read.

    Attributes:
        plain: the languages of null, booleans and numbers.
        text: the language of strings; None if there are none.
        inside: by kind, the formula about strings, arrays or objects; a kind that cannot occur is left out.
        is_long: whether strings have a rule of their own.
        only_way: how to read the values where all lead to one state; None until it is needed.
    """

    plain: list[ArcLanguage]
    text: ArcLanguage | None
    inside: dict[Kind, Formula]
    is_long: bool
    only_way: OnlyWay | None = None


_SCALARS: Final = frozenset({Kind.NULL, Kind.BOOLEAN, Kind.NUMBER, Kind.STRING})
# The plans of formulas that only scalars satisfy, and of TRUE. The caches of languages keep their languages anyway.
_scalars: Final = BoundedCache[tuple[Formula, bool, int | None, Formula, Integers], Plan](1024)


class Plans:
    """Makes the plans of formulas, and keeps them.

    Attributes:
        text_at_hand: the formula about numbers or strings whose language is being made; None if none is.
    """

    def __init__(
        self,
        restriction: Restriction,
        plain: bool,
        max_digits: int | None,
        every_string: Formula = TRUE,
        integers: Integers = "any",
    ) -> None:
        """Make plans.

        Args:
            restriction: what a formula says about each kind of value.
            plain: whether strings have only plain spellings.
            max_digits: see `json_schema`.
            every_string: a formula that holds for every string, whatever the schema says.
            integers: see `json_schema`.
        """
        self.restriction = restriction
        self.plain = plain
        self.max_digits = max_digits
        self.every_string = every_string
        self.integers = integers
        self.text_at_hand: Formula | None = None
        self._plans: dict[Formula, Plan] = {}

    def __call__(self, formula: Formula) -> Plan:
        """Return the plan of a formula."""
        found = self._plans.get(formula)
        if found is None:
            found = self._plans[formula] = self._plan(formula)
        return found

    def string(self, formula: Formula) -> Formula:
        """Return what holds for the strings that satisfy a formula."""
        string = self.restriction.string(formula)
        return string if self.every_string is TRUE else conjunction((string, self.every_string))

    def has_scalar(self, formula: Formula) -> bool:
        """Return whether null, a boolean, a number or a string satisfies a formula, as far as is known."""
        plan = self(formula)
        return not all(map(is_empty, plan.plain)) or (plan.text is not None and not is_empty(plan.text))

    def is_empty(self, formula: Formula) -> bool:
        """Return whether it is known that no value satisfies a formula, without a look inside arrays and objects."""
        inside = self(formula).inside
        return Kind.ARRAY not in inside and Kind.OBJECT not in inside and not self.has_scalar(formula)

    def _plan(self, formula: Formula) -> Plan:
        only = only_kind(formula)
        if formula is not TRUE and (
            only not in _SCALARS or any(type(part) is Reference for part in statements(formula))
        ):
            return self._made(formula, only)
        # The same in all schemas, but for the numbers of rules.
        key = formula, self.plain, self.max_digits, self.every_string, self.integers
        found = _scalars.get_or_make(key, lambda: self._made(formula, only))
        return replace(found, only_way=None) if found.is_long or formula is TRUE else found

    def _made(self, formula: Formula, only: Kind | None) -> Plan:
        to = self.restriction
        string = self.string(formula) if only in (None, Kind.STRING) else FALSE
        text = None if type(string) is Never else self._string(string)
        array = to.array(formula) if only in (None, Kind.ARRAY) else FALSE
        members = to.object(formula) if only in (None, Kind.OBJECT) else FALSE
        found = ((Kind.STRING, string), (Kind.ARRAY, array), (Kind.OBJECT, members))
        inside = {kind: part for kind, part in found if type(part) is not Never}
        is_long = isinstance(text, CountedUnits | CountedPaths) or (
            isinstance(text, ByteAutomaton) and text.num_states > LONG_TEXT
        )
        return Plan(self._plain(formula, only), text, inside, is_long)

    def _plain(self, formula: Formula, only: Kind | None) -> list[ArcLanguage]:
        """Return the languages of null, booleans and numbers."""
        to = self.restriction
        plain: list[ArcLanguage] = []
        if only in (None, Kind.NULL, Kind.BOOLEAN):
            words = ["null"] if to.null(formula) else []
            words += ["true" if value else "false" for value in to.booleans(formula)]
            plain += [ex.strings(words)] if words else []
        number = to.number(formula) if only in (None, Kind.NUMBER) else FALSE
        if type(number) is not Never:
            self.text_at_hand = number
            most = self.max_digits
            number = in_digits_alone(number) if self.integers == "digits" else number
            plain.append(number_language(number) if most is None else bounded_number_language(number, most))
            self.text_at_hand = None
        return plain

    def _string(self, string: Formula) -> ArcLanguage:
        """Return the language of strings."""
        self.text_at_hand = string
        found = counted_language(string, plain=self.plain)
        self.text_at_hand = None
        return found


@kept(1024)
def after_quote(formula: Formula, plain: bool) -> ArcLanguage:
    """Return the spellings of strings without their opening quote."""
    language = counted_language(formula, plain=plain)
    if isinstance(language, CountedUnits):
        return replace(language, opening=b"")
    if isinstance(language, CountedPaths):
        return language.after(b'"')
    automaton = language if isinstance(language, ByteAutomaton) else compile_expr(language)
    return derivative(automaton, '"')
