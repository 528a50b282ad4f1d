"""Traces say what happened: checked against a forward pass over the whole text, and masks made again."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import constraints
import tokenfst
from automata import Grammar, alternation, call, compile_expr, concat, parse
from automata.errors import LimitExceeded
from automata.limits import DEFAULT_LIMITS, Work
from decoding import Speculation, bundled_model, generate, vocabulary_of
from decoding.tracing import Trace, TracedText
from decoding.tracing.pictures import percent
from decoding.tracing.recorder import TOP
from decoding.writing.partial_json import PartialJson
from tokenfst.explanation.following import Following
from tokenfst.explanation.place_rows import Row

MODEL, TOKENIZER = bundled_model()
VOCABULARY = vocabulary_of(TOKENIZER)
SCHEMA = constraints.json_schema(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 8},
            "of/all": {"type": "array", "items": {"enum": [1, 2]}},
        },
        "required": ["name", "of/all"],
        "additionalProperties": False,
    }
)
DATE = r"\d{4}-[01]\d-[0-3]\d"
LISTS = Grammar({"list": concat("[", alternation(call("list"), "x").star(), "]")}, "list")
LIMIT = 30


def traced(prompts: Any, constraint: Any, **options: Any) -> Trace:
    found: Trace = generate(MODEL, TOKENIZER, prompts, constraint, max_new_tokens=LIMIT, trace=True, **options)
    return found


CALLS: list[tuple[Any, Any, dict[str, Any]]] = [
    ("Born: ", DATE, {"temperature": 0}),
    (["A person as JSON: ", "Date: "], [SCHEMA, DATE], {"seed": 1}),
    (["A person as JSON: ", "Date: "], [SCHEMA, DATE], {"seed": 2, "num_return_sequences": 2, "top_k": 5}),
    (["Name: ", "Anything: "], ["[A-Z][a-z]+", None], {"seed": 3, "temperature": 0.7}),
    ("A list: ", LISTS, {"seed": 4, "repetition_penalty": 1.3}),
    ("A list: ", LISTS, {"seed": 5, "wrap_up_after": 8}),
    ([[40, 41]], DATE, {"seed": 6}),
    ([], DATE, {}),
]


@pytest.mark.parametrize(("prompts", "constraint", "options"), CALLS)
def test_a_trace_changes_no_text(prompts: Any, constraint: Any, options: dict[str, Any]) -> None:
    trace = traced(prompts, constraint, **options)
    plain = generate(MODEL, TOKENIZER, prompts, constraint, max_new_tokens=LIMIT, **options)
    assert [text.text for text in trace.texts] == plain
    for text in trace.texts:
        assert "".join(step.text for step in text.steps) == text.text
        if isinstance(prompts, str | list) and all(isinstance(one, str) for one in prompts):
            assert text.prompt in prompts


def test_a_trace_ends_with_its_text() -> None:
    """A vocabulary names no padding, so end tokens fill the rows of shorter texts."""
    prompts = [TOKENIZER("x: ")["input_ids"]] * 6
    trace = generate(MODEL, VOCABULARY, prompts, "a|(bc){9}", max_new_tokens=LIMIT, seed=1, trace=True)
    assert {text.text for text in trace.texts} == {"a", "bc" * 9}
    for text in trace.texts:
        *inside, last = [step.chosen.token in VOCABULARY.eos_ids for step in text.steps]
        assert last
        assert not any(inside)


def by_definition(prompt: str, text: TracedText, constraint: Any, suppressed: Sequence[int] = ()) -> None:
    """Checks each step of a text against the model's logits over all of it, and a mask from the tokens before."""
    tokens = [step.chosen.token for step in text.steps]
    prompted = TOKENIZER(prompt)["input_ids"]
    with torch.no_grad():
        logits = MODEL(torch.tensor([prompted + tokens])).logits[0, len(prompted) - 1 : -1].double()
    logits[:, list(suppressed)] = -torch.inf
    automaton = tokenfst.compile(constraint, VOCABULARY)
    state = automaton.start
    for place, (step, row) in enumerate(zip(text.steps, logits, strict=True)):
        mask = torch.from_numpy(automaton.mask(state, LIMIT - place))
        before = row.softmax(0)
        after = row.masked_fill(~mask, -torch.inf).softmax(0)
        assert step.num_allowed == int(mask.sum())
        assert step.forced == (int(mask.sum()) == 1)
        assert step.removed == pytest.approx(float(before[~mask].sum()), abs=1e-5)
        assert 2**-step.surprise == pytest.approx(float(before[mask].sum()), rel=1e-3)
        assert step.intervened == (not mask[before.argmax()])
        shown = {one.token: one for one in step.candidates}
        assert len(shown) == len(step.candidates)
        assert step.chosen == shown[tokens[place]]
        for one in step.candidates:
            assert one.before == pytest.approx(float(before[one.token]), rel=1e-3, abs=1e-7)
            assert one.after == pytest.approx(float(after[one.token]), rel=1e-3, abs=1e-7)
            assert one.allowed == bool(mask[one.token])
            assert one.name == VOCABULARY.names[one.token]
        # The likeliest before and after are all there.
        assert set(before.topk(TOP).indices.tolist()) <= set(shown)
        best = after.topk(min(TOP, int((after > 0).sum()))).indices.tolist()
        assert set(best) <= set(shown)
        assert [one.token for one in step.after][: len(best)] == best
        assert step.wanted.token == int(before.argmax())
        if tokens[place] not in VOCABULARY.eos_ids:
            state = automaton.advance(state, tokens[place])
    assert automaton.is_final(state)


