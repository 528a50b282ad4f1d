"""The official JSON Schema Test Suite: what holds of every case, but for those that are listed with a reason.

A case asks whether a value is valid. We read texts, so a value stands for what Python writes for it: on one line,
compact and without escapes, and indented. The schema is compiled with members in any order, so that the order in the
suite's files counts for nothing; where that is too large, in the schema's order, and then a value stands for the texts
with its members in each order. A valid value is right if in each style some text is accepted, an invalid one if none
is.

`official_suite_failures.json` lists the cases that are not right, with what comes out, the keyword to blame, and a
reason. It may only shrink: a listed case that is right, that is wrong by another keyword, or that is not in the
suite, is an error as much as one that is wrong and not listed. So it is all that is wrong, and is what is counted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import pytest
from official_suite import DRAFTS, Case, Group, groups, remote
from value_orders import orders

import tokenfst
from automata import LimitExceeded, Limits
from automata.byte_automaton import ByteAutomaton
from automata.errors import SchemaError, UnsatisfiableSchema, UnsupportedSchema
from automata.limits import Work
from automata.pushdown.automaton import PushdownAutomaton
from constraints import json_schema
from tokenfst import TokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

REFUSES_VALID: Final = "refuses valid"
ACCEPTS_INVALID: Final = "accepts invalid"
REFUSES_SCHEMA: Final = "refuses the schema"
# Annotations in all drafts but 7, which leaves it to implementations whether they assert them.
ANNOTATIONS: Final = {"contentEncoding", "contentMediaType"}
LISTED: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "official_suite_failures.json").read_text("utf-8")
)
STYLES: Final[tuple[dict[str, Any], ...]] = ({}, {"ensure_ascii": False, "separators": (",", ":")}, {"indent": 2})
MAX_STATES: Final = 300_000
FILES: Final = [(draft, file) for draft in DRAFTS for file in dict.fromkeys(group.file for group in groups(draft))]


Automaton: TypeAlias = ByteAutomaton | PushdownAutomaton | TokenAutomaton


class Compiled(NamedTuple):
    """An automaton, over bytes or over tokens of one byte, or None where the schema admits nothing; and whether members
    may come in any order."""

    automaton: Automaton | None
    any_order: bool


class Wrong(NamedTuple):
    """What comes out for a case that is not right, and the keyword that is to blame; None where none is."""

    outcome: str
    keyword: str | None


def compiled(schema: Any, draft: str) -> Compiled:
    """The automaton of a schema.

    Raises:
        SchemaError: the schema is refused.
        LimitExceeded: it is too large.
    """
    try:
        return Compiled(built(schema, draft, "any"), True)
    except UnsatisfiableSchema:
        return Compiled(None, True)
    except (SchemaError, LimitExceeded):
        return Compiled(built(schema, draft, "schema"), False)


def built(schema: Any, draft: Any, property_order: Any) -> Automaton:
    named = isinstance(schema, dict) and "$schema" in schema
    constraint = json_schema(schema, draft="auto" if named else draft, property_order=property_order, resolver=remote)
    if constraint.unique_arrays() is not None:
        return tokenfst.compile(constraint, ALL_BYTES)
    return constraint.to_automaton(Work(Limits(states=MAX_STATES)))


def accepts(schema: Compiled, value: Any) -> list[bool]:
    """For each style, whether some text of the value is accepted."""
    automaton = schema.automaton
    if automaton is None:
        return [False] * len(STYLES)
    variants = [value] if schema.any_order else list(orders(value))
    return [
        any(automaton.accepts(json.dumps(variant, **style).encode("utf-8", "surrogatepass")) for variant in variants)
        for style in STYLES
    ]


def wrong(group: Group, draft: str) -> dict[str, Wrong]:
    """The cases of a group that are not right."""
    try:
        automaton = compiled(group.schema, draft)
    except (SchemaError, LimitExceeded) as error:
        keyword = error.keyword if isinstance(error, UnsupportedSchema) else None
        return {case.name: Wrong(REFUSES_SCHEMA, keyword) for case in group.cases}
    found = {}
    for case in group.cases:
        if accepts(automaton, case.data) != [case.valid] * len(STYLES):
            outcome = REFUSES_VALID if case.valid else ACCEPTS_INVALID
            found[case.name] = Wrong(outcome, to_blame(group.schema, draft, case))
    return found


def to_blame(schema: Any, draft: str, case: Case) -> str | None:
    """The keyword without which a valid value is not refused; for an invalid one, all keywords that there are."""
    if not case.valid:
        return ", ".join(sorted(schema.keys() - {"$schema"}))
    right = [True] * len(STYLES)
    return next(
        (word for word in sorted(schema) if accepts(compiled(without(word, schema), draft), case.data) == right), None
    )


def without(keyword: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != keyword}


def listed(draft: str) -> dict[str, Wrong]:
    """The cases of a draft that are listed."""
    return {
        name: Wrong(entry["outcome"], entry["keyword"]) for entry in LISTED for name in entry["cases"].get(draft, ())
    }


@pytest.mark.parametrize(("draft", "file"), FILES)
def test_what_is_wrong_is_what_is_listed(draft: str, file: str) -> None:
    found: dict[str, Wrong] = {}
    names: set[str] = set()
    for group in groups(draft):
        if group.file == file:
            found |= wrong(group, draft)
            names |= {case.name for case in group.cases}
    assert found == {name: outcome for name, outcome in listed(draft).items() if name in names}


@pytest.mark.parametrize("draft", DRAFTS)
def test_most_cases_are_right(draft: str) -> None:
    names = [case.name for group in groups(draft) for case in group.cases]
    assert listed(draft).keys() <= set(names)
    assert len(names) > 500
    assert len(listed(draft)) <= 0.05 * len(names)


def test_invalid_values_are_accepted_by_annotations_alone() -> None:
    for entry in LISTED:
        if entry["outcome"] == ACCEPTS_INVALID:
            assert set(entry["keyword"].split(", ")) <= ANNOTATIONS


def test_the_list_is_well_formed() -> None:
    for entry in LISTED:
        assert entry.keys() == {"outcome", "keyword", "reason", "cases"}
        assert entry["outcome"] in {REFUSES_VALID, ACCEPTS_INVALID, REFUSES_SCHEMA}
        assert entry["reason"].strip()
    for draft in DRAFTS:
        named = [name for entry in LISTED for name in entry["cases"].get(draft, ())]
        assert len(named) == len(set(named)), "a case is listed twice"
    assert {draft for entry in LISTED for draft in entry["cases"]} <= set(DRAFTS)
