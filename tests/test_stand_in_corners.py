"""The stand-ins beside the originals where settings meet what is rare: empty ones, several, those of variables."""

from __future__ import annotations

import enum
import json
import os
from typing import Annotated, Any, NewType

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # before llguidance starts its threads

import llguidance
import llguidance.torch
import lmformatenforcer
import outlines
import pydantic
import pytest
import torch
import xgrammar
from stand_in_cases import VOCABULARY

import constraints
import in_place_of.llguidance
import in_place_of.llguidance.torch
import in_place_of.lmformatenforcer
import in_place_of.outlines
import in_place_of.xgrammar
import tokenfst
from automata.errors import NotOffered
from in_place_of.schemas import at_most_items, closed
from tokenfst.vocabulary.all_bytes import ALL_BYTES

LIST = {"type": "array", "items": {"type": "integer"}}


def accepts(constraint: Any, value: Any) -> bool:
    return tokenfst.compile(constraint, ALL_BYTES).accepts(json.dumps(value))


# XGrammar


@pytest.mark.parametrize("pattern", ["a*", "a*b", "ab|c"])
@pytest.mark.parametrize("text", ["a", "ab", "aab"])
def test_texts_do_not_end_where_they_contain_a_stop_token(pattern: str, text: str) -> None:
    found = []
    for package in (xgrammar, in_place_of.xgrammar):
        of: Any = package
        info = of.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"], stop_token_ids=[256])
        compiled = of.GrammarCompiler(info).compile_regex(pattern)
        matcher = of.GrammarMatcher(compiled, override_stop_tokens=[256, ord("a")])
        found.append((matcher.accept_string(text), matcher.is_terminated(), matcher.accept_string("a")))
    assert found[0] == found[1]


def test_a_batch_of_another_length_changes_nothing() -> None:
    info: Any = in_place_of.xgrammar.TokenizerInfo([*VOCABULARY.tokens], stop_token_ids=list(VOCABULARY.eos_ids))
    compiled = in_place_of.xgrammar.GrammarCompiler(info).compile_regex("a*")
    matchers = [in_place_of.xgrammar.GrammarMatcher(compiled) for _ in range(2)]
    batch = in_place_of.xgrammar.BatchGrammarMatcher
    for call in (
        lambda: batch.batch_accept_token(matchers, [97]),
        lambda: batch.batch_accept_string(matchers, ["a"]),
        lambda: batch.batch_rollback(matchers, [0]),
    ):
        with pytest.raises(ValueError, match="shorter"):
            call()
        assert not any(matcher.matcher.num_tokens for matcher in matchers)
    number: Any
    for number in (0, -1, 1.5, "foo"):
        with pytest.raises(ValueError, match="threads is positive"):
            batch(number)


def test_wrong_arguments_of_xgrammar() -> None:
    info: Any = in_place_of.xgrammar.TokenizerInfo([*VOCABULARY.tokens], stop_token_ids=list(VOCABULARY.eos_ids))
    compiler: Any = in_place_of.xgrammar.GrammarCompiler(info)
    with pytest.raises(TypeError, match="expected a Grammar of this package, or text, not int"):
        compiler.compile_grammar(5)
    stops = [*VOCABULARY.eos_ids, 5_000]
    with pytest.raises(ValueError, match="not one of the vocabulary's"):
        in_place_of.xgrammar.GrammarMatcher(compiler.compile_regex("a"), override_stop_tokens=stops)


# llguidance


class Named:
    """Single bytes, and special tokens whose names are alike."""

    eos_token_id, bos_token_id, special_token_ids = 258, None, (256, 257, 258, 259, 260)
    tokens = (*(bytes([byte]) for byte in range(256)), b"<u>", b"<u>", b"<u>", b"\xff", b"\xfe")

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


def test_special_tokens_whose_names_are_alike_write_nothing() -> None:
    masks = []
    for package in (llguidance, in_place_of.llguidance):
        of: Any = package
        tokenizer = of.LLTokenizer(of.TokenizerWrapper(Named()))
        assert all(map(tokenizer.is_special_token, Named.special_token_ids))
        matcher = of.LLMatcher(tokenizer, of.LLMatcher.grammar_from_regex("(<u>|[a-z])*"))
        masks.append(matcher.compute_bitmask())
    assert masks[0] == masks[1]


