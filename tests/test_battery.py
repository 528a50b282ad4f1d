"""The battery: more than two thousand patterns, each checked against an independent matcher.

The patterns are in `patterns/*.txt` and `pattern_families`; what is tried on each, and how, is in `differential`, which
`benchmarks/battery.py` runs on JSON Schema material as well. Tokens are those of Tekken, 131,072.
"""

from __future__ import annotations

from importlib.resources import files

import pytest
from differential import Effort, Tally, Tokens, check
from matchers import Case, Unreadable, matcher, tables_differ
from pattern_families import families

from tokenfst import from_tekken

FAMILIES = families()
EFFORT = Effort(walks=3, edits=2, randoms=6, cut=3, masks=2, tokens=2)


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens(from_tekken(str(files("mistral_common") / "data" / "tekken_240911.json")))


def test_the_battery_is_large() -> None:
    cases = [case for family in FAMILIES.values() for case in family]
    by_hand = [case for name, family in FAMILIES.items() if not name.startswith("scheme") for case in family]
    assert len({case.pattern for case in cases}) >= 2_500
    assert len({case.pattern for case in by_hand}) >= 1_900
    assert all(sum(case.dialect == dialect for case in cases) >= 2_000 for dialect in ("python", "ecma"))


@pytest.mark.parametrize("name", FAMILIES)
def test_patterns_mean_what_an_independent_matcher_says(name: str, tokens: Tokens) -> None:
    tally = Tally()
    for case in FAMILIES[name]:
        check(case, tokens, EFFORT, tally)
    assert not tally.mismatches
    # Both verdicts are tried, on texts and on tokens.
    assert tally.cases == len(FAMILIES[name])
    assert len(FAMILIES[name]) < tally.matching < 0.8 * tally.texts
    assert tally.cuts > 3 * tally.cases


@pytest.mark.parametrize(
    ("pattern", "reference"),
    [
        ("a+", "a*"),
        ("a*", "a+"),
        ("[a-z]+", "[a-y]+"),
        ("[^a]", "[^ab]"),
        ("a{2,4}", "a{2,5}"),
        ("(?:ab|cd)e", "(?:ab|cde)e"),
        (r"\d+", r"(?u)\d+"),
        (".", "(?s)."),
        ("(?i)k", "(?ia)k"),
        (r"a\b.*", "a.*"),
        ("(?=a)[ab]*", "[ab]*"),
        ("é|è", "é|e"),
    ],
)
def test_a_wrong_reading_would_be_found(pattern: str, reference: str, tokens: Tokens) -> None:
    tally = Tally()
    check(Case(pattern, reference=reference), tokens, Effort(10, 10, 100, 1_000, 4, 6), tally)
    levels = {mismatch.level.split()[0] for mismatch in tally.mismatches}
    assert {"bytes", "tokens"} <= levels


def test_a_wrong_mask_would_be_found(tokens: Tokens) -> None:
    """A text that the mask leads to and the matcher does not accept."""
    tally = Tally()
    check(Case("[a-z]{2}", reference="[a-y]{2}"), tokens, Effort(8, 6, 40, 20, 8, 60), tally)
    assert "after a mask" in {mismatch.level for mismatch in tally.mismatches}


def test_only_other_versions_of_unicode_are_excused(tokens: Tokens) -> None:
    """V8 and the tables of this project agree on characters that are not new, so there a wrong property is found."""
    assert not tables_differ(Case(r"^\p{L}\P{Nd}$", "ecma"), "aÉß中1٣😀")
    tally = Tally()
    check(Case(r"^\p{Lu}$", "ecma", search=True, reference=r"^\p{L}$"), tokens, EFFORT, tally)
    assert tally.mismatches


@pytest.mark.parametrize("case", [Case("("), Case("(", "ecma"), Case(r"(?i)\d"), Case(r"a**", "ecma", search=True)])
def test_what_the_other_engine_cannot_judge_is_an_error(case: Case) -> None:
    with pytest.raises(Unreadable):
        matcher(case)(["a"])