@pytest.mark.parametrize("options", [{"temperature": 0}, {"seed": 1}, {"seed": 2, "temperature": 1.5}], ids=str)
def test_numbers_are_those_of_the_model_and_the_mask(options: dict[str, Any]) -> None:
    prompts, each = ["Born: ", "A person as JSON: ", "A list: "], [DATE, SCHEMA, LISTS]
    for prompt, text, constraint in zip(prompts, traced(prompts, each, **options).texts, each, strict=True):
        by_definition(prompt, text, constraint)


def test_what_another_option_forbids_is_still_allowed_by_the_mask() -> None:
    suppressed = [token for token, name in enumerate(VOCABULARY.tokens) if b"1" in name]
    for prompt, constraint in [("Born: ", DATE), ("A person as JSON: ", SCHEMA), ("A list: ", LISTS)]:
        (text,) = traced(prompt, constraint, seed=1, suppress_tokens=suppressed).texts
        by_definition(prompt, text, constraint, suppressed)


@pytest.mark.parametrize("trace", [False, True])
def test_whether_there_is_a_trace_may_be_a_variable(trace: bool) -> None:
    found: list[str] | Trace = generate(MODEL, TOKENIZER, "Date: ", DATE, seed=1, trace=trace)
    assert isinstance(found, Trace) == trace


def test_sums() -> None:
    (text,) = traced("Date: ", DATE, seed=1).texts
    assert text.num_forced == sum(step.num_allowed == 1 for step in text.steps) > 0
    assert text.interventions == sum(step.intervened for step in text.steps)
    assert text.total_surprise == pytest.approx(sum(step.surprise for step in text.steps))


def test_what_is_free_has_nothing_removed() -> None:
    (text,) = traced("Anything: ", None, seed=3).texts
    assert all(step.removed == 0 and step.num_allowed == MODEL.config.vocab_size for step in text.steps)
    assert not any(step.stacks or step.pointer for step in text.steps)


def test_stacks_are_the_rules_that_are_open() -> None:
    trace = traced(["[[x][xx[]]] [x[[x]]] "] * 8, LISTS, seed=8, temperature=2.0)
    deepest = 0
    for text in trace.texts:
        written = ""
        for step in text.steps:
            (stack,) = step.stacks
            # A list that is over is left with the next character.
            still_open = written.count("[") - written.count("]") + written.endswith("]")
            assert len(stack) == still_open + 1
            assert {rule.split(".")[0] for rule in stack} == {"list"}
            deepest = max(deepest, still_open)
            written += step.text
    assert deepest > 2


