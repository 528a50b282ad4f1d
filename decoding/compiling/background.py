"""Compile in the background: a server requests an automaton, reads the prompt in the meantime, and takes the automaton
when the first token is due.

    BackgroundCompiler      threads that compile, and a cache of their automata
    Compiling               one request: a future of `concurrent.futures`, which `asyncio.wrap_future` takes too

The native core runs without Python's global interpreter lock, so it compiles in parallel with a forward pass.
Concurrent requests for the same content share one compilation, which stops when all of them have been cancelled; each
gets the automaton with its own constraint as the source, since equal languages may be read as different values.
Automata are cached by content (`decoding.compiling.content`) up to a number of bytes, which are those of their tables
and of the texts of their constraints; the least recently requested one is dropped first. Failures are not cached,
because a compilation that exceeded its time limit on a busy machine may succeed the next time.

A slow compilation does not delay the others. Each compilation gets several turns, each ten times as long as the one
before, and each turn has threads of its own. A compilation that does not finish within one turn starts again in the
next. So the queue of the first turn is always short, and the wasted turns take at most a ninth of the last one.

Rejected: processes instead of threads (automata would have to be copied between them); a bound on the number of
automata (they differ a thousandfold in size); keeping the work done in a turn (every construction would have to support
this).
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from operator import index
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple

import tokenfst
from automata.copying import NotCopied
from automata.errors import Cancelled, LimitExceeded, NondeterministicGrammar
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work
from decoding.compiling.content import content_of, text_bytes
from decoding.inputs.vocabularies import checked_vocabulary
from tokenfst.compile import Constraint
from tokenfst.finite.terminals import Terminals
from tokenfst.misuse import check_constraint, check_terminals
from tokenfst.token_automaton import Source, TokenAutomaton
from tokenfst.vocabulary import Vocabulary

# Seconds of the first turn: nine in ten of the JSON Schemas that people write take less.
_FIRST_TURN: Final = 0.02
# Automata grow while they are used, so they are measured again after some requests for cached ones.
_HITS_BETWEEN: Final = 64


class Compiling(NotCopied, Future[TokenAutomaton]):
    """A request for an automaton; made by `BackgroundCompiler.submit`.

    `result` waits for the automaton, and raises the error of the compilation if there was one. `cancel` gives the
    request up at any time before it is done; the compilation itself stops when all requests for it have been given up.
    """

    _instead = "submit the constraint again, or take the automaton from `result`"

    def __init__(self, source: Source, job: _Job | None) -> None:
        super().__init__()
        self._source, self._job = source, job

    def cancel(self) -> bool:
        """Give up the request; return False if it was already done."""
        cancelled = super().cancel()
        job, self._job = self._job, None
        if cancelled and job is not None:
            job.leave(self)
        return cancelled

    def settle(self, automaton: TokenAutomaton | None, error: BaseException | None) -> None:
        """Complete the request, unless it was given up; called by the thread that compiles."""
        self._job = None
        if not self.set_running_or_notify_cancel():
            return
        if error is not None:
            self.set_exception(error)
        elif automaton is not None:
            # Constraints of one language may read its texts as different values.
            self.set_result(automaton if self._is_of(automaton) else automaton.with_source(self._source))

    def _is_of(self, automaton: TokenAutomaton) -> bool:
        """Return whether an automaton was compiled from the constraint of the request."""
        if automaton.source is None:
            return False
        own, other = self._source.constraint, automaton.source.constraint
        return own is other or (isinstance(own, str) and own == other)


class _Kept(NamedTuple):
    """A cached automaton, and the memory of the texts of its constraint."""

    automaton: TokenAutomaton
    texts: int

    @property
    def nbytes(self) -> int:
        return self.automaton.nbytes + self.texts


class _Job:
    """One compilation, and the requests that wait for it; guarded by the compiler's lock."""

    def __init__(self, compiler: BackgroundCompiler, key: Hashable) -> None:
        self.compiler, self.key = compiler, key
        self.cancellation = Cancellation()
        self.waiting: list[Compiling] = []

    def leave(self, request: Compiling) -> None:
        self.compiler._leave(self, request)


