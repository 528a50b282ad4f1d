"""NfaFragment: a language laid out by itself, to be copied between two states of a grammar.

Schemas share their languages: a string, a number, a name's spellings stand in one after the other. Each is laid out
once and kept; a copy costs two numbers.
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

# Pieces with more arcs than this are not kept, nor are more fragments than this.
_MAX_ARCS, _MAX_KEPT = 4096, 1024


@dataclass(frozen=True, eq=False, slots=True)
class NfaFragment:
    """Arcs from state 0 to state 1; none leads into state 0 or out of state 1.

    Attributes:
        num_states: how many states there are, 0 and 1 among them.
        arcs: `[A, 4]`, source, lowest and highest byte, and target; label i of this fragment is the byte 256 + i.
        epsilon: `[E, 2]`, source and target.
        labels: names, ascending.
    """

    num_states: int
    arcs: IntArray
    epsilon: IntArray
    labels: tuple[str, ...] = ()


def nfa_fragment(language: ArcLanguage, work: Work) -> NfaFragment:
    """Return the fragment of a language.

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


_cache: Final = BoundedCache[ArcLanguage, NfaFragment](_MAX_KEPT)


def _laid(expr: Expr, work: Work) -> NfaFragment:
    compiler = Compiler(work)
    try:
        fragment = ThompsonConstruction(compiler.part, work).lay(expr)
    except AssertionMet:
        return _of_automaton(compiler.resolve(expr), work)
    return NfaFragment(fragment.num_states, *fragment.tables(), tuple(sorted(fragment.labels)))


def _of_automaton(automaton: ByteAutomaton, work: Work) -> NfaFragment:
    """Return the fragment of an automaton: its start is state 0 where nothing leads back there, and its ends that lead
    nowhere are state 1."""
    if automaton.is_empty:
        return NfaFragment(2, np.zeros((0, 4), np.int32), np.zeros((0, 2), np.int32))
    num_states, arcs, epsilon, _ = _native.piece_of_automaton(automaton.tables, automaton.start, work.budget)
    return NfaFragment(num_states, arcs, epsilon, automaton.labels)


@dataclass(frozen=True, eq=False, slots=True)
class CountedFragment:
    """The fragment of what is counted, without the counts.

    Attributes:
        fragment: the fragment of the automaton.
        entry: where texts begin, a state of the fragment.
        numbers: `[Q, 3]`, for each state of the fragment whether it is counted, and the least and the most.
    """

    fragment: NfaFragment
    entry: int
    numbers: IntArray


def counted_fragment(paths: CountedPaths, work: Work | None = None) -> CountedFragment:
    """Return the fragment of what is counted; kept for those used last."""
    return _counted_cache.get_or_make(paths, lambda: _of_paths(paths, current_work(work)))


_counted_cache: Final = BoundedCache[CountedPaths, CountedFragment](_MAX_KEPT)


def _of_paths(paths: CountedPaths, work: Work) -> CountedFragment:
    tables = paths.automaton.tables
    num_states, arcs, epsilon, state_of = _native.piece_of_automaton(tables, paths.start, work.budget)
    numbers = np.zeros((num_states, 3), np.int32)
    numbers[state_of] = paths.numbers
    numbers[1] = 0
    return CountedFragment(NfaFragment(num_states, arcs, epsilon), int(state_of[paths.start]), numbers)