def test_pointers_are_those_of_the_values() -> None:
    (text,) = traced("A person as JSON: ", SCHEMA, seed=1).texts
    reader = PartialJson()
    for step in text.steps:
        assert step.pointer == reader.pointer
        reader.feed(step.text)
    assert {"", "/name", "/of~1all", "/of~1all/0"} <= {step.pointer for step in text.steps}


CALLS_OF_FUNCTIONS = constraints.grammar(r"""
    start: NAME "(" [argument ("," argument)*] ")"
    argument: start | NAME
    NAME: /[a-z]{1,3}/
    %ignore " "
""")
# The rows of an explanation that a trace has, too.
PLACES = {"expected", "pattern", "part", "rule", "value", "name", "colon", "after", "and"}


@pytest.mark.parametrize(
    ("constraint", "place"),
    [
        (DATE, "pattern"),
        (parse("x{2,5}-y|z"), "part"),
        (SCHEMA, "value"),
        (CALLS_OF_FUNCTIONS, "rule"),
        (LISTS, "rule"),
        (constraints.sequence("Yes|No", SCHEMA), "expected"),
        (constraints.json_schema({"const": [1]}) | SCHEMA, "expected"),
        (compile_expr(parse("ab|b")), "expected"),
    ],
    ids=["pattern", "expression", "schema", "words", "grammar", "sequence", "alternatives", "automaton"],
)
def test_notes_are_what_an_explanation_says_of_the_text_before(constraint: Any, place: str) -> None:
    (text,) = traced("A person as JSON: ", constraint, seed=1).texts
    automaton, written = tokenfst.compile(constraint, VOCABULARY), list[int]()
    for step in text.steps:
        rows = [row for row in automaton.explain(written).rows() if row[0] in PLACES]
        lines = [f"{label if not number else ''} {line}" for label, each in rows for number, line in enumerate(each)]
        # The lines of an explanation begin in another column, because it has more rows.
        assert [note.split() for note in step.notes] == [line.split() for line in lines]
        written.append(step.chosen.token)
    assert place in {note.split(" ")[0] for step in text.steps for note in step.notes}


def test_notes_mark_the_part_of_a_pattern() -> None:
    (text,) = traced("Born: ", DATE, seed=1).texts
    marked = []
    for step in text.steps[:-1]:
        _, pattern, marks = step.notes
        begin = marks.index("^")
        marked.append(pattern[begin : begin + marks.count("^")])
    assert marked[0] == r"\d{4}"
    assert set(marked) <= {r"\d{4}", "-", "[01]", r"\d", "[0-3]"}
    assert len(set(marked)) > 2


def test_an_automaton_that_was_compiled_before_knows_its_constraint(tmp_path: Path) -> None:
    for constraint in (SCHEMA, LISTS, DATE):
        automaton = tokenfst.compile(constraint, VOCABULARY)
        assert traced("A list: ", automaton, seed=1) == traced("A list: ", constraint, seed=1)
    automaton.save(tmp_path / "date.safetensors")
    loaded = tokenfst.load_automaton(tmp_path / "date.safetensors", VOCABULARY)
    assert not any(step.notes for step in traced("A list: ", loaded, seed=1).texts[0].steps)


def test_a_place_that_takes_too_long_to_find_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, calls = Following.rows, itertools.count()

    def slow(following: Following) -> list[Row]:
        if next(calls) == 2:
            raise LimitExceeded("more than the time", limit="seconds")
        return rows(following)

    monkeypatch.setattr(Following, "rows", slow)
    (text,) = traced("Born: ", DATE, seed=1).texts
    first, second, *others = [step.notes for step in text.steps]
    assert "expected" in first[0]
    assert "expected" in second[0]
    assert set(others) == {("the place is not known: more than the time",)}


