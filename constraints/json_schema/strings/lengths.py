"""Strings with so many characters: one character's automaton, laid once for each of them, or counted.

What expressions with a bound would come to after determinization and minimization is laid directly, in flat arrays, and
is minimal: over the characters themselves, which is what other statements are combined with, and over their spellings.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from automata import _native as automata_native
from automata import expressions as ex
from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import SPARSE, ByteAutomaton
from automata.compile.compiler import compile_expr
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.limits import Work, current_work
from automata.visibly_pushdown import CountedPaths, counted_paths
from automata.visibly_pushdown.units import CountedUnits, counted_arcs
from constraints import _native
from constraints.json_schema.strings.lists import every_spelling
from constraints.json_schema.strings.spelling import spelled


@lru_cache(maxsize=64)
def length_automaton(low: int, high: int | None) -> ByteAutomaton:
    """The strings with at least `low` characters, and at most `high` where there is a bound.

    Raises:
        LimitExceeded: a bound takes too many states.
    """
    if high is not None and low > high:
        return compile_expr(ex.EMPTY)
    text = compile_expr(ex.ANY_TEXT)
    ranges, final = counted_arcs(np.stack(text.range_arcs(), axis=1), text.num_states, low, high)
    return _laid(final, ranges)


def length_spellings(low: int, high: int | None) -> ByteAutomaton:
    """The spellings of these strings, in quotes.

    Raises:
        LimitExceeded: a bound takes too many states.
    """
    return compile_expr(ex.EMPTY) if high is not None and low > high else counted_length(low, high).expanded()


def counted_length(low: int, high: int | None, ranges: Ranges = ALL_CHARACTERS) -> CountedUnits:
    """The spellings of the strings of so many of some characters, in quotes, not written out.

    Args:
        low, high: the bounds; `high` is not below `low`.
        ranges: the characters, of which there are some.
    """
    return CountedUnits(_character(ranges), low, high, b'"', b'"')


def counted_texts(language: ByteAutomaton, low: int, high: int | None, work: Work | None = None) -> CountedPaths | None:
    """The spellings of the strings of a language that have so many characters, not written out; None where that is not
    exact, or there are none.

    Args:
        language: the spellings of the language, in quotes, of which there are some.
        low, high: the bounds.
        work: the compilation that it is part of.

    Raises:
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    every = every_spelling(usual=False)
    between = _native.between_characters(language.tables, every.tables, current_work(work).budget)
    # The quote leads to the first state between two characters.
    return counted_paths(language, between, low + 1, None if high is None else high + 1)


@lru_cache(maxsize=256)
def _character(ranges: Ranges) -> ByteAutomaton:
    """The spellings of one character of some."""
    text = spelled(compile_expr(ex.CharSet(ranges)))
    begin = text.start
    first = text.step(begin, b'"')
    end = int(np.flatnonzero(text.final)[0])
    arcs = np.stack(text.range_arcs(), axis=1)
    last = int(arcs[arcs[:, 3] == end, 0][0])
    inside = [state for state in range(text.num_states) if state not in (begin, first, end)]
    number = np.full(text.num_states, -1, np.int32)
    number[[first, *inside]] = range(len(inside) + 1)
    arcs = arcs[(arcs[:, 0] != begin) & (arcs[:, 3] != end)]
    arcs[:, [0, 3]] = number[arcs[:, [0, 3]]]
    final = np.arange(len(inside) + 1) == number[last]
    return _laid(final, arcs)


def _laid(final: BoolArray, ranges: IntArray) -> ByteAutomaton:
    """The automaton of arcs from state 0 that are minimal as they are."""
    arcs = np.ascontiguousarray(ranges, np.int32)
    return ByteAutomaton(automata_native.from_ranges(0, final, arcs, SPARSE, Work().budget))
