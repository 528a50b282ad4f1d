"""What prefixes of tokens do to a state and a stack: functions from states to trees, each known by its number.

They are the functions of `tokenfst.functions`, in the same pool with the same columns, from the states of the automaton
to the trees of `tokenfst.pushdown.trees`. Where there a table of transitions is looked up, here it is the rows of the
trees, which are filled in as far as the vocabulary needs them.
"""

from __future__ import annotations

import numpy as np

from automata.jit import kernel, plain_kernel
from tokenfst.transition.functions import (
    CLASS,
    HASH,
    LOOP,
    PAIRS_BEGIN,
    PAIRS_END,
    SOURCE_SHIFT,
    STEP,
    TARGET,
    THROUGH,
    Functions,
    Pairs,
    allocate,
    find,
    hash_pairs,
    take_slot,
)
from tokenfst.transition.loops import DEAD, LOOP_WORDS, MIXED, UNKNOWN, Ints
from tokenfst.pushdown.following import resolved
from tokenfst.pushdown.trees import FOLLOWED, LATER, LIVE, LIVE_BITS, LOOPS, Steps, Trees


@kernel
def identity_alone(pool: Trees, num_states: int, num_classes: int) -> Functions:
    """A pool that holds the identity on the states, number 0."""
    functions = allocate(512, max(8 * num_states, 1 << 13), STEP + num_classes)
    for state in range(num_states):
        functions.pairs[state] = state << SOURCE_SHIFT | state
    _add(functions, pool, 0, num_states)
    return functions


@kernel
def _add(functions: Functions, pool: Trees, begin: int, end: int) -> None:
    """Makes the pairs from `begin` to `end`, which lie behind all others, a new function, with what is known of it at
    once: which bytes no tree can take, and what all trees loop on."""
    number = functions.number[0]
    functions.number[0] = number + 1
    row, pairs, trees = functions.rows[number], functions.pairs, pool.rows
    row[CLASS], row[PAIRS_BEGIN], row[PAIRS_END], row[HASH] = 0, begin, end, hash_pairs(pairs, begin, end)
    take_slot(functions.slots, row[HASH], number)
    row[THROUGH:STEP], row[LOOP : LOOP + LOOP_WORDS] = UNKNOWN, -1
    live = np.zeros((len(row) - STEP + LIVE_BITS - 1) // LIVE_BITS, np.int32)
    _gather(pairs, begin, end, trees, row, live)
    for column in range(len(row) - STEP):
        row[STEP + column] = UNKNOWN if live[column // LIVE_BITS] >> (column % LIVE_BITS) & 1 else DEAD


@plain_kernel
def followed(functions: Functions, pool: Trees, steps: Steps, function: int, column: int) -> bool:
    """Finds the function followed by a byte of class `column`, or DEAD, and keeps it in its row.

    There has to be room for one more function. False where the pool of trees has no room.
    """
    if not _all_resolved(functions, pool, steps, function, column):
        return False
    end, _ = _led(functions.pairs, functions.rows, functions.number[0], function, pool.rows, FOLLOWED + column)
    functions.rows[function, STEP + column] = _known(functions, pool, end)
    return True


@plain_kernel
def passed(functions: Functions, pool: Trees, steps: Steps, function: int, pending: int) -> bool:
    """Finds the function followed by any valid rest of the pending character, DEAD if all die, MIXED if they differ,
    and keeps it in its row; otherwise as `followed`."""
    column = steps.width + pending
    if not _all_resolved(functions, pool, steps, function, column):
        return False
    end, is_mixed = _led(functions.pairs, functions.rows, functions.number[0], function, pool.rows, FOLLOWED + column)
    functions.rows[function, THROUGH + pending] = MIXED if is_mixed else _known(functions, pool, end)
    return True


@plain_kernel
def _all_resolved(functions: Functions, pool: Trees, steps: Steps, function: int, column: int) -> bool:
    """Finds what follows all trees of a function; false where there is no room."""
    at, end = functions.rows[function, PAIRS_BEGIN], functions.rows[function, PAIRS_END]
    while True:
        at = _first_unknown(functions.pairs, at, end, pool.rows, FOLLOWED + column)
        if at == end:
            return True
        if not resolved(pool, steps, functions.pairs[at] & TARGET, column):
            return False


@plain_kernel
def _gather(pairs: Pairs, begin: int, end: int, trees: Ints, row: Ints, live: Ints) -> None:
    """What all trees of a function loop on, into its row, and what any of them may take."""
    for pair in range(begin, end):
        tree = pairs[pair] & TARGET
        for word in range(LOOP_WORDS):
            row[LOOP + word] &= trees[tree, LOOPS + word]
        for word in range(len(live)):
            live[word] |= trees[tree, LIVE + word]


@plain_kernel
def _first_unknown(pairs: Pairs, begin: int, end: int, trees: Ints, column: int) -> int:
    while begin < end and trees[pairs[begin] & TARGET, column] != LATER:
        begin += 1
    return begin


@plain_kernel
def _led(pairs: Pairs, rows: Ints, number: int, function: int, trees: Ints, column: int) -> tuple[int, bool]:
    """Writes where the pairs of a function lead behind all others; where they end, and whether one is MIXED."""
    end, is_mixed = rows[number - 1, PAIRS_END], False
    for pair in range(rows[function, PAIRS_BEGIN], rows[function, PAIRS_END]):
        target = trees[pairs[pair] & TARGET, column]
        is_mixed = is_mixed or target == MIXED
        if target >= 0:
            pairs[end] = pairs[pair] & ~TARGET | target
            end += 1
    return end, is_mixed


@plain_kernel
def _known(functions: Functions, pool: Trees, end: int) -> int:
    """The function whose pairs lie behind all others, up to `end`."""
    number = functions.number[0]
    begin = functions.rows[number - 1, PAIRS_END]
    result = find(functions.rows, functions.pairs, functions.slots, number, begin, end)
    if result == number:
        _add(functions, pool, begin, end)
    return result
