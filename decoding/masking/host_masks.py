"""Masks of rows whose states are kept on the host: automata that the arena does not hold.

The states of a batch advance one by one in Python; their masks are filled in one call of the native core
(`tokenfst.fill_bitmasks`), sent to the device as packed words, and applied there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from automata.errors import TokenNotAllowed
from decoding.inputs.constraints import dead_end
from tokenfst.batches import fill_bitmasks
from tokenfst.packed_words import set_only
from tokenfst.token_automaton import TokenAutomaton

# The largest excess that is counted: a token that makes a text even longer is charged for this many.
_MAX_EXCESS: Final = 64


class _Astray:
    """The state of a row that holds a token which was not allowed."""


class _Ended:
    """The state of a row after its end token."""


ASTRAY, ENDED = _Astray(), _Ended()
HostState = Hashable
"""A state of an automaton, `ASTRAY`, `ENDED`, or None for a row that is not kept on the host."""


def advanced(automaton: TokenAutomaton | None, state: HostState, token: int) -> HostState:
    """Return the state of a row after one more token."""
    if automaton is None or state is None or state is ASTRAY or state is ENDED:
        return state
    try:
        reached: HostState = automaton.advance(state, token)
    except TokenNotAllowed:
        return ASTRAY
    return ENDED if token in automaton.vocabulary.eos_ids else reached


def packed_masks(
    automata: Sequence[TokenAutomaton | None], states: Sequence[HostState], width: int, remaining: int | None
) -> Tensor:
    """Return the masks of a batch as packed words, `[B, W]` int32: bit `i & 31` of word `i >> 5` is token i.

    A row that is not kept on the host allows everything. A row that has ended, or holds a token that is not allowed,
    allows the end tokens. A row that cannot be completed within the remaining tokens allows nothing; a beam of
    probability zero may be such a row.

    Args:
        automata: the automaton of each row.
        states: the state of each row.
        width: V, the width of the logits; `W = ceil(V / 32)`.
        remaining: the number of tokens that may still be written, including the end token; None for any number.

    Raises:
        IncompleteOutput: a row can be completed in time, but only with a stack higher than its automaton may have.
    """
    words = np.full((len(states), -(-width // 32)), -1, np.int32)
    live = [row for row, state in enumerate(states) if state is not None and state is not ASTRAY and state is not ENDED]
    if live:
        filled: Any = np.empty((len(live), words.shape[1]), np.int32)
        each: list[Any] = [automata[row] for row in live]
        fill_bitmasks(each, [states[row] for row in live], filled, [remaining] * len(live))
        for row in np.flatnonzero(~filled.any(1)).tolist():
            if remaining is None or each[row].fits(states[live[row]], remaining):
                raise dead_end()
        words[live] = filled
    for row, state in enumerate(states):
        if state is ASTRAY or state is ENDED:
            automaton = automata[row]
            assert automaton is not None
            set_only(words[row], automaton.vocabulary.eos_words)
    return torch.from_numpy(words)


def host_excess(automaton: TokenAutomaton | None, state: Any, width: int) -> Tensor:
    """Return by how many tokens each token makes the text longer than the shortest, `[V]` int64; at most 64.

    The excess of a token is the number of budgets, from that of the shortest text on, whose mask forbids it.
    """
    assert automaton is not None
    allowed, least = automaton.mask(state), automaton.min_tokens(state)
    found = np.zeros(width, np.int64)
    within, more = automaton.mask(state, least), 0
    while more < _MAX_EXCESS and (within != allowed).any():
        more += 1
        found[: len(allowed)] += ~within
        within = automaton.mask(state, least + more)
    return torch.from_numpy(found)
