"""The stand-in of lm-format-enforcer beside lm-format-enforcer: the same calls, with the same results."""

from __future__ import annotations

import importlib
import sys
from random import Random
from typing import Any
from unittest.mock import patch

import lmformatenforcer
import pytest
import torch
import transformers

import in_place_of.lmformatenforcer as stand_in
from automata.errors import NotOffered, PatternError, SchemaError
from decoding import bundled_model
from in_place_of.lmformatenforcer import integrations
from in_place_of.lmformatenforcer.integrations import transformers as ours

# It looks for a class of transformers where that had it before its version 5.
with patch.dict(sys.modules, {"transformers.tokenization_utils": transformers.tokenization_utils_base}):
    theirs = importlib.import_module("lmformatenforcer.integrations.transformers")

MODEL, TOKENIZER = bundled_model()
PATTERNS = ["(yes|no), [a-z]{1,4}", "[0-9]{2}-[0-9]{2}", "a fox( jumps)*", "x?y?z?"]
# lm-format-enforcer takes no whitespace before the colon of a value and none at other places where JSON has some, so
# texts are compared one by one.
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "bc": {"type": "array", "items": {"type": "boolean"}}},
    "required": ["a"],
}
THEIR_DATA = theirs.build_token_enforcer_tokenizer_data(TOKENIZER)


def functions(parser: Any, other: Any) -> tuple[Any, Any]:
    return (
        theirs.build_transformers_prefix_allowed_tokens_fn(THEIR_DATA, parser),
        ours.build_transformers_prefix_allowed_tokens_fn(TOKENIZER, other),
    )


