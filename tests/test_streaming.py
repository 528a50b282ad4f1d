"""Pieces put together are the text, characters are never cut, and the value of JSON grows to what the text means."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import constraints
import tokenfst
from automata import IncompleteOutput, TextNotAllowed
from automata.expressions.extensions import token as named_token
from decoding import bundled_model, generate, stream, vocabulary_of
from decoding.compiling import BackgroundCompiler
from decoding.inputs.healing import heal
from decoding.writing.partial_json import PartialJson
from decoding.writing.streaming import Pieces, TextSoFar
from tokenfst import TextStart, Vocabulary

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "ages": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["name", "ages"],
    "additionalProperties": False,
}
TOKENS = [b"a", b" b", "é".encode()[:1], "é".encode()[1:], " 😀x".encode()[:3], " 😀x".encode()[3:], b" ", b"", b"zz"]
RULE = TextStart(prefix=b"##", exceptions={8: b"z"}, ignored=frozenset({6}))


@pytest.fixture(scope="module")
def bundled() -> tuple[Any, Any]:
    return bundled_model()


@given(st.lists(st.sampled_from([[0], [1], [2, 3], [4, 5], [6], [7], [8]])), st.booleans(), st.booleans())
def test_tokens_write_what_they_write_together(groups: list[list[int]], at_text_start: bool, with_rule: bool) -> None:
    vocabulary = Vocabulary(TOKENS, [7], text_start=RULE if with_rule else None)
    tokens = [token for group in groups for token in group]
    characters = TextSoFar(vocabulary, at_text_start=at_text_start)
    pieces = [characters.put([token]) for token in tokens]
    assert "".join(pieces) == vocabulary.detokenize(tokens, at_text_start=at_text_start).decode()
    # What is not handed out yet is less than a character.
    for count in range(len(tokens)):
        written = vocabulary.detokenize(tokens[:count], at_text_start=at_text_start)
        assert "".join(pieces[:count]) == written.decode(errors="ignore")


def test_pieces_of_json_have_values(bundled: tuple[Any, Any]) -> None:
    vocabulary = vocabulary_of(bundled[1])
    text = '{"a": [1, "Zoë \\ud83d\\ude00"], "b": tru'
    tokens = bundled[1](text)["input_ids"]
    pieces, reader = Pieces(TextSoFar(vocabulary), is_json=True), PartialJson()
    for token in tokens:
        piece = pieces.put([token])
        assert piece.value == reader.feed(piece.text)
    assert (pieces.text, reader.value) == (text, {"a": [1, "Zoë 😀"]})


@pytest.mark.parametrize("seed", range(4))
def test_a_stream_of_json_grows_to_its_value(bundled: tuple[Any, Any], seed: int) -> None:
    schema = constraints.json_schema(PERSON)
    found = stream(*bundled, "Name: ", schema, temperature=1.5, seed=seed, max_new_tokens=40)
    text, values = "", []
    for piece in found:
        assert piece.text
        text += piece.text
        values.append(copy.deepcopy(piece.value))
        assert found.text == text
    assert values[-1] == json.loads(text) == found.result()
    assert set(values[-1]) == {"name", "ages"}
    for earlier, later in itertools.pairwise(values):
        assert earlier is None or (list(earlier) == list(later)[: len(earlier)])
    vocabulary = vocabulary_of(bundled[1])
    assert found.tokens[-1] in vocabulary.eos_ids
    assert vocabulary.detokenize(found.tokens).decode() == text
    assert len(found.tokens) <= 40


def test_a_stream_ends_in_what_the_constraint_reads(bundled: tuple[Any, Any]) -> None:
    @dataclass
    class Point:
        x: int
        y: bool

    short: dict[str, Any] = {"seed": 1, "max_new_tokens": 30}
    point = stream(*bundled, "", constraints.typed(Point), **short)
    assert next(point).text.startswith("{")
    assert isinstance(point.result(), Point)
    assert isinstance(stream(*bundled, "", constraints.integer(1, 50), **short).result(), int)
    text = stream(*bundled, "", r"(Yes|No)\.", **short).result()
    assert text in ("Yes.", "No.")


def test_a_text_that_python_cannot_read(bundled: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    written = stream(*bundled, "Name: ", constraints.json_schema({"type": "boolean"}))
    assert [piece.value for piece in written][-1] in (True, False)

    def loads(text: str) -> Any:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr(json, "loads", loads)
    with pytest.raises(TextNotAllowed, match="maximum recursion depth exceeded"):
        written.result()


def test_an_automaton_has_the_values_of_its_constraint(bundled: tuple[Any, Any]) -> None:
    vocabulary = vocabulary_of(bundled[1])
    short: dict[str, Any] = {"seed": 1, "max_new_tokens": 30}
    schema = constraints.json_schema({"type": "array", "items": {"enum": [1, 2]}, "minItems": 2, "maxItems": 3})
    either = constraints.typed(list[bool]) | constraints.typed(bool)
    with BackgroundCompiler() as compiler:
        forms: list[Any] = [schema, tokenfst.compile(schema, vocabulary), compiler.submit(schema, vocabulary), [schema]]
        forms += [either, tokenfst.compile(either, vocabulary)]
        for constraint in forms:
            found: Any = stream(*bundled, "x", constraint, **short)
            *_, last = (piece.value for piece in found)
            assert last == json.loads(found.text) == found.result()
    prompt, healed = heal(bundled[1]('{"a": [1')["input_ids"], tokenfst.compile(schema, vocabulary))
    found = stream(*bundled, prompt, healed, **short)
    assert [piece.value for piece in found][-1] == json.loads(found.text) == found.result()


@pytest.mark.parametrize("seed", range(4))
def test_free_text_need_not_be_characters(bundled: tuple[Any, Any], seed: int) -> None:
    found = stream(*bundled, "Name: ", None, temperature=3.0, seed=seed, max_new_tokens=20)
    pieces = [piece.text for piece in found]
    assert all(pieces)
    written = vocabulary_of(bundled[1]).detokenize(found.tokens)
    assert "".join(pieces) == found.result() == written.decode(errors="replace")


def test_the_bytes_of_a_healed_prompt_are_no_part_of_the_text(bundled: tuple[Any, Any]) -> None:
    name = tokenfst.compile(r'[a-z]{1,12}"', vocabulary_of(bundled[1]))
    prompt, healed = heal(bundled[1]('The name: "Jo')["input_ids"], name)
    short: dict[str, Any] = {"temperature": 0, "max_new_tokens": 12}
    found = stream(*bundled, prompt, healed, **short)
    assert [found.result()] == generate(*bundled, prompt, healed, **short)


def test_the_likeliest_text_is_that_of_generate(bundled: tuple[Any, Any]) -> None:
    schema = constraints.json_schema(PERSON)
    (expected,) = generate(*bundled, "Person: ", schema, temperature=0, max_new_tokens=40)
    found = stream(*bundled, "Person: ", schema, temperature=0, max_new_tokens=40)
    assert "".join(piece.text for piece in found) == expected


def test_streams_leave_the_random_state_alone_and_do_not_depend_on_it(bundled: tuple[Any, Any]) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    options: dict[str, Any] = {"seed": 3, "max_new_tokens": 20}
    one, other = (stream(*bundled, "", "[a-z ]{5,30}", **options) for _ in range(2))
    for left, right in zip(one, other, strict=True):
        assert left == right
    assert torch.equal(before, torch.random.get_rng_state())


def test_nothing_is_written_before_it_is_asked_for(bundled: tuple[Any, Any]) -> None:
    found = stream(*bundled, "", "[a-z]*", max_new_tokens=20)
    assert found.tokens == []
    next(found)
    assert len(found.tokens) == 1
    with pytest.raises(IncompleteOutput):
        stream(*bundled, "", "[a-z]{400}", max_new_tokens=3)


def test_a_stream_that_an_exception_ended_is_not_taken_for_whole(
    bundled: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = stream(*bundled, "", "[a-z]{5,30}", seed=3, max_new_tokens=20)
    begun = next(found).text

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("decoding.writing.streaming.choose", interrupt)
        with pytest.raises(KeyboardInterrupt):
            next(found)
    assert found.text == begun
    for again in (found.result, lambda: next(found)):
        with pytest.raises(IncompleteOutput, match="an exception ended the writing"):
            again()


def test_free_text_and_automata_that_are_being_compiled_are_streamed(bundled: tuple[Any, Any]) -> None:
    options: dict[str, Any] = {"seed": 3, "max_new_tokens": 12}
    free = stream(*bundled, "The ", None, **options)
    assert free.result() == free.text
    assert 0 < len(free.tokens) <= 12
    with BackgroundCompiler() as compiler:
        request = compiler.submit("(ab)+", vocabulary_of(bundled[1]))
        assert set(stream(*bundled, "The ", request, **options).result()) == {"a", "b"}


def test_values_are_read_with_the_names_of_tokens(bundled: tuple[Any, Any]) -> None:
    """Of a model that likes a token that writes nothing."""
    model, tokenizer = bundled
    pad = tokenizer.pad_token_id

    def like(_: Any, __: Any, output: Any) -> None:
        output.logits[..., pad] += 50

    handle = model.register_forward_hook(like)
    try:
        name = constraints.token(tokenizer.pad_token)
        either = constraints.sequence("a", constraints.optional(name), constraints.date())
        made = stream(model, tokenizer, "A: ", either, max_new_tokens=24, temperature=0)
        first, second, _ = made.result()
        assert (first, second) == ("a", tokenizer.pad_token)
        assert made.result() == either.parse(tokenizer.decode(made.tokens[:-1]))
        assert tokenizer.pad_token not in made.text
        triggered = constraints.triggered({name: (constraints.date(), ";")})
        made = stream(model, tokenizer, "A: ", triggered, max_new_tokens=24, temperature=0)
        assert made.result()[0].marker == tokenizer.pad_token
    finally:
        handle.remove()
    automaton = tokenfst.compile("a" + named_token("T"), vocabulary_of(tokenizer), terminals={"T": [pad]})
    assert stream(model, tokenizer, "A: ", automaton, max_new_tokens=5).result() == "a"
