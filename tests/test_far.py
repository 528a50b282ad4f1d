"""FAR files that pynini reads."""

from __future__ import annotations

from pathlib import Path

import pynini
import pytest
import pywrapfst

import tokenfst
from automata import FstError, compile_expr, parse, write_far


def test_pynini_reads_every_kind_of_entry(tmp_path: Path) -> None:
    vocabulary = tokenfst.Vocabulary([b"a", b"b", b"ab", b""], 3)
    entries = {
        "tokens": tokenfst.compile("ab", vocabulary),
        "bytes": compile_expr(parse("gr[ae]y")),
        "theirs": pynini.cross("a", "b"),
        "lower level": pywrapfst.determinize(pynini.accep("z")),
        "é": compile_expr(parse("é")).fst(),
        "Z": compile_expr(parse("a") & parse("b")),
    }
    write_far(tmp_path / "all.far", entries)
    with pynini.Far(tmp_path / "all.far") as far:
        found = dict(far)
    assert set(found) == set(entries)
    assert set(found["bytes"].paths().ostrings()) == {"gray", "grey"}
    assert set(found["tokens"].paths(output_token_type=found["tokens"].output_symbols()).ostrings()) == {"a b", "ab"}
    assert pynini.project("a" @ found["theirs"], "output").string() == "b"
    assert found["é"].string() == "é"
    assert found["Z"].num_states() == 0


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"'a' is an expression: compile_expr"):
        write_far(tmp_path / "x.far", {"a": parse("a")})
    with pytest.raises(TypeError, match="'a' is neither an automaton nor an FST, but str"):
        write_far(tmp_path / "x.far", {"a": "abc"})
    with pytest.raises(FstError, match="which is not empty"):
        write_far(tmp_path / "x.far", {"": compile_expr(parse("a"))})
    assert not (tmp_path / "x.far").exists()
    with pytest.raises(FileNotFoundError):
        write_far(tmp_path / "missing" / "x.far", {"a": compile_expr(parse("a"))})
