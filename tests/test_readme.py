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
# Each section of this page runs by itself.
GUIDES = ROOT / "docs" / "guides.md"
PAGES = sorted({ROOT / "README.md", *(ROOT / "docs").glob("*.md")} - {GUIDES})
TASKS = dict(part.split("\n", 1) for part in GUIDES.read_text("utf-8").split("\n## ")[1:])
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# These install things or run everything: the first is what runs this test.
NOT_HERE = ("python3 -m venv ", "make test", "make demo", "make bench", "pip install")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(text: str) -> list[tuple[str, str]]:
    """The command lines of a page, each with the output shown below it."""
    found = []
    for block in CONSOLE.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            if not line.startswith(NOT_HERE):
                found.append((line, output))
    return found


COMMANDS = [found for page in PAGES for found in commands(page.read_text("utf-8"))]


def matches(arguments: list[str], text: str) -> bool:
    """Whether a text is what `generate` is asked for."""
    if "--grammar" in arguments:
        assert arguments[arguments.index("--grammar") + 1] == "json"
        json.loads(text)
        return True
    return re.fullmatch(arguments[arguments.index("--regex") + 1], text) is not None


def test_python_blocks_are_sessions() -> None:
    blocks = [block for page in [*PAGES, GUIDES] for block in PYTHON.findall(page.read_text("utf-8"))]
    assert blocks
    assert all(block.startswith(">>> ") for block in blocks), "a block that is not a session would not be run"


def run_session(text: str, name: str, names: dict[str, object]) -> None:
    """Run what a text shows of Python, with the names that are defined so far, and compare."""
    # The fences are not part of the last output.
    examples = doctest.DocTestParser().get_doctest(re.sub(r"^```.*$", "", text, flags=re.MULTILINE), {}, name, name, 0)
    examples.globs = names
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples, clear_globs=False)
    assert runner.failures == 0


def run_command(line: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run a command line, and compare what it prints."""
    program, *arguments = shlex.split(line)
    assert program == "tokenfst", f"{line!r} is shown and not run by a test"
    capsys.readouterr()
    status = main(arguments)
    captured = capsys.readouterr()
    if arguments[0] == "generate" and status == 0:
        # What a model writes may differ on another processor; that it matches may not.
        for text in (captured.out, output):
            assert matches(arguments, text.removesuffix("\n"))
        return
    # A message about a mistake comes on the other stream.
    shown = captured.err if status == 2 else captured.out
    assert doctest.OutputChecker().check_output(output, shown, FLAGS), shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_print_what_they_show(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_session(page.read_text("utf-8"), page.name, {})


def test_there_are_commands() -> None:
    assert any(line.startswith("tokenfst generate") for line, _ in COMMANDS)


@pytest.mark.parametrize(("line", "output"), COMMANDS, ids=lambda value: value.partition("\n")[0][:60])
def test_commands_print_what_they_show(
    line: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_command(line, output, capsys)


@pytest.mark.parametrize("task", TASKS)
def test_each_guide_runs_by_itself(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # In the order of the page: commands may read what was written before them.
    names: dict[str, object] = {}
    for block in re.split(r"(?=^```)", TASKS[task], flags=re.MULTILINE):
        run_session(block, task, names)
        for line, output in commands(f"{block}```\n"):
            run_command(line, output, capsys)
