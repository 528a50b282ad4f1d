"""What exact constraints leave alone and naive ones change, in texts of the bundled model with shared seeds."""

from __future__ import annotations

import bisect
import json
import re
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

import jsonschema
import pytest
from harmless import UNCONSTRAINED, Text, Writer, is_valid, result, table, ways
from harmless_tasks import Task, records, sums
from hypothesis import given
from hypothesis import strategies as st
from naive_constraints import Slot, Terminal, crossed

import tokenfst
from constraints import json_schema
from tokenfst.token_automaton import TokenAutomaton

SAMPLES = 24
EXACT, ONE, NONE, TEMPLATE = "exact", "one boundary (k = 1)", "no boundary (k = 0)", "template"
# A string, a number, a word, blanks, or a mark.
TERMINALS = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+0-9][-+.0-9eE]*|[a-z]+|[ \n]+|.', re.DOTALL)


@cache
def written() -> tuple[Writer, Task, TokenAutomaton, dict[str, list[Text]]]:
    """The records in each way."""
    writer, task = Writer(), records(SAMPLES, seed=1)
    exact = tokenfst.compile(json_schema(task.schema), writer.vocabulary)
    return (
        writer,
        task,
        exact,
        {
            way: writer.write(task.prompts, constraint, seed=1, limit=128)
            for way, constraint in ways(task, exact, writer.encode).items()
        },
    )


def texts(way: str) -> list[str]:
    _, _, exact, found = written()
    return [exact.text(text.tokens).decode(errors="replace") for text in found[way]]


def pairs(way: str) -> list[tuple[Text, Text]]:
    """The unconstrained texts, each with that of a way."""
    _, _, _, found = written()
    return list(zip(found[UNCONSTRAINED], found[way], strict=True))


def satisfies(task: Task, text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return bool(jsonschema.Draft202012Validator(task.schema).is_valid(value))


def is_usual(text: str, keys: list[str]) -> bool:
    """Whether an object is written with its keys in order and in one of the layouts that `json.dumps` has."""
    value = json.loads(text)
    layouts: list[dict[str, Any]] = [{}, {"separators": (",", ":")}, {"indent": 2}]
    return list(value) == keys and text in [json.dumps(value, ensure_ascii=False, **layout) for layout in layouts]


def boundaries(text: bytes) -> list[int]:
    """Where terminals of a JSON text end."""
    return [match.end() for match in TERMINALS.finditer(text)]


def inside(places: list[int], begin: int, end: int) -> int:
    """How many of the sorted places are after `begin` and before `end`."""
    return bisect.bisect_left(places, end) - bisect.bisect_right(places, begin)


def test_where_the_model_was_valid_exact_constraining_changes_no_token() -> None:
    _, _, exact, found = written()
    valid = [free.tokens == text.tokens for free, text in pairs(EXACT) if is_valid(exact, free.tokens)]
    assert len(valid) >= 3
    assert all(valid)
    for free, text in pairs(EXACT):
        # Everything before the first token that the constraint forbids is the same, and that token is not.
        changed = text.forbidden[0] if text.forbidden else len(text.tokens)
        assert text.tokens[:changed] == free.tokens[:changed]
        assert text.tokens[changed : changed + 1] != free.tokens[changed : changed + 1] or not text.forbidden
        assert bool(text.forbidden) != is_valid(exact, free.tokens)
    assert not any(text.forbidden for text in found[UNCONSTRAINED])


@pytest.mark.parametrize("way", [ONE, NONE, TEMPLATE])
def test_naive_constraints_change_texts_that_were_valid(way: str) -> None:
    _, task, exact, found = written()
    one = result(task, exact, way, found[way], [text.tokens for text in found[UNCONSTRAINED]])
    assert one.valid == 1
    assert one.same < one.of
    fine = [(free, text) for free, text in pairs(way) if is_valid(exact, free.tokens)]
    assert all((free.tokens == text.tokens) == (not text.forbidden) for free, text in fine)


def test_valid_is_what_the_schema_says() -> None:
    _, task, exact, found = written()
    for way in (EXACT, ONE, NONE, TEMPLATE):
        assert all(satisfies(task, text) for text in texts(way))
    for text, spelled in zip(found[UNCONSTRAINED], texts(UNCONSTRAINED), strict=True):
        if is_valid(exact, text.tokens):
            assert satisfies(task, spelled)
        elif satisfies(task, spelled):
            assert not is_usual(spelled, list(task.answers[0]))


@pytest.mark.parametrize(("way", "most"), [(NONE, 0), (ONE, 1)])
def test_no_token_crosses_more_boundaries(way: str, most: int) -> None:
    _, _, exact, found = written()
    counts = []
    for text in found[way]:
        parts = [exact.vocabulary.tokens[token] for token in text.tokens[:-1]]
        places, ends = boundaries(b"".join(parts)), list(accumulate(map(len, parts)))
        counts += [inside(places, end - len(part), end) for part, end in zip(parts, ends, strict=True)]
    assert max(counts) == most


def test_what_a_template_gives_is_spelled_by_itself() -> None:
    writer, task, _, found = written()
    given_texts = [writer.encode(part) for part in task.template if not isinstance(part, Slot)]
    for text in found[TEMPLATE]:
        tokens = text.tokens[:-1]
        for part in given_texts:
            place = next(at for at in range(len(tokens)) if tokens[at : at + len(part)] == part)
            tokens = tokens[place + len(part) :]
        assert tokens == []
        assert len(text.forbidden) < len(text.tokens)
    assert all(text == json.dumps(json.loads(text), ensure_ascii=False) for text in texts(TEMPLATE))


JSON_TEXTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(JSON_TEXTS, st.sampled_from([None, 2]), st.data())
def test_boundaries_are_those_of_a_lexer(value: Any, indent: int | None, data: st.DataObject) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans())).encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=4)) | {0, len(text)})
    last, places = Terminal.MARK, boundaries(text)
    for begin, end in pairwise(cuts):
        count, last = crossed(last, text[begin:end])
        assert count == inside(places, begin, end)


def test_grades() -> None:
    task, adding = records(2, seed=5), sums(1, seed=5)
    right = dict(task.answers[0])
    assert task.grade(0, json.dumps(right)) == 1
    assert task.grade(0, json.dumps(right | {"age": 17, "name": "X"})) == 0.6
    assert task.grade(0, json.dumps(right | {"city": ["Oslo"], "job": None})) == 0.6
    assert task.grade(0, '["name"]') == task.grade(0, "{") == 0
    total = adding.answers[0]["sum"]
    assert adding.grade(0, json.dumps({"a": 0, "b": total, "sum": total})) == 1
    assert adding.grade(0, json.dumps({"a": 0, "b": total, "sum": total + 1})) == 0
    assert adding.grade(0, json.dumps({"a": 0.0, "b": total, "sum": float(total)})) == 1
    assert adding.grade(0, json.dumps({"a": 1, "b": 0, "sum": True})) == 0


def test_the_table_says_what_was_measured() -> None:
    _, task, exact, found = written()
    free = [text.tokens for text in found[UNCONSTRAINED]]
    one = result(task, exact, EXACT, found[EXACT], free)
    row = table("records", [one])[-1]
    assert row.startswith("| exact | 100.0% |")
    assert f"| {one.of} of {one.of} |" in row
    assert one.interventions == sum(len(text.forbidden) for text in found[EXACT]) / SAMPLES
    assert 1 < one.perplexity < 20