OBJECT = {
    "type": "object",
    "properties": {"a": {"const": 1}, "b": {"const": 1}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
SPACED = ['{"a":1,"b":1}', '{"a":1, "b":1}', '{"a": 1, "b": 1}', '{ "a":1,"b":1}', '{ "a":1, "b":1 }']


def read_by_llguidance(package: Any, options: dict[str, Any]) -> list[bool]:
    tokenizer = package.LLTokenizer(package.TokenizerWrapper(Named()))
    grammar = package.LLMatcher.grammar_from_json_schema(json.dumps(OBJECT), defaults=options)
    found = []
    for text in SPACED:
        matcher = package.LLMatcher(tokenizer, grammar, log_level=0)
        found.append(bool(matcher.consume_tokens(list(text.encode()))) and matcher.is_accepting())
    return found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"whitespace_pattern": ""},
        {"whitespace_pattern": " "},
        {"whitespace_flexible": False},
        {"whitespace_flexible": False, "item_separator": ", "},
        {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "},
        {"item_separator": ",", "key_separator": ":"},
    ],
    ids=str,
)
def test_white_space_of_llguidance(options: dict[str, Any]) -> None:
    assert read_by_llguidance(in_place_of.llguidance, options) == read_by_llguidance(llguidance, options)


@pytest.mark.parametrize("options", [{"item_separator": ", "}, {"whitespace_pattern": " ", "key_separator": ": "}])
def test_separators_beside_flexible_white_space_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(NotOffered, match="separator beside flexible whitespace"):
        read_by_llguidance(in_place_of.llguidance, options)


def test_a_mask_that_does_not_fit_changes_nothing() -> None:
    for package in (llguidance.torch, in_place_of.llguidance.torch):
        of: Any = package
        logits = torch.zeros(2, 40)
        with pytest.raises((ValueError, AssertionError)):
            of.apply_token_bitmask_inplace(logits, torch.tensor([[5]], dtype=torch.int32))
        assert not logits.any()


@pytest.mark.parametrize("arguments", [("",), (5,), ('{"a":1}', None, 0)])
def test_what_is_no_tokenizer_is_refused(arguments: tuple[Any, ...]) -> None:
    for package in (llguidance, in_place_of.llguidance):
        of: Any = package
        with pytest.raises((ValueError, TypeError)):
            of.LLTokenizer(*arguments)
    with pytest.raises(ValueError, match="eos_token is empty"):
        in_place_of.llguidance.LLTokenizer(in_place_of.llguidance.TokenizerWrapper(Named()), eos_token=[])


def test_wrong_arguments_of_executors() -> None:
    package: Any = in_place_of.llguidance
    for number in (0, -1, "x"):
        with pytest.raises(ValueError, match="the number of threads is positive"):
            package.LLExecutor(number)
    tokenizer = package.LLTokenizer(package.TokenizerWrapper(Named()))
    matcher = package.LLMatcher(tokenizer, package.LLMatcher.grammar_from_regex("a"))
    masks = in_place_of.llguidance.torch.allocate_token_bitmask(2, 261)
    for row in (-1, 2):
        with pytest.raises(IndexError, match="row"):
            in_place_of.llguidance.torch.fill_next_token_bitmask_par(package.LLExecutor(), [(matcher, row)], masks)


# lm-format-enforcer


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [LIST, {**LIST, "minItems": 21}]},
        {"allOf": [LIST, {"type": "array", "minItems": 25}]},
        {"$ref": "#/$defs/l", "minItems": 25, "$defs": {"l": LIST}},
        {"type": "array", "minItems": 25, "anyOf": [LIST]},
        {**LIST, "contains": {"const": 1}, "minContains": 25},
        {"anyOf": [LIST, {"type": "null"}]},
        {"$ref": "#/definitions/a~1b", "definitions": {"a/b": LIST}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/l", "definitions": {"l": LIST}},
        {"type": "object", "then": {"items": {"type": "array"}}, "dependentSchemas": {"a": {"items": LIST}}},
        {"type": ["array", "null"], "then": {"minItems": 3}, "if": {"maxItems": 1}},
    ],
    ids=str,
)
def test_the_bound_of_arrays_changes_nothing_else(schema: dict[str, Any]) -> None:
    """Of the arrays up to the bound, the schema's own ones are valid; the bound is what was set, or what is needed."""
    least = 25 if "25" in str(schema) else 21 if "21" in str(schema) else 20
    bounded = constraints.json_schema(at_most_items(schema, 20))
    plain = constraints.json_schema(schema)
    for length in (0, 1, 2, 3, 20, 21, 24, 25, 26, 40):
        value = [1] * length
        assert accepts(bounded, value) == (length <= least and accepts(plain, value)), length


