"""The official JSON Schema Test Suite: what holds of every case, but for those that are listed with a reason.

A case asks whether a value is valid. We read texts, so a value stands for what Python writes for it: on one line,
compact and without escapes, and indented. The schema is compiled with members in any order, so that the order in the
suite's files counts for nothing; where that is too large, in the schema's order, and then a value stands for the texts
with its members in each order. A valid value is right if in each style some text is accepted, an invalid one if none
is.

`official_suite_failures.json` lists the cases that are not right: by draft, by what goes wrong, and with a reason each.
It may only shrink: a listed case that is right is an error here as much as one that is wrong and not listed. It knows
the cases of two versions of the suite: the one that is fetched, and a later one.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from official_suite import DRAFTS, Group, groups, remote
from value_orders import orders

from automata import LimitExceeded, Limits
from automata.byte_automaton import ByteAutomaton
from automata.errors import SchemaError, UnsatisfiableSchema
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from constraints import json_schema

RIGHT: Final = "right"
REFUSES_VALID: Final = "refuses valid"
ACCEPTS_INVALID: Final = "accepts invalid"
REFUSES_SCHEMA: Final = "refuses the schema"
# Invalid values are accepted in these files alone: contentEncoding and contentMediaType are annotations in all drafts
# but 7, which leaves it to implementations whether they assert them.
ANNOTATIONS: Final = ("optional/content: ",)
LISTED: Final[dict[str, dict[str, dict[str, str]]]] = json.loads(
    (Path(__file__).parent / "official_suite_failures.json").read_text("utf-8")
)
STYLES: Final[tuple[dict[str, Any], ...]] = ({}, {"ensure_ascii": False, "separators": (",", ":")}, {"indent": 2})
MOST_STATES: Final = 300_000
FILES: Final = [(draft, file) for draft in DRAFTS for file in dict.fromkeys(group.file for group in groups(draft))]


def compiled(schema: Any, draft: str) -> tuple[ByteAutomaton | PushdownAutomaton | None, bool]:
    """An automaton, or None where the schema admits nothing; and whether members may come in any order.

    Raises:
        SchemaError: the schema is refused.
    """
    try:
        return built(schema, draft, "any"), True
    except UnsatisfiableSchema:
        return None, True
    except (SchemaError, LimitExceeded):
        return built(schema, draft, "schema"), False


def built(schema: Any, draft: str, property_order: str) -> ByteAutomaton | PushdownAutomaton:
    with Work(Limits(states=MOST_STATES)) as work:
        named = isinstance(schema, dict) and "$schema" in schema
        constraint = json_schema(
            schema, draft="auto" if named else draft, property_order=property_order, resolver=remote
        )
        return constraint.to_automaton(work)


def accepts(automaton: ByteAutomaton | PushdownAutomaton, value: Any, any_order: bool) -> list[bool]:
    """For each style, whether some text of the value is accepted."""
    variants = [value] if any_order else list(orders(value))
    return [
        any(automaton.accepts(json.dumps(variant, **style).encode("utf-8", "surrogatepass")) for variant in variants)
        for style in STYLES
    ]


def outcomes(group: Group, draft: str) -> dict[str, str]:
    """What comes out for each case."""
    try:
        automaton, any_order = compiled(group.schema, draft)
    except (SchemaError, LimitExceeded):
        return {case.name: REFUSES_SCHEMA for case in group.cases}
    found = {}
    for case in group.cases:
        accepted = [False] if automaton is None else accepts(automaton, case.data, any_order)
        wrong = REFUSES_VALID if case.valid else ACCEPTS_INVALID
        found[case.name] = RIGHT if accepted == [case.valid] * len(accepted) else wrong
    return found


@cache
def file_outcomes(draft: str, file: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for group in groups(draft):
        if group.file == file:
            found |= outcomes(group, draft)
    return found


def listed(draft: str) -> dict[str, str]:
    """The cases of a draft that are listed, and as what."""
    return {name: kind for kind, cases in LISTED.get(draft, {}).items() for name in cases}


@pytest.mark.parametrize(("draft", "file"), FILES)
def test_what_is_wrong_is_what_is_listed(draft: str, file: str) -> None:
    found = file_outcomes(draft, file)
    wrong = {name: outcome for name, outcome in found.items() if outcome != RIGHT}
    assert wrong == {name: kind for name, kind in listed(draft).items() if name in found}


@pytest.mark.parametrize("draft", DRAFTS)
def test_most_cases_are_right(draft: str) -> None:
    counts = Counter(
        outcome for drafted, file in FILES if drafted == draft for outcome in file_outcomes(draft, file).values()
    )
    assert counts[RIGHT] >= 0.95 * counts.total(), counts


def test_the_list_is_well_formed() -> None:
    assert set(LISTED) <= set(DRAFTS)
    for draft, kinds in LISTED.items():
        assert all(name.startswith(ANNOTATIONS) for name in kinds.get(ACCEPTS_INVALID, ()))
        assert set(kinds) <= {REFUSES_VALID, ACCEPTS_INVALID, REFUSES_SCHEMA}
        assert all(reason.strip() for cases in kinds.values() for reason in cases.values())
        assert sum(map(len, kinds.values())) == len(listed(draft)), "a case is listed twice"
