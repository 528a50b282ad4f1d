"""The command, from its arguments to what it prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest

import tokenfst
from decoding.command import main
from decoding.command import progress as progress_module
from decoding.command.options import read_tokens
from decoding.command.progress import progress

ROOT = Path(__file__).resolve().parent.parent


def test_generate_writes_a_text_that_matches(capsys: pytest.CaptureFixture[str]) -> None:
    pattern = r"[A-Z][a-z]+ was born in (19|20)\d\d\."
    assert main(["generate", "--regex", pattern, "--prompt", "Biography: ", "--seed", "3"]) == 0
    assert re.fullmatch(pattern, capsys.readouterr().out.removesuffix("\n"))


def test_compile_reports_sizes_and_stages_and_saves(
    vocabulary_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "answer.safetensors"
    assert main(["compile", "--regex", "Yes|No", "--vocab", str(vocabulary_file), "--output", str(saved)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"tokens of the vocabulary +259\b", printed)
    vocabulary = tokenfst.load_vocabulary(vocabulary_file, eos_ids=())
    automaton: Any = tokenfst.load_automaton(saved, vocabulary)
    assert automaton.accepts([256])
    assert automaton.accepts([ord("Y"), 258])
    assert re.search(rf"states over tokens +{automaton.num_states}\b", printed)
    assert re.search(rf"classes of tokens +{automaton.num_classes}\b", printed)
    assert len(re.findall(r"\d+\.\d{3} ms", printed)) == 4


def test_draw_writes_both_automata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "--regex", "(ab)+", "--tokens", "a,b,ab", "--output", str(tmp_path / "pictures")]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.name for path in paths] == ["bytes.svg", "tokens.svg"]
    assert all(path.read_text().lstrip().startswith("<?xml") for path in paths)
    assert ">&quot;ab&quot;</text>" in paths[1].read_text()


def test_draw_without_tokens_writes_the_automaton_over_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", "--regex", "(ab)+", "--output", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["bytes.svg"]
    assert capsys.readouterr().out == f"{tmp_path / 'bytes.svg'}\n"


def test_draw_without_graphviz_writes_dot_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert main(["draw", "--regex", "a", "--tokens", "a", "--output", str(tmp_path)]) == 0
    assert "bytes.dot in place of bytes.svg: an SVG needs pygraphviz: pip install" in capsys.readouterr().err
    assert (tmp_path / "bytes.dot").read_text().startswith("digraph")


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [(r"(a)\1", 3, "back-reference"), ("ab[c", 2, "never closed"), ("x\n*{2}", 3, "nothing to repeat")],
)
def test_a_bad_pattern_gets_a_caret_at_the_place(
    pattern: str, position: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "--regex", pattern]) == 2
    captured = capsys.readouterr()
    shown, caret = captured.err.splitlines()
    assert captured.out == ""
    assert len(shown) == len(pattern)
    assert caret.index("^") == position
    assert reason in caret


@pytest.mark.parametrize(
    "arguments",
    [
        ["compile", "--regex", "a", "--vocab", "no-such-file.json"],
        ["draw", "--regex", "ab", "--tokens", "a"],
    ],
)
def test_other_mistakes_get_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # a picture of the automaton over bytes is drawn
    assert main(arguments) == 2
    # Progress may be told besides, on a busy machine.
    told = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("compiling")]
    assert len(told) == 1
    assert told[0].startswith("tokenfst: ")


@pytest.mark.parametrize("constraint", ["'--regex', '('", "'--grammar', 'perl'", "'--json-schema', 'perl'"])
def test_a_mistake_does_not_wait_for_torch(constraint: str) -> None:
    code = (
        f"import sys; from decoding.command import main; status = main(['generate', {constraint}]);"
        "sys.exit(9 if 'torch' in sys.modules else status)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False).returncode == 2


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert capsys.readouterr().out == f"tokenfst {tokenfst.__version__}\n" == f"tokenfst {project['version']}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--temperature", "-1"], "Invalid value for '--temperature': a number from 0 on, not '-1'"),
        (["--temperature", "nan"], "Invalid value for '--temperature': a number from 0 on, not 'nan'"),
        (["--temperature", "hot"], "Invalid value for '--temperature': a number from 0 on, not 'hot'"),
        (["--max-new-tokens", "0"], "Invalid value for '--max-new-tokens': 0 is not in the range x>=1."),
        (["--max-new-tokens", "2.5"], "Invalid value for '--max-new-tokens': '2.5' is not a valid integer range."),
    ],
)
def test_numbers_out_of_their_range(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--regex", "a", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_limit_too_small_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--regex", "[0-9]{30}", "--max-new-tokens", "3"]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("tokenfst: ")]
    assert len(told) == 1
    assert re.search(r"takes at least \d+ tokens, and the limit is 3", told[0])


def test_a_model_that_is_none_gets_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "perl"}')
    for name in (str(tmp_path), str(tmp_path / "nothing")):
        assert main(["generate", "--regex", "a", "--model", name]) == 2
        told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("tokenfst: ")]
        assert len(told) == 1
        assert told[0].startswith(f"tokenfst: transformers cannot load the model {name!r}: ")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a,b,ab", [b"a", b"b", b"ab"]),
        (r"a,\,,b", [b"a", b",", b"b"]),
        (r"\\,a\,b", [b"\\", b"a,b"]),
        (r"\d,a", [rb"\d", b"a"]),
    ],
)
def test_tokens_are_read_with_commas_between_them(text: str, tokens: list[bytes]) -> None:
    command, option = click.Command("draw"), click.Option(["--tokens"])
    assert read_tokens(click.Context(command), option, (text,)) == tokens


@pytest.mark.parametrize("text", [r"\d,,a", "a,", ",", ""])
def test_an_empty_token_is_an_error_that_says_how_a_comma_is_written(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", "--regex", "a", "--tokens", text]) == 2
    message = rf"Invalid value for '--tokens': {text!r} has an empty token; a comma in a token is written \,"
    assert message in capsys.readouterr().err


def test_draw_takes_a_comma_as_a_token(tmp_path: Path) -> None:
    arguments = ["draw", "--regex", "a(,a)*", "--output", str(tmp_path)]
    for tokens in (["--tokens", r"a,\,,\,a"], ["--tokens", "a", "--tokens", r"\,", "--tokens", r"\,a"]):
        assert main([*arguments, *tokens]) == 0
        texts = ElementTree.parse(tmp_path / "tokens.svg").iter("{http://www.w3.org/2000/svg}text")
        assert {'"a"', '","', '",a"'} <= {element.text for element in texts}


# Grammars


SUMS = """\
# Sums of numbers
root ::= term ("+" term)*
term ::= [0-9]+ | "(" root ")"
"""


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    path = tmp_path / "sums.gbnf"
    path.write_text(SUMS)
    return path


def test_generate_writes_a_text_of_a_bundled_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--grammar", "json", "--prompt", "A person as JSON: ", "--max-new-tokens", "40"]) == 0
    json.loads(capsys.readouterr().out)


def test_generate_writes_a_text_of_a_file(sums: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--syntax", "gbnf", "--start", "term", "--max-new-tokens", "12", "--seed", "3"]
    assert main(["generate", "--grammar", str(sums), *arguments]) == 0
    assert re.fullmatch(r"\d+|\([\d+()]+\)", capsys.readouterr().out.removesuffix("\n"))


def test_compile_reports_the_sizes_of_a_grammar_and_saves(
    vocabulary_file: Path, sums: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "sums.safetensors"
    arguments = ["--grammar", str(sums), "--vocab", str(vocabulary_file), "--output", str(saved)]
    assert main(["compile", *arguments]) == 0
    printed = capsys.readouterr().out
    vocabulary = tokenfst.load_vocabulary(vocabulary_file, eos_ids=())
    automaton: Any = tokenfst.load_automaton(saved, vocabulary)
    assert automaton.accepts(b"1+(2+33)")
    assert not automaton.accepts(b"1+(2+33")
    sizes = {
        "states over bytes": automaton.num_states,
        "symbols on the stack": automaton.tables.num_symbols,
        "classes of tokens": automaton.num_classes,
        "bytes of memory": automaton.nbytes,
        "tokens at least": 1,
    }
    for name, size in sizes.items():
        assert re.search(rf"{name} +{size:,}\n", printed)
    assert len(re.findall(r"\d+\.\d{3} ms", printed)) == 4


def test_draw_writes_both_automata_of_a_grammar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grammar = tmp_path / "brackets.gbnf"
    grammar.write_text('root ::= "(" root ")" | "x"')
    arguments = ["--tokens", "(,),x,x))", "--output", str(tmp_path / "pictures")]
    assert main(["draw", "--grammar", str(grammar), *arguments]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.name for path in paths] == ["bytes.svg", "tokens.svg"]
    assert all(path.read_text().lstrip().startswith("<?xml") for path in paths)
    assert "&quot;x))&quot;" not in paths[0].read_text()
    assert "&quot;x))&quot;" in paths[1].read_text()


DANGLING = """\
root ::= "run " statement
statement ::= "if x " statement (" else " statement)? | "y"
"""


@pytest.mark.parametrize(
    ("text", "options", "line", "position", "reason"),
    [
        ('root ::= item*\r\nitem ::=\t"- " txt "\\n"', [], 2, 14, "no rule is named 'txt'"),
        ('root ::= "a"{3,2}', [], 1, 12, "upper bound"),
        ('start: "a" NAME', [], 1, 11, "NAME is not defined"),
        ('root ::= "a" # é\n  | "b"', ["--syntax", "gbnf"], 2, 2, "continues on the next line"),
        (DANGLING, [], 2, 0, "after 'run y' "),
    ],
)
def test_a_bad_grammar_gets_its_line_and_a_caret(
    text: str,
    options: list[str],
    line: int,
    position: int,
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(text.encode())
    assert main(["generate", "--grammar", str(path), *options]) == 2
    where, shown, caret = capsys.readouterr().err.splitlines()
    assert where == f"{path}, line {line}:"
    assert shown == text.splitlines()[line - 1].replace("\t", " ")
    assert caret.index("^") == position
    assert reason in caret


def test_an_ambiguous_grammar_can_be_carried(
    vocabulary_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dangling.gbnf"
    path.write_text(DANGLING)
    arguments = ["compile", "--grammar", str(path), "--vocab", str(vocabulary_file)]
    assert main([*arguments, "--ambiguity", "error"]) == 2
    assert 'ambiguity="parallel"' in capsys.readouterr().err
    assert main([*arguments, "--ambiguity", "parallel"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grammar", "perl"], "there is no file 'perl'; grammars by name are json, arithmetic,"),
        (["--grammar", "sql", "--start", "query"], "--start goes with a file, and 'sql' comes with the package"),
        (["--grammar", "json", "--syntax", "gbnf"], "--syntax goes with a file, and 'json' comes with the package"),
        (["--regex", "a", "--ambiguity", "parallel"], "--ambiguity goes with --grammar"),
        (["--grammar", "json", "--property-order", "any"], "--property-order goes with --json-schema"),
        (["--regex", "a", "--spellings", "all"], "--spellings goes with --json-schema or --type"),
        (["--regex", "a", "--unsupported", "relax"], "--unsupported goes with --json-schema"),
        (["--json-schema", "no-such.json"], "there is no file 'no-such.json'"),
    ],
)
def test_options_that_do_not_belong_together(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", "--tokens", "a", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tokenfst: ")
    assert message in captured.err


def test_a_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "latin.gbnf"
    path.write_bytes(b'root ::= "\xe9"')
    assert main(["draw", "--grammar", str(path), "--tokens", "a"]) == 2
    assert "is not text in UTF-8" in capsys.readouterr().err


# JSON Schemas


def test_either_a_pattern_or_a_grammar(capsys: pytest.CaptureFixture[str]) -> None:
    for constraints in (["--regex", "a", "--grammar", "json"], []):
        assert main(["draw", *constraints, "--tokens", "a"]) == 2
        assert "give one of --regex, --regex-file, --json-schema, --grammar and --type" in capsys.readouterr().err


def test_progress_speaks_up_after_its_patience_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE", 0.5)
    with progress("waiting"):
        time.sleep(1.5)
    assert re.fullmatch(r"waiting \.\.\.\nwaiting: \d+\.\d s\n", capsys.readouterr().err)
    with progress("done at once"):
        pass
    assert capsys.readouterr().err == ""


def test_the_demonstration_runs_offline(tmp_path: Path) -> None:
    code = (
        "import runpy, socket, sys\n"
        "def refuse(*_, **__): raise OSError('the demonstration asked for the network')\n"
        "socket.socket.connect = refuse\n"
        f"sys.argv = ['demo.py', '--output', {json.dumps(str(tmp_path))}]\n"
        "runpy.run_path('examples/demo.py', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "131,072 tokens" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytes.svg", "detokenizer.svg", "tokens.svg"]


def test_the_command_is_a_module_too() -> None:
    command = [sys.executable, "-m", "decoding", "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tokenfst ")
