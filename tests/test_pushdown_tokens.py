"""Pushdown automata over tokens allow exactly what can be completed, whatever tokens cross.

The oracle runs the automaton over bytes one step at a time, with whole stacks. Its automata lead on from every
configuration to an end, so a token is allowed exactly if its bytes can be read.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pushdown_cases import Configuration, Oracle, ambiguous, brackets, json, nested, sums
from safetensors import safe_open
from safetensors.numpy import save_file

import tokenfst
from automata import AutomatonFileError, EmptyLanguage, TokenNotAllowed, TooManyConfigurations
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import PushdownTokenAutomaton, TokenAutomaton, Vocabulary

CASES: dict[str, Callable[[], PushdownAutomaton]] = {
    "nested": nested,
    "brackets": brackets,
    "json": json,
    "sums": sums,
    "ambiguous": ambiguous,
}
BYTES = [bytes([byte]) for byte in range(256)]
PIECES = {
    "nested": [b"aa", b"ab", b"aab", b"abb", b"bb", b"bbb", b"aaaa", b"ba"],
    "brackets": [b"()", b"([", b"])", b")(", b"))", b"]]]", b"(((", b")]", b"[](", b"())"],
    "json": [b'"}', b'{"', b'":', b'", "', b"}}", b"]}", b'"]}', b"[[", b"]]", b"1,", b"12", b"true", b"e}", b'{"a":'],
    "sums": [b"((", b"))", b"a(", b"ab", b"),", b"1+", b")*(", b"),(", b"-(-", b"()", b"a,b)"],
    "ambiguous": [b"aa", b"a(", b")a", b"))", b"((", b"(a)"],
}


def _vocabulary(name: str) -> Vocabulary:
    return Vocabulary([*BYTES, *PIECES[name], b"", PIECES[name][0]], [256 + len(PIECES[name])])


def _allowed(oracle: Oracle, configurations: frozenset[Configuration], vocabulary: Vocabulary) -> set[int]:
    """The tokens whose bytes can be read, and the end tokens if the text may end."""
    found = {token for token, text in enumerate(vocabulary.tokens) if text and oracle.read(configurations, text)}
    return found | set(vocabulary.eos_ids if oracle.may_end(configurations) else ())


def _set(automaton: PushdownTokenAutomaton, state: object) -> set[int]:
    return set(np.flatnonzero(automaton.mask(state)).tolist())


@pytest.mark.parametrize("name", CASES)
def test_masks_are_what_brute_force_allows(name: str) -> None:
    automaton, vocabulary = CASES[name](), _vocabulary(name)
    tokens, oracle = tokenfst.compile(automaton, vocabulary), Oracle(automaton)
    draw = random.Random(name)
    ended = 0
    for _ in range(25):
        state, configurations = tokens.start, oracle.start
        for _ in range(30):
            allowed = _allowed(oracle, configurations, vocabulary)
            assert _set(tokens, state) == allowed
            assert tokens.is_final(state) == oracle.may_end(configurations)
            # Pieces and ends as often as single bytes.
            pieces = [token for token in allowed if token >= len(BYTES)]
            token = draw.choice(pieces if pieces and draw.random() < 0.6 else sorted(allowed))
            refused = draw.choice(sorted(set(range(len(vocabulary))) - allowed))
            with pytest.raises(TokenNotAllowed):
                tokens.advance(state, refused)
            state = tokens.advance(state, token)
            if token in vocabulary.eos_ids:
                assert state == tokens.end_state
                assert _set(tokens, state) == set(vocabulary.eos_ids)
                ended += 1
                break
            configurations = oracle.read(configurations, vocabulary.tokens[token])
            if len(configurations) > 6:
                break
    assert ended > 2


@pytest.mark.parametrize("name", CASES)
def test_a_saved_automaton_reads_back(name: str, tmp_path: Path) -> None:
    vocabulary = _vocabulary(name)
    tokens = tokenfst.compile(CASES[name](), vocabulary).within(9)
    tokens.save(tmp_path / "a.safetensors")
    read = PushdownTokenAutomaton.load(tmp_path / "a.safetensors", vocabulary)
    assert (read.max_depth, read.at_text_start, read.start) == (9, False, tokens.start)
    draw, state = random.Random(0), tokens.start
    for _ in range(20):
        assert (read.mask(state) == tokens.mask(state)).all()
        token = draw.choice(sorted(_set(tokens, state)))
        assert read.advance(state, token) == tokens.advance(state, token)
        state = tokens.advance(state, token)
    with pytest.raises(AutomatonFileError, match="with PushdownTokenAutomaton"):
        TokenAutomaton.load(tmp_path / "a.safetensors", vocabulary)
    tokenfst.compile("a*", vocabulary).save(tmp_path / "b.safetensors")
    with pytest.raises(AutomatonFileError, match="with TokenAutomaton"):
        PushdownTokenAutomaton.load(tmp_path / "b.safetensors", vocabulary)


DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "an array is missing": lambda arrays: arrays.pop("move_room"),
    "no sizes": lambda arrays: arrays.pop("sizes"),
    "another array": lambda arrays: arrays.setdefault("other", np.zeros(1, np.int32)),
    "a target outside": lambda arrays: arrays["move_target"].__setitem__(0, 99),
    "a child outside": lambda arrays: arrays["child"].__setitem__((0, 0), 9999),
    "a tree with a circle": lambda arrays: arrays["child"].__setitem__((0, 0), 0),
    "a pop too many": lambda arrays: arrays["move_pops"].__setitem__(0, 2),
    "classes out of order": lambda arrays: arrays["edge_class"].__setitem__(slice(None), 1),
    "a symbol outside": lambda arrays: arrays["push_symbols"].__setitem__(0, 5),
    "offsets that fall": lambda arrays: arrays["row_offsets"].__setitem__(1, 9999),
    "a type": lambda arrays: arrays.__setitem__("move_room", arrays["move_room"].astype(np.int64)),
    "runs that end early": lambda arrays: arrays["run_end"].__setitem__(-1, 3),
    "no states": lambda arrays: arrays["sizes"].__setitem__(0, 0),
    "several moves": lambda arrays: arrays["sizes"].__setitem__(5, 0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_tables_that_do_not_fit_together_are_refused(damage: str, tmp_path: Path) -> None:
    vocabulary = _vocabulary("brackets")
    path = tmp_path / "a.safetensors"
    tokenfst.compile(brackets(), vocabulary).save(path)
    with safe_open(str(path), "numpy") as file:
        arrays, header = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    save_file(arrays, str(path), header)
    PushdownTokenAutomaton.load(path, vocabulary)
    DAMAGES[damage](arrays)
    save_file(arrays, str(path), header)
    with pytest.raises(AutomatonFileError):
        PushdownTokenAutomaton.load(path, vocabulary)
