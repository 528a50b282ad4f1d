"""BlockCompiler: makes blocks of an arena from the constraints of requests, in threads while an engine's step waits.

Reading, compiling, making tables and making the block share one deadline. Blocks are cached up to a number of bytes;
the least recently used are dropped first. Compilations take turns (`decoding.compiling.background`), so long ones do
not delay short ones. Failures are not cached.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import Final

from automata.errors import LimitExceeded
from automata.limits import Limits, Work
from decoding.arena import Arena
from decoding.arena.block import Block
from decoding.compiling import BackgroundCompiler
from serving.lru_cache import ENTRY_BYTES, LruCache
from serving.specifications import Kind, constraint_of

# The number of blocks that are made at a time; their threads mostly wait.
_THREADS: Final = 64


def _size(key: tuple[Kind, str], block: Block) -> int:
    return ENTRY_BYTES + len(key[1]) + block.words.nbytes


class BlockCompiler:
    """Makes the blocks of one arena.

    Attributes:
        limits: the limits of each block; the seconds count from its request.
    """

    def __init__(self, arena: Arena, *, limits: Limits, max_bytes: int, threads: int) -> None:
        """Start without blocks.

        Args:
            arena: the arena for which the blocks are made.
            limits: the limits of each block.
            max_bytes: the memory of the cached blocks.
            threads: the number of threads that compile.
        """
        self.limits = limits
        self._arena, self._lock = arena, Lock()
        # Blocks are cached, so automata need not be.
        self._compiler = BackgroundCompiler(max_bytes=0, threads=threads, limits=limits)
        self._threads = ThreadPoolExecutor(_THREADS, "tokenfst blocks")
        self._blocks = LruCache[tuple[Kind, str], Block](max_bytes, _size)

    def submit(self, kind: Kind, text: str) -> Future[Block]:
        """Request the block of a constraint.

        Returns:
            A future. It raises ValueError if the constraint cannot be honoured, and LimitExceeded if it exceeds the
            limits.
        """
        return self._threads.submit(self._block, kind, text, time.monotonic() + self.limits.seconds)

    def close(self) -> None:
        """Stop running compilations, and drop all blocks."""
        self._compiler.close()
        self._threads.shutdown(cancel_futures=True)
        with self._lock:
            self._blocks.clear()

    def _block(self, kind: Kind, text: str, until: float) -> Block:
        with self._lock:
            if (kind, text) in self._blocks:
                return self._blocks[kind, text]
        block = self._made(kind, text, until)
        with self._lock:
            # Another request for the same constraint may have been quicker.
            if (kind, text) in self._blocks:
                return self._blocks[kind, text]
            self._blocks[kind, text] = block
        return block

    def _made(self, kind: Kind, text: str, until: float) -> Block:
        constraint = constraint_of(kind, text, limits=self._left(until))
        compiling = self._compiler.submit(constraint, self._arena.vocabulary)
        try:
            automaton = compiling.result(self._left(until).seconds)
        except TimeoutError:
            compiling.cancel()
            raise self._late() from None
        limits = self._left(until)
        with Work(limits).current():
            return self._arena.block(automaton.complete(limits=limits))

    def _left(self, until: float) -> Limits:
        """Return the limits with the time that is left."""
        seconds = until - time.monotonic()
        if seconds <= 0:
            raise self._late()
        return replace(self.limits, seconds=seconds)

    def _late(self) -> LimitExceeded:
        return LimitExceeded(f"it takes more than {self.limits.seconds:g} seconds to compile", limit="seconds")