def test_a_token_that_takes_too_long_to_follow_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    put, calls = Following.put, itertools.count()

    def slow(following: Following, token: int, written: bytes) -> None:
        if next(calls) == 2:
            raise LimitExceeded("more than the time", limit="seconds")
        put(following, token, written)

    monkeypatch.setattr(Following, "put", slow)
    (text,) = traced("Born: ", DATE, seed=1).texts
    *known, third, fourth = [step.notes for step in text.steps[:4]]
    assert all("expected" in notes[0] for notes in [*known, third])
    assert {fourth, *(step.notes for step in text.steps[4:])} == {("the place is not known: more than the time",)}


def test_tokens_with_names_are_followed() -> None:
    vocabulary = tokenfst.Vocabulary([b"a", b"b", b"", b"", b"cd"], [3], special_tokens={"<x>": 2, "<cd>": 4})
    automaton = tokenfst.compile("a(?P<TOKEN><x>)b(?P<TOKEN><cd>)?", vocabulary)
    assert automaton.source is not None
    with Work(DEFAULT_LIMITS).current() as work:
        following = Following(automaton.source, vocabulary, work)
        seen = []
        for token, written in ((0, b"a"), (2, b""), (1, b"b"), (4, b"cd")):
            seen.append(following.rows())
            following.put(token, written)
        seen.append(following.rows())
    assert [rows[0][1][0] for rows in seen] == [
        "'a'",
        "the token <x>",
        "'b'",
        "the token <cd>, or the end of the text",
        "the end of the text",
    ]


def test_characters_of_several_tokens() -> None:
    (text,) = traced("An accent: ", "(é|ß|→){3}", seed=1).texts
    assert "".join(step.text for step in text.steps) == text.text
    assert len(text.text) == 3


@pytest.mark.parametrize(
    "options",
    [{"num_beams": 2}, {"speculation": Speculation()}, {"prompt_lookup_num_tokens": 3, "temperature": 0}],
    ids=str,
)
def test_what_cannot_be_traced_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="trace"):
        traced("Born: 2020-10-10 2020-10-", DATE, **options)


def test_nothing_of_it_is_imported_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("decoding.tracing")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert len(generate(MODEL, TOKENIZER, "Born: ", DATE, max_new_tokens=LIMIT, seed=1)) == 1
    with pytest.raises(ImportError):
        traced("Born: ", DATE)


def test_a_trace_is_a_table_for_people() -> None:
    trace = traced(["Born: ", "Date: "], DATE, seed=1)
    assert repr(trace) == f"<Trace of 2 texts, {sum(len(text.steps) for text in trace.texts)} tokens>"
    first, second = str(trace).split("\n\n")
    assert first.splitlines()[0].split() == ["token", "before", "after", "allowed", "removed", "wanted"]
    for part, text in zip((first, second), trace.texts, strict=True):
        lines = part.splitlines()[1:]
        assert [line.split()[0] for line in lines] == [step.chosen.name for step in text.steps]
        assert [int(line.split()[3].replace(",", "")) for line in lines] == [step.num_allowed for step in text.steps]


def test_percentages() -> None:
    shown = {0: "0%", 1e-9: "~0%", 1e-6: "0.0001%", 0.00123: "0.12%", 0.01: "1.0%", 0.25: "25.0%", 1: "100%"}
    assert {value: percent(value) for value in shown} == shown


def test_pictures_show_candidates_and_what_was_removed() -> None:
    (text,) = traced("Date: ", DATE, seed=1).texts
    removed = text.draw(title="removed").svg()
    assert removed.count('class="c0"') == len(text.steps)
    assert all(f">{percent(step.removed)}<" in removed for step in text.steps)
    step = text.steps[0].draw().svg()
    # Two bars for each candidate, and the legend.
    assert (step.count('class="c0"'), step.count('class="c1"')) == (1 + len(text.steps[0].candidates),) * 2
    assert all(
        f">{percent(one.before)}<" in step and f">{percent(one.after)}<" in step for one in text.steps[0].candidates
    )
