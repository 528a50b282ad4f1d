"""What the arena is given, looked at before it is used: types, shapes and devices.

Nothing here looks at a value, so nothing waits for a device, and all of it holds while `torch.compile` looks on. Values
are looked at where they are on the host: numbers given as such, and on the CPU whatever sequences hold
(`decoding.arena.on_cpu`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from decoding.arena.layout import FAR
from decoding.arena.sequences import Sequences

_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
# Of the parts of sequences.
_CARRIED = (torch.int64, torch.int64, torch.int64, torch.int64, torch.int32, torch.bool)


class Carried(NamedTuple):
    """What the sequences of an arena hold.

    Attributes:
        configurations: P.
        parts: the most rows of a configuration.
        depth: D, the most symbols on a stack.
        device: where they lie.
    """

    configurations: int
    parts: int
    depth: int
    device: torch.device


def check_sequences(at: Sequences, carried: Carried) -> None:
    """Look at where sequences stand.

    Raises:
        TypeError: they are no sequences, or hold numbers of another type.
        ValueError: they do not fit together, or lie elsewhere, or have other sizes than the arena's.
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
    """Look at one number for each sequence.

    Raises:
        TypeError: it is no tensor, or of another type.
        ValueError: there are too many, too few, or they lie elsewhere.
    """
    if not isinstance(values, Tensor):
        raise TypeError(f"`{name}` is a tensor, not {type(values).__name__}")
    if is_float != values.is_floating_point() or (not is_float and values.dtype not in _INTEGERS):
        raise TypeError(f"`{name}` holds {'floating-point numbers' if is_float else 'integers'}, not {values.dtype}")
    if values.shape != (size,):
        raise ValueError(f"`{name}` has the shape {list(values.shape)}, and there are {size} sequences")
    if values.device != device:
        raise ValueError(f"`{name}` is on {values.device}, and the arena on {device}")


def check_logits(logits: Tensor, size: int, width: int, device: torch.device) -> None:
    """Look at logits.

    Raises:
        TypeError: they are no tensor, or of no type that has an infinity.
        ValueError: there are not as many as sequences and tokens, or they lie elsewhere.
    """
    if not isinstance(logits, Tensor):
        raise TypeError(f"logits are a tensor, not {type(logits).__name__}")
    if logits.dtype not in _FLOATS:
        raise TypeError(f"logits are of a floating-point type, not {logits.dtype}")
    if logits.shape != (size, width):
        raise ValueError(
            f"logits have the shape {list(logits.shape)}, and there are {size} sequences and {width} tokens"
        )
    if logits.device != device:
        raise ValueError(f"logits are on {logits.device}, and the arena on {device}")


def limit_of(remaining: Tensor | int, size: int, device: torch.device) -> Tensor | int:
    """How many tokens may still be written, as the steps take it.

    Raises:
        TypeError, ValueError: as `check_vector`.
    """
    if isinstance(remaining, Tensor):
        check_vector("remaining", remaining, size, device)
        return remaining.long().clamp(max=FAR).contiguous()
    if not isinstance(remaining, int):
        raise TypeError(f"`remaining` is a number or a tensor of numbers, not {type(remaining).__name__}")
    # As good as what was asked for, and no number that 64 bits do not hold.
    return max(0, min(remaining, FAR))
