"""Every function that takes the path of a file takes any path, and what is none is a documented error."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pynini
import pytest

import tokenfst
from automata import FstError, VocabularyError, compile_expr, from_fst, literal, write_far
from automata.charts import bars
from decoding import bundled_model, generate
from decoding.speculation import CountModel
from tokenfst import load_automaton, load_vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES


@dataclass
class Entry:
    """A path that is no `Path`, and whose `str` is another text, as `os.DirEntry` has it."""

    path: str

    def __fspath__(self) -> str:
        return self.path


def test_paths_of_any_class_are_taken(tmp_path: Path) -> None:
    automaton = tokenfst.compile("a+", ALL_BYTES)
    automaton.save(Entry(f"{tmp_path}/a.safetensors"))
    assert load_automaton(Entry(f"{tmp_path}/a.safetensors"), ALL_BYTES).accepts("aa")
    write_far(Entry(f"{tmp_path}/a.far"), {"a": compile_expr(literal("a"))})
    with pynini.Far(f"{tmp_path}/a.far") as far:
        assert list(far["a"].paths().ostrings()) == ["a"]
    bars([("row", {"x": 1})]).save(Entry(f"{tmp_path}/a.svg"))
    compile_expr(literal("a")).draw().save(Entry(f"{tmp_path}/b.dot"))
    model = CountModel(automaton)
    model.save(Entry(f"{tmp_path}/counts"))
    CountModel.load(Entry(f"{tmp_path}/counts"), automaton)
    trace = generate(*bundled_model(), "", "a", max_new_tokens=2, at_text_start=True, trace=True)
    assert trace.to_html(Entry(f"{tmp_path}/trace.html")) == tmp_path / "trace.html"
    names = {entry.name for entry in os.scandir(tmp_path)}
    assert names == {"a.safetensors", "a.far", "a.svg", "b.dot", "counts", "trace.html"}


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_is_no_path_is_named(path: str) -> None:
    with pytest.raises(FstError, match="cannot be read: "):
        from_fst(path)
    with pytest.raises(VocabularyError, match="is not a path: "):
        load_vocabulary(path)


def test_what_is_no_file_is_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError):
        load_automaton("a\0b", ALL_BYTES)
    if Path("/dev/null").exists():
        with pytest.raises(OSError, match="device"):
            load_automaton("/dev/null", ALL_BYTES)
