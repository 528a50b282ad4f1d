"""The steps of an arena on the CPU: the native core does for each sequence what `decoding.arena.program` does for a
batch (`native/decoding/steps.h`, `masks.h`), and checks every number that it is given.

    check           slots, rows, counts and heights of sequences
    mask_logits     minus infinity into logits, chunk by chunk; no mask is made
    mask_words      the same chunks, as they are
    advance         a look-up in each row, the stack, the nodes, their rows

Large batches of logits are cut between as many threads as torch has (`torch.set_num_threads`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from automata.arrays import IntArray
from decoding import _native
from decoding.arena.layout import CHUNK_WORDS
from decoding.arena.sequences import Sequences

# Minus infinity as the bits of a logit; and for what numpy does not know the type of as many bits.
_INFINITY = {torch.float32: -0x800000, torch.float16: -0x400, torch.bfloat16: -0x80, torch.float64: -0x10000000000000}
_BITS = {torch.bfloat16: torch.int16}
# Logits that are worth a thread.
_LOGITS_PER_THREAD = 1 << 19

_Longs: TypeAlias = npt.NDArray[np.int64]
T = TypeVar("T")


class OnCpu:
    """The memory of an arena, which goes on being written to, and the steps in it.

    All of them raise an error for what does not fit, and then have written nothing; what it is that does not fit,
    `decoding.arena.checks` says.
    """

    def __init__(self, memory: _native.ArenaMemory) -> None:
        self._memory = memory

    def check(self, at: Sequences) -> None:
        """Raise ValueError unless every slot is in use, and rows, counts and heights are such as its automaton has."""
        self._memory.check(*_arrays(at))

    def mask_logits(self, logits: Tensor, at: Sequences, remaining: Tensor | int | None) -> Tensor:
        """Write minus infinity over forbidden tokens; see `Arena.apply_`. A tensor of budgets is of int64."""
        bits = logits.detach() if logits.requires_grad else logits
        if logits.dtype in _BITS:
            bits = bits.view(_BITS[logits.dtype])
        threads = min(torch.get_num_threads(), max(logits.numel() // _LOGITS_PER_THREAD, 1))
        how = _INFINITY[logits.dtype], threads, bits.numpy()
        if remaining is None:
            self._memory.mask_logits(at.slot.numpy(), at.row.numpy(), *how)
        else:
            limits = np.full(len(at.slot), remaining, np.int64) if isinstance(remaining, int) else remaining.numpy()
            self._memory.mask_logits_within(*_arrays(at), limits, *how)
        return logits

    def mask_words(self, at: Sequences, num_chunks: int) -> Tensor:
        """Packed masks; see `Program.mask_words`."""
        written = np.empty((len(at.slot), num_chunks * CHUNK_WORDS), np.int32)
        self._memory.write_masks(at.slot.numpy(), at.row.numpy(), written)
        return torch.from_numpy(written)

    def advance(self, at: Sequences, tokens: Tensor) -> Sequences:
        """Where sequences with one configuration each stand after one more token, `[B]` int64; see `Arena.advance`."""
        before = _arrays(at)
        row, counter, height, stack = before[1:]
        after = np.empty_like(row), np.empty_like(counter), np.empty_like(height), stack.copy()
        self._memory.advance(*before, tokens.numpy(), *after)
        rows, counters, heights, stacks = map(torch.from_numpy, after)
        return Sequences(at.slot, rows, counters, heights, stacks, at.overflowed)


def tried(step: Callable[..., T], *arguments: object) -> T | None:
    """What a step returns, or None where it refuses what it is given. So what is right is checked once."""
    try:
        return step(*arguments)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RuntimeError):
        return None


def lies_in_rows(logits: Tensor) -> bool:
    """Whether logits can be masked where they are: each row in one piece, and by itself."""
    (rows, width), (apart, step) = logits.shape, logits.stride()
    return (step == 1 or width <= 1) and (apart >= width or rows <= 1)


def _arrays(at: Sequences) -> tuple[_Longs, _Longs, _Longs, _Longs, IntArray]:
    """The numbers of sequences as the core takes them."""
    return at.slot.numpy(), at.row.numpy(), at.counter.numpy(), at.height.numpy(), at.stack.numpy()
