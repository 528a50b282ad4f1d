"""What prefixes of tokens do to a state and a stack: relations, each stored once and known by its number.

A relation is a run of ascending (source, action, state) triples in a pool, each packed into one number: where the
source has the symbols on top that the action pops, the text leads to the state, and the action's pushes are on top.
Several triples may have one source. Otherwise relations are what functions are in `tokenfst.functions`, kept in the
same pool with the same columns, so that the same look-ups lead from one to the next.

Most steps of most automata are plain: one step for a state and a byte, which neither pops nor pushes. They are in a
table `[Q, C]` (`Steps.plain`), and after them only the state of a triple is different. All others compose actions
(`tokenfst.pushdown.actions`); for what bytes and characters leave unchanged they count as MIXED (`tokenfst.loops`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.byte_automaton import ByteArray
from automata.jit import kernel
from automata.openfst import BoolArray
from tokenfst.functions import (
    CLASS,
    HASH,
    LOOP,
    PAIRS_BEGIN,
    PAIRS_END,
    STEP,
    THROUGH,
    Functions,
    Pairs,
    allocate,
    find,
    hash_pairs,
    take_slot,
)
from tokenfst.loops import DEAD, LOOP_WORDS, MIXED, NUM_PENDING, UNKNOWN, Ints, after_character, state_loops
from tokenfst.pushdown.actions import NO_ACTION, Actions, followed_by

# In a triple the source is in the upper 21 bits, the action in the next 21 and the state in the lowest 21.
SOURCE_SHIFT, ACTION_SHIFT, PART = 42, 21, (1 << 21) - 1


class Steps(NamedTuple):
    """The steps of a pushdown automaton over bytes, with Q states and C byte classes."""

    plain: Ints  # [Q, C], the state of the only step, if it is plain; DEAD if there is no step, MIXED otherwise
    offsets: Ints  # [Q * W + 1], the steps of each state and column; W columns, the first C of them for bytes
    action: Ints  # [E]
    target: Ints  # [E]
    width: int  # W
    byte_class: ByteArray  # [256]
    may_lie_under: BoolArray  # [S, S]
    after: Ints  # [Q, pending]
    state_loop: Ints  # [Q, LOOP_WORDS]


@kernel
def steps_of(
    offsets: Ints,
    action: Ints,
    target: Ints,
    num_states: int,
    num_classes: int,
    byte_class: ByteArray,
    may_lie_under: BoolArray,
) -> Steps:
    """The steps, and what follows from the plain ones."""
    width = (len(offsets) - 1) // num_states
    plain = np.full((num_states, num_classes), DEAD, np.int32)
    for state in range(num_states):
        for column in range(num_classes):
            begin, end = offsets[state * width + column], offsets[state * width + column + 1]
            if end - begin == 1 and action[begin] == NO_ACTION:
                plain[state, column] = target[begin]
            elif end > begin:
                plain[state, column] = MIXED
    after = np.full((num_states, NUM_PENDING), UNKNOWN, np.int32)
    state_loop = state_loops(plain, byte_class, after)
    return Steps(plain, offsets, action, target, width, byte_class, may_lie_under, after, state_loop)


@kernel
def identity_alone(steps: Steps) -> Functions:
    """A pool that holds the identity, number 0."""
    num_states, num_classes = steps.plain.shape
    relations = allocate(512, max(8 * num_states, 1 << 13), STEP + num_classes)
    for state in range(num_states):
        relations.pairs[state] = state << SOURCE_SHIFT | NO_ACTION << ACTION_SHIFT | state
    _add(relations, 0, num_states, steps)
    return relations


@kernel
def _add(relations: Functions, begin: int, end: int, steps: Steps) -> None:
    """Makes the triples from `begin` to `end`, which lie behind all others, a new relation, with what is known of it at
    once: which bytes no state can take, and what all states loop on."""
    number = relations.number[0]
    relations.number[0] = number + 1
    row, pairs, plain, state_loop = relations.rows[number], relations.pairs, steps.plain, steps.state_loop
    row[CLASS], row[PAIRS_BEGIN], row[PAIRS_END], row[HASH] = 0, begin, end, hash_pairs(pairs, begin, end)
    take_slot(relations.slots, row[HASH], number)
    row[THROUGH:STEP], row[STEP:] = UNKNOWN, 0
    row[LOOP : LOOP + LOOP_WORDS] = -1
    for pair in range(begin, end):
        state = pairs[pair] & PART
        for column in range(plain.shape[1]):
            row[STEP + column] |= plain[state, column] ^ DEAD
        for word in range(LOOP_WORDS):
            row[LOOP + word] &= state_loop[state, word]
    for column in range(STEP, len(row)):
        row[column] = UNKNOWN if row[column] else DEAD


@kernel
def num_composed(relations: Functions, relation: int, column: int, steps: Steps) -> tuple[int, int]:
    """At most how many triples the relation has when a byte of class `column` follows, and how many of them compose
    actions."""
    pairs, plain, offsets = relations.pairs, steps.plain, steps.offsets
    found = composed = 0
    for pair in range(relations.rows[relation, PAIRS_BEGIN], relations.rows[relation, PAIRS_END]):
        state = pairs[pair] & PART
        if plain[state, column] == MIXED:
            entry = state * steps.width + column
            composed += offsets[entry + 1] - offsets[entry]
        else:
            found += 1
    return found + composed, composed


@kernel
def compose(relations: Functions, actions: Actions, relation: int, column: int, steps: Steps) -> None:
    """Finds the relation followed by a byte of class `column`, or DEAD, and keeps it in its row; there has to be room
    for what `num_composed` tells."""
    rows, pairs, plain = relations.rows, relations.pairs, steps.plain
    begin = end = rows[relations.number[0] - 1, PAIRS_END]
    for pair in range(rows[relation, PAIRS_BEGIN], rows[relation, PAIRS_END]):
        triple = pairs[pair]
        target = plain[triple & PART, column]
        if target >= 0:
            pairs[end] = triple & ~PART | target
            end += 1
        elif target == MIXED:
            end = _other_steps(pairs, end, triple, column, actions, steps)
    rows[relation, STEP + column] = _known(relations, begin, _in_order(pairs, begin, end), steps)


@kernel
def _other_steps(pairs: Pairs, end: int, triple: int, column: int, actions: Actions, steps: Steps) -> int:
    """Writes what the steps that are not plain make of a triple; returns the new end."""
    entry = (triple & PART) * steps.width + column
    for step in range(steps.offsets[entry], steps.offsets[entry + 1]):
        action = followed_by(actions, triple >> ACTION_SHIFT & PART, steps.action[step], steps.may_lie_under)
        if action >= 0:
            pairs[end] = triple >> SOURCE_SHIFT << SOURCE_SHIFT | action << ACTION_SHIFT | steps.target[step]
            end += 1
    return end


@kernel
def _in_order(pairs: Pairs, begin: int, end: int) -> int:
    """Sorts the triples and drops repetitions; returns the new end."""
    ascending = True
    for pair in range(begin + 1, end):
        ascending = ascending and pairs[pair - 1] < pairs[pair]
    if ascending:
        return end
    pairs[begin:end].sort()
    kept = begin + 1
    for pair in range(begin + 1, end):
        if pairs[pair] != pairs[kept - 1]:
            pairs[kept] = pairs[pair]
            kept += 1
    return kept


@kernel
def _known(relations: Functions, begin: int, end: int, steps: Steps) -> int:
    """The number of the relation with the triples from `begin` to `end`, which lie behind all others."""
    number = relations.number[0]
    result = find(relations.rows, relations.pairs, relations.slots, number, begin, end)
    if result == number:
        _add(relations, begin, end, steps)
    return result


@kernel
def pass_character(relations: Functions, relation: int, pending: int, steps: Steps) -> None:
    """Finds the relation followed by any valid rest of the pending character, DEAD if all die, MIXED if they differ or
    the stack has a part in it, and keeps it in its row."""
    rows, pairs = relations.rows, relations.pairs
    begin = end = rows[relations.number[0] - 1, PAIRS_END]
    target = UNKNOWN
    for pair in range(rows[relation, PAIRS_BEGIN], rows[relation, PAIRS_END]):
        target = after_character(pairs[pair] & PART, pending, steps.plain, steps.byte_class, steps.after)
        if target == MIXED:
            break
        if target >= 0:
            pairs[end] = pairs[pair] & ~PART | target
            end += 1
    if target == MIXED:
        rows[relation, THROUGH + pending] = MIXED
    else:
        rows[relation, THROUGH + pending] = _known(relations, begin, _in_order(pairs, begin, end), steps)
