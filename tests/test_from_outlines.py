"""The stand-in of Outlines beside Outlines: the same types, languages, and texts of the same model."""

from __future__ import annotations

import datetime
import enum
import json
import re
import sys
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import outlines
import pydantic
import pytest
import torch
from outlines.types.dsl import to_regex
from stand_in_cases import unknown
from typing_extensions import TypedDict

import in_place_of.outlines as stand_in
from automata.errors import IncompleteOutput, NotOffered, SchemaError, UnsupportedTokenizer
from decoding import bundled_model

TOKENIZER: Any
MODEL, TOKENIZER = bundled_model()
MODELS: tuple[Any, Any] = outlines.from_transformers(MODEL, TOKENIZER), stand_in.from_transformers(MODEL, TOKENIZER)
PACKAGES: tuple[Any, Any] = outlines, stand_in


@pytest.fixture(autouse=True)
def without_a_compiler() -> Iterator[None]:
    """Keep Outlines from compiling its masking with `torch.compile`, which takes up to a minute."""
    with torch.compiler.set_stance("force_eager"):
        yield


class Color(enum.Enum):
    """Texts and a number."""

    RED = "red"
    TWO = 2


class User(pydantic.BaseModel):
    """What is listed, and nothing else."""

    ok: bool
    kind: Literal["a", "b"] = "a"


@dataclass
class Point:
    """Two places."""

    x: int
    y: None = None


class Named(TypedDict):
    """One name."""

    ok: bool


# Types, and texts that each of them is asked about.
PLAIN = [
    "1",
    "-12",
    "+3",
    "01",
    "1.5",
    "2e-3",
    "True",
    "true",
    '"a b"',
    "a",
    "None",
    "2020-02-30",
    "12:30:59",
    "red",
    "",
]
LISTS = ["[1]", "[1, 2]", "[1,2]", "[]", "(1, 2)", "(1)", "(1, True)", '["red"]', "[red]", '["red", 2]', "{}"]
DICTS = ['{"a":1}', '{"a":1, "b":2}', '{"1":True}', "{1:True}", '{"a": 1}', "{}"]
OBJECTS = [
    '{"ok": true}', '{"ok":true}', '{ "ok" : true }', '{"ok":  true}', '{"ok": true, "kind": "b"}', "{}",
    '{"ok": true, "kind": "c"}', '{"ok": true, "more": 1}', '{"x": 1}', '{"x": 1, "y": null}', '{"x": 1.5}',
]  # fmt: skip
DATES = [datetime.date, datetime.time, datetime.datetime]
TYPES: list[Any] = [
    int, float, bool, str, *DATES, "a", 1, 1.5, True, Literal["red", 2], Color, int | None, list[int], tuple[int, bool],
    tuple[int, ...], list[Literal["red", 2]], list[Color], dict[str, int], dict[int, bool], list[list[int]], User,
    Point, Named, int | Literal["a"],
]  # fmt: skip


@pytest.mark.parametrize("ptype", TYPES, ids=str)
def test_types(ptype: Any) -> None:
    theirs = re.compile(to_regex(outlines.types.dsl.python_types_to_terms(ptype)))
    ours = stand_in.types.python_types_to_terms(ptype)
    texts = [*PLAIN, *LISTS, *DICTS, *OBJECTS, "2020-02-03 12:30:59", "[[1], [2, 3]]"]
    found = [text for text in texts if ours.matches(text)]
    assert found == [text for text in texts if theirs.fullmatch(text)]
    assert found


def made(types: Any) -> dict[str, Any]:
    """Terms of each kind, of either package."""
    digit = types.Regex("[0-9]")
    return {
        "sum": "a" + digit + "b",
        "either": "ab" | digit | types.either("c", types.Regex("d*")),
        "counts": types.exactly(2, digit) + "," + types.at_least(1, "a") + types.at_most(2, "b") + digit.between(1, 2),
        "more": digit.optional() + types.zero_or_more("ab") + types.one_or_more(digit) + types.optional("c"),
        "methods": digit.exactly(1) + digit.at_least(1) + digit.at_most(1) + digit.one_or_more() + digit.zero_or_more(),
        "choice": types.Choice(["ab", 1, "a.b"]),
        "functions": types.regex("[ab]{2}"),
        "types": types.integer | types.boolean | types.date,
        "schema": types.json_schema({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}),
        "whitespace": types.JsonSchema('{"type": "array", "items": {"type": "null"}}', whitespace_pattern="[ ]{0,2}"),
    }


TEXTS = [
    "a1b", "ab", "5", "c", "ddd", "12,ab1", "12,abb12", "12,1", "ab3", "1ab2c", "11", "111", "a.b", "axb", "aa", "ba",
    "1", "-7", "True", "2020-01-02", '{"a":true}', '{"b":1}', '{"a":true,"b":1}', "[null]", "[null,null]", "[null,null",
]  # fmt: skip


@pytest.mark.parametrize("name", list(made(stand_in.types)))
def test_terms(name: str) -> None:
    theirs, ours = (made(package.types)[name] for package in PACKAGES)
    texts = [*TEXTS, '{"a": true}', '{"a":  true}', "[null,  null]", "[null,   null]"]
    assert [text for text in texts if ours.matches(text)] == [text for text in texts if theirs.matches(text)]
    good = next(text for text in texts if ours.matches(text))
    assert ours.validate(good) == theirs.validate(good) == good
    with pytest.raises(ValueError):
        ours.validate("?")


