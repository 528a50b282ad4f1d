"""Pushdown automata over tokens allow exactly what can be completed, whatever tokens cross.

The oracle runs the automaton over bytes one step at a time, with whole stacks. Its automata lead on from every
configuration to an end, so a token is allowed exactly if its bytes can be read.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable

import numpy as np
import pytest
from pushdown_cases import Configuration, Oracle, ambiguous, brackets, json, nested, sums

import tokenfst
from automata import TokenNotAllowed, TooManyConfigurations
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst import PushdownTokenAutomaton, Vocabulary

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
