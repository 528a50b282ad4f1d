"""variants: the alternatives of a formula, each of which is read separately."""

from __future__ import annotations

from itertools import product
from typing import Final

from automata.limits import spend
from constraints.json_schema.formulas.connectives import And, Formula, Never, Not, Or, conjunction, negation
from constraints.recursion import Task, run

# The most alternatives of a formula.
MAX_VARIANTS: Final = 128


def variants(formula: Formula) -> list[Formula]:
    """Return formulas of which at least one is satisfied if and only if this one is.

    They have no alternatives themselves, unless there would be more than `MAX_VARIANTS`.
    """
    return [part for part in run(_variants(formula, {})) if type(part) is not Never]


def parts_or_variants(formula: Formula) -> list[Formula]:
    """Return the variants; if there would be too many, the parts of a disjunction as they are."""
    found = variants(formula)
    return list(formula.parts) if found == [formula] and isinstance(formula, Or) else found


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
