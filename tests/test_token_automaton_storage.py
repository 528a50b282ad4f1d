"""Token automata are stored dense or sparse, and saved: each form is the same automaton; damaged files are refused."""

from __future__ import annotations

import itertools
import os
import random
import stat
import threading
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from automaton_files import forge
from hypothesis import given
from hypothesis import strategies as st
from kinds import complete
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from token_automaton_cases import PATTERNS, STORAGES, VOCABULARIES, as_csr, check_exact, target

import constraints
import tokenfst
from automata import alternation, parse
from automata.errors import AutomatonFileError, EmptyLanguage
from automata.limits import Work
from tokenfst import BPE, Vocabulary
from tokenfst._native import FiniteCore, TokenClasses
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import END, FIRST_CLASS
from tokenfst.finite.transitions import Csr, Dense


@pytest.mark.parametrize("name", VOCABULARIES)
def test_dense_and_sparse_transitions_are_one_automaton(name: str) -> None:
    for pattern in PATTERNS:
        try:
            dense = complete(pattern, VOCABULARIES[name])
        except EmptyLanguage:
            continue
        assert isinstance(dense.transitions, Dense)
        assert_same(as_csr(dense), dense)


def assert_same(left: FiniteTokenAutomaton, right: FiniteTokenAutomaton) -> None:
    assert (left.num_states, left.num_classes, left.start) == (right.num_states, right.num_classes, right.start)
    assert np.array_equal(left.token_class, right.token_class)
    for a, b in zip(left.transitions.edges(), right.transitions.edges(), strict=True):
        assert np.array_equal(a, b)
    for state in range(left.num_states):
        assert np.array_equal(left.mask(state), right.mask(state))
        assert left.is_final(state) == right.is_final(state)
        assert left.min_tokens(state) == right.min_tokens(state)
        for token in range(-1, len(left.vocabulary) + 1):
            assert target(left, state, token) == target(right, state, token)


BALANCED = constraints.grammar('start: "a" start "b" | "ab"')
KEPT: dict[str, tuple[Any, dict[str, Any]]] = {
    "finite": ("ab|c[ab]{1,3}", {}),
    "counted": ("a{3,4000}b", {}),
    "pushdown": (BALANCED, {}),
    "canonical": ("(ab)+", {"tokenization": "canonical"}),
    "weighted": (parse("ab").weighted(1) | "b", {}),
}


@pytest.mark.parametrize("kind", KEPT)
def test_what_is_written_into_arrays_changes_no_automaton(kind: str) -> None:
    (constraint, options), vocabulary = (
        KEPT[kind],
        Vocabulary([b"a", b"b", b"c", b"ab", b""], 4, bpe=BPE(None, None, False)),
    )
    automaton, other = (complete(constraint, vocabulary, **options) for _ in range(2))
    for array in [*automaton.arrays().values(), *automaton.token_costs(automaton.start)]:
        if array.flags.writeable:
            array[...] = 0
    for name, array in other.arrays().items():
        assert np.array_equal(automaton.arrays()[name], array), name
    assert np.array_equal(automaton.mask(automaton.start), other.mask(other.start))
    assert np.array_equal(automaton.costs(automaton.start), other.costs(other.start))


@given(st.data(), st.integers(1, 12), st.integers(1, 40))
def test_both_forms_hold_the_edges_that_they_are_made_of(
    data: st.DataObject, num_states: int, num_classes: int
) -> None:
    pair = st.tuples(st.integers(0, num_classes - 1), st.integers(0, num_states - 1))
    table = data.draw(st.dictionaries(pair, st.integers(0, num_states - 1), max_size=30))
    keys = sorted(table)
    number, source = (np.array([key[i] for key in keys], np.int32) for i in (0, 1))
    reached = np.array([table[key] for key in keys], np.int32)
    # One token for each class, and none that ends.
    vocabulary = Vocabulary([bytes([byte]) for byte in range(num_classes)])
    ranks = np.arange(num_classes, dtype=np.int32)
    runs = ranks + np.int32(1), ranks + np.int32(FIRST_CLASS)
    classes = TokenClasses(*runs, FIRST_CLASS + num_classes, source, number + np.int32(FIRST_CLASS), reached)
    final, work = np.zeros(num_states, np.bool_), Work()
    for dense_bytes in (1 << 20, 0):
        core = FiniteCore.from_classes(vocabulary.native, 0, final, classes, dense_bytes, 8, work.budget)
        automaton = FiniteTokenAutomaton(vocabulary, core)
        sizes = 4 * (num_states + 1) * (num_classes + FIRST_CLASS), 8 * (num_states + 2 + len(source))
        assert isinstance(automaton.transitions, Csr) == (sizes[0] > max(dense_bytes, sizes[1]))
        assert (automaton.num_states, automaton.num_classes) == (num_states + 1, num_classes + FIRST_CLASS)
        for state, wanted in product(range(num_states), range(num_classes)):
            assert target(automaton, state, wanted) == table.get((wanted, state), -1)
        for state in range(num_states):
            moves = [(n + FIRST_CLASS, to) for (n, s), to in sorted(table.items()) if s == state]
            assert list(zip(*(column.tolist() for column in automaton.moves(state)), strict=True)) == moves
        assert list(zip(*(a.tolist() for a in automaton.transitions.edges()), strict=True)) == sorted(
            (s, n + FIRST_CLASS, t) for (n, s), t in table.items()
        )


