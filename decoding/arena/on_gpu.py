"""The steps of an arena on a GPU, as kernels (`decoding.arena.kernels`).

    mask_logits     sets logits to minus infinity, without making a mask
    mask_words      packed masks
    advance         the step after a token, for sequences with one configuration each

The host reads nothing and no shape depends on values, so all of this can be captured in a CUDA graph, and
`torch.compile` can include it in its graph. The kernels are written in Triton, which is part of PyTorch's builds for
GPUs, and are compiled on first use. If Triton does not work, `decoding.arena.program` computes the steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from decoding.arena.layout import CHUNK_WORDS
from decoding.arena.mask_chunks import num_chunks
from decoding.arena.program import Program
from decoding.arena.sequences import Sequences
from decoding.devices import on_device, power_of_two, triton_works

# The number of classes that one program of a kernel handles.
_CLASSES_AT_ONCE = 128


class _Fitting(NamedTuple):
    """The classes that fit the budgets of sequences.

    Attributes:
        fits: `[B, K]` int8, whether each class fits.
        binds: `[B, ..]` int32, for each part of the classes, whether a row allows a class that does not fit.
    """

    fits: Tensor
    binds: Tensor


class OnGpu:
    """The steps of an arena, whose memory they share. Arguments have been checked (`decoding.arena.checks`)."""

    def __init__(self, kernels: Any, program: Program, begin: int, end: int, width: int) -> None:
        """Take the kernels, the tables of a program, the range of tokens of masks and logits, and the number of all
        tokens."""
        self._kernels, self._program = kernels, program
        self._begin, self._end, self._width = begin, end, width

    def mask_logits(self, logits: Tensor, at: Sequences, remaining: Tensor | int | None) -> Tensor:
        """Write minus infinity over forbidden tokens; see `Arena.apply_`. Each row of the logits is contiguous."""
        with on_device(self._program.device):
            arguments, options = self._masks(at, remaining)
            grid = len(at.slot), num_chunks(self._end - self._begin)
            self._kernels.mask_logits[grid](logits, logits.stride(0), *arguments, **options)
        return logits

    def mask_words(self, at: Sequences, remaining: Tensor | int | None) -> Tensor:
        """Return packed masks, `[B, C * CHUNK_WORDS]` int32 for C chunks; see `Arena.bitmask`."""
        grid = len(at.slot), num_chunks(self._end - self._begin)
        found = torch.empty((grid[0], grid[1] * CHUNK_WORDS), dtype=torch.int32, device=self._program.device)
        with on_device(self._program.device):
            arguments, options = self._masks(at, remaining)
            self._kernels.mask_words[grid](found, *arguments, **options)
        return found

    def advance(self, at: Sequences, tokens: Tensor) -> Sequences:
        """Return the states of sequences with one configuration each after one more token, `[B]` int64."""
        program, shape = self._program, self._program.shape
        has_stack = bool(program.depth and shape.longest)
        before = [part.contiguous() for part in (at.slot, at.row, at.counter, at.height, at.stack)]
        row = at.row.new_empty((len(at.slot), 1, shape.parts))
        counter, height = torch.empty_like(before[2]), torch.empty_like(before[3])
        stack = torch.empty_like(before[4]) if has_stack else at.stack
        size = program.depth + 1
        with on_device(self._program.device):
            self._kernels.advance[(len(at.slot),)](
                program.words, program.places, *before, tokens.contiguous(), row, counter, height, stack,
                at.row.shape[2], shape.parts, self._width, shape.reads, size, HAS_STACK=has_stack,
                LANES=power_of_two(shape.parts), ENTRIES=power_of_two(3 * size), num_warps=1,
            )  # fmt: skip
        return Sequences(at.slot, row, counter, height, stack, at.overflowed)

    def _masks(self, at: Sequences, remaining: Tensor | int | None) -> tuple[tuple[object, ...], dict[str, Any]]:
        """Return the arguments and the options that the kernels for masks take besides their output."""
        program, classes, rows = self._program, self._program.shape.classes, at.row.flatten(1).contiguous()
        fits, binds = self._fitting(at, remaining) if remaining is not None else (rows, rows)
        tables = program.words, program.places, at.slot.contiguous(), rows, fits, binds
        numbers = rows.shape[1], self._begin, self._end - self._begin, classes, binds.shape[1]
        return (*tables, *numbers), {
            "LIMITED": remaining is not None,
            "PARTS": power_of_two(binds.shape[1]),
            "num_warps": 1,
        }

    def _fitting(self, at: Sequences, remaining: Tensor | int) -> _Fitting:
        program, shape, batch = self._program, self._program.shape, len(at.slot)
        grid = batch, -(-shape.classes // _CLASSES_AT_ONCE)
        fits = torch.empty((batch, shape.classes), dtype=torch.int8, device=program.device)
        binds = torch.empty(grid, dtype=torch.int32, device=program.device)
        own = [part.contiguous() for part in (at.slot, at.row, at.counter, at.height, at.stack)]
        budgets, number = (remaining, 0) if isinstance(remaining, Tensor) else (at.slot, remaining)
        self._kernels.fit_classes[grid](
            fits, binds, program.words, program.places, *own, budgets, number, *at.row.shape[1:], program.depth + 1,
            shape.classes, shape.runs.bit_length(), HAS_LIMITS=isinstance(remaining, Tensor),
            CLASSES_AT_ONCE=_CLASSES_AT_ONCE,
        )  # fmt: skip
        return _Fitting(fits, binds)


def on_gpu(program: Program, begin: int, end: int, width: int) -> OnGpu | None:
    """Return the steps on a GPU, or None if the arena is not on one, or Triton does not work."""
    if not triton_works(program.device):
        return None
    from decoding.arena import kernels

    return OnGpu(kernels, program, begin, end, width)
