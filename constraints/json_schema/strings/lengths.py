"""Strings with so many characters: one character's automaton, laid once for each of them, or counted.

What expressions with a bound would come to after determinization and minimization is laid directly, in flat arrays, and
is minimal: over the characters themselves, which is what other statements are combined with, and over their spellings.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.transition.from_ranges import tables_of
from automata.jit import kernel
from automata.nested import CountedPaths, counted_paths
from automata.nested.counted import Counted, counted_arcs
from automata.arrays import BoolArray, IntArray
from automata.ranges import ALL_CHARACTERS, Ranges
from automata.transition.sparse import LOW, REACHED, by_state
from automata.transition.tabulate import SPARSE, from_either
from constraints.json_schema.strings.lists import every_spelling
from constraints.json_schema.strings.spelling import spelled
from constraints.json_schema.strings.trees import Every


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
    return from_either(tables_of(0, final, ranges, SPARSE), ())


def length_spellings(low: int, high: int | None) -> ByteAutomaton:
    """The spellings of these strings, in quotes.

    Raises:
        LimitExceeded: a bound takes too many states.
    """
    return compile_expr(ex.EMPTY) if high is not None and low > high else counted_length(low, high).expanded()


def counted_length(low: int, high: int | None, ranges: Ranges = ALL_CHARACTERS) -> Counted:
    """The spellings of the strings of so many of some characters, in quotes, not written out.

    Args:
        low, high: the bounds; `high` is not below `low`.
        ranges: the characters, of which there are some.
    """
    return Counted(_character(ranges), low, high, b'"', b'"')


def counted_texts(language: ByteAutomaton, low: int, high: int | None) -> CountedPaths | None:
    """The spellings of the strings of a language that have so many characters, not written out; None where that is not
    exact, or there are none.

    Args:
        language: the spellings of the language, in quotes, of which there are some.
        low, high: the bounds.
    """
    offsets, arcs = by_state(language)
    every, automaton = every_spelling(usual=False)
    between = _between(language.start, offsets, arcs, automaton.start, every)
    # The quote leads to the first state between two characters.
    return counted_paths(language, between, low + 1, None if high is None else high + 1)


@kernel
def _between(start: int, offsets: IntArray, arcs: IntArray, every_start: int, every: Every) -> BoolArray:
    """Which states are between two characters: each is in one place of a spelling, as no two places go on alike."""
    num_states = len(offsets) - 1
    place, waiting = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    place[start], waiting[0], size = every_start, start, 1
    while size:
        size -= 1
        state = waiting[size]
        for arc in range(offsets[state], offsets[state + 1]):
            target = arcs[arc, REACHED]
            if place[target] < 0:
                place[target] = every.table[place[state], arcs[arc, LOW]]
                waiting[size] = target
                size += 1
    between: BoolArray = place == every.between
    return between


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
    return from_either(tables_of(0, final, arcs, SPARSE), ())