def same(first: Any, second: Any, draw: Random, steps: int = 12) -> None:
    """Both allow the same tokens along a text, and after a token that is not allowed."""
    tokens = TOKENIZER("Say: ")["input_ids"]
    for _ in range(steps):
        allowed = sorted(set(first(0, torch.tensor(tokens))))
        assert second(0, torch.tensor(tokens)) == allowed
        token = draw.choice(allowed)
        if token == TOKENIZER.eos_token_id:
            break
        tokens = [*tokens, token]
    assert second(0, torch.tensor([*tokens, TOKENIZER.eos_token_id, 5])) == second(
        0, [*tokens, TOKENIZER.eos_token_id, 5]
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    for seed in range(4):
        both = functions(lmformatenforcer.RegexParser(pattern), stand_in.RegexParser(pattern))
        same(*both, Random(seed))
        same(*both, Random(seed + 100))


def test_parsers_of_parsers() -> None:
    for seed in range(4):
        made = []
        for package in (lmformatenforcer, stand_in):
            one, other = package.StringParser("yes, "), package.RegexParser("[ab]{2}")
            made.append(package.SequenceParser([package.UnionParser([one, other]), package.RegexParser("[0-9]")]))
        same(*functions(*made), Random(seed))


def accepts(function: Any, text: str) -> bool:
    """Whether single characters may come one after the other, and then the end."""
    tokens = [0]
    for character in text:
        (token,) = TOKENIZER.encode(character, add_special_tokens=False)[-1:]
        if token not in function(0, tokens if function.__module__.startswith("in_place_of") else torch.tensor(tokens)):
            return False
        tokens.append(token)
    return TOKENIZER.eos_token_id in function(0, torch.tensor(tokens))


TEXTS = [
    '{"a": 1}',
    '{"a":1}',
    '{"a": 12, "bc": [true, false]}',
    '{ "a": -3 }',
    '{"bc": [], "a": 0}',
    '{"bc": []}',
    '{"a": 1, "d": 2}',
    '{"a": true}',
    '{"a": 1',
    '{"bc": [' + ", ".join(["true"] * 21) + '], "a": 0}',
    '{"bc": [' + ", ".join(["true"] * 10) + '], "a": 0}',
    '{"a":' + 12 * " " + "1}",
    '{"a":' + 13 * " " + "1}",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("options", [{}, {"max_json_array_length": 30, "max_consecutive_whitespaces": 1}], ids=str)
def test_schemas(text: str, options: dict[str, Any]) -> None:
    first, second = functions(
        lmformatenforcer.JsonSchemaParser(SCHEMA, lmformatenforcer.CharacterLevelParserConfig(**options)),
        stand_in.JsonSchemaParser(SCHEMA, stand_in.CharacterLevelParserConfig(**options)),
    )
    if not options:
        # lm-format-enforcer gives a parser the defaults again when a function is made of it.
        assert accepts(second, text) == accepts(first, text)
    else:
        assert accepts(second, text) == (text in TEXTS[:5] or text in TEXTS[9:11])


def test_arrays_have_as_many_items_as_was_asked_for() -> None:
    """Where lm-format-enforcer stops earlier."""
    first, second = functions(lmformatenforcer.JsonSchemaParser(SCHEMA), stand_in.JsonSchemaParser(SCHEMA))
    for number in (17, 20, 21):
        text = '{"a": 0, "bc": [' + ", ".join(["true"] * number) + "]}"
        assert accepts(second, text) == (number <= 20)
        assert not accepts(first, text)


@pytest.mark.parametrize(
    ("schema", "place"),
    [({"type": 5}, "at /type"), ({"items": {"type": "array", "minItems": "2"}}, "at /items/minItems")],
)
def test_a_broken_schema_is_refused_with_its_place(schema: Any, place: str) -> None:
    with pytest.raises(SchemaError, match=place):
        stand_in.JsonSchemaParser(schema)


def test_settings_may_be_changed_on_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = stand_in.JsonSchemaParser({"type": "array", "items": {"type": "null"}})
    for most in (20, 1, 3):
        parser.config.max_json_array_length = most
        function = ours.build_transformers_prefix_allowed_tokens_fn(TOKENIZER, parser)
        for number in (1, 2, 3, 4):
            assert accepts(function, f"[{', '.join(['null'] * number)}]") == (number <= most)
    monkeypatch.setenv("LMFE_MAX_JSON_ARRAY_LENGTH", "0")
    monkeypatch.setenv("LMFE_STRICT_JSON_FIELD_ORDER", "True")
    monkeypatch.setenv("LMFE_MAX_CONSECUTIVE_WHITESPACES", "2")
    defaults, theirs = stand_in.CharacterLevelParserConfig(), lmformatenforcer.CharacterLevelParserConfig()
    for name in ("max_json_array_length", "force_json_field_order", "max_consecutive_whitespaces"):
        assert getattr(defaults, name) == getattr(theirs, name)


def test_the_order_of_properties() -> None:
    in_order = stand_in.JsonSchemaParser(SCHEMA, stand_in.CharacterLevelParserConfig(force_json_field_order=True))
    function = ours.build_transformers_prefix_allowed_tokens_fn(TOKENIZER, in_order)
    assert accepts(function, '{"a": 1, "bc": []}')
    assert not accepts(function, '{"bc": [], "a": 1}')
    anything = ours.build_transformers_prefix_allowed_tokens_fn(TOKENIZER, stand_in.JsonSchemaParser(None))
    assert accepts(anything, '[1, {"x": null}]')


def test_generate_writes_the_same() -> None:
    inputs = TOKENIZER(["The fox ", "Say: "], return_tensors="pt", padding=True, padding_side="left")
    for pattern in PATTERNS[:2]:
        settings = {**inputs, "max_new_tokens": 8, "do_sample": False, "pad_token_id": TOKENIZER.eos_token_id}
        written = [
            theirs.generate_enforced(MODEL, THEIR_DATA, lmformatenforcer.RegexParser(pattern), **settings),
            ours.generate_enforced(MODEL, TOKENIZER, stand_in.RegexParser(pattern), **settings),
        ]
        assert torch.equal(written[0], written[1])


def test_padding_and_what_is_not_there() -> None:
    data = ours.build_token_enforcer_tokenizer_data(TOKENIZER, vocab_size=len(TOKENIZER) + 5)
    assert len(data.vocabulary) == len(TOKENIZER) + 5
    parser = stand_in.RegexParser("a")
    alphabet: Any = "abc"
    for call in (
        lambda: parser.add_character("a"),
        lambda: stand_in.TokenEnforcer,
        lambda: integrations.vllm,
        lambda: ours.build_token_enforcer_tokenizer_data(TOKENIZER, use_bitmask=True),
        lambda: stand_in.JsonSchemaParser({}, num_consecutive_whitespaces=2),
        lambda: stand_in.RegexParser("a", stand_in.CharacterLevelParserConfig(alphabet=alphabet)),
        lambda: ours.generate_enforced(MODEL, data, parser, output_scores=True, return_dict_in_generate=True),
    ):
        with pytest.raises(NotOffered, match="is not offered: "):
            call()
    with pytest.raises(PatternError):
        stand_in.RegexParser("a(")
    with pytest.raises(AttributeError):
        _ = stand_in.no_such_name
