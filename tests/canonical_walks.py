"""Walks through canonical automata, for their tests."""

from __future__ import annotations

import random

import numpy as np

from tokenfst.canonical.automaton import CanonicalTokenAutomaton


def finish(automaton: CanonicalTokenAutomaton, state: int, generator: random.Random) -> list[int]:
    """Tokens that end the text in as many steps as `min_tokens` says."""
    tokens: list[int] = []
    while not automaton.is_final(state):
        for token in generator.sample(nearer(automaton, state), k=len(nearer(automaton, state))):
            reached = automaton.advance(state, token)
            if automaton.min_tokens(reached) < automaton.min_tokens(state):
                break
        else:
            raise AssertionError("no token leads to where min_tokens points")
        tokens.append(token)
        state = reached
    return tokens


def nearer(automaton: CanonicalTokenAutomaton, state: int) -> list[int]:
    """The allowed tokens of classes that may lead nearer to the end."""
    row = state // len(automaton.vocabulary)
    edges = slice(automaton.text_states.offsets[row], automaton.text_states.offsets[row + 1])
    near = automaton.text_states.number[edges][
        automaton.text_states.least[:, edges].min(axis=0) < automaton.min_tokens(state)
    ]
    tokens: list[int] = np.flatnonzero(automaton.mask(state) & np.isin(automaton.class_of, near)).tolist()
    return tokens
