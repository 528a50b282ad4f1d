"""Automata over tokens can be pickled, with their vocabularies, where they can be saved."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tokenfst
from automata import Limits
from constraints import grammar, json_schema
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

KINDS: dict[str, Any] = {
    "lazy": "(ab)+",
    "counted": "[a-z]{2,500000}",
    "pushdown": grammar('start: "(" start ")" | "x"'),
}


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_automata_can_be_pickled(kind: str, complete: bool) -> None:
    automaton = tokenfst.compile(KINDS[kind], ALL_BYTES)
    read = pickle.loads(pickle.dumps(automaton.complete() if complete else automaton))
    assert read.vocabulary.digest == ALL_BYTES.digest
    one, other = automaton.start, read.start
    for _ in range(6):
        assert np.array_equal(automaton.mask(one), read.mask(other))
        token = int(np.flatnonzero(automaton.mask(one))[0])
        one, other = automaton.advance(one, token), read.advance(other, token)


def test_automata_that_cannot_be_saved_say_what_to_pickle() -> None:
    unique = json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})
    with pytest.raises(TypeError, match="pickle the constraint in its place"):
        pickle.dumps(tokenfst.compile(unique, ALL_BYTES))
    automaton = tokenfst.compile("(ab)+", ALL_BYTES)
    assert isinstance(automaton, LazyTokenAutomaton)
    automaton._tables.limits = Limits(memory=1)
    with pytest.raises(TypeError, match=r"limit `memory`.*pickle the constraint in its place"):
        pickle.dumps(automaton)
