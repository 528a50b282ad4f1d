"""Devices: how values get to a GPU, and what all Triton kernels need.

sent(values, device)    values of the host on a device, without waiting for it
never_waiting(device)   a context in which it is an error if the host waits for a GPU
triton_works(device)    whether kernels can be used
on_device(device)       where they are launched
power_of_two(n)         the sizes of their blocks
row_stride(column)      the distance between the numbers of a column

Triton comes with builds of PyTorch for GPUs, but may lack a compiler.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import torch


def sent(values: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """Copy values from the host to a device. If that is a GPU, queue the copy and do not wait for it.

    A copy from pageable memory would wait for all work that is queued before it; a copy from pinned memory does not.
    """
    pinned = torch.device(device).type == "cuda" and values.device.type == "cpu"
    return (values.pin_memory() if pinned else values).to(device, non_blocking=pinned)


@contextmanager
def never_waiting(device: torch.device | str = "cuda") -> Iterator[None]:
    """Raise an error wherever the host waits for a GPU in this context; on other devices, do nothing."""
    if torch.device(device).type != "cuda":
        yield
        return
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def triton_works(device: torch.device) -> bool:
    """Return whether kernels can be compiled for a device and launched there; warn once if a GPU cannot run them."""
    return device.type == "cuda" and _is_launched(device)


# `torch.compile` calls it only once, when it traces a program. `torch.compiler.assume_constant_result` sets the same
# mark, but imports the compiler, which takes seconds and leaves a folder behind.
vars(triton_works)["_dynamo_marked_constant"] = True


def on_device(device: torch.device) -> AbstractContextManager[None]:
    """Return a context in which a device is the current one, on which kernels are launched."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def power_of_two(number: int) -> int:
    """Return the least power of two that is not less than a number."""
    return 1 << (number - 1).bit_length()


def row_stride(column: torch.Tensor) -> int:
    """Return the distance between the rows of a column; 0 if all rows share one number."""
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
