"""Strings with so many characters: one character's automaton, laid once for each of them.

What expressions with a bound would come to after determinization and minimization is laid directly, in flat arrays, and
is minimal: over the characters themselves, which is what other statements are combined with, and over their spellings.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.errors import LimitExceeded
from automata.openfst import BoolArray, IntArray
from automata.tabulate import DENSE_BYTES, from_either
from constraints.json_schema.strings.spelling import spelled
from constraints.json_schema.strings.tables import tables_of

# Two million states of spellings.
MOST_CHARACTERS = 100_000

_QUOTE = 0x22


@lru_cache(maxsize=64)
def length_automaton(low: int, high: int | None) -> ByteAutomaton:
    """The strings with at least `low` characters, and at most `high` where there is a bound.

    Raises:
        LimitExceeded: a bound is above `MOST_CHARACTERS`.
    """
    if high is not None and low > high:
        return compile_expr(ex.EMPTY)
    text = compile_expr(ex.ANY_TEXT)
    ranges, final = _copies(np.stack(text.range_arcs(), axis=1), text.num_states, low, high)
    return from_either(tables_of(0, final, ranges, DENSE_BYTES), ())


@lru_cache(maxsize=64)
def length_spellings(low: int, high: int | None) -> ByteAutomaton:
    """The spellings of these strings, in quotes.

    Raises:
        LimitExceeded: a bound is above `MOST_CHARACTERS`.
    """
    if high is not None and low > high:
        return compile_expr(ex.EMPTY)
    text = spelled(compile_expr(ex.ANY_TEXT))
    begin = text.start
    loop = text.step(begin, b'"')
    end = text.step(loop, b'"')
    arcs = np.stack(text.range_arcs(), axis=1)
    arcs = arcs[(arcs[:, 0] != begin) & (arcs[:, 3] != end)]
    # The state where characters begin and end becomes state 0, as it is in the automaton of any text.
    number = np.full(text.num_states, -1, np.int32)
    number[[loop, *(state for state in range(text.num_states) if state not in (begin, loop, end))]] = range(
        text.num_states - 2
    )
    arcs[:, [0, 3]] = number[arcs[:, [0, 3]]]
    ranges, final = _copies(arcs, text.num_states - 2, low, high)
    ends = np.flatnonzero(final).astype(np.int32)
    begin, end = len(final), len(final) + 1
    quotes = np.full((1 + len(ends), 4), _QUOTE, np.int32)
    quotes[0, [0, 3]] = begin, 0
    quotes[1:, 0], quotes[1:, 3] = ends, end
    final = np.arange(len(final) + 2) == end
    return from_either(tables_of(begin, final, np.concatenate([ranges, quotes]), DENSE_BYTES), ())


def _copies(arcs: IntArray, num_states: int, low: int, high: int | None) -> tuple[IntArray, BoolArray]:
    """The arcs `[A, 4]` and final states `[Q]` of a count of characters.

    Args:
        arcs: `[A, 4]`, those of any text, whose state 0 is where characters begin and end.
        num_states: how many states any text takes.
        low, high: the bounds.
    """
    bound = max(low, high or 0)
    if bound > MOST_CHARACTERS:
        raise LimitExceeded(
            f"counting {bound:,} characters takes too many states; at most {MOST_CHARACTERS:,} are counted"
        )
    # Without an upper bound, the last character that is counted is inside like any that follows.
    num_copies = max(low - 1, 0) if high is None else high
    copies = np.tile(arcs, (num_copies, 1)) if num_copies else arcs[:0]
    copy = np.repeat(np.arange(num_copies, dtype=np.int32), len(arcs))
    copies[:, 0] += copy * num_states
    copies[:, 3] += np.where(copies[:, 3] == 0, copy + 1, copy) * num_states
    last = num_copies * num_states
    if high is not None:
        final = np.zeros(last + 1, np.bool_)
        final[low * num_states :: num_states] = True
        return copies, final
    loop = last + (low > 0)
    final = np.arange(loop + num_states) == loop
    around = arcs + np.array([loop, 0, 0, loop], np.int32)
    entering = around[arcs[:, 0] == 0] if low else around[:0]
    entering[:, 0] = last
    return np.concatenate([copies, entering, around]), final
