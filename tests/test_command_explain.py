"""`tokenfst explain`: what it prints, as text and as JSON, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import constraints
import tokenfst
from decoding.command import main
from tokenfst.vocabulary.all_bytes import ALL_BYTES

PATTERN = r"\d{4}-[01]\d"


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out.removesuffix("\n")


def test_it_prints_the_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    found = tokenfst.explain(PATTERN, ALL_BYTES, "20", "x")
    assert asked(capsys, "--regex", PATTERN, "--prefix", "20", "--token", "x") == str(found)
    assert asked(capsys, "--regex", PATTERN, "--prefix", "20", "--token-id", "120") == str(found)
    shown = asked(capsys, "--regex", PATTERN, "--prefix", "20", "--token", "x", "--json")
    assert json.loads(shown) == json.loads(json.dumps(found.as_dict()))
    assert asked(capsys, "--regex", PATTERN) == str(tokenfst.explain(PATTERN, ALL_BYTES))


def test_a_token_of_several_bytes_needs_no_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(asked(capsys, "--regex", PATTERN, "--prefix", "20", "--token", "2-", "--json"))
    assert (shown["allowed"], shown["token_offset"]) == (False, 1)


def test_the_end_of_a_grammar_and_a_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(asked(capsys, "--grammar", "json", "--prefix", "[1,", "--end", "--json"))
    assert (shown["reason"], shown["completion"]) == ("end", "0]")
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"type": "array", "maxItems": 1}))
    shown = json.loads(asked(capsys, "--json-schema", str(path), "--prefix", "[1", "--token", ",", "--json"))
    assert shown["keywords"] == ["/maxItems"]
    assert shown == json.loads(
        json.dumps(
            tokenfst.explain(constraints.json_schema({"type": "array", "maxItems": 1}), ALL_BYTES, "[1", ",").as_dict()
        )
    )


def test_a_vocabulary_from_a_file(vocabulary_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--regex", "Yes|No", "--vocab", str(vocabulary_file)]
    vocabulary = tokenfst.load_vocabulary(vocabulary_file, eos_ids=())
    assert asked(capsys, *arguments, "--token", "Yes") == str(tokenfst.explain("Yes|No", vocabulary, "", "Yes"))
    assert main(["explain", *arguments, "--end"]) == 2
    assert "names no end token" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--regex", "(", "--token", "a"], "never closed"),
        (["--regex", "a", "--token-id", "999"], "outside the vocabulary"),
        (["--regex", "a", "--vocab", "no-such-file.json"], "tokenfst: no-such-file.json: No such file"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
