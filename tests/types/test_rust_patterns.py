"""Patterns of Pydantic's engine, in JSON and in constructor calls, against Pydantic itself."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator, core_schema

from automata.errors import UnsupportedSchema
from constraints.types import dataclass, typed
from constraints.types.rust import members

PATTERNS = [
    *(r"^[]a]$", r"^[^]a]$", r"^[]-a]$", r"^[\]-a]$", r"^[-a]$", r"^[a-]$", r"^[\w-]$", r"^[^\w\s]$", r"^[\W\d]$"),
    *(r"\<a\>", r"\b{start}a", r"a\b{end}", r"\b{start-half}a", r"a\b{end-half}", r"\bé", r"\B-\B"),
    *(r"^\pL$", r"^\PL$", r"^\p{Greek}\PL$", r"^\a$", r"^\x{61}$", r"^\u{61}$", r"^\u0061$", r"^\U00000061$"),
    *(r"^[\x{61}-\u{63}]$", r"^\(?a\)?$", r"^(?P<n>a)b?$", r"^(?<n>a)$", r"^x{1}}$", r"^\/\_$"),
]
SPECIAL = "aAb]-^_[\\().x}é\u0301αΑ\u0558٣7 \t\n\x07/"


def takes(adapter: TypeAdapter[Any], value: str) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_are_those_that_pydantic_takes(pattern: str) -> None:
    annotation = Annotated[str, Field(pattern=pattern)]
    in_json, in_calls, adapter = typed(annotation), dataclass(annotation), TypeAdapter[str](annotation)
    for text in ["", *SPECIAL, *(f"{first}{second}" for first in SPECIAL for second in "a-αé ")]:
        expected = takes(adapter, text)
        assert in_json.allows(json.dumps(text, ensure_ascii=False)) == expected, text
        assert in_calls.allows(repr(text)) == expected, text


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([r"\w", r"\d", r"\s", r"\W", r"\pL", r"\p{Greek}", r"\P{Lu}"]), st.characters())
def test_classes_are_those_of_the_engine(escape: str, character: str) -> None:
    reads = SchemaValidator(core_schema.str_schema(pattern=f"^{escape}$")).isinstance_python
    assert any(low <= ord(character) <= high for low, high in members(escape)) == reads(character)


def test_a_class_has_the_unicode_version_of_the_engine() -> None:
    reads = SchemaValidator(core_schema.str_schema(pattern=r"^\w$")).isinstance_python
    found = {code for low, high in members(r"\w") for code in range(low, high + 1)}
    assert found == {code for code in range(0x110000) if not 0xD800 <= code < 0xE000 and reads(chr(code))}


@pytest.mark.parametrize(
    "pattern", ["a**", "a{2}{3}", "a++", "a{ 2}", "[a[b]]", "[a&&b]", "[+--]", "(?i)a", "(?i:a)", "(?x: a)", "^*"]
)
def test_what_is_not_translated_is_refused_with_the_field(pattern: str) -> None:
    class Holder(BaseModel):
        value: str = Field(pattern=pattern)

    with pytest.raises(UnsupportedSchema) as caught:
        typed(Holder)
    assert (caught.value.pointer, caught.value.keyword) == ("/value", "pattern")


class Python(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")

    value: str = Field(pattern=r"(?=a)\w\Z")


FLAGS = [
    *(re.compile("^a$", re.I), re.compile("^a b$", re.X), re.compile("^a$", re.M), re.compile("^.$", re.S)),
    *(re.compile(r"^\w$", re.A), re.compile(r"^\w$"), re.compile("b")),
]


@pytest.mark.parametrize("pattern", FLAGS, ids=repr)
def test_compiled_patterns_are_read_as_python_reads_them(pattern: re.Pattern[str]) -> None:
    constraint = typed(Annotated[str, Field(pattern=pattern)])
    for text in ["", "ab", "a b", "b\na", "a\n", *SPECIAL]:
        assert constraint.allows(json.dumps(text, ensure_ascii=False)) == takes(constraint.adapter, text), text


def test_the_engine_may_be_pythons() -> None:
    constraint = typed(Python)
    for text in ("a", "b", "ba", "ab", "a\n"):
        try:
            constraint.adapter.validate_python({"value": text})
            valid = True
        except ValidationError:
            valid = False
        assert constraint.allows(json.dumps({"value": text})) == valid, text
    with pytest.raises(UnsupportedSchema, match=r"back-reference.*at the root, keyword 'pattern'"):
        typed(Annotated[str, Field(pattern=re.compile(r"(a)\1"))])


def test_ascii_only() -> None:
    constraint = typed(Annotated[str, StringConstraints(ascii_only=True, pattern="b")])
    assert [constraint.allows(text) for text in ('"ab"', '"bé"', '"a"')] == [True, False, False]
    with pytest.raises(UnsupportedSchema, match="to_lower"):
        typed(Annotated[str, StringConstraints(ascii_only=True, to_lower=True)])