def test_a_long_list_of_words_is_sparse_and_exact() -> None:
    generator = random.Random(0)
    words = ["".join(generator.choices("abcdefgh", k=generator.randint(3, 9))) for _ in range(1500)]
    pieces = {word[i:j].encode() for word in words[:40] for i in range(len(word)) for j in range(i + 1, len(word) + 1)}
    vocabulary = Vocabulary([b"", *sorted(pieces)], [0])
    constraint = alternation(*words)
    assert isinstance(complete(constraint, vocabulary).transitions, Csr)
    check_exact(constraint, vocabulary)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", ["bytes", "no end token", "no byte a", "every byte", "characters in parts"])
def test_a_saved_automaton_reads_back(name: str, storage: str, tmp_path: Path) -> None:
    automaton = STORAGES[storage](complete("b*(ab)*", VOCABULARIES[name]))
    automaton.save(tmp_path / "a.safetensors")
    read = tokenfst.load_automaton(tmp_path / "a.safetensors", VOCABULARIES[name])
    assert isinstance(read, FiniteTokenAutomaton)
    assert type(read.transitions) is type(automaton.transitions)
    assert_same(read, automaton)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "a.safetensors"
    complete("b*(ab)*", VOCABULARIES["bytes"]).save(path)
    return path


def test_equal_automata_give_equal_files(tmp_path: Path) -> None:
    automaton = tokenfst.compile("a{0,100000}b", VOCABULARIES["bytes"])
    contents = set()
    for number in range(6):
        automaton.save(tmp_path / str(number))
        contents.add((tmp_path / str(number)).read_bytes())
    assert len(contents) == 1


def test_what_is_no_file_or_no_vocabulary_is_refused(saved: Path) -> None:
    with pytest.raises(AutomatonFileError, match="is a folder"):
        tokenfst.load_automaton(saved.parent, VOCABULARIES["bytes"])
    tokens: Any = ["a", "b"]
    with pytest.raises(TypeError, match="is not a vocabulary"):
        tokenfst.load_automaton(saved, tokens)


def test_a_file_for_another_vocabulary_is_refused(saved: Path) -> None:
    others = [
        Vocabulary([b"a", b"b", b"d", b""], [3]),
        Vocabulary([b"a", b"b", b"c", b""]),
        Vocabulary([b"b", b"a", b"c", b""], [3]),
        Vocabulary([b"a", b"b", b"c", b"", b""], [3]),
        Vocabulary([b"ab", b"", b"c", b""], [3]),
    ]
    for vocabulary in others:
        with pytest.raises(AutomatonFileError, match="vocabulary"):
            tokenfst.load_automaton(saved, vocabulary)


def test_a_damaged_file_is_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    damaged = tmp_path / "damaged"
    for content in (b"", whole[:7], whole[:40], whole[:-1], b"{}" + whole, b"\xff" * 200, whole[::-1]):
        damaged.write_bytes(content)
        with pytest.raises(AutomatonFileError):
            tokenfst.load_automaton(damaged, VOCABULARIES["bytes"])


def test_every_bit_of_a_file_counts(tmp_path: Path) -> None:
    path, vocabulary = tmp_path / "a.safetensors", Vocabulary([b"a", b""], [1])
    complete("a+", vocabulary).save(path)
    whole, damaged = path.read_bytes(), tmp_path / "damaged"
    for bit in range(8 * len(whole)):
        content = bytearray(whole)
        content[bit >> 3] ^= 1 << (bit & 7)
        damaged.write_bytes(content)
        with pytest.raises(AutomatonFileError):
            tokenfst.load_automaton(damaged, vocabulary)


def test_arrays_of_types_that_numpy_lacks_are_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = whole[8 : 8 + size].replace(b'"dtype":"U8"', b'"dtype":"F8_E4M3"')
    saved.write_bytes(len(header).to_bytes(8, "little") + header + whole[8 + size :])
    with pytest.raises(AutomatonFileError, match="array 'final' of the automaton cannot be read"):
        tokenfst.load_automaton(saved, VOCABULARIES["bytes"])


