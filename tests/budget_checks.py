"""What masks within budgets have to be, for tests of lazy automata."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokenfst.lazy import LazyTokenAutomaton


def check_budget(lazy: LazyTokenAutomaton, state: Any, mask: Any, budget: int) -> None:
    """Within a budget that suffices some token is left, and after each that is left, what is left of it suffices."""
    words = np.zeros(len(lazy.vocabulary.all_words), np.int32)
    lazy.core.fill_within(state, words, budget)
    within = np.unpackbits(words.view(np.uint8), count=len(lazy.vocabulary), bitorder="little").astype(bool)
    assert within.any()
    assert not (within & ~mask).any()
    for token in np.flatnonzero(within).tolist():
        reached = lazy.advance(state, token)
        assert reached == lazy.end_state or lazy.core.min_tokens(reached) < budget
