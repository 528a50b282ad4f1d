"""What all kernels in Triton need. It comes with PyTorch where that is built for a GPU, but may lack a compiler.

triton_works(device)    whether kernels can be used
on_device(device)       where they are launched
power_of_two(n)         the sizes of what they compute with
row_stride(column)      how far the numbers of a column are apart
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch


def triton_works(device: torch.device) -> bool:
    """Return whether kernels can be compiled for a device and launched there; warn once where a GPU has none."""
    return device.type == "cuda" and _is_launched(device)


# Inside `torch.compile` it is called once, when the program is traced. `torch.compiler.assume_constant_result` does no
# more, but imports the compiler, which takes seconds and leaves a folder.
vars(triton_works)["_dynamo_marked_constant"] = True


def on_device(device: torch.device) -> AbstractContextManager[None]:
    """Make a device the current one, on which kernels are launched."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def power_of_two(number: int) -> int:
    """Return the least power of two that is no less."""
    return 1 << (number - 1).bit_length()


def row_stride(column: torch.Tensor) -> int:
    """Return the distance of rows; 0 where one holds for all."""
    return column.stride(0) if column.ndim and len(column) > 1 else 0


@cache
def _is_launched(device: torch.device) -> bool:
    try:
        from decoding.arena.kernels import probe

        with torch.cuda.device(device):
            probe[(1,)](torch.zeros(1, dtype=torch.int32, device=device))
    except Exception as error:  # whatever compilers and drivers raise
        warnings.warn(f"tensor operations take the place of kernels, since Triton does not work: {error}", stacklevel=4)
        return False
    return True
