"""What is done to a stack: sequences of symbols, and actions, each stored once and known by its number.

    sequence    symbols in a row, in one trie: the sequence before, and one symbol more; 0 is the empty one
    action      a sequence that is popped and one that is pushed; 0 pops and pushes nothing

One action after another is an action again. The second one's pops take what the first has pushed, from the top; where
that is used up, they go on below what the first has popped. A symbol that cannot lie there, or is not what was pushed,
makes the two impossible in a row. Each composition is computed once and kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.jit import kernel
from automata.openfst import BoolArray
from tokenfst.loops import DEAD, Ints

EMPTY = NO_ACTION = 0
# Columns of the sequences.
PARENT, SYMBOL, LENGTH = range(3)
POPS, PUSHES = range(2)
_SEQUENCES, _ACTIONS, _COMPOSED, _LONGEST = range(4)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SLOTS_PER_ROW = 4


class Actions(NamedTuple):
    """The pool, with room for P sequences, A actions and M compositions."""

    counts: Ints  # [4], how many there are of each, and the length of the longest sequence that a step pops or pushes
    sequences: Ints  # [P, 3]
    actions: Ints  # [A, 2]
    sequence_slots: Ints  # [4 P], open addressing: the sequence, or -1
    action_slots: Ints  # [4 A]
    composed: npt.NDArray[np.int64]  # [4 M, 2], open addressing: both actions, -1 for none, and the result


@kernel
def _allocate(sequences: int, actions: int, composed: int) -> Actions:
    slots = np.empty((_SLOTS_PER_ROW * composed, 2), np.int64)
    slots[:, 0] = -1
    return Actions(
        np.zeros(4, np.int32),
        np.empty((sequences, 3), np.int32),
        np.empty((actions, 2), np.int32),
        np.full(_SLOTS_PER_ROW * sequences, -1, np.int32),
        np.full(_SLOTS_PER_ROW * actions, -1, np.int32),
        slots,
    )


@kernel
def _slot(first: int, second: int, size: int) -> int:
    """Where to look for a pair of numbers in a table of `size`, a power of two."""
    value = (np.uint64(first) * _FACTOR ^ np.uint64(second)) * _FACTOR
    return int(value >> np.uint64(32)) & (size - 1)


@kernel
def extended(actions: Actions, sequence: int, symbol: int) -> int:
    """The sequence with one more symbol behind it."""
    rows, slots = actions.sequences, actions.sequence_slots
    slot, found = _slot(sequence, symbol, len(slots)), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            found = known = actions.counts[_SEQUENCES]
            actions.counts[_SEQUENCES] += 1
            rows[found, PARENT], rows[found, SYMBOL], rows[found, LENGTH] = sequence, symbol, rows[sequence, LENGTH] + 1
            slots[slot] = found
        elif rows[known, PARENT] == sequence and rows[known, SYMBOL] == symbol and known != EMPTY:
            found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


@kernel
def action_of(actions: Actions, pops: int, pushes: int) -> int:
    """The action that pops one sequence and pushes another."""
    rows, slots = actions.actions, actions.action_slots
    slot, found = _slot(pops, pushes, len(slots)), -1
    while found < 0:
        known = slots[slot]
        if known < 0:
            found = known = actions.counts[_ACTIONS]
            actions.counts[_ACTIONS] += 1
            rows[found, POPS], rows[found, PUSHES] = pops, pushes
            slots[slot] = found
        elif rows[known, POPS] == pops and rows[known, PUSHES] == pushes:
            found = known
        slot = (slot + 1) & (len(slots) - 1)
    return int(found)


@kernel
def pool_of_steps(parent: Ints, symbol: Ints, step_pops: Ints, step_pushes: Ints) -> tuple[Actions, Ints]:
    """A pool with the actions of an automaton's steps, and which one is each step's.

    Args:
        parent, symbol: `[P]`, the automaton's sequences; a parent comes before its children.
        step_pops, step_pushes: `[E]`, sequences.
    """
    pool = _allocate(_power_of_two(max(1024, 4 * len(parent))), _power_of_two(max(1024, 4 * len(step_pops))), 4096)
    pool.sequences[EMPTY, PARENT], pool.sequences[EMPTY, SYMBOL], pool.sequences[EMPTY, LENGTH] = EMPTY, -1, 0
    pool.counts[_SEQUENCES] = 1
    action_of(pool, EMPTY, EMPTY)
    own = np.zeros(len(parent), np.int32)
    for sequence in range(1, len(parent)):
        own[sequence] = extended(pool, own[parent[sequence]], symbol[sequence])
        pool.counts[_LONGEST] = max(pool.counts[_LONGEST], pool.sequences[own[sequence], LENGTH])
    step_action = np.empty(len(step_pops), np.int32)
    for step in range(len(step_pops)):
        step_action[step] = action_of(pool, own[step_pops[step]], own[step_pushes[step]])
    return pool, step_action


@kernel
def _power_of_two(size: int) -> int:
    power = 1
    while power < size:
        power *= 2
    return power


@kernel
def with_room(pool: Actions, compositions: int) -> Actions:
    """The pool, or a larger one where there may be no room for so many compositions more."""
    counts = pool.counts
    sequences, actions, composed = len(pool.sequences), len(pool.actions), len(pool.composed) // _SLOTS_PER_ROW
    needed = counts[_SEQUENCES] + 2 * counts[_LONGEST] * compositions
    if needed <= sequences and max(counts[_ACTIONS], counts[_COMPOSED]) + compositions <= min(actions, composed):
        return pool
    grown = _allocate(
        max(sequences, _power_of_two(2 * needed)),
        max(actions, _power_of_two(2 * (counts[_ACTIONS] + compositions))),
        max(composed, _power_of_two(2 * (counts[_COMPOSED] + compositions))),
    )
    grown.counts[:] = counts
    for sequence in range(counts[_SEQUENCES]):
        row = pool.sequences[sequence]
        grown.sequences[sequence] = row
        if sequence != EMPTY:
            _take(grown.sequence_slots, _slot(row[PARENT], row[SYMBOL], len(grown.sequence_slots)), sequence)
    for action in range(counts[_ACTIONS]):
        pops, pushes = pool.actions[action, POPS], pool.actions[action, PUSHES]
        grown.actions[action, POPS], grown.actions[action, PUSHES] = pops, pushes
        _take(grown.action_slots, _slot(pops, pushes, len(grown.action_slots)), action)
    for old in range(len(pool.composed)):
        if pool.composed[old, 0] >= 0:
            slot = _composed_slot(grown.composed, pool.composed[old, 0])
            grown.composed[slot, 0], grown.composed[slot, 1] = pool.composed[old, 0], pool.composed[old, 1]
    return grown


@kernel
def _take(slots: Ints, slot: int, number: int) -> None:
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot] = number


@kernel
def _composed_slot(composed: npt.NDArray[np.int64], both: int) -> int:
    """Where a composition is, or belongs."""
    slot = _slot(both >> 32, both & 0xFFFFFFFF, len(composed))
    while composed[slot, 0] >= 0 and composed[slot, 0] != both:
        slot = (slot + 1) & (len(composed) - 1)
    return int(slot)


@kernel
def followed_by(pool: Actions, action: int, second: int, may_lie_under: BoolArray) -> int:
    """One action after another; DEAD where they are impossible in a row."""
    if second == NO_ACTION:
        return action
    if action == NO_ACTION:
        return second
    both = action << 32 | second
    slot = _composed_slot(pool.composed, both)
    if pool.composed[slot, 0] < 0:
        pool.counts[_COMPOSED] += 1
        pool.composed[slot, 0], pool.composed[slot, 1] = both, _compose(pool, action, second, may_lie_under)
    return int(pool.composed[slot, 1])


@kernel
def _compose(pool: Actions, action: int, second: int, may_lie_under: BoolArray) -> int:
    rows = pool.sequences
    pops, pushes = pool.actions[action, POPS], pool.actions[action, PUSHES]
    taken = symbols_of(rows, pool.actions[second, POPS])
    above = rows[pops, SYMBOL] if pops != EMPTY else -1
    at, on_top = 0, -1
    while at < len(taken) and pushes != EMPTY:
        on_top = rows[pushes, SYMBOL]
        if on_top != taken[at]:
            return DEAD
        pushes = rows[pushes, PARENT]
        at += 1
    if at < len(taken):
        # What was popped lay on the rest, and so did what was pushed in its place.
        if above >= 0 and not may_lie_under[above, taken[at]]:
            return DEAD
        if on_top >= 0 and not may_lie_under[on_top, taken[at]]:
            return DEAD
        while at < len(taken):
            pops = extended(pool, pops, taken[at])
            at += 1
    for symbol in symbols_of(rows, pool.actions[second, PUSHES]):
        pushes = extended(pool, pushes, symbol)
    return action_of(pool, pops, pushes)


@kernel
def symbols_of(sequences: Ints, sequence: int) -> Ints:
    """The symbols of a sequence in order."""
    symbols = np.empty(sequences[sequence, LENGTH], np.int32)
    for place in range(len(symbols) - 1, -1, -1):
        symbols[place] = sequences[sequence, SYMBOL]
        sequence = sequences[sequence, PARENT]
    return symbols


@kernel
def used_part(pool: Actions) -> tuple[Ints, Ints]:
    """The sequences `[P, 3]` and the actions `[A, 2]` that there are."""
    return pool.sequences[: pool.counts[_SEQUENCES]].copy(), pool.actions[: pool.counts[_ACTIONS]].copy()
