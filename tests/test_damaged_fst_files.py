"""Files of OpenFst that are damaged: OpenFst, which trusts its files, would end the process, or take gigabytes."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from random import Random
from typing import Any

import pynini
import pytest
import pywrapfst

from automata import FstError, TokenfstError, compile_expr, from_fst, image, parse
from automata.openfst import read_arrays
from automata.queries import is_empty

# Offsets in the file of an FST of type `vector` with arcs of type `standard` and without tables of symbols.
START, STATES, FIRST_SIZE = 42, 50, 70


def damaged(path: Path, at: int, form: str, value: int) -> Path:
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, at, value)
    path.write_bytes(data)
    return path


def vector_file(folder: Path) -> Path:
    fst = pynini.union("Monday", "Friday").optimize()
    fst.write(str(folder / "days.fst"))
    return folder / "days.fst"


def const_file(folder: Path) -> Path:
    fst = pywrapfst.convert(pynini.union("Monday", "Friday").optimize(), "const")
    fst.write(str(folder / "days.fst"))
    return folder / "days.fst"


@pytest.mark.parametrize("states", [-2, -3, 1000, 10**12, 1 << 62])
@pytest.mark.parametrize("file", [vector_file, const_file])
def test_wrong_numbers_of_states(tmp_path: Path, file: type, states: int) -> None:
    at = STATES if file is vector_file else STATES - 1  # "const" is one letter shorter
    with pytest.raises(FstError, match=r"days\.fst: the file is damaged: "):
        from_fst(damaged(file(tmp_path), at, "<q", states))


@pytest.mark.parametrize("arcs", [-3, 100, 1 << 60, 1 << 62])
def test_wrong_numbers_of_arcs(tmp_path: Path, arcs: int) -> None:
    with pytest.raises(FstError, match=r"days\.fst: the file is damaged: -?[\d,]+ bytes cannot follow byte 78"):
        from_fst(damaged(vector_file(tmp_path), FIRST_SIZE, "<q", arcs))


@pytest.mark.parametrize("length", [-5, 2_000_000_000])
def test_wrong_lengths_of_names(tmp_path: Path, length: int) -> None:
    with pytest.raises(FstError, match=r"days\.fst: the file is damaged: -?[\d,]+ bytes cannot follow byte 8"):
        from_fst(damaged(vector_file(tmp_path), 4, "<i", length))


@pytest.mark.parametrize("start", [-7, 1000])
def test_wrong_starts(tmp_path: Path, start: int) -> None:
    with pytest.raises(FstError, match=r"the file is damaged: the start and the numbers of states and arcs at byte 42"):
        from_fst(damaged(vector_file(tmp_path), START, "<q", start))


def test_files_without_the_number_of_states(tmp_path: Path) -> None:
    path = damaged(vector_file(tmp_path), STATES, "<q", -1)
    assert compile_expr(from_fst(path)).accepts("Friday")
    with pytest.raises(FstError, match="it has 9 states, and state 11 is the start"):
        from_fst(damaged(path, START, "<q", 11))


@pytest.mark.parametrize("target", [-7, -1, 1000, 2_000_000_000])
@pytest.mark.parametrize("file", [vector_file, const_file])
def test_wrong_targets_in_files(tmp_path: Path, file: type, target: int) -> None:
    path = file(tmp_path)
    data = path.read_bytes()
    last_arc = data.rindex(struct.pack("<ii", ord("y"), ord("y")))
    with pytest.raises(FstError, match=rf"an arc of state \d+ leads to state {target}, of \d+ states"):
        from_fst(damaged(path, last_arc + 12, "<i", target))


@pytest.mark.parametrize("target", [-1, 1000])
def test_wrong_targets_in_memory(target: int) -> None:
    fst = pynini.accep("ab")
    fst.add_arc(0, pywrapfst.Arc(97, 97, 0, target))
    with pytest.raises(FstError, match=rf"an arc of state \d+ leads to state {target}, of \d+ states"):
        from_fst(fst)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bits", [0x7F800001, 0x7FC00000], ids=["signalling", "quiet"])
def test_weights_that_are_no_numbers(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "nan.fst"
    pynini.accep("a").write(str(path))
    file = damaged(path, path.read_bytes().rindex(struct.pack("<f", math.inf)), "<i", bits)
    with pytest.raises(FstError, match="a weight that is not a number"):
        from_fst(file)


@pytest.mark.parametrize("cost", [0.0, 0.5])
def test_cycles_without_a_start(tmp_path: Path, cost: float) -> None:
    """OpenFst ends the process when it converts such an automaton to const and the cycle has a weight."""
    fst, path = pywrapfst.VectorFst(), tmp_path / "cycle.fst"
    fst.set_final(fst.add_state()).add_arc(0, pywrapfst.Arc(97, 97, cost, 0))
    fst.write(str(path))
    for source in (fst, path):
        assert is_empty(from_fst(source))
        assert is_empty(image(parse("a*"), source))
    assert fst.start() == -1
    assert read_arrays(fst).arcs.tolist() == [[0, 97, 97, 0]]


@pytest.mark.parametrize("count", [-1, 3, 10**9, 10**12])
def test_wrong_numbers_of_entries(tmp_path: Path, count: int) -> None:
    path = tmp_path / "words.far"
    with pynini.Far(str(path), "w", far_type="sttable") as far:
        far["a"], far["b"] = pynini.accep("a"), pynini.accep("b")
    with pytest.raises(FstError, match=r"words\.far: the file is damaged: "):
        from_fst(damaged(path, path.stat().st_size - 8, "<q", count), key="a")


@pytest.mark.parametrize("far_type", ["sttable", "stlist"])
@pytest.mark.parametrize("key", ["a", "b", "zz", None])
@pytest.mark.parametrize("damage", ["length", "type", "arcs", "version", "key"])
def test_a_damaged_entry_whichever_is_asked_for(tmp_path: Path, far_type: Any, key: str | None, damage: str) -> None:
    path = tmp_path / "words.far"
    with pynini.Far(str(path), "w", far_type=far_type) as far:
        far["a"], far["bc"] = pynini.accep("a"), pynini.accep("b")
    data = bytearray(path.read_bytes())
    last = data.rindex(b"vector")
    if damage == "length":
        struct.pack_into("<i", data, last - 4, -5)
    elif damage == "type":
        data[last] = ord("w")
    elif damage == "arcs":
        data[data.rindex(b"standard")] = ord("w")
    elif damage == "version":
        struct.pack_into("<i", data, data.rindex(b"standard") + len(b"standard"), 1)
    else:
        data[data.rindex(b"bc")] = 0xFF
    path.write_bytes(data)
    with pytest.raises(FstError, match=r"words\.far: "):
        from_fst(path, key=key)


def test_symbols_that_are_not_utf_8(tmp_path: Path) -> None:
    fst, path = pynini.accep("a"), tmp_path / "some.fst"
    words = pywrapfst.SymbolTable()
    for symbol in ("<epsilon>", "uu"):
        words.add_symbol(symbol)
    fst.set_input_symbols(words)
    fst.write(str(path))
    path.write_bytes(path.read_bytes().replace(b"uu", b"u\xff"))
    with pytest.raises(FstError, match=r"the text at byte \d+ is not UTF-8"):
        from_fst(path)


def test_what_is_no_fst_is_not_read() -> None:
    with pytest.raises(FstError, match="/dev/zero holds no FST"):
        from_fst("/dev/zero")


@pytest.mark.parametrize("far_type", ["sttable", "stlist"])
def test_whole_archives_are_read(tmp_path: Path, far_type: str) -> None:
    path = tmp_path / "words.far"
    with pynini.Far(str(path), "w", far_type=far_type) as far:
        for word in ("a", "b", "ü"):
            far[word] = pynini.accep(word)
    for word in ("a", "b", "ü"):
        assert compile_expr(from_fst(path, key=word)).accepts(word)
    with pytest.raises(FstError, match=r"has no entry 'c'; its keys are 'a', 'b', 'ü'"):
        from_fst(path, key="c")


@pytest.mark.parametrize("fst_type", ["vector", "const", "compact_acceptor"])
@pytest.mark.parametrize("map_type", ["to_std", "to_log", "to_log64"])
def test_whole_files_of_any_type_are_read(tmp_path: Path, fst_type: str, map_type: Any) -> None:
    words = pywrapfst.SymbolTable()
    for word in ("<epsilon>", "yes", "no"):
        words.add_symbol(word)
    fst = pynini.union(*(pynini.accep(word, token_type=words) for word in ("yes", "no"))).optimize()
    mapped: Any = pywrapfst.arcmap(fst, map_type=map_type)
    mapped.set_input_symbols(words)
    mapped.set_output_symbols(words)
    path = tmp_path / "some.fst"
    pywrapfst.convert(mapped, fst_type).write(str(path))
    automaton = compile_expr(from_fst(path, separator=" "))
    assert [automaton.accepts(text) for text in ("yes", "no", "yesno")] == [True, True, False]


@pytest.mark.parametrize("seed", range(12))
def test_random_damage_is_an_error_or_read(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    fst = pynini.cross(pynini.union("Monday", "Friday"), "day").optimize()
    if rng.random() < 0.5:
        fst.set_input_symbols(pywrapfst.SymbolTable())
    path = tmp_path / "some.fst"
    (fst if rng.random() < 0.5 else pywrapfst.convert(fst, "const")).write(str(path))
    whole, num_refused = path.read_bytes(), 0
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data))
            data[at : at + 4] = rng.choice([rng.randbytes(1), struct.pack("<i", rng.choice([-1, 0, 7, 1 << 30]))])
        path.write_bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])
        try:
            compile_expr(image("Monday", path))
        except TokenfstError:
            num_refused += 1
    assert num_refused > 30
