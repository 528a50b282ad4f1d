"""The sitting of all benchmarks: its commands exist, with the options that it gives them, and are in the docs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import sitting

ROOT = Path(__file__).parent.parent
FILES: dict[str, str | None] = {"VOCAB": "VOCABULARY", "SCHEMAS": "SCHEMAS.jsonl", "HARD": "HARD.jsonl"}


@pytest.mark.parametrize("name", sitting.BENCHMARKS)
def test_a_benchmark_exists_and_has_the_options_that_it_is_given(name: str) -> None:
    words = sitting.command(sitting.BENCHMARKS[name], Path("OUT"), FILES)
    assert words is not None
    source = Path(words[1]).read_text()
    options = [word for word in words if word.startswith("--")]
    assert all(f'add_argument("{option}"' in source for option in options)
    assert Path(words[1]).name in (ROOT / "docs" / "benchmarks.md").read_text()


def test_what_needs_schemas_is_left_out_without_them() -> None:
    files = dict.fromkeys(FILES)
    commands = {name: sitting.command(found, Path("OUT"), files) for name, found in sitting.BENCHMARKS.items()}
    assert {name for name, words in commands.items() if words is None} == {
        "maskbench",
        "maskbench_two",
        "maskbench_complete",
        "hard_schemas",
        "exactness",
    }
    assert not any("VOCAB" in word for words in commands.values() if words for word in words)


def test_what_a_benchmark_prints_is_kept_with_its_status(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "print('a figure'); raise SystemExit(3)"]
    assert sitting.measure("some", words, tmp_path) == 3
    kept = (tmp_path / "some.txt").read_text()
    assert "a figure" in kept
    assert "exit status 3" in kept
