"""What `test_kernels.py` runs with TRITON_INTERPRET=1: arenas by kernels beside arenas by the native core.

python interpreted_kernels.py KIND ...
"""

from __future__ import annotations

import sys
from typing import Any

import quick_interpreter  # noqa: F401
import torch
from arena_walks import check_side_by_side
from kinds import complete
from test_device_step import VOCABULARY
from test_on_cuda import KINDS

from decoding.arena import Arena, kernels
from decoding.arena.on_gpu import OnGpu


class OnKernels(Arena):
    """An arena on the CPU that leaves its steps to kernels."""

    def __init__(self, **options: Any) -> None:
        super().__init__(VOCABULARY, **options)
        self._kernels = OnGpu(kernels, self._program, self.begin, self.end, self.width)

    @property
    def _on_cpu(self) -> bool:
        return False


def main(kinds: list[str]) -> None:
    automata = [complete(KINDS[kind], VOCABULARY) for kind in kinds]
    is_ambiguous = "ambiguous" in kinds
    # Interpreting is slow: little is walked, and the ambiguous kinds have the more rows.
    walk: dict[str, Any] = {"steps": 3, "dtypes": [torch.float16], "every_price": False}
    for begin, end in [(0, 12)] if is_ambiguous else [(2, 7), (0, 2090)]:
        options: dict[str, Any] = {"part": (begin, end), "width": max(end, 12), "max_bytes": 1 << 20, "max_slots": 5}
        options["configurations"] = 4 if is_ambiguous else 1
        mine, other = Arena(VOCABULARY, **options), OnKernels(**options)
        for automaton in automata:
            assert mine.add(automaton) == other.add(automaton)
        check_side_by_side(mine, other, [*range(len(kinds) + 1)], **walk)


if __name__ == "__main__":
    main(sys.argv[1:])