class BackgroundCompiler(NotCopied):
    """Compiles in threads and caches the automata; safe to share between threads.

    `close`, or leaving a `with` statement, gives up all requests that are not done.

    Attributes:
        max_bytes: the memory that all cached automata may take, in bytes.
    """

    _instead = "share it between threads, and make another one in each process"

    def __init__(
        self,
        *,
        max_bytes: int = 1 << 28,
        threads: int = 2,
        limits: Limits = DEFAULT_LIMITS,
        complete: bool = False,
    ) -> None:
        """Make a compiler.

        Args:
            max_bytes: the memory that all cached automata may take, with the texts of their constraints, in bytes.
                Automata grow while they are used. They are measured when one is added and now and then; in between they
                may take more. Automata that are in use elsewhere stay in memory when the cache drops them.
            threads: the number of compilations that run at a time in each turn; others wait in the order of their
                requests.
            limits: the limits of each compilation.
            complete: whether the tables of an automaton are also made, after it has been handed over, so that an arena
                finds them ready. If there are none, or they exceed the limits, they are not made.

        Raises:
            TypeError: `max_bytes` or `threads` is not an integer, or `limits` are not `Limits`.
            ValueError: `max_bytes` is negative, or there are no threads.
        """
        self.max_bytes, threads = index(max_bytes), index(threads)
        if max_bytes < 0:
            raise ValueError(f"max_bytes is 0 or more, not {max_bytes}")
        self._limits = Work(limits).limits
        self._complete = complete
        self._completing = Cancellation()
        self._lock = threading.Lock()
        self._under_way: dict[Hashable, _Job] = {}
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._num_hits = 0
        self._turns = _turns(limits)
        # The threads that compile, by `threading.get_ident`.
        self._workers = set[int]()
        self._threads = [
            ThreadPoolExecutor(threads, "tokenfst compiling", lambda: self._workers.add(threading.get_ident()))
            for _ in self._turns
        ]
        self._closed, self._process = False, os.getpid()

    def __enter__(self) -> BackgroundCompiler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of cached automata."""
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """The memory of all cached automata, with the texts of their constraints, in bytes; it grows as lazy automata
        are used."""
        with self._lock:
            return sum(kept.nbytes for kept in self._kept.values())

    def submit(
        self,
        constraint: Constraint,
        vocabulary: Vocabulary,
        *,
        at_text_start: bool = False,
        terminals: Terminals | None = None,
        tokenization: Literal["any", "canonical"] = "any",
    ) -> Compiling:
        """Request an automaton; the arguments, and the errors of the result, are those of `tokenfst.compile`.

        Returns:
            A request, which is done at once if the automaton is in the cache.

        Raises:
            RuntimeError: the compiler is closed, or was made before this process was forked.
            TypeError: an argument is of another type, as for `tokenfst.compile`.
        """
        check_constraint(constraint)
        checked_vocabulary(vocabulary)
        check_terminals(terminals)
        sets = {name: tuple(sorted(ids)) for name, ids in (terminals or {}).items()}
        options = {
            "at_text_start": at_text_start,
            "terminals": sets or None,
            "tokenization": tokenization,
        }
        # Names of tokens are not part of a vocabulary's digest, and neither is its encoder.
        names = tuple(sorted(vocabulary.special_tokens.items()))
        encoder = vocabulary if tokenization == "canonical" else None
        said = tuple((key, value) for key, value in options.items() if key != "terminals")
        source = Source(constraint, sets, tokenization)
        key = (content_of(constraint), vocabulary.digest, names, encoder, said, tuple(sorted(sets.items())))
        with self._lock:
            if self._closed:
                raise RuntimeError("the compiler is closed")
            kept = self._kept.get(key)
            if kept is None:
                return self._waiting(key, source, vocabulary, options)
            self._kept.move_to_end(key)
            self._num_hits += 1
            if self._num_hits % _HITS_BETWEEN == 0:
                self._drop_what_exceeds()
        request = Compiling(source, None)
        request.settle(kept.automaton, None)
        return request

    def clear(self) -> None:
        """Drop all cached automata."""
        with self._lock:
            self._kept.clear()

    def close(self) -> None:
        """Give up all requests that are not done, drop all automata, and wait for the threads to end. If one of these
        threads calls this, in a callback of a request, do not wait."""
        with self._lock:
            self._closed = True
            self._kept.clear()
            requests = [request for job in self._under_way.values() for request in job.waiting]
        self._completing.cancel()
        for request in requests:
            request.cancel()
        for threads in self._threads:
            threads.shutdown(threading.get_ident() not in self._workers, cancel_futures=True)

    def _waiting(self, key: Hashable, source: Source, vocabulary: Vocabulary, options: dict[str, Any]) -> Compiling:
        """Return a request for an automaton that is not in the cache; under the lock."""
        if os.getpid() != self._process:
            raise RuntimeError("the threads of a BackgroundCompiler do not survive a fork: make another one")
        job = self._under_way.get(key)
        if job is None:
            job = _Job(self, key)
            self._threads[0].submit(self._run, job, 0, source.constraint, vocabulary, options)
            self._under_way[key] = job
        request = Compiling(source, job)
        job.waiting.append(request)
        return request

    def _run(self, job: _Job, turn: int, constraint: Any, vocabulary: Vocabulary, options: dict[str, Any]) -> None:
        kept, error = None, None
        try:
            # The automaton keeps the limits that it is compiled with, for its tables; a turn only ends the work.
            with Work(self._turns[turn], job.cancellation).current():
                automaton = tokenfst.compile(constraint, vocabulary, limits=self._limits, **options)
            kept = _Kept(automaton, text_bytes(constraint))
        except BaseException as raised:  # whatever it is, the waiting requests raise it
            error = raised
        if isinstance(error, LimitExceeded) and error.limit == "seconds" and turn + 1 < len(self._turns):
            try:
                with self._lock:
                    if not self._closed:
                        self._threads[turn + 1].submit(self._run, job, turn + 1, constraint, vocabulary, options)
                        return
            except RuntimeError as raised:  # the interpreter is shutting down
                error = raised
        self._settle(job, kept, error)

    def _settle(self, job: _Job, kept: _Kept | None, error: BaseException | None) -> None:
        """Hand the result of a job to its requests, and keep it."""
        requests = list[Compiling]()
        try:
            with self._lock:
                if self._under_way.get(job.key) is job:
                    del self._under_way[job.key]
                requests, job.waiting = job.waiting, []
                if kept is not None and not self._closed:
                    self._keep(job.key, kept)
        finally:
            for request in requests:
                request.settle(kept and kept.automaton, error)
        with self._lock:
            if self._complete and kept is not None and not self._closed:
                self._threads[-1].submit(self._make_tables, kept.automaton)

    def _make_tables(self, automaton: TokenAutomaton) -> None:
        with suppress(LimitExceeded, Cancelled, NondeterministicGrammar):
            automaton.complete(limits=self._limits, cancellation=self._completing)

    def _keep(self, key: Hashable, kept: _Kept) -> None:
        """Put an automaton into the cache unless it is too large, and drop what no longer fits; under the lock."""
        if kept.nbytes > self.max_bytes:
            return
        self._kept[key] = kept
        self._kept.move_to_end(key)
        self._drop_what_exceeds()

    def _drop_what_exceeds(self) -> None:
        """Drop the least recently requested automata until the others fit; under the lock."""
        sizes = {key: kept.nbytes for key, kept in self._kept.items()}  # once, as they may change meanwhile
        held = sum(sizes.values())
        for key, size in sizes.items():
            if held <= self.max_bytes:
                return
            del self._kept[key]
            held -= size

    def _leave(self, job: _Job, request: Compiling) -> None:
        """Remove a request, and stop its compilation if nobody waits for it any more."""
        with self._lock:
            if request in job.waiting:
                job.waiting.remove(request)
                request.set_running_or_notify_cancel()
            if job.waiting or self._under_way.get(job.key) is not job:
                return
            # A later request compiles it again.
            del self._under_way[job.key]
        job.cancellation.cancel()


def _turns(limits: Limits) -> list[Limits]:
    """Return the limits of each turn; those of the last turn are the given ones."""
    seconds = [_FIRST_TURN * 10**turn for turn in range(5)]
    return [replace(limits, seconds=each) for each in seconds if each < limits.seconds / 2] + [limits]
