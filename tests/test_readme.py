"""What the README and the pages in docs/ show runs, and prints what they say it prints."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from pathlib import Path

import pytest

from decoding.command import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# These install things or run everything: the first is what runs this test.
NOT_HERE = ("make test", "make demo", "make bench", "pip install")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands() -> list[tuple[str, str]]:
    """The command lines of all pages, each with the output shown below it."""
    found = []
    for page in PAGES:
        for block in CONSOLE.findall(page.read_text("utf-8")):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                if not line.startswith(NOT_HERE):
                    found.append((line, output))
    return found


def matches(arguments: list[str], text: str) -> bool:
    """Whether a text is what `generate` is asked for."""
    if "--grammar" in arguments:
        assert arguments[arguments.index("--grammar") + 1] == "json"
        json.loads(text)
        return True
    return re.fullmatch(arguments[arguments.index("--regex") + 1], text) is not None


def test_python_blocks_are_sessions() -> None:
    blocks = [block for page in PAGES for block in PYTHON.findall(page.read_text("utf-8"))]
    assert blocks
    assert all(block.startswith(">>> ") for block in blocks), "a block that is no session would not be run"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_print_what_they_show(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The fences are not part of the last output.
    text = re.sub(r"^```.*$", "", page.read_text("utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples)
    assert runner.failures == 0


def test_there_are_commands() -> None:
    assert any(line.startswith("tokenfst generate") for line, _ in commands())


@pytest.mark.parametrize(("line", "output"), commands(), ids=lambda value: value.partition("\n")[0][:60])
def test_commands_print_what_they_show(
    line: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(line)
    assert program == "tokenfst", f"{line!r} is shown and not run by a test"
    status = main(arguments)
    captured = capsys.readouterr()
    if arguments[0] == "generate" and status == 0:
        # What a model writes may differ on another processor; that it matches may not.
        for text in (captured.out, output):
            assert matches(arguments, text.removesuffix("\n"))
        return
    # A message about a mistake comes on the other stream.
    shown = captured.err if status else captured.out
    assert doctest.OutputChecker().check_output(output, shown, FLAGS), shown
