"""CollectionsPaused: keeps Python's cyclic garbage collector from running while many objects are made that all stay.

A schema or a grammar becomes ten thousands of small objects, of which none is garbage before it has been read. Each
time enough of them have been made, the collector looks at all of them; for large schemas that took as long as
everything else.
Mercurial does the same where it builds large tables (its `util.nogc`).

The collector is the process's, so pauses of several threads are counted together: the first one switches it off, and
the last one on again, if it was on before. Ctrl-C may come between any two instructions, so a pause ends at the latest
when its object dies.
"""

from __future__ import annotations

import gc
from threading import RLock


class CollectionsPaused:
    """A context in which the collector does not run. Where it was off before, it stays off."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _was_on
        with _lock:
            if not _pauses:
                _was_on = gc.isenabled()
            _pauses.add(id(self))
            gc.disable()

    def __exit__(self, *_: object) -> None:
        self.end()

    def __del__(self) -> None:
        # Ctrl-C is lost while this runs, so mostly it does nothing.
        if id(self) in _pauses:
            self.end()

    def end(self) -> None:
        """End the pause, if it has begun."""
        global _was_on
        with _lock:
            _pauses.discard(id(self))
            if not _pauses and _was_on:
                gc.enable()
                _was_on = False


_lock = RLock()
# The pauses under way, by identity, and whether the collector was on before the first.
_pauses: set[int] = set()
_was_on = False