def test_a_file_without_a_checksum_is_refused_by_name(saved: Path) -> None:
    save_file(load_file(saved), saved, METADATA)
    with pytest.raises(AutomatonFileError, match="has no checksum"):
        tokenfst.load_automaton(saved, VOCABULARIES["bytes"])


def test_a_file_is_written_where_its_path_leads(tmp_path: Path) -> None:
    automaton, target, link = complete("a", VOCABULARIES["bytes"]), tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    automaton.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert tokenfst.load_automaton(link, VOCABULARIES["bytes"]).accepts("a")


def test_a_file_is_written_into_a_pipe(tmp_path: Path) -> None:
    pipe, plain, vocabulary = tmp_path / "pipe", tmp_path / "plain", VOCABULARIES["bytes"]
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: plain.write_bytes(pipe.read_bytes()), daemon=True)
    reader.start()
    complete("a", vocabulary).save(pipe)
    reader.join(10)
    assert pipe.is_fifo()
    assert tokenfst.load_automaton(plain, vocabulary).accepts("a")


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        complete("a", VOCABULARIES["bytes"]).save(tmp_path / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    automaton = complete("a", VOCABULARIES["bytes"])
    with pytest.raises(FileNotFoundError):
        automaton.save(tmp_path / "no folder" / "a")
    with pytest.raises(IsADirectoryError):
        automaton.save(tmp_path)


METADATA = {
    "format": "tokenfst automaton",
    "version": "6",
    "kind": "finite",
    "vocabulary": VOCABULARIES["bytes"].digest,
    "at_text_start": "False",
}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("version", "0", "version 0"),
        ("version", "5", "version 5"),
        ("version", None, "version None"),
        ("format", "something else", "not hold"),
        ("format", None, "not hold"),
        ("kind", None, "kind ''"),
        ("kind", "another", "kind 'another'"),
        ("at_text_start", None, "begin"),
        ("at_text_start", "maybe", "begin"),
    ],
)
def test_a_file_with_another_header_is_refused(saved: Path, key: str, value: str | None, message: str) -> None:
    metadata = {k: v for k, v in {**METADATA, key: value}.items() if v is not None}
    forge(saved, load_file(saved), metadata)
    with pytest.raises(AutomatonFileError, match=message):
        tokenfst.load_automaton(saved, VOCABULARIES["bytes"])


DAMAGES: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "no start": lambda arrays: arrays.pop("start"),
    "no final": lambda arrays: arrays.pop("final"),
    "no transitions": lambda arrays: arrays.pop("edge_class", arrays.pop("next", None)),
    "start outside": lambda arrays: arrays.update(start=np.array([99], np.int32)),
    "start negative": lambda arrays: arrays.update(start=np.array([-1], np.int32)),
    "start empty": lambda arrays: arrays.update(start=np.zeros(0, np.int32)),
    "final short": lambda arrays: arrays.update(final=arrays["final"][:-1].copy()),
    "class outside": lambda arrays: arrays.update(run_class=arrays["run_class"] + 90),
    "class negative": lambda arrays: arrays.update(run_class=arrays["run_class"] - 9),
    "runs backwards": lambda arrays: arrays.update(run_end=arrays["run_end"][::-1].copy()),
    "runs too long": lambda arrays: arrays.update(run_end=arrays["run_end"] + 1),
    "runs missing": lambda arrays: arrays.update(
        run_end=arrays["run_end"][:-1].copy(), run_class=arrays["run_class"][:-1].copy()
    ),
    "no runs at all": lambda arrays: arrays.update(run_end=np.zeros(0, np.int32), run_class=np.zeros(0, np.int32)),
    "runs and classes differ": lambda arrays: arrays.update(run_end=np.append(arrays["run_end"], 3).astype(np.int32)),
}


DENSE_DAMAGES: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "target outside": lambda arrays: arrays.update(next=np.where(arrays["next"] >= 0, 99, -1).astype(np.int32)),
    "one-dimensional": lambda arrays: arrays.update(next=arrays["next"].reshape(-1).copy()),
    "fewer states": lambda arrays: arrays.update(next=arrays["next"][:-1].copy()),
    "fewer classes": lambda arrays: arrays.update(next=arrays["next"][:, :2].copy()),
    "ends before the end": lambda arrays: arrays["next"].__setitem__((slice(None), END), 0),
    "other tokens end": lambda arrays: arrays["next"].__setitem__((0, FIRST_CLASS), len(arrays["next"]) - 1),
}


