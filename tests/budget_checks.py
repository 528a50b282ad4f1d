"""What a budget promises, checked from one state, and along whole texts of a writer who does not want to end."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.token_automaton import TokenAutomaton


def check_state(automaton: TokenAutomaton, state: Any, *, exact: bool = True, budgets: int = 12, seed: int = 0) -> int:
    """Compares all that is said of a state with what is said of the states that its tokens lead to.

    Where this holds for all states, and the end of the sequence has 0, numbers are the least ones: a function on states
    that is 0 at the end and one more than the least behind it everywhere else is the distance. Returns how often a
    budget allowed some of the tokens, and not all.
    """
    least, allowed = automaton.min_tokens(state), np.flatnonzero(automaton.mask(state)).tolist()
    behind = {token: automaton.min_tokens(automaton.advance(state, token)) for token in allowed}
    end = getattr(automaton, "end_state")  # noqa: B009 (all kinds have one)
    if state == end or (automaton.is_final(state) and not automaton.vocabulary.eos_ids):
        assert least == 0
    else:
        assert min(behind.values()) + 1 == least if exact else min(behind.values()) < least
    levels = {-1, 0, 1, 1 << 40, least - 1, least, *behind.values(), *(number + 1 for number in behind.values())}
    bites, words = 0, np.full(-(-len(automaton.vocabulary) // 32) + 2, -1, np.int32)
    # The farthest token is excluded by the first of these budgets, and by none above.
    most = max(behind.values(), default=0)
    for remaining in {most, most + 1, *Random(seed).sample(sorted(levels), min(budgets, len(levels)))}:
        expected = [token for token, number in behind.items() if number < remaining]
        mask = automaton.mask(state, remaining)
        assert np.flatnonzero(mask).tolist() == expected, (state, remaining)
        automaton.fill_bitmask(state, words, remaining)
        assert np.array_equal(np.unpackbits(words[:-2].view(np.uint8), bitorder="little")[: len(mask)], mask)
        assert not words[-2:].any()
        assert expected or remaining < least or least == 0
        bites += 0 < len(expected) < len(allowed)
    return bites


# What takes the text farthest from its end, and any token.
def farthest(automaton: TokenAutomaton, state: Any, tokens: list[int], dice: Random) -> int:
    """A token that leads as far from the end as any of some that are tried."""
    tried = dice.sample(tokens, min(16, len(tokens)))
    return max(tried, key=lambda token: automaton.min_tokens(automaton.advance(state, token)))


def anything(automaton: TokenAutomaton, state: Any, tokens: list[int], dice: Random) -> int:
    """Any token."""
    return dice.choice(tokens)


Writer = Callable[[TokenAutomaton, Any, list[int], Random], int]


def written(
    automaton: TokenAutomaton,
    remaining: int,
    writer: Writer,
    dice: Random,
    look: Callable[[Any], object] = lambda state: None,
) -> list[int]:
    """What a writer writes within a budget, without its end token, which is there.

    Args:
        automaton: with an end token.
        remaining: the budget, the end token included; not less than it takes.
        writer: what chooses among the tokens that are allowed; it never ends where it may go on.
        dice: its chance.
        look: is shown every state.
    """
    state, tokens = automaton.start, list[int]()
    ends = automaton.vocabulary.eos_ids
    while True:
        look(state)
        assert automaton.min_tokens(state) <= remaining - len(tokens)
        allowed = np.flatnonzero(automaton.mask(state, remaining - len(tokens))).tolist()
        assert allowed, "some token is always allowed"
        others = [token for token in allowed if token not in ends]
        if not others:
            assert automaton.is_final(state)
            assert len(tokens) < remaining
            return tokens
        tokens.append(writer(automaton, state, others, dice))
        state = automaton.advance(state, tokens[-1])


def check_budget(lazy: LazyTokenAutomaton, state: Any, mask: Any, budget: int) -> None:
    """What the core of a lazy automaton promises, without tables: within a budget that suffices some token is left, and
    after each of these the rest of the budget suffices."""
    words = np.zeros(len(lazy.vocabulary.all_words), np.int32)
    lazy.core.fill_within(state, words, budget)
    within = np.unpackbits(words.view(np.uint8), count=len(lazy.vocabulary), bitorder="little").astype(bool)
    assert within.any()
    assert not (within & ~mask).any()
    for token in np.flatnonzero(within).tolist():
        reached = lazy.advance(state, token)
        assert reached == lazy.end_state or lazy.core.min_tokens(reached) < budget
