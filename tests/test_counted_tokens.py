"""Token automata with a register are the automata with their repetitions written out: masks, steps, least numbers of
tokens, tensors and files, wherever tokens lead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from arena_walks import check_everywhere
from automaton_files import forge
from counted_cases import (
    EXPRS,
    PATTERNS,
    PRODUCTS,
    VOCABULARIES,
    both,
    certainly_counted,
    check_tokens,
    counted,
)
from hypothesis import given, settings
from safetensors import safe_open
from safetensors.numpy import load_file
from strategies import vocabularies

import tokenfst
from automata import (
    Expr,
    compile_expr,
    parse,
)
from automata.errors import AutomatonFileError, EmptyLanguage
from decoding.arena import Arena
from tokenfst import Vocabulary
from tokenfst.counted.automaton import from_counted
from tokenfst.finite.compile import from_bytes
from tokenfst.vocabulary.text_start import TextStart


@pytest.mark.parametrize("name", VOCABULARIES)
def test_masks_and_steps_are_those_of_the_automaton_written_out(name: str) -> None:
    checked = 0
    for pattern in PATTERNS:
        automata = both(pattern, VOCABULARIES[name])
        if automata is not None:
            checked += 1
            check_tokens(*automata)
    assert checked > len(PATTERNS) / 2
    for expr in PRODUCTS:
        automata = both(expr, VOCABULARIES[name])
        if automata is not None:
            check_tokens(*automata)


TOKENS = [b" ", b" a", b"  ab", b"a", b"ab", b"b", b"  ", b"#a", b"", b"aaa", b" aa", b"bab"]
RULES = [
    TextStart(),
    TextStart(exceptions={10: b" ", 1: b"", 4: b"b"}, ignored=frozenset({0, 6})),
    TextStart(b"a", {2: b"aa", 9: b"b"}, ignored=frozenset({5})),
    TextStart(b"aaaaa"),
    TextStart(exceptions=dict(enumerate(TOKENS))),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("bytes_too", [False, True])
def test_texts_of_their_own_are_counted_alike(rule: TextStart, bytes_too: bool) -> None:
    tokens = TOKENS + [bytes([byte]) for byte in range(256)] * bytes_too
    vocabulary, checked = Vocabulary(tokens, [8], text_start=rule), 0
    exprs = [*map(parse, PATTERNS), *PRODUCTS, *(parse(f" ?(?:{pattern})") for pattern in PATTERNS)]
    for expr in exprs[:: 5 if bytes_too else 1]:
        automaton = counted(expr)
        assert automaton is not None
        try:
            written_out = from_bytes(compile_expr(expr), vocabulary, at_text_start=True)
        except EmptyLanguage:
            with pytest.raises(EmptyLanguage):
                from_counted(automaton, vocabulary, at_text_start=True)
            continue
        check_tokens(from_counted(automaton, vocabulary, at_text_start=True), written_out)
        checked += 1
    assert checked > 10


@settings(max_examples=100)
@given(EXPRS, vocabularies())
def test_random_constraints_over_random_vocabularies(expr: Expr, vocabulary: Vocabulary) -> None:
    automata = both(expr, vocabulary)
    if automata is not None:
        check_tokens(*automata)


@pytest.mark.parametrize("name", ["every byte", "tokens across bounds"])
def test_tokens_with_one_function_are_one_class(name: str) -> None:
    """However guards were cut on the way to a function, equal functions are found to be equal."""
    for pattern in PATTERNS:
        automaton = from_counted(certainly_counted(pattern), VOCABULARIES[name])
        table = np.full((automaton.num_states, automaton.num_classes), -1)
        for state in range(automaton.num_states):
            numbers, targets = automaton.moves(state)
            table[state, numbers] = targets
        assert len(np.unique(table, axis=1).T) == automaton.num_classes, pattern
        assert automaton.num_states == len(automaton.min_tokens_by_state)


# Tensors and files


@pytest.mark.parametrize("pattern", ["a{2,5}", '"[^"]{0,3}"', "(a{3}b?)*", "b*a{3,}b*", "(ab?){2,6}a"])
@pytest.mark.parametrize("name", ["tokens across bounds", "pairs only", "no end token"])
def test_an_arena_does_what_the_automaton_says(pattern: str, name: str) -> None:
    automata = both(pattern, VOCABULARIES[name])
    if automata is None:
        return
    arena = Arena.of(automata[:1], width=len(VOCABULARIES[name]) + 2)
    reached = check_everywhere(arena, automata[0])
    assert reached == {state for state, _ in check_tokens(*automata)}


@pytest.mark.parametrize("name", ["tokens across bounds", "no byte a", "no end token"])
def test_a_saved_automaton_reads_back(name: str, tmp_path: Path) -> None:
    automaton = from_counted(certainly_counted("b*(aa){2,4}"), VOCABULARIES[name])
    automaton.save(tmp_path / "a.safetensors")
    read = tokenfst.load_automaton(tmp_path / "a.safetensors", VOCABULARIES[name])
    assert type(read) is type(automaton)
    check_tokens(read, automaton)
    assert np.array_equal(read.final, automaton.final)
    assert read.nbytes == automaton.nbytes


DAMAGES: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
    "no guards": lambda arrays: arrays.pop("low"),
    "no greatest value": lambda arrays: arrays.pop("max_register"),
    "greatest value empty": lambda arrays: arrays.update(max_register=np.zeros(0, np.int32)),
    "greatest value too small": lambda arrays: arrays.update(max_register=np.array([2], np.int32)),
    "greatest value negative": lambda arrays: arrays.update(max_register=np.array([-1], np.int32)),
    "classes outside": lambda arrays: arrays.update(edge_class=arrays["edge_class"] + 90),
    "targets outside": lambda arrays: arrays.update(edge_target=arrays["edge_target"] + 90),
    "targets missing": lambda arrays: arrays.update(edge_target=arrays["edge_target"][:-1].copy()),
    "guards backwards": lambda arrays: arrays.update(low=arrays["high"], high=arrays["low"]),
    "guards that overlap": lambda arrays: arrays.update(
        low=np.zeros_like(arrays["low"]), high=np.full_like(arrays["high"], 4)
    ),
    "a guard below nothing": lambda arrays: arrays.update(low=arrays["low"] - 1),
    "a guard past the greatest value": lambda arrays: arrays.update(high=arrays["high"] + 1),
    "a sum past the greatest value": lambda arrays: arrays.update(
        action=np.where(arrays["action"] >= 0, 4, arrays["action"]).astype(np.int32)
    ),
    "set past the greatest value": lambda arrays: arrays.update(
        action=np.where(arrays["action"] < 0, ~5, arrays["action"]).astype(np.int32)
    ),
    "offsets backwards": lambda arrays: arrays.update(row_offsets=arrays["row_offsets"][::-1].copy()),
    "offsets too short": lambda arrays: arrays.update(row_offsets=np.minimum(arrays["row_offsets"], 2)),
    "fewer places": lambda arrays: arrays.update(final=arrays["final"][:-1].copy()),
    "start outside": lambda arrays: arrays.update(start=np.array([99], np.int32)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    vocabulary, path = VOCABULARIES["tokens across bounds"], tmp_path / "a.safetensors"
    from_counted(certainly_counted('"a{2,4}"b{0,2}'), vocabulary).save(path)
    arrays = load_file(path)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    DAMAGES[damage](arrays)
    forge(path, arrays, metadata)
    with pytest.raises(AutomatonFileError):
        tokenfst.load_automaton(path, vocabulary)
