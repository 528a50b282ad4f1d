"""The steps of an arena on the CPU, by the native core (`native/decoding/steps.h`, `masks.h`).

The native core does for each sequence what `decoding.arena.program` does for a batch, and checks all of its inputs.

    check           checks slots, rows, counts and heights of sequences
    mask_logits     sets logits to minus infinity, chunk by chunk, without making a mask, and subtracts costs
    mask_words      the same chunks as packed masks
    advance         a look-up in each row, the stack, the nodes, their rows

Large batches of logits are divided among the threads of torch (`torch.set_num_threads`).
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
from decoding.arena.heap import Heap
from decoding.arena.layout import CHUNK_WORDS
from decoding.arena.sequences import Sequences

# The bits of minus infinity as a logit; and an integer type of the same size for a type that numpy does not have.
_INFINITY = {torch.float32: -0x800000, torch.float16: -0x400, torch.bfloat16: -0x80, torch.float64: -0x10000000000000}
_BITS = {torch.bfloat16: torch.int16}
# The number of logits for which another thread is worthwhile.
_LOGITS_PER_THREAD = 1 << 19

_Longs: TypeAlias = npt.NDArray[np.int64]
T = TypeVar("T")


class OnCpu:
    """The steps of an arena, whose memory they share.

    Each checks its arguments as `decoding.arena.checks` and `check` do, and raises an error before it writes anything.
    """

    def __init__(self, heap: Heap, configurations: int, stack_size: int, begin: int, end: int) -> None:
        """Share the memory of a heap. A stack has `stack_size` entries; other arguments are those of the `Arena`."""
        arrays = heap.words.numpy(), heap.places.numpy(), heap.sizes
        self._memory = _native.ArenaMemory(*arrays, configurations, stack_size, begin, end)

    def check(self, at: Sequences) -> None:
        """Raise ValueError unless every slot is in use, and rows, counts and heights are possible in its automaton."""
        self._memory.check(*_arrays(contiguous(at)))

    def mask_logits(self, logits: Tensor, at: Sequences, remaining: Tensor | int | None) -> Tensor:
        """Write minus infinity over forbidden tokens, and subtract the costs of the others; see `Arena.apply_`.

        A tensor of budgets is of int64.
        """
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
        """Return packed masks; see `Program.mask_words`."""
        written = np.empty((len(at.slot), num_chunks * CHUNK_WORDS), np.int32)
        self._memory.write_masks(at.slot.contiguous().numpy(), at.row.contiguous().numpy(), written)
        return torch.from_numpy(written)

    def advance(self, at: Sequences, tokens: Tensor) -> Sequences:
        """Return the states of sequences with one configuration each after one more token, `[B]` int64."""
        before = _arrays(at)
        row, counter, height, stack = before[1:]
        after = np.empty_like(row), np.empty_like(counter), np.empty_like(height), stack.copy()
        self._memory.advance(*before, tokens.numpy(), *after)
        rows, counters, heights, stacks = map(torch.from_numpy, after)
        return Sequences(at.slot, rows, counters, heights, stacks, at.overflowed)


def unless_refused(step: Callable[..., T], *arguments: object) -> T | None:
    """Return what a step returns, or None if it refuses its arguments.

    So valid arguments are checked only once, by the core; for invalid ones, the caller's own checks say what is wrong.
    """
    try:
        return step(*arguments)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RuntimeError):
        return None


def lies_in_rows(logits: Tensor) -> bool:
    """Return whether logits can be masked in place: each row contiguous, and no two rows overlapping."""
    (rows, width), (apart, step) = logits.shape, logits.stride()
    return (step == 1 or width <= 1) and (apart >= width or rows <= 1)


def contiguous(at: Sequences) -> Sequences:
    """Return sequences whose tensors are contiguous, as the core requires; slices of others are not."""
    return Sequences(*(part.contiguous() for part in at))


def _arrays(at: Sequences) -> tuple[_Longs, _Longs, _Longs, _Longs, IntArray]:
    """Return the numbers of sequences as the core takes them."""
    return at.slot.numpy(), at.row.numpy(), at.counter.numpy(), at.height.numpy(), at.stack.numpy()
