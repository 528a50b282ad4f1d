"""What prefixes of tokens do to a state and a stack: functions from states to trees, each known by its number.

They are the functions of `tokenfst.functions`, from the states of the automaton to the trees of
`tokenfst.pushdown.trees`; where there a table of transitions is looked up, here it is the rows of the trees, which are
filled in as far as the vocabulary needs them.
"""

from __future__ import annotations

from automata.jit import kernel
from tokenfst.functions import PAIRS_BEGIN, PAIRS_END, STEP, TARGET, THROUGH, Functions, add, compose, find
from tokenfst.loops import MIXED, UNKNOWN
from tokenfst.pushdown.trees import FOLLOWED, LATER, LOOPS, Steps, Trees, resolved


@kernel
def followed(functions: Functions, pool: Trees, steps: Steps, function: int, column: int) -> Trees:
    """Finds the function followed by a byte of class `column`, or DEAD, and keeps it in its row.

    Returns the pool of trees, with those that the function leads to. There has to be room for one more function.
    """
    pairs, rows = functions.pairs, functions.rows
    for pair in range(rows[function, PAIRS_BEGIN], rows[function, PAIRS_END]):
        tree = pairs[pair] & TARGET
        if pool.rows[tree, FOLLOWED + column] == LATER:
            pool = resolved(pool, steps, tree, column)
    delta = pool.rows[:, FOLLOWED : FOLLOWED + rows.shape[1] - STEP]
    compose(functions, function, column, delta, pool.rows[:, LOOPS:FOLLOWED])
    return pool


@kernel
def passed(functions: Functions, pool: Trees, steps: Steps, function: int, pending: int) -> Trees:
    """Finds the function followed by any valid rest of the pending character, DEAD if all die, MIXED if they differ,
    and keeps it in its row; otherwise as `followed`."""
    rows, pairs, number = functions.rows, functions.pairs, functions.number[0]
    column = FOLLOWED + steps.width + pending
    begin = end = rows[number - 1, PAIRS_END]
    target = UNKNOWN
    for pair in range(rows[function, PAIRS_BEGIN], rows[function, PAIRS_END]):
        tree = pairs[pair] & TARGET
        if pool.rows[tree, column] == LATER:
            pool = resolved(pool, steps, tree, column - FOLLOWED)
        target = pool.rows[tree, column]
        if target == MIXED:
            break
        if target >= 0:
            pairs[end] = pairs[pair] & ~TARGET | target
            end += 1
    result = MIXED if target == MIXED else find(rows, pairs, functions.slots, number, begin, end)
    if result == number:
        delta = pool.rows[:, FOLLOWED : FOLLOWED + rows.shape[1] - STEP]
        add(functions, begin, end, delta, pool.rows[:, LOOPS:FOLLOWED])
    rows[function, THROUGH + pending] = result
    return pool
