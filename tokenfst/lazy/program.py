"""Program: an automaton over bytes as the tables that walks step through, made in one pass, without minimizing.

    table    [Q, C]   what a class of bytes does in a state: the state that follows, where the stack is neither looked
                      at nor changed; DEAD; or `-2 - s`, the steps of the stack from number s on
    ends     [Q]      the same for the end of the text
    steps    [E, 6]   where its pops begin in `symbols` and how many they are, the same of its pushes, the target, and
                      whether another step of the same cell follows. Pops are written from the top of the stack down.
    symbols  [..]     what steps pop and push

Stacks are cells (`automata.transition.stacks`), so that a configuration is two integers.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from automata.arrays import ByteArray
from automata.byte_automaton import ByteAutomaton
from automata.jit import kernel, plain_kernel
from automata.pushdown.automaton import PushdownAutomaton
from automata.transition.reading import sequences
from automata.transition.stacks import BELOW, HEIGHT, SYMBOL
from tokenfst.transition.loops import DEAD, Ints

# Columns of steps.
POP_BEGIN, POPS, PUSH_BEGIN, PUSHES, STEP_TARGET, MORE = range(6)
# Words of the bytes that a class has: the 128 of ASCII.
ASCII_WORDS = 4


# The arrays of a named tuple by themselves: finding out what a named one is takes each call from Python a microsecond.
Unnamed: TypeAlias = tuple[Any, ...]


class Machine(NamedTuple):
    """The tables as kernels take them; see the module.

    Attributes:
        table, ends, steps, symbols: int32.
        byte_class: `[256]` uint8.
        members: `[C, 5]` int32: the ASCII bytes of every class as bits, and how many they are.
        net, sets, returns: where states are made on demand (`tokenfst.lazy.subsets`).
    """

    table: Ints
    byte_class: ByteArray
    members: Ints
    ends: Ints
    steps: Ints
    symbols: Ints
    net: Ints
    sets: Ints
    returns: Ints


class Program(NamedTuple):
    """Tables, the state of the empty text, which has an empty stack, how many symbols a step pushes at most, and
    whether states count (`tokenfst.lazy.readings`)."""

    machine: Machine
    start: int
    most_pushed: int
    counts: bool = False


def _no_net() -> tuple[Ints, Ints, Ints]:
    """What stands in for `net`, `sets` and `returns` where all states are there."""
    return np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros((1, 1), np.int32)


def program_of(automaton: ByteAutomaton | PushdownAutomaton) -> Program:
    """The program of a deterministic automaton without labels."""
    # Kernels are compiled for arrays that may be written to.
    byte_class = automaton.byte_class.copy()
    members = class_members(byte_class, automaton.num_classes)
    if isinstance(automaton, ByteAutomaton):
        ends = np.where(automaton.final, 0, DEAD).astype(np.int32)
        steps, symbols = np.zeros((0, 6), np.int32), np.zeros(0, np.int32)
        machine = Machine(automaton.next.copy(), byte_class, members, ends, steps, symbols, *_no_net())
        return Program(machine, automaton.start, most_pushed=0)
    table, ends, steps, symbols = _tables(
        automaton.step_offsets,
        automaton.step_pops,
        automaton.step_pushes,
        automaton.step_target,
        automaton.parent,
        automaton.symbol,
        automaton.num_states,
        automaton.num_classes,
    )
    machine = Machine(table, byte_class, members, ends, steps, symbols, *_no_net())
    return Program(machine, automaton.start, int(steps[:, PUSHES].max(initial=0)))


@kernel
def _tables(
    offsets: Ints, pops: Ints, pushes: Ints, target: Ints, parent: Ints, symbol: Ints, num_states: int, num_classes: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """The table, the ends, the steps and the symbols."""
    begin, symbols = sequences(parent, symbol)
    table, ends = np.full((num_states, num_classes), DEAD, np.int32), np.full(num_states, DEAD, np.int32)
    num_columns = (len(offsets) - 1) // num_states
    # All steps keep their numbers; those that leave the stack alone are in the table.
    steps = np.zeros((len(target), 6), np.int32)
    for state in range(num_states):
        for column in range(num_classes + 1):
            cell = state * num_columns + column
            first, last = offsets[cell], offsets[cell + 1]
            if first == last:
                continue
            plain = pops[first] == 0 and pushes[first] == 0
            does = target[first] if plain else -2 - first
            if column < num_classes:
                table[state, column] = does
            else:
                ends[state] = does
            for step in range(first, last):
                steps[step, POP_BEGIN], steps[step, PUSH_BEGIN] = begin[pops[step]], begin[pushes[step]]
                steps[step, POPS] = begin[pops[step] + 1] - begin[pops[step]]
                steps[step, PUSHES] = begin[pushes[step] + 1] - begin[pushes[step]]
                steps[step, STEP_TARGET], steps[step, MORE] = target[step], step + 1 < last
    return table, ends, steps, symbols


@kernel
def class_members(byte_class: ByteArray, num_classes: int) -> Ints:
    """The ASCII bytes of every class as bits, and how many they are, `[C, 5]`."""
    members = np.zeros((num_classes, ASCII_WORDS + 1), np.int32)
    for byte in range(128):
        members[byte_class[byte], byte >> 5] |= np.int32(np.uint32(1) << np.uint32(byte & 31))
        members[byte_class[byte], ASCII_WORDS] += 1
    return members


@plain_kernel
def stack_step(
    first: int, steps: Ints, symbols: Ints, cells: Ints, top: int, free: int, known: int, lowest: int
) -> tuple[int, int, int, int]:
    """The step that applies, of those of one cell of the table.

    Args:
        first: the first step of the cell.
        steps, symbols, cells: the tables; new cells are written from `free` on, without looking for equal ones.
        top: the stack.
        free: where cells may be written.
        known: how many cells there are for good; those from here on belong to a walk.
        lowest: the height of the lowest known cell that has been looked at.

    Returns:
        The target, DEAD where no step applies, and the new `top`, `free` and `lowest`.
    """
    step = first
    while True:
        below, left = top, steps[step, POPS]
        place = steps[step, POP_BEGIN]
        while left:
            if below < known and cells[below, HEIGHT] < lowest:
                lowest = cells[below, HEIGHT]
            if below == 0 or cells[below, SYMBOL] != symbols[place]:
                break
            below, place, left = cells[below, BELOW], place + 1, left - 1
        if left == 0:
            place = steps[step, PUSH_BEGIN]
            for push in range(place, place + steps[step, PUSHES]):
                cells[free, SYMBOL], cells[free, BELOW] = symbols[push], below
                cells[free, HEIGHT] = cells[below, HEIGHT] + 1
                below, free = free, free + 1
            return steps[step, STEP_TARGET], below, free, lowest
        if not steps[step, MORE]:
            return DEAD, top, free, lowest
        step += 1
