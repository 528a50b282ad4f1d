"""Strings of a bounded length: the automaton of one character, laid out once for each character, or counted.

The minimal automaton is laid out directly, in flat arrays, without determinization: over the characters, for
combinations with other statements, and over their spellings.
"""

from __future__ import annotations

import numpy as np

from automata import _native as automata_native
from automata import expressions as ex
from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import SPARSE, ByteAutomaton
from automata.cache import kept
from automata.compile.compiler import compile_expr
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.limits import Work, current_work
from automata.visibly_pushdown import CountedPaths, counted_paths
from automata.visibly_pushdown.units import CountedUnits, counted_arcs
from constraints import _native
from constraints.json_schema.strings.lists import every_spelling
from constraints.json_schema.strings.spelling import spelled


@kept(64)
def length_automaton(low: int, high: int | None) -> ByteAutomaton:
    """Return the automaton of the strings with at least `low` and at most `high` characters; None means no bound.

    Raises:
        LimitExceeded: a bound takes too many states.
    """
    if high is not None and low > high:
        return compile_expr(ex.EMPTY)
    text = compile_expr(ex.ANY_TEXT)
    ranges, final = counted_arcs(np.stack(text.range_arcs(), axis=1), text.num_states, low, high)
    return _laid(final, ranges)


def length_spellings(low: int, high: int | None, *, plain: bool = False) -> ByteAutomaton:
    """Return the spellings, in quotes, of the strings with at least `low` and at most `high` characters.

    Raises:
        LimitExceeded: a bound takes too many states.
    """
    if high is not None and low > high:
        return compile_expr(ex.EMPTY)
    return counted_length(low, high, plain=plain).expanded()


def counted_length(low: int, high: int | None, ranges: Ranges = ALL_CHARACTERS, *, plain: bool = False) -> CountedUnits:
    """Return the spellings, in quotes, of the strings of some characters whose length is bounded, counted instead of
    written out.

    Args:
        low, high: the bounds; `high` is not below `low`.
        ranges: the characters, of which there is at least one.
        plain: whether only plain spellings are wanted (`spelling`).
    """
    return CountedUnits(_character(ranges, plain), low, high, b'"', b'"')


def counted_texts(language: ByteAutomaton, low: int, high: int | None, *, plain: bool = False) -> CountedPaths | None:
    """Return the spellings of the strings of a language whose length is bounded, counted instead of written out; None
    if counting would not be exact, or if there are no such strings.

    Args:
        language: the spellings of the strings, in quotes; there is at least one.
        low, high: the bounds.
        plain: whether the spellings are plain ones.

    Raises:
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    every = every_spelling(plain=plain)
    between = _native.between_characters(language.tables, every.tables, current_work().budget)
    # The quote leads to the first state between two characters.
    return counted_paths(language, between, low + 1, None if high is None else high + 1)


@kept(256)
def _character(ranges: Ranges, plain: bool) -> ByteAutomaton:
    """Return the spellings of one of some characters, without quotes."""
    text = spelled(compile_expr(ex.CharSet(ranges)), plain=plain)
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
    """Return the automaton with these arcs, whose start is state 0 and which is minimal already."""
    arcs = np.ascontiguousarray(ranges, np.int32)
    return ByteAutomaton(automata_native.from_ranges(0, final, arcs, SPARSE, Work().budget))
