"""Masks of many sequences at once: one call for a batch, outside Python's lock and on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from automata.arrays import IntArray
from tokenfst import _native
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.token_automaton import NativeTokenAutomaton, TokenAutomaton

# More tokens than any text has.
_UNLIMITED = np.iinfo(np.int64).max


def fill_bitmasks(
    automata: Sequence[TokenAutomaton],
    states: Sequence[Any],
    out: IntArray,
    remaining: Sequence[int | None] | None = None,
    *,
    num_threads: int = 1,
) -> None:
    """Write the masks of a batch of sequences as packed words: bit `i & 31` of word `i >> 5` is token i.

    Each sequence has an automaton and a state of its own; any of them may be the same. Other threads of Python run
    meanwhile. Threads that fill masks of one lazy automaton take turns, those of different automata do not.

    Args:
        automata: B automata over tokens.
        states: a state of each.
        out: int32 `[B, W]`, contiguous, `W >= ceil(V / 32)` for each vocabulary; words past a vocabulary are cleared. A
            tensor on the CPU is given as `tensor.numpy()`, which shares its memory.
        remaining: how many tokens each sequence may still write, as of `TokenAutomaton.mask`; None for any number.
        num_threads: how many threads share the work, the caller's among them.

    Raises:
        TypeError: `out` is no such array.
        ValueError: the sizes do not fit together, or a state is none of its automaton's.
        LimitExceeded: a lazy automaton has found more states than its limits allow.
    """
    cores: list[Any] = [automaton.core for automaton in automata if isinstance(automaton, NativeTokenAutomaton)]
    if len(cores) < len(automata):
        # What is made of an automaton in Python (`decoding.inputs.healing`) fills its mask there.
        for automaton, state, words, budget in zip(automata, states, out, remaining or [None] * len(out), strict=True):
            automaton.fill_bitmask(state, words, budget)
        return
    limits, tight = None, list[int]()
    if remaining is not None:
        limits = np.array([_UNLIMITED if budget is None else budget for budget in remaining], np.int64)
        # What a budget excludes may be known only from the tables of a lazy automaton.
        lazy = zip(automata, remaining, strict=False)
        tight = [
            at for at, (one, budget) in enumerate(lazy) if isinstance(one, LazyTokenAutomaton) and budget is not None
        ]
        limits[tight] = _UNLIMITED
    _native.fill_bitmasks(cores, states, out, limits, num_threads)
    for at in tight:
        automata[at].fill_bitmask(states[at], out[at], remaining[at] if remaining is not None else None)