CSR_DAMAGES: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "target outside": lambda arrays: arrays.update(edge_target=arrays["edge_target"] + 90),
    "target negative": lambda arrays: arrays.update(edge_target=arrays["edge_target"] - 90),
    "edge class outside": lambda arrays: arrays.update(edge_class=arrays["edge_class"] + 90),
    "edge class negative": lambda arrays: arrays.update(edge_class=arrays["edge_class"] - 90),
    "edge classes out of order": lambda arrays: arrays.update(edge_class=arrays["edge_class"][::-1].copy()),
    "offsets backwards": lambda arrays: arrays.update(row_offsets=arrays["row_offsets"][::-1].copy()),
    "offsets too long": lambda arrays: arrays.update(row_offsets=arrays["row_offsets"] + 1),
    "offsets too short": lambda arrays: arrays.update(row_offsets=np.minimum(arrays["row_offsets"], 2)),
    "targets missing": lambda arrays: arrays.update(edge_target=arrays["edge_target"][:-1].copy()),
    "no number of classes": lambda arrays: arrays.pop("num_classes"),
    "too few classes": lambda arrays: arrays.update(num_classes=np.array([2], np.int32)),
    "ends before the end": lambda arrays: arrays["edge_target"].__setitem__(arrays["edge_class"] == END, 0),
    "other tokens end": lambda arrays: arrays["edge_target"].fill(len(arrays["final"]) - 1),
}


COUNTED_DAMAGES: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "start with a count": lambda arrays: arrays.update(start=np.array([256], np.int32)),
    "ends before the end": lambda arrays: arrays["edge_target"].__setitem__(arrays["edge_class"] == END, 0),
    "ends with another count": lambda arrays: arrays["action"].__setitem__(arrays["edge_class"] == END, ~0),
}


@pytest.mark.parametrize(
    ("storage", "damage"),
    [
        *(("dense", damage) for damage in [*DAMAGES, *DENSE_DAMAGES]),
        *(("csr", damage) for damage in [*DAMAGES, *CSR_DAMAGES]),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(storage: str, damage: str, tmp_path: Path) -> None:
    path, vocabulary = tmp_path / "a.safetensors", VOCABULARIES["bytes"]
    automaton = STORAGES[storage](complete("b*(ab)*", vocabulary))
    automaton.save(path)
    arrays = load_file(path)
    own = DENSE_DAMAGES if storage == "dense" else CSR_DAMAGES
    {**DAMAGES, **own}[damage](arrays)
    forge(path, arrays, METADATA)
    with pytest.raises(AutomatonFileError):
        tokenfst.load_automaton(path, vocabulary)


@pytest.mark.parametrize("damage", COUNTED_DAMAGES)
def test_counts_that_do_not_fit_are_refused(damage: str, tmp_path: Path) -> None:
    path, vocabulary = tmp_path / "a.safetensors", VOCABULARIES["bytes"]
    tokenfst.compile("a{0,100000}b", vocabulary).save(path)
    arrays = load_file(path)
    COUNTED_DAMAGES[damage](arrays)
    forge(path, arrays, {**METADATA, "kind": "counted"})
    with pytest.raises(AutomatonFileError, match="do not fit together"):
        tokenfst.load_automaton(path, vocabulary)


def test_canonical_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path, encoder = tmp_path / "a.safetensors", BPE(((0, 1, 2),), pattern=None, whole_pieces=False)
    vocabulary = Vocabulary([b"a", b"b", b"ab", b""], 3, bpe=encoder)
    tokenfst.compile("(ab|b)*", vocabulary, tokenization="canonical").save(path)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    arrays = load_file(path)
    forge(path, {**arrays, "offsets": arrays["offsets"][:-1].copy()}, metadata)
    with pytest.raises(AutomatonFileError, match="do not fit together"):
        tokenfst.load_automaton(path, vocabulary)


def test_whoever_reads_a_file_that_is_written_reads_all_of_it(tmp_path: Path) -> None:
    path, vocabulary = tmp_path / "automaton", Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos_ids=256)
    automata = [tokenfst.compile(f"{letter}{{{10 * number + 1}}}", vocabulary) for number, letter in enumerate("abcd")]
    automata[0].save(path)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            for automaton in automata:
                automaton.save(path)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        found, until = set[int](), time.monotonic() + 60
        for number in itertools.count():
            found.add(int(tokenfst.load_automaton(path, vocabulary).min_tokens(0)))
            if (number >= 300 and len(found) > 1) or time.monotonic() > until:
                break
    finally:
        is_over.set()
        thread.join()
    assert len(found) > 1
    assert [each.name for each in tmp_path.iterdir()] == ["automaton"]
