"""The token automaton is exact: every mask agrees with the definition by OpenFst and with brute force.

`check_exact` walks the fast automaton, the composition by OpenFst and the brute-force search together through every
reachable triple of states, so it covers all sequences of tokens, whatever their length.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import complete
from safetensors.numpy import load_file, save_file
from strategies import BruteForce, accepted, all_patterns, exprs, up_to, vocabularies

import tokenfst
from automata import ANY_BYTES, EMPTY, ByteAutomaton, Expr, alternation, compile_expr, literal, parse
from automata.errors import AutomatonFileError, EmptyLanguage, TokenNotAllowed, VocabularyError
from automata.limits import Work
from tokenfst import Vocabulary
from tokenfst._native import FiniteCore, TokenClasses
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import FIRST_CLASS
from tokenfst.finite.transitions import Csr, Dense
from tokenfst.reference import Reference

E_ACUTE, EURO = "é".encode(), "€".encode()

VOCABULARIES = {
    "bytes": Vocabulary([b"a", b"b", b"c", b""], [3]),
    "prefixes of others": Vocabulary([b"", b"a", b"aa", b"aaa", b"aab", b"ab", b"b", b"ba", b"abab", b"c"], [0]),
    "duplicates and empty tokens": Vocabulary([b"a", b"", b"a", b"ab", b"ab", b"", b"b", b"bb", b"b", b""], [9]),
    "no byte b": Vocabulary([b"a", b"aa", b"ab", b"abb", b"ca", b""], [5]),
    "no byte a": Vocabulary([b"ab", b"b", b"bab", b""], [3]),
    "pairs only": Vocabulary([b"aa", b"ab", b"ba", b"bb", b"aba", b""], [5]),
    "one token": Vocabulary([b"ab"]),
    "no end token": Vocabulary([b"a", b"b", b"ab", b"c"]),
    "several end tokens": Vocabulary([b"", b"a", b"b", b"a", b"ba", b""], [0, 3, 5]),
    "special tokens": Vocabulary([b"a", b"<s>", b"b", b"abc", b"</s>"], [4], special_tokens={"<s>": 1}),
    "characters in parts": Vocabulary(
        [
            b"a",
            b"b",
            b"\xc3",
            b"\xa9",
            b"a\xc3",
            b"\xa9b",
            E_ACUTE,
            EURO,
            EURO[:2],
            EURO[2:],
            b"b" + EURO[:1],
            b"\xff",
            b"",
        ],
        [12],
    ),
    "every byte": Vocabulary([*(bytes([byte]) for byte in range(256)), b"ab", b"ba", b"", E_ACUTE + b"a"], [258]),
}


def as_csr(automaton: FiniteTokenAutomaton) -> FiniteTokenAutomaton:
    """The same automaton with sparse transitions."""
    source, number, target = automaton.transitions.edges()
    offsets = np.searchsorted(source, np.arange(automaton.num_states + 1)).astype(np.int64)
    transitions = Csr(offsets, number.copy(), target.copy(), automaton.num_classes)
    runs = automaton.run_end, automaton.run_class
    return FiniteTokenAutomaton.from_transitions(
        automaton.vocabulary, automaton.start, automaton.final, transitions, *runs
    )


def allowed(automaton: FiniteTokenAutomaton, state: int) -> set[int]:
    return set(np.flatnonzero(automaton.mask(state)).tolist())


def check_exact(constraint: str | Expr, vocabulary: Vocabulary) -> None:
    """Fast, reference and brute force agree on everything, or on there being nothing."""
    byte_automaton = compile_expr(parse(constraint) if isinstance(constraint, str) else constraint)
    brute = BruteForce(byte_automaton, vocabulary)
    if brute.is_empty:
        with pytest.raises(EmptyLanguage):
            complete(constraint, vocabulary)
        with pytest.raises(EmptyLanguage):
            Reference(byte_automaton, vocabulary)
        return
    fast, reference = complete(constraint, vocabulary), Reference(byte_automaton, vocabulary)
    triples = {(fast.start, reference.start, brute.start)}
    waiting = list(triples)
    while waiting:
        state, by_definition, byte_state = waiting.pop()
        tokens = brute.allowed(byte_state)
        context = constraint, vocabulary.tokens, state
        assert allowed(fast, state) == tokens, context
        assert reference.allowed(by_definition) == tokens, context
        final = brute.final[byte_state]
        assert fast.is_final(state) == reference.is_final(by_definition) == final, context
        assert fast.min_tokens(state) == brute.distance[byte_state], context
        check_step_over_end(fast, state, final)
        for token in tokens - set(vocabulary.eos_ids):
            triple = (
                fast.advance(state, token),
                reference.advance(by_definition, token),
                brute.steps[byte_state][token],
            )
            if triple not in triples:
                triples.add(triple)
                waiting.append(triple)
    # Every state but the one after the end is some place that tokens lead to: none is left over.
    assert {state for state, _, _ in triples} == set(range(fast.num_states - 1)), constraint


def check_step_over_end(automaton: FiniteTokenAutomaton, state: int, final: bool) -> None:
    for token in automaton.vocabulary.eos_ids:
        if final:
            assert automaton.advance(state, token) == automaton.end_state
        else:
            with pytest.raises(TokenNotAllowed):
                automaton.advance(state, token)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_every_small_pattern_is_exact(name: str) -> None:
    for pattern in up_to(3):
        check_exact(pattern, VOCABULARIES[name])


@pytest.mark.parametrize("name", ["no byte b", "prefixes of others", "pairs only", "characters in parts"])
def test_every_pattern_of_four_nodes_is_exact(name: str) -> None:
    for pattern in all_patterns(4, quantifiers=("*", "?", "{2}")):
        check_exact(pattern, VOCABULARIES[name])


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize(
    "pattern",
    [r".*", r"(.|\n)*", r'"[^"\\]*"', r"[^a]*", r"(é|€)*", r"a\u00e9?b|[\u00e8-\u00ea]+", r"(?P<NOT>.*ab.*)",
     r"(?P<AND>(?:.*a.*)(?:[^c]*))", r"(?P<BYTES>[\x80-\xff]*)", r"\w{2,4}", r"(?i)A+É*"],
)  # fmt: skip
def test_free_text_is_exact(pattern: str, name: str) -> None:
    check_exact(pattern, VOCABULARIES[name])


@given(exprs(), vocabularies())
def test_random_constraints_over_random_vocabularies_are_exact(expr: Expr, vocabulary: Vocabulary) -> None:
    check_exact(expr, vocabulary)


@given(st.sampled_from(up_to(4)), vocabularies())
def test_small_patterns_over_random_vocabularies_are_exact(pattern: str, vocabulary: Vocabulary) -> None:
    check_exact(pattern, vocabulary)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_accepts_exactly_the_tokenizations_of_the_language(name: str) -> None:
    vocabulary = VOCABULARIES[name]
    tokens = [i for i, token in enumerate(vocabulary.tokens) if set(token) <= set(b"abc")][:6]
    for pattern in ["(ab)*", "a+b?", "[ab]{2,3}", "(a|ba)*b?", ""]:
        byte_automaton = compile_expr(parse(pattern))
        if BruteForce(byte_automaton, vocabulary).is_empty:
            continue
        automaton = complete(pattern, vocabulary)
        for length in range(5):
            for sequence in product(tokens, repeat=length):
                check_accepts(automaton, byte_automaton, sequence)


def check_accepts(automaton: FiniteTokenAutomaton, byte_automaton: ByteAutomaton, sequence: Sequence[int]) -> None:
    vocabulary = automaton.vocabulary
    body = list(sequence[:-1] if sequence and sequence[-1] in vocabulary.eos_ids else sequence)
    # A token that emits nothing is never allowed, and the end comes only at the end.
    spells = all(vocabulary.tokens[token] for token in body)
    expected = spells and byte_automaton.accepts(vocabulary.detokenize(body))
    assert automaton.accepts(sequence) == expected, sequence
    for end in vocabulary.eos_ids:
        assert automaton.accepts([*body, end]) == expected, (sequence, end)


def test_accepts_takes_any_iterable_and_any_number() -> None:
    automaton = complete("ab", VOCABULARIES["bytes"])
    assert automaton.accepts(iter([0, 1, 3]))
    assert not automaton.accepts([0, 1, 3, 3])
    assert not automaton.accepts([3])
    assert not automaton.accepts([0, -1])
    assert not automaton.accepts([0, 99])


# What cannot be written


@pytest.mark.parametrize("constraint", [EMPTY, r"[^\x00-\U0010ffff]", "(?P<AND>(?:a)(?:b))", literal("a") & "b"])
def test_a_language_without_texts_is_refused(constraint: str | Expr) -> None:
    with pytest.raises(EmptyLanguage, match="no text at all"):
        complete(constraint, VOCABULARIES["every byte"])


def test_a_language_that_tokens_cannot_spell_is_refused() -> None:
    with pytest.raises(EmptyLanguage, match="vocabulary"):
        complete("b+", VOCABULARIES["no byte b"])


def test_bytes_that_are_no_text_can_be_written() -> None:
    check_exact(ANY_BYTES, VOCABULARIES["characters in parts"])
    check_exact(literal(b"\xff") + b"a", VOCABULARIES["every byte"])


# Masks

PATTERNS = ["(ab)*", "[ab]+c?", r".*", r"(.|\n)*", "a{3}|b"]
STORAGES: dict[str, Callable[[FiniteTokenAutomaton], FiniteTokenAutomaton]] = {
    "dense": lambda automaton: automaton,
    "csr": as_csr,
}


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 65, 300])
def test_packed_masks_are_masks(size: int, storage: str) -> None:
    pieces = [b"a", b"b", b"ab", b"", b"c", b"aab", E_ACUTE, b"\xc3", b"ba"]
    vocabulary = Vocabulary([pieces[i % len(pieces)] for i in range(size)], [size // 2] if size > 1 else [])
    automaton = STORAGES[storage](complete("[^c]*", vocabulary))
    num_words = -(-size // 32)
    for state in range(automaton.num_states):
        mask = automaton.mask(state)
        assert mask.shape == (size,)
        assert mask.dtype == np.bool_
        for extra in (0, 1, 5):
            out = np.full(num_words + extra, 0x5A5A5A5A, np.int32)
            automaton.fill_bitmask(state, out)
            bits = [bool(int(out[token >> 5]) >> (token & 31) & 1) for token in range(32 * len(out))]
            assert bits == mask.tolist() + [False] * (32 * len(out) - size)


def test_masks_that_are_too_short_are_refused() -> None:
    automaton = complete("a*", VOCABULARIES["every byte"])
    with pytest.raises(ValueError, match="words"):
        automaton.fill_bitmask(automaton.start, np.zeros(8, np.int32))


def test_masks_stay_right_when_the_cache_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = complete("[ab]{9}", VOCABULARIES["prefixes of others"])
    monkeypatch.setattr("tokenfst.finite.automaton.MAX_CACHED_MASKS", 2)
    small = complete("[ab]{9}", VOCABULARIES["prefixes of others"])
    for state in [*range(small.num_states)] * 2:
        out = np.zeros(1, np.int32)
        small.fill_bitmask(state, out)
        assert np.array_equal(small.mask(state), expected.mask(state))
        assert out.view(np.uint32)[0] == sum(1 << token for token in allowed(expected, state))


def test_the_caller_cannot_change_a_mask_that_is_kept() -> None:
    automaton = complete("a*", VOCABULARIES["bytes"])
    automaton.mask(automaton.start)[:] = False
    out = np.zeros(1, np.int32)
    automaton.fill_bitmask(automaton.start, out)
    out[:] = 0
    assert allowed(automaton, automaton.start) == {0, 3}


# Steps


@pytest.mark.parametrize("storage", STORAGES)
def test_a_token_that_is_not_allowed_is_refused(storage: str) -> None:
    vocabulary = VOCABULARIES["special tokens"]
    automaton = STORAGES[storage](complete("ab", vocabulary))
    for token in (-1, -5, 5, 99, 1 << 40, 1, 2, 4):
        with pytest.raises(TokenNotAllowed):
            automaton.advance(automaton.start, token)
    assert not automaton.mask(automaton.start)[[1, 2, 4]].any()
    inside = automaton.advance(automaton.start, 0)
    assert allowed(automaton, inside) == {2}


def test_end_tokens_lead_to_the_end_and_stay_there() -> None:
    automaton = complete("ab?", VOCABULARIES["several end tokens"])
    state = automaton.advance(automaton.start, 1)
    assert [automaton.advance(state, token) for token in (0, 3, 5)] == [automaton.end_state] * 3
    assert allowed(automaton, automaton.end_state) == {0, 3, 5}
    assert automaton.is_final(automaton.end_state)
    assert automaton.min_tokens(state) == 1


def test_token_classes_tell_tokens_apart_exactly_when_some_state_does() -> None:
    for name, pattern in product(VOCABULARIES, PATTERNS):
        vocabulary = VOCABULARIES[name]
        try:
            automaton = complete(pattern, vocabulary)
        except EmptyLanguage:
            continue
        columns: dict[tuple[int, ...], set[int]] = {}
        for token in range(len(vocabulary)):
            column = tuple(target(automaton, state, token) for state in range(automaton.num_states))
            columns.setdefault(column, set()).add(int(automaton.token_class[token]))
        silent = -1 * np.ones(automaton.num_states, int)
        for column, classes in columns.items():
            assert len(classes) == 1, (name, pattern, column)
            assert (classes == {0}) == (column == tuple(silent)), (name, pattern)


def target(automaton: FiniteTokenAutomaton, state: int, token: int) -> int:
    try:
        return automaton.advance(state, token)
    except TokenNotAllowed:
        return -1


# Storage


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
    assert type(read.transitions) is type(automaton.transitions)
    assert_same(read, automaton)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "a.safetensors"
    complete("b*(ab)*", VOCABULARIES["bytes"]).save(path)
    return path


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


METADATA = {
    "format": "tokenfst automaton",
    "version": "4",
    "kind": "finite",
    "vocabulary": VOCABULARIES["bytes"].digest,
    "at_text_start": "False",
}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("version", "0", "version 0"),
        ("version", "3", "version 3"),
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
    save_file(load_file(saved), saved, metadata)
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
    save_file(arrays, path, METADATA)
    with pytest.raises(AutomatonFileError):
        tokenfst.load_automaton(path, vocabulary)


# Vocabularies


@pytest.mark.parametrize(
    ("tokens", "eos", "special"),
    [([], [], {}), ([b"a"], [1], {}), ([b"a"], [-1], {}), ([b"a"], [], {"x": 7}), ([b"a", "b"], [], {})],
)
def test_what_is_no_vocabulary_is_refused(tokens: list[bytes], eos: list[int], special: dict[str, int]) -> None:
    with pytest.raises(VocabularyError):
        Vocabulary(tokens, eos, special_tokens=special)


def test_a_very_long_token_is_a_token() -> None:
    vocabulary = Vocabulary([b"a" * 5000, b"a", b"b" + b"a" * 4999, b""], [3])
    automaton = complete("a*", vocabulary)
    assert allowed(automaton, automaton.start) == {0, 1, 3}
    check_exact("b?(aa)*", vocabulary)


# Threads


def test_threads_that_do_the_same_get_the_same() -> None:
    vocabulary = VOCABULARIES["every byte"]
    patterns = [r'"[^"\\]*"', "(ab)*", r"(.|\n)*", "a{3}|b"]
    shared = [complete(pattern, vocabulary) for pattern in patterns]
    expected = [masks(automaton) for automaton in shared]

    def work(index: int) -> bool:
        which = index % len(patterns)
        own = complete(patterns[which], vocabulary)
        return masks(own) == expected[which] and masks(shared[which]) == expected[which]

    # New automata, whose masks no one has asked for yet.
    shared = [complete(pattern, vocabulary) for pattern in patterns]
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(200)))


def test_threads_may_share_a_cache_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenfst.finite.automaton.MAX_CACHED_MASKS", 3)
    shared = complete("[ab]{40}", VOCABULARIES["prefixes of others"])
    expected = [shared.mask(state).tobytes() for state in range(shared.num_states)]

    def work(seed: int) -> bool:
        states = random.Random(seed).choices(range(shared.num_states), k=5000)
        return all(shared.mask(state).tobytes() == expected[state] for state in states)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(work, range(16)))
    finally:
        sys.setswitchinterval(interval)


def masks(automaton: FiniteTokenAutomaton) -> list[bytes]:
    return [automaton.mask(state).tobytes() for state in range(automaton.num_states)]


def test_the_oracle_itself_tells_live_from_dead() -> None:
    brute = BruteForce(compile_expr(parse("ab|ac")), Vocabulary([b"a", b"b", b"ac"]))
    assert brute.allowed(brute.start) == {0, 2}
    assert accepted(compile_expr(parse("ab|ac")), b"abc", 3) == {b"ab", b"ac"}
    assert BruteForce(compile_expr(parse("ab")), Vocabulary([b"a"])).is_empty
