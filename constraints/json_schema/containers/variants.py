"""variants: the alternatives of a formula, each of which is read separately.

They are those of the disjunctive normal form. If there are too many, as of a dozen `if`s that test one member in
`allOf`, the formula is divided by the value of that member first: no value satisfies more than one of the `if`s, and
once it is known, only one of the `then`s is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Final

from automata.limits import spend
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    And,
    Formula,
    Never,
    Not,
    Or,
    Substitution,
    conjunction,
    negation,
    statements,
)
from constraints.json_schema.formulas.statements import Kind, Members, OfKind, StringIn, has_name
from constraints.recursion import Task, run

# The most alternatives of a formula.
MAX_VARIANTS: Final = 128
# From this many variants on, dividing a formula by the value of a member is tried.
_MANY: Final = 16
# A member decides between at least this many alternatives.
_MIN_CASES: Final = 3

_IS_STRING: Final = OfKind(Kind.STRING)


def variants(formula: Formula) -> list[Formula]:
    """Return formulas of which at least one is satisfied if and only if this one is.

    They have no alternatives themselves, unless there would be more than `MAX_VARIANTS`.
    """
    found = _normal_form(formula)
    if len(found) >= _MANY or any(map(_has_alternatives, found)):
        by_value = [part for case in by_tag(formula) for part in _normal_form(case)]
        found = min((parts for parts in (found, by_value) if parts), key=_cost, default=[])
    return found if len(found) <= MAX_VARIANTS else [formula]


def _cost(parts: list[Formula]) -> tuple[bool, bool, int]:
    """Return a number that is less for variants that are better to read: not too many, complete, and few."""
    return len(parts) > MAX_VARIANTS, any(map(_has_alternatives, parts)), len(parts)


def parts_or_variants(formula: Formula) -> list[Formula]:
    """Return the variants; if there would be too many, the parts of a disjunction as they are."""
    found = variants(formula)
    return list(formula.parts) if found == [formula] and isinstance(formula, Or) else found


def by_tag(formula: Formula) -> list[Formula]:
    """Divide a formula by the value of a member that decides between its alternatives.

    Return one formula for each string that they ask for, one for other values, and one for objects without the member;
    none if no member decides, or if there would be more than `MAX_VARIANTS`.
    """
    asked = _asked(formula)
    if not asked:
        return []
    name = max(asked, key=lambda name: len(asked[name]))
    statement_of = asked[name]
    if not _MIN_CASES <= len(statement_of) <= MAX_VARIANTS - 2:
        return []
    if len(frozenset().union(*statement_of)) < sum(map(len, statement_of)):
        return []
    names = StringIn(frozenset([name]))
    missing = Members(names, FALSE)

    def given(true: Iterable[Formula], *also: Formula) -> Formula:
        truth = dict.fromkeys((missing, *statement_of.values()), FALSE) | dict.fromkeys(true, TRUE)
        return conjunction([*also, Substitution(lambda part: truth.get(part, part))(formula)])

    others = conjunction(negation(each.value) for each in statement_of.values())
    return [
        *(given([each], has_name(name), each) for each in statement_of.values()),
        given([], has_name(name), Members(names, others)),
        given([missing, *statement_of.values()], missing),
    ]


def _asked(formula: Formula) -> dict[str, dict[frozenset[str], Members]]:
    """Return the members of which alternatives ask that they are one of some strings: by name and strings."""
    asked: dict[str, dict[frozenset[str], Members]] = {}
    for part in formula.parts if isinstance(formula, And) else (formula,):
        for statement in statements(part) if _has_alternatives(part) else ():
            if isinstance(statement, Members) and (found := _listed_value(statement)) is not None:
                name, texts = found
                asked.setdefault(name, {})[texts] = statement
    return asked


def _listed_value(members: Members) -> tuple[str, frozenset[str]] | None:
    """Return the name of one member and the strings that it may be, if that is what a statement says."""
    names, value = members.names, members.value
    if not isinstance(names, StringIn) or len(names.texts) != 1:
        return None
    parts = value.parts if isinstance(value, And) and len(value.parts) == 2 else ()
    texts = next((part.texts for part in parts if isinstance(part, StringIn)), None)
    if texts is None or _IS_STRING not in parts:
        return None
    (name,) = names.texts
    return name, texts


def _has_alternatives(formula: Formula) -> bool:
    """Return whether some part of a formula is a disjunction, or denies a conjunction."""
    if isinstance(formula, Not):
        return isinstance(formula.part, And | Or)
    return isinstance(formula, Or) or (isinstance(formula, And) and any(map(_has_alternatives, formula.parts)))


def _normal_form(formula: Formula) -> list[Formula]:
    return [part for part in run(_variants(formula, {})) if type(part) is not Never]


def _variants(formula: Formula, known: dict[Formula, list[Formula]]) -> Task[list[Formula]]:
    """Return the alternatives: the disjunctive normal form, with negations of combinations moved inside. Formulas may
    have parts in common; each part is visited once."""
    if formula not in known:
        combined, is_denied = (formula.part, True) if type(formula) is Not else (formula, False)
        if type(combined) not in (And, Or):
            return [formula]
        parts = [negation(part) if is_denied else part for part in combined.fields]
        choices: list[list[Formula]] = []
        for part in parts:
            choices += [(yield _variants(part, known))]
        any_of_them = (type(combined) is Or) != is_denied
        found = [each for own in choices for each in own] if any_of_them else _conjunctions(parts, choices)
        found = list(dict.fromkeys(found))
        known[formula] = found if len(found) <= MAX_VARIANTS else [formula]
    return known[formula]


def _conjunctions(parts: list[Formula], choices: list[list[Formula]]) -> list[Formula]:
    """Return the conjunctions of one alternative of each part; parts are left whole where that would be too many."""
    size = 1
    for place, part in enumerate(parts):
        if size * len(choices[place]) > MAX_VARIANTS:
            choices[place] = [part]
        size *= len(choices[place])
    spend(10 * size)
    return [conjunction(chosen) for chosen in product(*choices)]