def test_an_alphabet_is_refused_wherever_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = in_place_of.lmformatenforcer.JsonSchemaParser({"type": "string"})
    parser.config.alphabet = "ab"
    with pytest.raises(NotOffered, match="alphabet"):
        _ = parser.constraint
    monkeypatch.setenv("LMFE_DEFAULT_ALPHABET", 'ab"')
    for of in (in_place_of.lmformatenforcer.JsonSchemaParser, in_place_of.lmformatenforcer.RegexParser):
        made: Any = of
        with pytest.raises(NotOffered, match="alphabet"):
            made({"type": "string"} if made is in_place_of.lmformatenforcer.JsonSchemaParser else "a")


def test_parsers_of_parsers_follow_the_settings_of_their_parts() -> None:
    part = in_place_of.lmformatenforcer.JsonSchemaParser(LIST)
    both = [
        of([part]) for of in (in_place_of.lmformatenforcer.UnionParser, in_place_of.lmformatenforcer.SequenceParser)
    ]
    assert all(accepts(parser.constraint, [1, 2]) for parser in both)
    part.config.max_consecutive_whitespaces = 0
    assert not any(accepts(parser.constraint, [1, 2]) for parser in both)
    assert lmformatenforcer.UnionParser([]).parsers == []
    assert tokenfst.compile is not None
    with pytest.raises(ValueError, match="no text"):
        tokenfst.compile(in_place_of.lmformatenforcer.UnionParser([]).constraint, ALL_BYTES)


# Outlines


def test_empty_white_space_is_none_at_all() -> None:
    for package in (outlines, in_place_of.outlines):
        of: Any = package
        term = of.types.JsonSchema(json.dumps(LIST), whitespace_pattern="")
        assert [term.matches(text) for text in ("[1,2]", "[1, 2]")] == [True, False]


def test_objects_that_depend_on_properties_are_closed_together() -> None:
    depends = {"a": {"properties": {"b": {"type": "integer"}}, "required": ["b"]}}
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "dependentSchemas": depends}
    found = constraints.json_schema(closed(schema))
    values = [{}, {"a": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1}]
    assert [accepts(found, value) for value in values] == [True, False, True, False]


def test_chats() -> None:
    for package in (outlines.inputs, in_place_of.outlines.inputs):
        of: Any = package
        chat = of.Chat()
        chat.add_system_message("s")
        chat.add_user_message("u")
        chat.add_assistant_message("a")
        chat.append({"role": "user", "content": "x"})
        chat.extend([{"role": "user", "content": "y"}])
        assert chat.pop()["content"] == "y"
        assert [message["role"] for message in chat.messages] == ["system", "user", "assistant", "user"]


class Shade(enum.Enum):
    """One color."""

    RED = "red"


def term_of(package: Any, ptype: Any) -> Any:
    """What a package makes of a type, as one of several."""
    return (
        package.types.Choice([ptype])
        if package is in_place_of.outlines
        else outlines.types.dsl.python_types_to_terms(ptype)
    )


def test_terms_of_fields_and_of_values() -> None:
    for package in (outlines, in_place_of.outlines):
        of: Any = package
        two = of.types.Regex("[a-z]{2}")
        model = pydantic.create_model("Model", x=two)
        assert model(x="ab").model_dump() == {"x": "ab"}
        with pytest.raises(pydantic.ValidationError):
            model(x="abc")
        term = of.types.JsonSchema(model)
        assert [term.matches(text) for text in ('{"x":"ab"}', '{"x":"abc"}')] == [True, False]
        assert [of.types.integer.matches(value) for value in (5, None, "x")] == [True, False, False]
        for ptype in (Annotated[int, 5], NewType("Number", int)):
            assert term_of(of, ptype).matches("12")
        assert term_of(of, tuple[()]).matches("()")
