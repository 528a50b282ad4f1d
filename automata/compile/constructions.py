"""Minimal byte automata of an NFA and of two automata together: the constructions of the native core.

    determinized        the minimal automaton of an NFA
    product             the intersection or the difference of two automata
    word_list           the minimal automaton of a list of words

The limit of states is raised for automata that were made before (`Work.max_states`).
"""

from __future__ import annotations

import numpy as np

from automata import _native
from automata._native import ByteTables
from automata.arrays import IntArray
from automata.byte_automaton import DENSE_BYTES, ByteAutomaton
from automata.compile.nfa import NfaBuilder
from automata.limits import Work


def determinized(fragment: NfaBuilder, work: Work) -> ByteAutomaton:
    """Determinize and minimize an NFA.

    Raises:
        LimitExceeded: the automaton has more states than allowed, or a limit of memory or time was passed.
        Cancelled: the compilation was cancelled.
    """
    labels = tuple(sorted(fragment.labels))
    max_states = work.max_states(fragment.num_copied_states)
    tables = *fragment.tables(), len(labels), max_states, DENSE_BYTES, work.budget
    return _with_labels(_native.minimal(fragment.num_states, *tables), labels)


def product(left: ByteAutomaton, right: ByteAutomaton, work: Work, *, difference: bool) -> ByteAutomaton:
    """Intersect two automata, or subtract the right one from the left one.

    Raises: as `determinized`.
    """
    if left.is_empty or right.is_empty:
        return left if difference or left.is_empty else right
    labels = tuple(sorted({*left.labels, *right.labels}))
    sides = left.tables, _numbers(labels, left), right.tables, _numbers(labels, right)
    max_states = work.max_states(left.num_states + right.num_states)
    return _with_labels(_native.product(*sides, difference, max_states, DENSE_BYTES, work.budget), labels)


def word_list(words: tuple[bytes, ...], work: Work) -> ByteAutomaton:
    """Build the minimal automaton of words that ascend and differ.

    Raises: as `determinized`.
    """
    return ByteAutomaton(_native.word_list(words, DENSE_BYTES, work.budget))


def _with_labels(tables: ByteTables, labels: tuple[str, ...]) -> ByteAutomaton:
    if labels:
        labels = tuple(labels[number] for number in tables.drop_unused_labels())
    return ByteAutomaton(tables, labels)


def _numbers(labels: tuple[str, ...], automaton: ByteAutomaton) -> IntArray:
    """Return `[L]`, the number of each label in an automaton, or -1."""
    return np.array([automaton.labels.index(name) if name in automaton.labels else -1 for name in labels], np.int32)
