"""Parallel configurations: equal candidates of one step are merged, and the first P different ones are kept.

A candidate is a configuration with one of its moves: its stack is the old one up to `base`, with the pushes on top. Two
candidates have equal stacks if the old stacks are equal up to the lower base (found by one comparison of all pairs of
old stacks), and so are all symbols above it (found from the highest `near` symbols). So only stacks that are kept are
copied.

Rejected: hashes of stacks (two that collide would be merged); copying the stack for every candidate.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import torch
from torch import Tensor

from automata.errors import LimitExceeded
from decoding.arena.layout import DEAD

# The maximum memory of a comparison of all candidates with each other, in bytes.
_MAX_BYTES: Final = 1 << 32


class Candidates(NamedTuple):
    """The configurations that one step may reach: C = P x R for each sequence, those of one configuration together.

    Attributes:
        node: `[B, C]`, the node of the move, or `DEAD` where nothing is allowed.
        height: `[B, C]`, the height of the new stack.
        base: `[B, C]`, the number of symbols that are left of the old stack.
        near: `[B, C, N]`, the topmost symbols; no more than N are ever pushed.
    """

    node: Tensor
    height: Tensor
    base: Tensor
    near: Tensor


def keep_distinct(stack: Tensor, candidates: Candidates) -> tuple[Tensor, Tensor, Tensor]:
    """Return the candidates to keep.

    Args:
        stack: `[B, P, D']`, the symbols of the old stacks; D' is a multiple of 8.
        candidates: the candidates; those at the dead node are never kept.

    Returns:
        `[B, P]` int64, the numbers of candidates, those that are alive and distinct first; `[B, P]` bool, whether each
        is alive and distinct; `[B]` bool, whether more than P are.

    Raises:
        LimitExceeded: there are too many candidates to be compared with each other.
    """
    _check_size(*candidates.near.shape)
    alive = candidates.node != DEAD
    earlier = torch.ones(2 * candidates.node.shape[1:], dtype=torch.bool, device=stack.device).tril(-1)
    repeats = _equal(stack, candidates) & earlier & alive[:, None]
    fresh = alive & ~repeats.any(2)
    order = (~fresh).to(torch.uint8).argsort(dim=1, stable=True)[:, : stack.shape[1]]
    return order, fresh.gather(1, order), fresh.sum(1) > stack.shape[1]


def _check_size(num_sequences: int, num_candidates: int, num_near: int) -> None:
    """Raise LimitExceeded if the candidates of one step are too many to be compared with each other."""
    if num_sequences * num_candidates**2 * max(num_near, 1) > _MAX_BYTES:
        raise LimitExceeded(
            f"a step of {num_sequences:,} sequences has {num_candidates:,} candidates each to tell apart, which takes "
            "too much memory: let the grammar carry fewer configurations"
        )


def _equal(stack: Tensor, candidates: Candidates) -> Tensor:
    """Return which candidates are the same configuration, `[B, C, C]` bool."""
    node, height, base, near = candidates
    times = node.shape[1] // stack.shape[1]
    equal = common(stack)
    equal = equal.repeat_interleave(times, 1).repeat_interleave(times, 2)
    same = equal >= torch.minimum(base[:, :, None], base[:, None])
    for part in (node, height):
        same = same & (part[:, :, None] == part[:, None])
    return same & (near[:, :, None] == near[:, None]).all(3)


def common(stack: Tensor) -> Tensor:
    """Return the number of lowest symbols that any two stacks of a sequence have in common, `[B, P, P]`."""
    # Eight places are read as one word, a byte each, the first place lowest. A place that differs sets its lowest bit.
    words = (stack[:, :, None] != stack[:, None]).view(torch.int64)
    first = (words != 0).to(torch.uint8).argmax(3)
    word = words.gather(3, first[:, :, :, None]).squeeze(3)
    bits = torch.frexp((word & -word).double()).exponent - 1
    return torch.where(word != 0, first * 8 + bits.long() // 8, stack.shape[2])
