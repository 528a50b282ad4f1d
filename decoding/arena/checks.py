"""Checks of the arena's arguments before they are used: types, shapes and devices.

Except for `check_tokens`, nothing here reads a tensor, so nothing waits for a device, and `torch.compile` may trace all
of it. Values are checked if they are on the host: plain numbers, and on the CPU those of sequences
(`decoding.arena.on_cpu`).
"""

from __future__ import annotations

from math import gcd
from operator import index
from typing import NamedTuple, SupportsIndex

import torch
from torch import Tensor

from decoding.arena.on_cpu import lies_in_rows
from decoding.arena.sequences import Sequences
from tokenfst.pushdown.distance import FAR

_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
# The types of the parts of `Sequences`.
_CARRIED = (torch.int64, torch.int64, torch.int64, torch.int64, torch.int32, torch.bool)


class Carried(NamedTuple):
    """The sizes of the sequences of an arena.

    Attributes:
        configurations: P.
        parts: the maximum number of rows of a configuration.
        depth: D, the maximum number of symbols on a stack.
        device: the device of their tensors.
    """

    configurations: int
    parts: int
    depth: int
    device: torch.device


def check_sequences(at: Sequences, carried: Carried) -> None:
    """Check the states of sequences.

    Raises:
        TypeError: they are not `Sequences`, or hold numbers of another type.
        ValueError: their shapes do not fit each other or the arena, or they are on another device.
    """
    if not isinstance(at, Sequences):
        raise TypeError(f"sequences are what `Arena.starts` returns, not {type(at).__name__}")
    size, (ways, parts, depth, device) = at.slot.shape[:1], carried
    parts = min(at.row.shape[-1], parts) if at.row.dim() else 1
    shapes = (), (ways, max(parts, 1)), (ways,), (ways,), (ways, depth + 1, 3), ()
    for name, part, dtype, shape in zip(Sequences._fields, at, _CARRIED, shapes, strict=True):
        if part.dtype != dtype:
            raise TypeError(f"`{name}` of sequences is {dtype}, not {part.dtype}")
        if part.shape != (*size, *shape):
            raise ValueError(f"`{name}` of the sequences has the shape {list(part.shape)}, not {[*size, *shape]}")
        if part.device != device:
            raise ValueError(f"`{name}` of the sequences is on {part.device}, and the arena on {device}")


def check_vector(name: str, values: Tensor, size: int, device: torch.device, *, is_float: bool = False) -> None:
    """Check a tensor with one number for each sequence.

    Raises:
        TypeError: it is not a tensor, or of another type.
        ValueError: it has another length, or is on another device.
    """
    if not isinstance(values, Tensor):
        raise TypeError(f"`{name}` is a tensor, not {type(values).__name__}")
    if is_float != values.is_floating_point() or (not is_float and values.dtype not in _INTEGERS):
        raise TypeError(f"`{name}` holds {'floating-point numbers' if is_float else 'integers'}, not {values.dtype}")
    if values.shape != (size,):
        raise ValueError(f"`{name}` has the shape {list(values.shape)}, and there are {size} sequences")
    if values.device != device:
        raise ValueError(f"`{name}` is on {values.device}, and the arena on {device}")


def check_tokens(tokens: Tensor, width: int) -> None:
    """Raise ValueError unless all tokens, on the host, are below `width`."""
    wrong = [token for token in tokens.tolist() if not 0 <= token < width]
    if wrong:
        raise ValueError(f"token {wrong[0]} is not one of the {width}")


def check_logits(logits: Tensor, size: int, width: int, device: torch.device) -> None:
    """Check logits.

    Raises:
        TypeError: they are not a tensor of a floating-point type.
        ValueError: their shape is not that of the sequences and tokens, they are on another device, or they overlap in
            memory (`Tensor.expand`).
    """
    if not isinstance(logits, Tensor):
        raise TypeError(f"logits are a tensor, not {type(logits).__name__}")
    if logits.dtype not in _FLOATS:
        raise TypeError(f"logits are of a floating-point type, not {logits.dtype}")
    if logits.shape != (size, width):
        is_wide = logits.dim() == 2 and logits.shape[1] > width
        hint = ": for a model that pads its logits, make the arena with `width`" if is_wide else ""
        raise ValueError(
            f"logits have the shape {list(logits.shape)}, and there are {size} sequences and {width} tokens{hint}"
        )
    if logits.device != device:
        raise ValueError(f"logits are on {logits.device}, and the arena on {device}")
    if not lies_in_rows(logits) and _overlap(logits):
        raise ValueError("logits overlap in memory, so that sequences would share their masks: pass a copy (`clone`)")


def _overlap(logits: Tensor) -> bool:
    """Return whether two of the logits, `[B, V]`, are the same number in memory."""
    (rows, width), (apart, step) = logits.shape, logits.stride()
    common = gcd(apart, step)
    if common == 0:
        return rows * width > 1
    # The nearest place in memory that is reached both along a column and along a row.
    return step // common < rows and apart // common < width


def checked_remaining(remaining: Tensor | SupportsIndex, size: int, device: torch.device) -> Tensor | int:
    """Return the number of tokens that may still be written, as the steps take it.

    Raises:
        TypeError, ValueError: as for `check_vector`.
    """
    if isinstance(remaining, Tensor):
        check_vector("remaining", remaining, size, device)
        return remaining.long().clamp(max=FAR).contiguous()
    # The clamped number has the same effect, and fits into 64 bits.
    return max(0, min(remaining if isinstance(remaining, int) else _integer(remaining), FAR))


def _integer(remaining: SupportsIndex) -> int:
    try:
        return index(remaining)
    except TypeError:
        raise TypeError(f"`remaining` is a number or a tensor of numbers, not {type(remaining).__name__}") from None
