"""An arena beside an automaton, wherever tokens lead."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from decoding.arena import Arena, Sequences


def check_everywhere(arena: Arena, automaton: Any, budgets: range = range(7), max_states: int = 1 << 30) -> set[Any]:
    """Masks, masks within budgets and steps of slot 1 are the automaton's, in every state that tokens lead to from the
    start, up to a number of states; returns the states."""
    size, end = len(automaton.vocabulary), automaton.end_state
    seen, states, at = {automaton.start}, [automaton.start], arena.starts([1])
    while states:
        allowed = np.array([automaton.mask(state) for state in states])
        assert np.array_equal(arena.mask(at)[:, :size].numpy(), allowed)
        assert not arena.mask(at)[:, size:].any()
        least = np.full(allowed.shape, 1 << 30)
        following: list[Any] = []
        rows: list[Sequences] = []
        for token in range(size):
            after = arena.advance(at, torch.full((len(states),), token))
            is_end = np.array([state == end for state in states])
            assert after_end(arena, after, is_end)
            assert np.array_equal(arena.astray(after).numpy(), ~allowed[:, token] & ~is_end)
            for place in np.flatnonzero(allowed[:, token]).tolist():
                target = end if states[place] == end else automaton.advance(states[place], token)
                least[place, token] = automaton.min_tokens(target)
                if target not in seen and len(seen) < max_states:
                    seen.add(target)
                    following.append(target)
                    rows.append(after.index_select(torch.tensor([place])))
        for remaining in budgets:
            within = arena.mask(at, remaining)[:, :size].numpy()
            assert np.array_equal(within, allowed & (least < remaining))
        each = torch.arange(len(states)) % max(len(budgets), 1)
        assert np.array_equal(arena.mask(at, each)[:, :size].numpy(), allowed & (least < each.numpy()[:, None]))
        states = following
        at = Sequences(*(torch.cat(parts) for parts in zip(*rows, strict=True))) if rows else at
    return seen


def after_end(arena: Arena, at: Sequences, is_end: np.ndarray[Any, np.dtype[np.bool_]]) -> bool:
    """Whether sequences that had ended are still at their end."""
    return bool(arena.ended(at).numpy()[is_end].all())
