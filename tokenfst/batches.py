"""Compute the masks of a batch in one call, on several threads and without Python's global interpreter lock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from automata.arrays import IntArray
from tokenfst import _native
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.misuse import check_automaton
from tokenfst.native_automaton import UNLIMITED, NativeTokenAutomaton, core_budget
from tokenfst.token_automaton import TokenAutomaton


def fill_bitmasks(
    automata: Sequence[TokenAutomaton],
    states: Sequence[Any],
    out: IntArray,
    remaining: Sequence[int | None] | None = None,
    *,
    num_threads: int = 1,
) -> None:
    """Write the masks of a batch of sequences as packed words: bit `i & 31` of word `i >> 5` is token i.

    >>> import numpy as np
    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b""], eos_ids=2)
    >>> automata = [tokenfst.compile(pattern, vocabulary) for pattern in ("a+", "b?")]
    >>> words = np.zeros((2, 1), np.int32)
    >>> fill_bitmasks(automata, [automaton.start for automaton in automata], words)
    >>> [f"{word:03b}" for word in words[:, 0]]
    ['001', '110']

    An automaton may occur several times. Other Python threads run in the meantime. A lazy automaton computes one mask
    at a time; masks of different automata are computed in parallel.

    Args:
        automata: B automata over tokens.
        states: one state of each automaton.
        out: int32 `[B, W]`, contiguous, `W >= ceil(V / 32)` for each vocabulary; words past a vocabulary are cleared.
            For a tensor on the CPU, pass `tensor.numpy()`, which shares its memory.
        remaining: the budget of each sequence in tokens, as for `TokenAutomaton.mask`; None for no budget.
        num_threads: the number of threads, including the calling one.

    Raises:
        TypeError: `out` is not such an array, an automaton is something else, or a budget is not an integer.
        ValueError: the sizes are inconsistent, or a state belongs to another automaton.
        LimitExceeded: a lazy automaton has found more states than its limits allow.
    """
    cores: list[Any] = [automaton.core for automaton in automata if isinstance(automaton, NativeTokenAutomaton)]
    if len(cores) < len(automata):
        # Automata that are implemented in Python (`decoding.inputs.healing`) fill their masks themselves.
        budgets = [None] * len(out) if remaining is None else remaining
        for automaton, state, words, budget in zip(automata, states, out, budgets, strict=True):
            check_automaton(automaton)
            automaton.fill_bitmask(state, words, budget)
        return
    limits, tight = None, list[int]()
    if remaining is not None:
        limits = np.array([UNLIMITED if budget is None else core_budget(budget) for budget in remaining], np.int64)
        # A lazy automaton may need its tables for a budget; Python completes them.
        lazy = zip(automata, remaining, strict=False)
        tight = [
            at for at, (one, budget) in enumerate(lazy) if isinstance(one, LazyTokenAutomaton) and budget is not None
        ]
        limits[tight] = UNLIMITED
    _native.fill_bitmasks(cores, states, out, limits, num_threads)
    for at in tight:
        automata[at].fill_bitmask(states[at], out[at], remaining[at] if remaining is not None else None)
