"""Masks of a batch: what automata say one by one, whatever their kinds, with any number of threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tokenfst
from automata import Grammar, literal
from automata.arrays import IntArray
from constraints import json, json_schema
from decoding.inputs.healing import Healed
from tokenfst import Vocabulary, fill_bitmasks
from tokenfst.token_automaton import TokenAutomaton

VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), b"ab", b"123", b'": ', b'{"', b""], eos_ids=[260])
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
AUTOMATA: dict[str, TokenAutomaton] = {
    "pattern": tokenfst.compile("(ab)*[0-9]{2,5}", VOCABULARY),
    "counted": tokenfst.compile('"[^"]{50,9000}"', VOCABULARY),
    "grammar": tokenfst.compile(json(), VOCABULARY),
    "lazy": tokenfst.compile(json_schema(SCHEMA), VOCABULARY),
    "lazy grammar": tokenfst.compile(json(), VOCABULARY),
    "at the start of a text": tokenfst.compile("[ab]+", VOCABULARY, at_text_start=True),
}


def batch() -> tuple[list[TokenAutomaton], list[Any]]:
    """Each automaton in a few of its states."""
    automata, states = [], []
    for automaton in AUTOMATA.values():
        state = automaton.start
        for _ in range(6):
            automata.append(automaton)
            states.append(state)
            allowed = np.flatnonzero(automaton.mask(state))
            if allowed[-1] == 260:
                break
            state = automaton.advance(state, int(allowed[-1]))
    return automata, states


def unpacked(words: IntArray) -> np.ndarray[Any, Any]:
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)


@pytest.mark.parametrize("num_threads", [1, 2, 5])
@pytest.mark.parametrize("width", [9, 12])
def test_each_row_is_the_mask_of_its_state(num_threads: int, width: int) -> None:
    automata, states = batch()
    out = np.full((len(states), width), -1, np.int32)
    fill_bitmasks(automata, states, out, num_threads=num_threads)
    for automaton, state, bits in zip(automata, states, unpacked(out), strict=True):
        assert (bits[: len(VOCABULARY)] == automaton.mask(state)).all()
        assert not bits[len(VOCABULARY) :].any()


def test_each_sequence_has_a_budget_of_its_own() -> None:
    automata, states = batch()
    remaining = [None if at % 3 == 0 else at for at in range(len(states))]
    out = np.zeros((len(states), 9), np.int32)
    fill_bitmasks(automata, states, out, remaining, num_threads=2)
    for automaton, state, left, bits in zip(automata, states, remaining, unpacked(out), strict=True):
        assert (bits[: len(VOCABULARY)] == automaton.mask(state, left)).all()


def test_no_budget_beside_a_budget_is_no_budget() -> None:
    vocabulary = Vocabulary([b"a", b"b"])
    for constraint in ("a", Grammar({"s": literal("a")}, "s")):
        automaton = tokenfst.compile(constraint, vocabulary)
        out = np.zeros((3, 1), np.int32)
        fill_bitmasks([automaton] * 3, [automaton.start] * 3, out, [1, None, 0])
        assert out[:, 0].tolist() == [1, 1, 0]


def test_budgets_of_any_size_and_type_are_taken() -> None:
    healed = Healed(AUTOMATA["pattern"], b"a")
    for automaton in [*AUTOMATA.values(), *(each.complete() for each in AUTOMATA.values()), healed]:
        for budget, same in ((2**63, None), (10**30, None), (-(2**70), 0), (np.int64(4), 4)):
            expected = automaton.mask(automaton.start, same)
            assert (automaton.mask(automaton.start, int(budget)) == expected).all()
            out = np.zeros((1, 9), np.int32)
            fill_bitmasks([automaton], [automaton.start], out, [int(budget)])
            assert (unpacked(out)[0, : len(VOCABULARY)] == expected).all()
        for array in (np.array([0]), np.array([4])):
            fill_bitmasks([automaton], [automaton.start], out, array.tolist())
            given: Any = array
            again = np.zeros((1, 9), np.int32)
            fill_bitmasks([automaton], [automaton.start], again, given)
            assert (again == out).all()
    complete, wrong = AUTOMATA["counted"].complete(), list[Any]([2.9])
    with pytest.raises(TypeError):
        fill_bitmasks([complete], [complete.start], np.zeros((1, 9), np.int32), wrong)


def test_automata_that_are_made_in_python_take_part() -> None:
    healed = Healed(AUTOMATA["pattern"], b"a")
    automata, states = [healed, AUTOMATA["grammar"]], [healed.start, AUTOMATA["grammar"].start]
    out = np.zeros((2, 9), np.int32)
    fill_bitmasks(automata, states, out, [4, None])
    assert (unpacked(out)[0, : len(VOCABULARY)] == healed.mask(healed.start, 4)).all()
    assert (unpacked(out)[1, : len(VOCABULARY)] == AUTOMATA["grammar"].mask(states[1])).all()


def test_what_does_not_fit_is_refused() -> None:
    automaton = AUTOMATA["pattern"]
    start, out = automaton.start, np.zeros((2, 9), np.int32)
    with pytest.raises(ValueError, match="fewer automata"):
        fill_bitmasks([automaton], [start, start], out)
    with pytest.raises(ValueError, match="more automata"):
        fill_bitmasks([automaton] * 3, [start, start], out)
    with pytest.raises(ValueError, match="a row, and a budget"):
        fill_bitmasks([automaton] * 2, [start, start], out, [3])
    with pytest.raises(ValueError, match="a row, and a budget"):
        fill_bitmasks([automaton], [start], out)
    with pytest.raises(ValueError, match="words"):
        fill_bitmasks([automaton] * 2, [start, start], np.zeros((2, 8), np.int32))
    with pytest.raises(ValueError, match="not one of the automaton's"):
        fill_bitmasks([automaton] * 2, [start, 10**7], out)
    with pytest.raises(ValueError, match="thread"):
        fill_bitmasks([automaton] * 2, [start, start], out, num_threads=0)
    wrong: Any
    for wrong in (None, "ab"):
        with pytest.raises(TypeError, match="not an automaton over tokens"):
            fill_bitmasks([automaton, wrong], [start, start], out)
    for wrong in (out.astype(np.int64), out[:, ::-1], out[0], np.zeros((2, 18), np.int32)[:, ::2]):
        with pytest.raises(TypeError):
            fill_bitmasks([automaton] * 2, [start, start], wrong)


def test_threads_may_fill_masks_of_the_same_automata() -> None:
    automata, states = batch()
    expected = np.zeros((len(states), 9), np.int32)
    fill_bitmasks(automata, states, expected)
    found = [np.zeros_like(expected) for _ in range(4)]
    threads = [threading.Thread(target=fill_bitmasks, args=(automata, states, out)) for out in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((out == expected).all() for out in found)
