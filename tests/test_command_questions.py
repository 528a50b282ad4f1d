"""The subcommands that ask about a constraint or a vocabulary: sample, check, explain, vocab, bench; and what all
share: types, standard input, JSON, completion."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tokenfst
from decoding.command import main

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "string", "pattern": "^[a-z]{2,9}$"}, "flag": {"type": "boolean"}},
    "required": ["n"],
    "additionalProperties": False,
}


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(arguments) == status
    return capsys.readouterr().out


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return path


def test_samples_match_and_have_the_length(capsys: pytest.CaptureFixture[str]) -> None:
    texts = asked(capsys, "sample", "--regex", "[a-d]+|x{3}", "-n", "200", "--length", "3-4").splitlines()
    assert len(texts) == 200
    assert all(re.fullmatch("[a-d]{3,4}|x{3}", text) for text in texts)
    # Uniform: there are 64 texts of three letters and 256 of four.
    assert 120 < sum(len(text) == 4 for text in texts) < 190


def test_samples_of_a_grammar_are_texts_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    texts = json.loads(asked(capsys, "sample", "--grammar", "json", "-n", "30", "--length", "4-40", "--json"))
    assert len(texts) == 30
    for text in texts:
        json.loads(text)
        assert 4 <= len(text.encode()) <= 40


def test_samples_of_no_such_length(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "--regex", "a{5}", "--length", "3"]) == 2
    assert main(["sample", "--grammar", "json", "--length", "0"]) == 2
    told = capsys.readouterr().err
    for message in ("no text has 3 bytes; the shortest has 5", "the shortest text has 1 bytes"):
        assert message in told


@pytest.mark.parametrize("length", ["3-2", "-8", "8-", "-", "", "2-3-4", "x"])
def test_what_is_no_length_is_refused(capsys: pytest.CaptureFixture[str], length: str) -> None:
    assert main(["sample", "--regex", "a{8}", "--length", length]) == 2
    assert f"a length, or two with a hyphen between them, not {length!r}" in capsys.readouterr().err


def test_samples_of_a_schema_are_valid(capsys: pytest.CaptureFixture[str], schema_file: Path) -> None:
    for text in json.loads(asked(capsys, "sample", "--json-schema", str(schema_file), "-n", "20", "--json")):
        Draft202012Validator(SCHEMA).validate(json.loads(text))


def test_check_takes_one_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--regex", "a+b", "--text", "aab"]) == 0
    assert main(["check", "--regex", "a+b", "--text", "aab", "text.txt"]) == 2
    assert "the text is a file, or it is given with --text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pattern", "text", "line", "column", "what"),
    [
        ("ab+c", "abbd", 1, 4, "not allowed here"),
        ("ab+c", "abb", 1, 4, "the text may not end here"),
        ("(é\n)*", "é\né\nx", 3, 1, "not allowed here"),
        ("ab+c", "abcc", 1, 4, "not allowed here"),
    ],
)
def test_check_shows_the_first_byte_that_is_wrong(
    capsys: pytest.CaptureFixture[str], pattern: str, text: str, line: int, column: int, what: str
) -> None:
    shown = asked(capsys, "check", "--regex", pattern, "--text", text, status=1).splitlines()
    assert shown[0] == f"line {line}, column {column}: {what}"
    assert shown[1] == text.split("\n")[line - 1]
    assert shown[2] == " " * (column - 1) + "^"
    found = json.loads(asked(capsys, "check", "--regex", pattern, "--text", text, "--json", status=1))
    assert (found["valid"], found["line"], found["column"]) == (False, line, column)


def test_check_reads_files_and_standard_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"abc\n")
    assert asked(capsys, "check", "--regex", "abc\n", str(path)) == ""
    assert "line 1, column 4" in asked(capsys, "check", "--regex", "abc", str(path), status=1)
    assert asked(capsys, "check", "--regex", "abc", "--final-newline", str(path)) == ""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert "line 1, column 1" in asked(capsys, "check", "--regex", "a", status=1)
    assert json.loads(asked(capsys, "check", "--regex", "a", "--text", "a", "--json")) == {"valid": True}


def test_constraints_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for option, text in (
        ("--regex-file", "b{3}\n"),
        ("--grammar", 'root ::= "bbb"'),
        ("--json-schema", '{"const": "bbb"}'),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert asked(capsys, "sample", option, "-", "-n", "1") == ('"bbb"\n' if "const" in text else "bbb\n")


def test_types(capsys: pytest.CaptureFixture[str]) -> None:
    text = asked(capsys, "sample", "--type", "ipaddress:IPv4Address", "-n", "1")
    assert re.fullmatch(r'"\d+\.\d+\.\d+\.\d+"\n', text)
    for name, message in (
        ("ipaddress", "takes a module and a class"),
        ("no_such_module:A", "cannot be imported"),
        ("ipaddress:Perl", "has no 'Perl'"),
    ):
        assert main(["sample", "--type", name]) == 2
        assert message in capsys.readouterr().err


def test_explain_says_what_may_come_and_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected    a digit" in asked(capsys, "explain", "--regex", r"\d+", "--token", "x")
    found = json.loads(asked(capsys, "explain", "--regex", r"\d{2}", "--prefix", "1", "--end", "--json"))
    assert (found["allowed"], found["reason"]) == (False, "end")
    assert main(["explain", "--regex", "a", "--token", "a", "--end"]) == 2


def test_vocab_shows_what_is_there(capsys: pytest.CaptureFixture[str], vocabulary_file: Path) -> None:
    vocabulary = tokenfst.load_vocabulary(vocabulary_file, eos_ids=())
    facts = json.loads(asked(capsys, "vocab", str(vocabulary_file), "--json"))
    assert (facts["tokens"], facts["digest"]) == (len(vocabulary), vocabulary.digest)
    assert vocabulary.digest in asked(capsys, "vocab", str(vocabulary_file))
    shown = json.loads(asked(capsys, "vocab", str(vocabulary_file), "--id", "65", "--json"))
    assert shown == [{"id": 65, "text": vocabulary.tokens[65].decode()}]
    assert [each["id"] for each in json.loads(asked(capsys, "vocab", str(vocabulary_file), "--id", "0", "--json"))] == [
        0
    ]
    assert "256" in asked(capsys, "vocab", str(vocabulary_file), "--containing", vocabulary.tokens[256].decode())
    assert main(["vocab", str(vocabulary_file), "--id", "100000"]) == 2


def test_bench_and_compile_print_json(capsys: pytest.CaptureFixture[str], vocabulary_file: Path) -> None:
    arguments = ["--regex", "[a-z]{3,9}", "--vocab", str(vocabulary_file), "--json"]
    times: dict[str, Any] = json.loads(asked(capsys, "bench", *arguments, "--texts", "2", "--tokens", "5"))
    assert {"compiling", "a mask, first", "a step, again"} <= times.keys()
    assert times["compiling"]["count"] == 1
    assert {times[name]["count"] for name in times if name != "compiling"} <= set(range(4, 11))
    assert all(0 < found["p50"] <= found["p99"] <= found["max"] for found in times.values())
    assert json.loads(asked(capsys, "compile", *arguments))["sizes"]["tokens at least"] == 2
    assert "microseconds" in asked(capsys, "bench", *arguments[:-1], "--texts", "1")


def test_bench_times_no_preparation_of_the_vocabulary(
    capsys: pytest.CaptureFixture[str], vocabulary_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, compiled = sys.modules["tokenfst.compile"], list[object]()
    original: Any = vars(module)["compile"]

    def compile_and_note(constraint: object, vocabulary: tokenfst.Vocabulary) -> object:
        compiled.append(constraint)
        return original(constraint, vocabulary)

    monkeypatch.setattr(module, "compile", compile_and_note)
    asked(capsys, "bench", "--regex", "[a-z]{3,9}", "--vocab", str(vocabulary_file), "--texts", "1")
    assert compiled[0] == ""
    assert len(compiled) == 3
    assert compiled[1] is compiled[2]


def test_shells_complete(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "_TOKENFST_COMPLETE=bash_complete" in asked(capsys, "completion", "bash")
    monkeypatch.setenv("_TOKENFST_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "tokenfst ge")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit, match="0"):
        main([])
    assert capsys.readouterr().out == "plain,generate\n"


def test_help_is_there_at_once() -> None:
    code = "import sys; from decoding.command import main; main(['--help']); sys.exit('numpy' in sys.modules)"

    def seconds(code: str) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
        return time.perf_counter() - began

    assert min(seconds(code) for _ in range(3)) < min(seconds("import numpy") for _ in range(3)) + 0.3


def test_texts_are_printed_exactly(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "--regex", r"a\x1b\[31mb", "-n", "1"]) == 0
    assert main(["generate", "--regex", r"a\x1b\[31mb"]) == 0
    assert capfd.readouterr().out == 2 * "a\x1b[31mb\n"


def test_a_picture_over_bytes_is_kept_where_that_over_tokens_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["draw", "--regex", "(a|b){600}", "--tokens", "a,b", "--no-open", "--output", str(tmp_path)]
    assert main(arguments) == 2
    assert "a picture of 602 states is refused" in capsys.readouterr().err
    assert [path.stem for path in tmp_path.iterdir()] == ["bytes"]
    assert main([*arguments, "--around", "0", "--radius", "1"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".svg")[-1] == "tokens.svg"


def test_tokens_that_are_not_found_are_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tiktoken").write_bytes(b"YQ== 0\n")
    assert main(["vocab", str(tmp_path / "a.tiktoken"), "--containing", "zq"]) == 0
    assert capsys.readouterr().out == ""
