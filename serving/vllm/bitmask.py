"""Bitmask: a batch's masks, filled in one call without Python's global interpreter lock when vLLM accesses them.

vLLM asks for masks row by row, although it reads them only after asking for all rows. So `Grammar.fill_bitmask` only
notes the state of the request, and the first operation on the tensor fills all rows that were noted. States are values,
so a note stays valid when draft tokens are accepted and rolled back after it.

    bitmask.note(index, matcher)      notes the matcher's current state for this row
    bitmask[index]                    a plain tensor; the row is filled first if it was noted
    anything else                     fills all noted rows first, and then calls torch

Rejected: replacing vLLM's `StructuredOutputManager.grammar_bitmask`, which differs from version to version.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

import torch

from serving.matcher import Matcher, Position, fill_masks

logger = logging.getLogger(__name__)


class Bitmask(torch.Tensor):
    """Masks, `[rows, W]` int32, as vLLM's manager keeps them: -1 if a request is not constrained."""

    notes: dict[int, Position]
    lock: Lock
    threads: int

    @classmethod
    def of(cls, rows: int, words: int, threads: int) -> Bitmask:
        """Return masks that allow everything; at most the given number of threads will fill them."""
        masks = torch.full((rows, words), -1, dtype=torch.int32).as_subclass(cls)
        masks.notes, masks.lock, masks.threads = {}, Lock(), threads
        return masks

    def note(self, index: int, matcher: Matcher) -> None:
        """Note that a row is to be filled with the mask of the matcher's current state; threads may call this."""
        with self.lock:
            self.notes[index] = matcher.position

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Fill all noted rows, and then call the torch function on plain tensors."""
        with torch._C.DisableTorchFunctionSubclass():
            row = args[1] if func is torch.Tensor.__getitem__ and isinstance(args[1], int) else None
            plain = {name: _plain(value, row) for name, value in (kwargs or {}).items()}
            return func(*_plain(args, row), **plain)


def _plain(value: Any, row: int | None) -> Any:
    """Return an argument with plain tensors in place of masks, also inside lists and tuples."""
    if isinstance(value, Bitmask):
        return _filled(value, row)
    return type(value)(_plain(each, row) for each in value) if type(value) in (list, tuple) else value


def _filled(masks: Bitmask, row: int | None) -> torch.Tensor:
    """Return masks as a plain tensor that shares their memory; fill the noted rows if `row` is None or noted."""
    plain = masks.as_subclass(torch.Tensor)
    with masks.lock:
        if masks.notes and (row is None or row in masks.notes):
            exceeded = fill_masks(masks.notes, plain.numpy(), masks.threads)
            masks.notes.clear()
            if exceeded:
                logger.warning("the automata of %d requests exceed their limits, which may end them", len(exceeded))
    return plain
