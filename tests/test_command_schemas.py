"""The command with JSON Schemas: what it prints, its options, mistakes in a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import tokenfst
from decoding.command import main

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


TREE = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "additionalProperties": False}


@pytest.fixture
def schema_file(tmp_path: Path) -> Callable[[Any], str]:
    """Writes a schema to a file and gives its name."""

    def write(schema: Any) -> str:
        path = tmp_path / "schema.json"
        path.write_text(schema if isinstance(schema, str) else json.dumps(schema))
        return str(path)

    return write


def test_generate_writes_a_value_of_a_schema(
    schema_file: Callable[[Any], str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--json-schema", schema_file(PERSON), "--whitespace", "compact", "--prompt", "A person as JSON: "]
    assert main(["generate", *arguments, "--max-new-tokens", "40"]) == 0
    text = capsys.readouterr().out.removesuffix("\n")
    value = json.loads(text)
    jsonschema.validate(value, PERSON)
    assert text == json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(("schema", "has_stack"), [(PERSON, False), (TREE, True)])
def test_compile_reports_the_sizes_of_a_schema_and_saves(
    schema: Any,
    has_stack: bool,
    vocabulary_file: Path,
    schema_file: Callable[[Any], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved = tmp_path / "schema.safetensors"
    arguments = ["--json-schema", schema_file(schema), "--vocab", str(vocabulary_file), "--output", str(saved)]
    assert main(["compile", *arguments]) == 0
    printed = capsys.readouterr().out
    vocabulary = tokenfst.load_vocabulary(vocabulary_file, eos_ids=())
    assert ("symbols on the stack" in printed) == has_stack
    assert len(re.findall(r"\d+\.\d{3} ms", printed)) == 4
    if has_stack:
        nested = tokenfst.load_automaton(saved, vocabulary)
        assert nested.accepts(b'{"left": {"right": {}}}')
        assert not nested.accepts(b'{"left": 1}')
    else:
        flat = tokenfst.load_automaton(saved, vocabulary)
        assert flat.accepts(list(b'{"name": "Ada", "age": 36}'))
        assert not flat.accepts(list(b'{"name": "Ada", "age": 360}'))


def test_draw_writes_both_automata_of_a_schema(
    schema_file: Callable[[Any], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = ["--tokens", "{},{,},null,null]", "--output", str(tmp_path / "pictures")]
    assert main(["draw", "--json-schema", schema_file({"enum": [{}, None]}), *tokens]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert ">&quot;null&quot;</text>" in paths[1].read_text()


def test_properties_may_come_in_any_order(
    schema_file: Callable[[Any], str], vocabulary_file: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "schema.safetensors"
    arguments = ["compile", "--json-schema", schema_file(PERSON), "--vocab", str(vocabulary_file)]
    accepted = []
    for order in ("schema", "any"):
        assert main([*arguments, "--output", str(saved), "--property-order", order]) == 0
        automaton = tokenfst.load_automaton(saved, tokenfst.load_vocabulary(vocabulary_file, eos_ids=()))
        accepted.append(automaton.accepts(list(b'{"age": 36, "name": "Ada"}')))
    assert accepted == [False, True]


def test_strings_may_be_spelled_in_any_way(
    schema_file: Callable[[Any], str], vocabulary_file: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "schema.safetensors"
    arguments = ["compile", "--json-schema", schema_file({"const": "yes"}), "--vocab", str(vocabulary_file)]
    accepted = []
    for spellings in ([], ["--spellings", "plain"], ["--spellings", "all"]):
        assert main([*arguments, "--output", str(saved), *spellings]) == 0
        automaton = tokenfst.load_automaton(saved, tokenfst.load_vocabulary(vocabulary_file, eos_ids=()))
        accepted.append([automaton.accepts(list(text)) for text in (b'"yes"', rb'"\u0079es"')])
    assert accepted == [[True, False], [True, False], [True, True]]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"properties": {"tags": {"oneOf": [{"uniqueItems": True}, {"maxItems": 2}]}}},
            "needs memory of all items, since two of them must be equal where it does not hold: under `not`, or to tell"
            " variants apart (at /properties/tags/oneOf/0/uniqueItems, keyword 'uniqueItems')",
        ),
        (
            {"type": "object", "properties": {"age": {"$ref": "#/$defs/years"}}},
            "the reference '#/$defs/years' leads to nothing (at /properties/age/$ref, keyword '$ref')",
        ),
        ({"properties": {"a": {"type": "int"}}}, "(at /properties/a/type, keyword 'type')"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "no value satisfies"),
        ("[]", "a schema must be an object or a boolean, not [] (at the root)"),
        ('{"type": NaN}', "(at /type, keyword 'type')"),
        ('{\n "type": string}', "is not valid JSON: Expecting value (line 2, column 10)"),
        ('{"items": ' * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_schema_gets_one_line_with_the_place(
    schema: Any, message: str, schema_file: Callable[[Any], str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = schema_file(schema)
    assert main(["generate", "--json-schema", name]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith(f"tokenfst: {name}")
    assert message in line


def test_what_is_left_out_is_told(
    schema_file: Callable[[Any], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = {"type": "string", "format": "color", "maxLength": 1}
    schema = {"items": items, "oneOf": [{"uniqueItems": True}, {"minItems": 1}], "type": "array"}
    arguments = ["--tokens", '[,],",a', "--output", str(tmp_path), "--unsupported", "relax"]
    assert main(["draw", "--json-schema", schema_file(schema), *arguments]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("compiling")]
    assert told == [
        "tokenfst: /oneOf/0/uniqueItems is left out: needs memory of all items, since two of them must be equal where"
        " it does not hold: under `not`, or to tell variants apart",
        "tokenfst: /oneOf is left out: it is read as anyOf, since without what is left out two alternatives may hold",
        "tokenfst: /items/format constrains nothing: no draft defines the format 'color'",
    ]


def test_numbers_of_a_schema_file_are_not_rounded(
    schema_file: Callable[[Any], str], tmp_path: Path, vocabulary_file: Path
) -> None:
    saved = tmp_path / "schema.safetensors"
    name = schema_file('{"type": "number", "minimum": 0.10000000000000000001, "maximum": 0.2}')
    assert main(["compile", "--json-schema", name, "--vocab", str(vocabulary_file), "--output", str(saved)]) == 0
    automaton = tokenfst.load_automaton(saved, tokenfst.load_vocabulary(vocabulary_file, eos_ids=()))
    assert [automaton.accepts(list(text)) for text in (b"0.1", b"0.10000000000000000001")] == [False, True]
