"""The automaton of all strings with so many characters, from one character's automaton and a count.

The automaton of any text, less its loop, is laid once for each character, each copy leading to the next one: what
expressions with a bound would come to after determinization and minimization, without either.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from automata import expr as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.determinize import Transitions
from automata.errors import LimitExceeded
from automata.intervals import over_intervals
from automata.jit import kernel
from automata.limits import DEFAULT_LIMITS
from automata.openfst import BoolArray, IntArray
from automata.tabulate import DENSE_BYTES, Tables, from_either, tabulate


@lru_cache(maxsize=64)
def length_automaton(low: int, high: int | None) -> ByteAutomaton:
    """The strings with at least `low` characters, and at most `high` where there is a bound.

    Raises:
        LimitExceeded: the bound is so large that there would be too many states.
    """
    text = compile_expr(ex.ANY_TEXT)
    if high is not None and low > high:
        return compile_expr(ex.EMPTY)
    if not low and high is None:
        return text
    bound = low if high is None else high
    num_states = text.num_states
    if bound * num_states > DEFAULT_LIMITS.states:
        raise LimitExceeded(
            f"counting {bound:,} characters takes {bound * num_states:,} states, more than "
            f"{DEFAULT_LIMITS.states:,} (limit `states`)"
        )
    arcs = np.stack(text.range_arcs(), axis=1)
    copies = np.tile(arcs, (bound, 1)) if bound else arcs[:0]
    number = np.repeat(np.arange(bound, dtype=np.int32), len(arcs))
    copies[:, 0] += number * num_states
    # State 0 is where a character begins; behind a character that is state 0 of the next copy.
    copies[:, 3] += np.where(copies[:, 3] == 0, number + 1, number) * num_states
    final = np.zeros(bound * num_states + (num_states if high is None else 1), np.bool_)
    final[low * num_states :: num_states] = True
    if high is None:
        copies = np.concatenate([copies, arcs + np.array([1, 0, 0, 1], np.int32) * (bound * num_states)])
    return from_either(_tables(final, copies, DENSE_BYTES), ())


@kernel
def _tables(final: BoolArray, ranges: IntArray, dense_bytes: int) -> Tables:
    """The tables of a minimal automaton that starts in state 0, all of whose states can be reached."""
    interval, _, arcs = over_intervals(ranges, 0, 1 << 40)
    return tabulate(0, Transitions(final, arcs[0], arcs[1], arcs[2]), interval, 0, dense_bytes)
