"""An arena beside an automaton, wherever tokens lead; and two arenas side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import cycle
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


def check_side_by_side(
    mine: Arena,
    other: Arena,
    slots: list[int],
    *,
    steps: int,
    dtypes: Sequence[torch.dtype] = (torch.float32, torch.float16, torch.bfloat16),
    every_price: bool = True,
    step: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Masks in every form and states are the same in two arenas with the same automata, the first on the CPU, along
    random texts; `step` is entered wherever `other` makes something. Without `every_price`, prices take turns.
    """
    at, there, device = mine.starts(slots), other.starts(slots), other.device
    size, width, dice = len(slots), mine.end - mine.begin, torch.Generator().manual_seed(1)
    is_token = torch.arange(mine.begin, mine.end) < len(mine.vocabulary)
    turns = cycle([False, True])
    for _ in range(steps):
        remaining = torch.randint(0, 9, (size,), generator=dice)
        for limit in (None, 4, remaining):
            limit_there = limit.to(device) if isinstance(limit, torch.Tensor) else limit
            with step():
                found = other.mask(there, limit_there), other.bitmask(there, limit_there)
            assert torch.equal(mine.mask(at, limit), found[0].cpu())
            assert torch.equal(mine.bitmask(at, limit), found[1].cpu())
            for dtype in dtypes:
                prices = None, 0.25 * remaining.float()
                for price in prices if every_price else [prices[next(turns)]]:
                    logits = torch.randn(size, width, generator=dice).to(dtype)
                    logits_there = logits.to(device, copy=True)
                    price_there = None if price is None else price.to(device)
                    with step():
                        other.apply_(logits_there, there, limit_there, wrap_up=price_there)
                    assert torch.equal(mine.apply_(logits, at, limit, wrap_up=price), logits_there.cpu())
        for read in (Arena.forced, Arena.min_tokens_left, Arena.ended, Arena.astray):
            with step():
                number = read(other, there)
            assert torch.equal(read(mine, at), number.cpu())
        # Mostly what is allowed; now and then any token.
        weights = mine.mask(at).float() + 0.01 * is_token
        tokens = weights.multinomial(1, generator=dice)[:, 0] + mine.begin
        tokens_there = tokens.to(device)
        at = mine.advance(at, tokens)
        with step():
            there = other.advance(there, tokens_there)
        for name in ("slot", "row", "counter", "height", "overflowed"):
            assert torch.equal(getattr(at, name), getattr(there, name).cpu()), name
