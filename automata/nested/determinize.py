"""All rules of a network determinized together, as one automaton with symbols beside the bytes.

    start r       leads from the first state to where rule r begins
    call r        leads from a place where rule r is called to a state of its own, from which
    exit (r, i)   leads to where the text goes on after rule r ended in its exit i;
                  and from where rule r ends in that way to the last state

So a place where the same rule is called on several paths at once is one call, whose exits lead to all that may follow:
the subset construction over these symbols is the determinization of visibly pushdown automata (Alur & Madhusudan 2004,
theorem 2), where the rules already read all that may be asked between two brackets at once.

A rule that is one automaton, as that of a string is, takes no part in it: it stands there as nothing at all between its
start and its end, and its states are put between them afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata.transition.determinize import DONE, TOO_MANY_STATES, TOO_MUCH_MEMORY, Transitions, determinize
from automata.transition.intervals import FIRST_LABEL, over_intervals
from automata.jit import kernel, plain_kernel
from automata.limits import Flag
from automata.transition.minimize import minimize
from automata.nested.laying import FIRST, LAST, Chains, Copies, lay
from automata.nested.merging import merged
from automata.nested.productive import productive
from automata.arrays import BoolArray, IntArray
from automata.transition.tabulate import Tables, no_tables, tabulate


class Deterministic(NamedTuple):
    """The automaton of all rules: `start` is the first state, -1 where no rule has a text."""

    start: int
    automaton: Transitions
    interval: IntArray  # [256 + L + 2R + X], the symbol of each byte, label, start, call and exit
    has_text: BoolArray  # [X]


@kernel
def deterministic(
    num_states: int,
    chains: Chains,
    copies: Copies,
    epsilon: IntArray,
    starts: IntArray,
    first_exit: IntArray,
    calls: IntArray,
    targets: IntArray,
    ends: IntArray,
    prepared: IntArray,
    num_labels: int,
    max_states: int,
    max_bytes: int,
    stop: Flag,
) -> tuple[int, Deterministic]:
    """How the construction ended, and the automaton; the arguments are those of `laying.Layout`."""
    num_states, arcs, epsilon = lay(chains, copies, epsilon, num_states)
    has_text = productive(num_states, arcs, epsilon, starts, first_exit, calls, targets, ends)
    symbols, num_states = _symbols(num_states, starts, first_exit, calls, targets, ends, has_text, num_labels)
    num_symbols = num_labels + 2 * len(starts) + len(has_text)
    cuts = _cuts(prepared, copies, num_states)
    interval, written, over = over_intervals(np.concatenate((arcs, symbols, cuts)), num_symbols, max_bytes)
    none = Transitions(np.zeros(0, np.bool_), over[0], over[1], over[2])
    if not written:
        return TOO_MUCH_MEMORY, Deterministic(-1, none, interval, has_text)
    status, automaton = determinize(
        num_states + 1, interval[-1] + 1, over, epsilon.T.copy(), LAST, max_states, max_bytes, stop
    )
    if status != DONE:
        return status, Deterministic(-1, none, interval, has_text)
    start, found = merged(automaton)
    if len(prepared):
        status, found = _with_prepared(start, found, prepared, copies, interval, num_labels, max_states, max_bytes)
    return status, Deterministic(start, found, interval, has_text)


@kernel
def _cuts(prepared: IntArray, copies: Copies, state: int) -> IntArray:
    """Arcs at a state that nothing leads to, `[A, 4]`, which cut the bytes as those of all prepared rules do."""
    cuts, seen = np.zeros(257, np.bool_), np.zeros(len(copies.num_states), np.bool_)
    for rule in range(len(prepared)):
        piece = prepared[rule, 1]
        if not seen[piece]:
            seen[piece] = True
            for arc in range(copies.arc_offsets[piece], copies.arc_offsets[piece + 1]):
                cuts[copies.arcs[arc, 1]] = cuts[copies.arcs[arc, 2] + 1] = True
    arcs, count, begin = np.empty((256, 4), np.int32), 0, 0
    for byte in range(1, 257):
        if cuts[byte]:
            arcs[count, 0], arcs[count, 1], arcs[count, 2], arcs[count, 3] = state, begin, byte - 1, state
            begin = byte
            count += 1
    return arcs[:count]


@kernel
def _with_prepared(
    start: int,
    automaton: Transitions,
    prepared: IntArray,
    copies: Copies,
    interval: IntArray,
    num_labels: int,
    max_states: int,
    max_bytes: int,
) -> tuple[int, Transitions]:
    """How it ended, and the transitions with the states of prepared rules between their starts and their ends."""
    num_states, num_arcs = len(automaton.final), len(automaton.source)
    for rule in range(len(prepared)):
        piece = prepared[rule, 1]
        num_states += copies.num_states[piece] - 1
        for arc in range(copies.arc_offsets[piece], copies.arc_offsets[piece + 1]):
            num_arcs += interval[copies.arcs[arc, 2]] - interval[copies.arcs[arc, 1]] + 1
    if num_states > max_states:
        return TOO_MANY_STATES, automaton
    if 12 * num_arcs > max_bytes:
        return TOO_MUCH_MEMORY, automaton
    final, arcs = np.zeros(num_states, np.bool_), np.empty((3, num_arcs), np.int32)
    final[: len(automaton.final)] = automaton.final
    at = len(automaton.source)
    arcs[0, :at], arcs[1, :at], arcs[2, :at] = automaton.source, automaton.symbol, automaton.target
    # The arcs from the start, by rule.
    first, begins = interval[FIRST_LABEL + num_labels], np.full(len(interval), -1, np.int32)
    for arc in range(at):
        if arcs[0, arc] == start:
            begins[arcs[1, arc] - first] = arc
    # State 1 of a piece is the state that stands for its rule, the others are new.
    base = len(automaton.final)
    for rule in range(len(prepared)):
        piece, begin = prepared[rule, 1], begins[prepared[rule, 0]]
        end = arcs[2, begin]
        arcs[2, begin] = base
        for row in range(copies.arc_offsets[piece], copies.arc_offsets[piece + 1]):
            source, target = copies.arcs[row, 0], copies.arcs[row, 3]
            source, target = base + source - (source > 1), end if target == 1 else base + target - (target > 1)
            for symbol in range(interval[copies.arcs[row, 1]], interval[copies.arcs[row, 2]] + 1):
                arcs[0, at], arcs[1, at], arcs[2, at] = source, symbol, target
                at += 1
        base += copies.num_states[piece] - 1
    return DONE, Transitions(final, arcs[0], arcs[1], arcs[2])


@kernel
def regular(
    num_states: int,
    chains: Chains,
    copies: Copies,
    epsilon: IntArray,
    start: int,
    ends: IntArray,
    num_labels: int,
    max_states: int,
    max_bytes: int,
    dense_bytes: int,
    stop: Flag,
) -> tuple[int, Tables]:
    """How the construction ended, and the minimal automaton of the one rule that is left."""
    num_states, arcs, epsilon = lay(chains, copies, epsilon, num_states)
    outside = np.empty((1 + len(ends), 2), np.int32)
    outside[0, 0], outside[0, 1] = FIRST, start
    for end in range(len(ends)):
        outside[1 + end, 0], outside[1 + end, 1] = ends[end, 0], LAST
    interval, written, over = over_intervals(arcs, num_labels, max_bytes)
    if not written:
        return TOO_MUCH_MEMORY, no_tables()
    unread = np.concatenate((epsilon, outside)).T.copy()
    status, automaton = determinize(num_states, interval[-1] + 1, over, unread, LAST, max_states, max_bytes, stop)
    if status != DONE:
        return status, no_tables()
    begin, minimal = minimize(automaton, stop)
    return DONE, tabulate(begin, minimal, interval, num_labels, dense_bytes)


@kernel
def _symbols(
    num_states: int,
    starts: IntArray,
    first_exit: IntArray,
    calls: IntArray,
    targets: IntArray,
    ends: IntArray,
    has_text: BoolArray,
    num_labels: int,
) -> tuple[IntArray, int]:
    """The arcs over starts, calls and exits, `[A, 4]`, and how many states there are with those that calls lead to."""
    num_rules = len(starts)
    first = FIRST_LABEL + num_labels
    most = num_rules + len(ends) + len(calls) + len(targets)
    arcs = np.empty((most, 4), np.int32)
    count = 0
    for rule in range(num_rules):
        count = _add(arcs, count, FIRST, first + rule, starts[rule])
    for end in range(len(ends)):
        count = _add(arcs, count, ends[end, 0], first + 2 * num_rules + ends[end, 1], LAST)
    for call in range(len(calls)):
        rule, begun = calls[call, 1], count
        for number in range(first_exit[rule], first_exit[rule + 1]):
            target = targets[calls[call, 2] + number - first_exit[rule]]
            if has_text[number] and target >= 0:
                count = _add(arcs, count, num_states, first + 2 * num_rules + number, target)
        if count > begun:
            count = _add(arcs, count, calls[call, 0], first + num_rules + rule, num_states)
            num_states += 1
    return arcs[:count], num_states


@plain_kernel
def _add(arcs: IntArray, count: int, source: int, symbol: int, target: int) -> int:
    arcs[count, 0], arcs[count, 1], arcs[count, 2], arcs[count, 3] = source, symbol, symbol, target
    return count + 1
