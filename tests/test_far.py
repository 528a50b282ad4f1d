"""FAR files that pynini reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pynini
import pytest
import pywrapfst

import tokenfst
from automata import FstError, compile_expr, from_fst, parse, write_far
from automata.weighted import compile_weighted


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


@pytest.mark.parametrize("arc_type", ["log", "log64"])
def test_weights_in_the_log_semiring(tmp_path: Path, arc_type: str) -> None:
    map_type: Any = f"to_{arc_type}"
    fst = pywrapfst.arcmap(pynini.accep("a", weight=2), map_type=map_type)
    entries: dict[str, Any] = {"theirs": fst}
    if arc_type == "log":
        entries["ours"] = compile_weighted(parse("a").weighted(2, "log"))
    write_far(tmp_path / "log.far", entries)
    for name in entries:
        assert compile_weighted(from_fst(tmp_path / "log.far", key=name)).weight("a") == 2
    with pytest.raises(
        FstError, match=rf"'theirs' are of type '{arc_type}', those of 'b' of type 'standard', and a FAR"
    ):
        write_far(tmp_path / "mixed.far", {**entries, "b": compile_expr(parse("b"))})
    assert not (tmp_path / "mixed.far").exists()


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"'a' is an expression: compile_expr"):
        write_far(tmp_path / "x.far", {"a": parse("a")})
    with pytest.raises(TypeError, match="'a' is neither an automaton nor an FST, but str"):
        write_far(tmp_path / "x.far", {"a": "abc"})
    wrong: Any
    for wrong in ([compile_expr(parse("a"))], {5: compile_expr(parse("a"))}):
        with pytest.raises(TypeError, match="a mapping from names"):
            write_far(tmp_path / "x.far", wrong)
    with pytest.raises(FstError, match="must not be empty"):
        write_far(tmp_path / "x.far", {"": compile_expr(parse("a"))})
    assert not (tmp_path / "x.far").exists()
    with pytest.raises(FileNotFoundError):
        write_far(tmp_path / "missing" / "x.far", {"a": compile_expr(parse("a"))})
