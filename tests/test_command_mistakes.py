"""A mistake in what the command is given ends it with one line and the exit status 2."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from decoding.command import main

MODULE = """
from typing import List
class X: pass
number, table, text = 3, {"a": 1}, List["Nope"]
"""


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line that a command with a mistake writes."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [line for line in captured.err.splitlines() if line.startswith("tokenfst: ")]
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".x:X", "cannot be"),
        ("given:number", "cannot be"),
        ("given:table", "cannot be"),
        ("given:text", "name 'Nope' is not defined"),
    ],
)
def test_what_is_no_type(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "given", raising=False)
    assert message in told(capsys, "sample", "--type", name)


@pytest.mark.parametrize(
    ("code", "reason"),
    [("def", "SyntaxError: "), ("1 / 0", "ZeroDivisionError: "), ("raise SystemExit(0)", "SystemExit: 0")],
)
def test_modules_that_fail(
    code: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "failing.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    line = told(capsys, "check", "--type", "failing:X", "--text", "1")
    assert f"the module 'failing' cannot be imported: {reason}" in line


@pytest.mark.parametrize("command", [["generate", "--prompt"], ["check", "--text"]])
def test_arguments_that_are_not_utf_8(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    name, option = command
    line = told(capsys, name, "--regex", "a", option, "\udcff")
    assert "an argument is not UTF-8" in line


@pytest.mark.parametrize(
    "options",
    [["--regex", "\udcc3+"], ["--type", "m\udcff:X"], ["--grammar", "g.gbnf", "--start", "\udcff"]],
)
def test_constraints_that_are_not_utf_8(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "an argument is not UTF-8" in told(capsys, "sample", *options)


@pytest.mark.parametrize(
    ("arguments", "both"),
    [
        (["check", "--regex-file", "-", "-"], "--regex-file and the text"),
        (["check", "--json-schema", "-"], "--json-schema and the text"),
        (["generate", "--prompt", "-", "--grammar", "-"], "--grammar and --prompt"),
    ],
)
def test_standard_input_is_read_for_one_thing(
    arguments: list[str], both: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = b'root ::= "b"' if "--grammar" in arguments else b"1"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text if "--json-schema" not in arguments else b"{}")))
    assert told(capsys, *arguments) == f"tokenfst: {both} both come from standard input"


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input, which is closed" in told(capsys, "check", "--regex", "a")


def test_a_prompt_that_is_no_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert "--prompt is not text in UTF-8" in told(capsys, "generate", "--regex", "a", "--prompt", "-")


@pytest.mark.parametrize(("name", "message"), [("", "there is no file ''"), (".", "'.' is a folder, and not a file")])
@pytest.mark.parametrize("option", ["--json-schema", "--regex-file", "--grammar"])
def test_files_that_are_none(option: str, name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "sample", option, name).startswith(f"tokenfst: {option}: {message}")


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "given"
    for option, text in (
        ("--regex-file", "b{3}\n"),
        ("--grammar", 'root ::= "bbb"'),
        ("--json-schema", '{"const": "bbb"}'),
    ):
        path.write_text(text, "utf-8-sig")
        assert main(["sample", option, str(path), "-n", "1"]) == 0
        assert capsys.readouterr().out == ('"bbb"\n' if "const" in text else "bbb\n")


def test_a_vocabulary_nested_too_deeply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"model": ' + "[" * 100_000)
    assert told(capsys, "vocab", str(path)) == f"tokenfst: {path}: nested too deeply"


def test_end_tokens_of_no_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "explain", "--regex", "a", "--eos-id", "3") == "tokenfst: --eos-id goes with --vocab"


def test_no_step_to_time(vocabulary_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no step to time" in told(capsys, "bench", "--regex", "", "--vocab", str(vocabulary_file))


def test_lengths_that_take_too_much(capsys: pytest.CaptureFixture[str]) -> None:
    assert "limit `memory`" in told(capsys, "sample", "--regex", "[ab]+", "--length", "999999999999")


def test_lengths_far_beyond_the_longest_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "--regex", "ab", "--length", f"0-{10**30}", "-n", "1"]) == 0
    assert capsys.readouterr().out == "ab\n"


def test_a_picture_that_is_too_large_is_dot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pygraphviz")
    assert main(["draw", "--regex", "(ab){0,9999}", "--output", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{tmp_path / 'bytes.dot'}\n"
    assert "tokenfst: bytes.dot in place of bytes.svg: a picture of some 20,00" in captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["bytes.dot"]


def test_a_narrow_terminal_shows_all_of_a_table(
    vocabulary_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["vocab", str(vocabulary_file)]) == 0
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert "bytes of the longest token" in printed


@pytest.mark.parametrize(
    ("pattern", "text", "column"), [("è", "é", 1), ("ab日x", "ab旦", 3), ("aé", "aéb", 3), ("aéb", "aé", 3)]
)
def test_columns_are_characters(pattern: str, text: str, column: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--regex", pattern, "--text", text]) == 1
    assert f"line 1, column {column}:" in capsys.readouterr().out


def test_surrogates_of_a_schema_are_escaped(tmp_path: Path) -> None:
    schema = {"$ref": "#/$defs/\ud800", "$defs": {"\ud800": {"type": "integer", "minimum": 40}}}
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(schema))
    call = "import sys; from decoding.command import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", call, "check", "--json-schema", str(path), "--text", "2"]
    for options in ([], ["--json"]):
        done = subprocess.run([*command, *options], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (1, b"")
        assert rb"\ud800" in done.stdout


def test_integers_that_python_does_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "schema.json"
    path.write_text('{"const": ' + "9" * 5000 + "}")
    line = told(capsys, "check", "--json-schema", str(path), "--text", "2")
    assert "schema.json has an integer of more than" in line


def test_lengths_beyond_every_integer_of_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    line = told(capsys, "sample", "--grammar", "json", "--length", "99999999999999999999", "-n", "1", "--seed", "1")
    assert "no text of such a length" in line
