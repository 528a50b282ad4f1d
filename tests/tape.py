"""A CUDA graph without a GPU: operations are recorded once and replayed on the same tensors, without the code that ran.

Replaying is what a captured graph does, so what is right on the tape depends on nothing but what its tensors hold at
the time: no number that the host once read, no shape that came of a value, no tensor that somebody made again. What a
capture would refuse is refused here: whatever the host waits for, and tensors made from the host's values.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_WAITED_FOR = {"_local_scalar_dense", "item", "nonzero", "masked_select", "unique_dim", "_unique2"}
_MADE_ON_THE_HOST = {"lift_fresh", "lift_fresh_copy"}


class Tape(TorchDispatchMode):
    """While it is entered, what torch does is recorded."""

    def __init__(self) -> None:
        TorchDispatchMode.__init__(self)
        self._recorded: list[tuple[Any, Any, Any, list[torch.Tensor]]] = []

    def __len__(self) -> int:
        return len(self._recorded)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Does what is to be done, and records it."""
        name = func.overloadpacket.__name__
        assert name not in _WAITED_FOR | _MADE_ON_THE_HOST, f"{name} cannot be captured"
        for index in args[1] if name.startswith("index") and isinstance(args[1], (list, tuple)) else []:
            assert index is None or index.dtype != torch.bool, "a mask as an index has as many places as it has ones"
        found = func(*args, **(kwargs or {}))
        self._recorded.append((func, args, kwargs or {}, tensors(found)))
        return found

    def replay(self) -> None:
        """Does it all again, on the same tensors."""
        for func, args, kwargs, before in self._recorded:
            for old, new in zip(before, tensors(func(*args, **kwargs)), strict=True):
                # Views and what is done in place lie where they lay.
                if old.untyped_storage().data_ptr() != new.untyped_storage().data_ptr():
                    old.copy_(new)


def tensors(found: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(found) if isinstance(leaf, torch.Tensor)]
