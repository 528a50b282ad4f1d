"""NfaFragment: the NFA of one language, to be copied between two states of a grammar.

The same languages occur again and again in schemas: strings, numbers, the spellings of names. The fragment of each is
built once and cached, with what the native core asks about it; a copy costs two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from automata import _native
from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.cache import BoundedCache
from automata.compile.compiler import Compiler
from automata.compile.nfa import AssertionMet, ThompsonConstruction
from automata.expressions import Expr
from automata.limits import Work, current_work
from automata.visibly_pushdown.grammar import ArcLanguage
from automata.visibly_pushdown.paths import CountedPaths
from automata.visibly_pushdown.units import CountedUnits

# Fragments with more arcs are not cached, and no more fragments than this.
_MAX_ARCS, _MAX_CACHED = 4096, 1024


@dataclass(frozen=True, eq=False, slots=True)
class NfaFragment:
    """Arcs from state 0 to state 1; none leads into state 0 or out of state 1.

    Attributes:
        num_states: the number of states.
        arcs: `[A, 4]`, source, lowest and highest byte, and target; label i of the fragment is the byte 256 + i.
        epsilon: `[E, 2]`, source and target.
        labels: names, ascending.
        core: the fragment for the native core.
    """

    num_states: int
    arcs: IntArray
    epsilon: IntArray
    labels: tuple[str, ...]
    core: _native.Fragment

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, and of the fragment for the native core."""
        return self.arcs.nbytes + self.epsilon.nbytes + self.core.nbytes


def make_fragment(
    num_states: int, arcs: IntArray, epsilon: IntArray, work: Work, *, labels: tuple[str, ...] = ()
) -> NfaFragment:
    """Return a fragment with these attributes."""
    return NfaFragment(num_states, arcs, epsilon, labels, _native.Fragment(num_states, arcs, epsilon, work.budget))


def nfa_fragment(language: ArcLanguage, work: Work) -> NfaFragment:
    """Return the fragment of a language, from a bounded cache.

    Raises:
        LimitExceeded: it is larger than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
        ExpressionError: the expression calls a rule, or raw bytes stand beside assertions.
    """
    known = _cache.get(language)
    if known is None:
        if isinstance(language, CountedUnits | CountedPaths):
            known = _of_automaton(language.expanded(work), work)
        else:
            known = _of_automaton(language, work) if isinstance(language, ByteAutomaton) else _laid(language, work)
        if len(known.arcs) <= _MAX_ARCS:
            _cache.put(language, known)
    return known


_cache: Final = BoundedCache[ArcLanguage, NfaFragment](_MAX_CACHED)


def _laid(expr: Expr, work: Work) -> NfaFragment:
    compiler = Compiler(work)
    try:
        fragment = ThompsonConstruction(compiler.part, work).lay(expr)
    except AssertionMet:
        return _of_automaton(compiler.resolve(expr), work)
    return make_fragment(fragment.num_states, *fragment.tables(), work, labels=tuple(sorted(fragment.labels)))


def _of_automaton(automaton: ByteAutomaton, work: Work) -> NfaFragment:
    """Return the fragment of an automaton. The start becomes state 0 if no arc leads back to it, and the final states
    without arcs become state 1."""
    if automaton.is_empty:
        return make_fragment(2, np.zeros((0, 4), np.int32), np.zeros((0, 2), np.int32), work)
    num_states, arcs, epsilon, _ = _native.nfa_fragment(automaton.tables, automaton.start, work.budget)
    return make_fragment(num_states, arcs, epsilon, work, labels=automaton.labels)


@dataclass(frozen=True, eq=False, slots=True)
class CountedFragment:
    """The fragment of counted paths, without the counts.

    Attributes:
        fragment: the fragment of the automaton.
        entry: the state of the fragment where texts begin.
        numbers: `[Q, 3]`, for each state of the fragment whether it is counted, `least` and `most`.
    """

    fragment: NfaFragment
    entry: int
    numbers: IntArray

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return self.fragment.nbytes + self.numbers.nbytes


def counted_fragment(paths: CountedPaths, work: Work | None = None) -> CountedFragment:
    """Return the fragment of counted paths, from a bounded cache."""
    return _counted_cache.get_or_make(paths, lambda: _of_paths(paths, current_work(work)))


_counted_cache: Final = BoundedCache[CountedPaths, CountedFragment](_MAX_CACHED)


def _of_paths(paths: CountedPaths, work: Work) -> CountedFragment:
    tables = paths.automaton.tables
    num_states, arcs, epsilon, state_of = _native.nfa_fragment(tables, paths.start, work.budget)
    numbers = np.zeros((num_states, 3), np.int32)
    numbers[state_of] = paths.numbers
    numbers[1] = 0
    return CountedFragment(make_fragment(num_states, arcs, epsilon, work), int(state_of[paths.start]), numbers)