PATTERNS = ["(yes|no), [a-z]{2}", "a (fox|dog)"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_of_a_model(pattern: str) -> None:
    """The likeliest tokens are the same ones where the language is the same."""
    written = []
    for package, model in zip(PACKAGES, MODELS, strict=True):
        generator = package.Generator(model, package.types.Regex(pattern))
        batch = generator.batch(["Say: ", "The "], max_new_tokens=12)
        written.append((batch, model("Say: ", package.types.Regex(pattern), max_new_tokens=12)))
    assert written[0] == written[1]
    assert all(re.fullmatch(pattern, text) for text in written[1][0])


def test_models_of_pydantic() -> None:
    written = [
        package.Generator(model, User)("User: ", max_new_tokens=60)
        for package, model in zip(PACKAGES, MODELS, strict=True)
    ]
    for text in written:
        User.model_validate_json(text)


def test_what_is_better_here() -> None:
    """Streams, texts that are complete, and recursion."""
    generator = stand_in.Generator(MODELS[1], Literal["yes", "no"])
    assert "".join(generator.stream("Say: ", max_new_tokens=10)) in ("yes", "no")
    assert "".join(MODELS[1].stream("Say: ", bool, max_new_tokens=10)) in ("True", "False")
    with pytest.raises(IncompleteOutput):
        stand_in.Generator(MODELS[1], stand_in.regex("[a-z]{30}[0-9]{30}"))("Say: ", max_new_tokens=5)
    nested = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}
    assert stand_in.json_schema(nested).matches("[[[[[[[[[]]]], []]]]]]")


def test_settings() -> None:
    generator = stand_in.Generator(MODELS[1], stand_in.regex("[a-z]{3}"), "outlines_core")
    several = generator("Say: ", do_sample=True, num_return_sequences=3, seed=1)
    assert len(several) == 3
    assert generator("Say: ", do_sample=True, num_return_sequences=3, seed=1) == several
    by_prompt = generator.batch(["Say: ", "The "], do_sample=True, num_return_sequences=2, temperature=2.0)
    assert [len(texts) for texts in by_prompt] == [2, 2]
    assert MODELS[1].batch(["Say: "], int, max_new_tokens=4)[0].lstrip("+-").isdigit()
    assert isinstance(stand_in.Generator(MODELS[1])("Say: ", max_new_tokens=3), str)


def test_templates_of_chats(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }} {% endfor %}you: "
    monkeypatch.setattr(TOKENIZER, "chat_template", template)
    model = stand_in.from_transformers(MODEL, TOKENIZER)
    chat = stand_in.inputs.Chat([{"role": "user", "content": "Say"}])
    assert model._prompt("Say") == model._prompt(chat) == "user: Say you: "


def test_grammars() -> None:
    term = stand_in.cfg('start: "(" start ")" | "a"')
    assert term.matches("((a))")
    assert not term.matches("((a)")
    assert (term + "!").matches("(a)!")
    assert term.between(1, 2).matches("(a)a")
    assert (stand_in.json_schema(User) | "none").matches("none")
    assert stand_in.types.python_types_to_terms(dict).matches(json.dumps({"a": [1, {}]}))


def test_keys_of_dicts() -> None:
    for ptype in (dict[int | None, int], dict[tuple[int, int], int], dict[str, int], dict[bool, int]):
        theirs = re.compile(to_regex(outlines.types.dsl.python_types_to_terms(ptype)))
        ours = stand_in.types.python_types_to_terms(ptype)
        for text in ('{"None":1}', "{None:1}", "{(1, 2):1}", '{"(1, 2)":1}', '{"1":1}', '{"a":None}', '{"True":3}'):
            assert ours.matches(text) == bool(theirs.fullmatch(text)), (ptype, text)


def test_what_is_not_there_is_named() -> None:
    # What is for adapters of one's own, and unions for annotations.
    own = {"TransformerTokenizer", "ModelTypeAdapter", "SteerableModel", "BlackBoxModel", "AsyncBlackBoxModel"}
    assert set(unknown(outlines, stand_in)) <= own
    for call in (
        lambda: stand_in.types.CFG.from_file("grammar.lark"),
        lambda: stand_in.types.JsonSchema.from_file("schema.json"),
        lambda: stand_in.from_openai,
        lambda: stand_in.Template,
        lambda: stand_in.inputs.Image,
        lambda: stand_in.types.email,
        lambda: stand_in.types.isbn,
        lambda: stand_in.Generator(MODELS[0], int),
        lambda: stand_in.Generator(MODELS[1], processor=object()),
    ):
        with pytest.raises(NotOffered, match="is not offered: "):
            call()
    for module in (stand_in, stand_in.types, stand_in.inputs):
        with pytest.raises(AttributeError):
            _ = module.no_such_name
    with pytest.raises(TypeError, match="typed"):
        stand_in.types.python_types_to_terms(set[int])
    with pytest.raises(ValueError, match="numbers"):
        stand_in.types.between(3, 2, "a")
    with pytest.raises(SchemaError):
        stand_in.json_schema(3)
    with pytest.raises((TypeError, UnsupportedTokenizer)):
        stand_in.from_transformers(MODEL, object())


def test_types_without_a_schema_and_choices_of_nothing_are_refused() -> None:
    class Old(typing.TypedDict):
        name: str

    if sys.version_info < (3, 12):
        with pytest.raises(SchemaError, match=r"typing_extensions\.TypedDict"):
            stand_in.types.JsonSchema(Old)
    for make in (stand_in.types.either, lambda: stand_in.types.Choice([])):
        with pytest.raises(ValueError, match="no terms to choose from"):
            make()
