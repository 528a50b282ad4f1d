"""LazyTables: the complete tables of a lazy automaton, which are made when they are first needed.

The tables have states of their own. Each lazy state remembers the tokens by which it was first reached, so that the
same tokens lead to its counterpart in the tables.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from automata.errors import LimitExceeded, NondeterministicGrammar, limit_exceeded
from automata.limits import Cancellation, Limits, Work, current_work
from tokenfst import _native
from tokenfst.token_automaton import TokenAutomaton

# The number of states whose counterparts are cached; a full cache is emptied.
MAX_COUNTERPARTS: Final = 1 << 16
# The limits on tables that are built for a budget while a text is written. With 128,000 tokens, they take 20 ms at the
# median of MaskBench's schemas and 0.5 s at the 90th percentile; the largest would take 7 s.
_SMALL_STATES: Final = 20_000
_SMALL_SECONDS: Final = 1.0

# Builds the automaton with complete tables, within the limits of a compilation.
MakeTables: TypeAlias = Callable[[Work], TokenAutomaton]


class LazyTables:
    """The tables of one core; safe to share between threads.

    Attributes:
        limits: the default limits on making the tables.
        known: the automaton with complete tables; None if it has not been made.
        are_refused: whether small tables were asked for, and there are none.
    """

    def __init__(self, core: _native.LazyCore, make: MakeTables, limits: Limits) -> None:
        """Initialize the tables of a core; `make` builds them."""
        self.limits = limits
        self.known: TokenAutomaton | None = None
        self.are_refused = False
        self._core = core
        self._make = make
        self._lock = threading.RLock()
        self._counterparts: dict[int, Any] = {}

    @property
    def nbytes(self) -> int:
        """The memory of the tables in bytes, 0 if they have not been made."""
        return 0 if self.known is None else self.known.nbytes

    def made(self, limits: Limits, cancellation: Cancellation | None) -> TokenAutomaton:
        """Return the tables, making them if there are none.

        Args:
            limits, cancellation: as for `TokenAutomaton.complete`.

        Raises:
            LimitExceeded: a limit was exceeded; or another thread is making the tables and takes longer than the limit.
            Cancelled, NondeterministicGrammar: as for `TokenAutomaton.complete`.
        """
        tables = self._made(limits, cancellation)
        if tables is None:
            raise limit_exceeded("seconds", limits.seconds)
        return tables

    def small(self) -> TokenAutomaton | None:
        """Return the tables, making them if they are small; None if there are none. Some automata have none at all: a
        lazy one may follow several derivations until the text tells them apart."""
        if self.known is None and not self.are_refused:
            states, seconds = min(self.limits.states, _SMALL_STATES), min(self.limits.seconds, _SMALL_SECONDS)
            try:
                self._made(replace(self.limits, states=states, seconds=seconds), None)
            except (LimitExceeded, NondeterministicGrammar):
                current_work().check()  # a compilation around this one may have exceeded its limits
                self.are_refused = True
        return self.known

    def _made(self, limits: Limits, cancellation: Cancellation | None) -> TokenAutomaton | None:
        """Return the tables, making them if there are none; None if another thread is making them and takes longer than
        the limit."""
        try:
            if not self._lock.acquire(timeout=min(limits.seconds, threading.TIMEOUT_MAX)):
                return None
            if self.known is None:
                with Work(limits, cancellation).current() as work:
                    self.known = self._make(work)
            return self.known
        finally:
            # Ctrl-C may come as soon as `acquire` has returned. So the lock itself tells whether this thread holds it,
            # and nothing is called here before it is released.
            try:  # noqa: SIM105
                self._lock.release()
            except RuntimeError:
                pass

    def counterpart(self, state: Any) -> Any:
        """Return the state of the tables, which have been made, that the same tokens lead to; None if the tokens are
        not recorded."""
        tables, start = self.known, self._core.start
        assert tables is not None
        if state == start:
            return tables.start
        if state == self._core.end_state:
            return tables.end_state
        known = self._counterparts
        steps, reached = list[tuple[int, list[int]]](), None
        while state != start and (reached := known.get(state)) is None:
            last = self._core.last_tokens(state)
            if last is None:
                return None
            steps.append((state, last[1]))
            state = last[0]
        if reached is None:
            reached = tables.start
        if len(known) > MAX_COUNTERPARTS:
            known = self._counterparts = {}  # other threads may be reading the old ones
        for own, tokens in reversed(steps):
            for token in tokens:
                reached = tables.advance(reached, token)
            known[own] = reached
        return reached
