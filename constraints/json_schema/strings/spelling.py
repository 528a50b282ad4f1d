"""From an automaton over the characters of strings to one over their spellings in JSON text, quotes included.

RFC 8259, section 7: a character may be written as it is, unless it is a control character, a quotation mark or a
backslash; eight of them have short escapes; and all may be written as `\\u` with four hexadecimal digits in either
case, those above U+FFFF as the two halves of their UTF-16 form (`\\ud83d\\ude00`). The halves alone are no characters,
and UTF-8 has no form for them: they are spelled nowhere here.

The automaton over characters is one over UTF-8, and most of it stays as it is. Between two characters it is in a
*boundary* state, and there the escapes are added (`escapes`). The result is deterministic, since no two spellings are
alike, and minimal, since no two boundary states accept the same strings: nothing is left for determinization and
minimization to do.

    runs        the code points that lead from a boundary state to boundary states, as ascending runs `[R, 3]`: first
                and last code point, and the state

Rejected: a transducer of spellings and its composition with the automaton (ten times the time, most of it in building
arcs for a million code points); expressions with the spellings of each set (sets would be spelled anew for each state).
"""

from __future__ import annotations

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.determinize import Transitions
from automata.intervals import over_intervals
from automata.jit import kernel
from automata.openfst import BoolArray, IntArray
from automata.sparse import HIGH, LOW, REACHED, by_state
from automata.tabulate import DENSE_BYTES, Tables, from_either, tabulate
from constraints.json_schema.strings.escapes import ROOM, Counts, Nodes, add_arc, escapes, with_room
from constraints.json_schema.strings.runs import TARGET, add_run

_QUOTE, _BACKSLASH, _FIRST_LITERAL = 0x22, 0x5C, 0x20


def spelled(content: ByteAutomaton) -> ByteAutomaton:
    """All spellings, in quotes, of the strings that an automaton over UTF-8 accepts.

    Args:
        content: a minimal automaton that accepts nothing but UTF-8; without labels.
    """
    if content.is_empty:
        return content
    offsets, arcs = by_state(content)
    return from_either(_spelled(content.start, content.final, offsets, arcs, DENSE_BYTES), ())


@kernel
def _spelled(start: int, final: BoolArray, offsets: IntArray, arcs: IntArray, dense_bytes: int) -> Tables:
    """The tables of the spellings. States of the content keep their numbers; then come the start and the end, and then
    the nodes of escapes."""
    num_states = len(final)
    begin, end = num_states, num_states + 1
    nodes = Nodes(
        np.empty((4 * len(arcs) + ROOM, 4), np.int32),
        np.empty((ROOM, 2), np.int32),
        np.full(4 * ROOM, -1, np.int32),
        np.array([0, num_states + 2, num_states + 2]),
    )
    add_arc(nodes.ranges, nodes.counts, begin, _QUOTE, _QUOTE, start)
    is_boundary, waiting = np.zeros(num_states, np.bool_), np.empty(num_states, np.int32)
    is_boundary[start], waiting[0], num_waiting = True, start, 1
    runs = np.empty((64, 3), np.int32)
    at = 0
    while at < num_waiting:
        state = waiting[at]
        at += 1
        runs, num_runs = _runs(state, offsets, arcs, runs)
        for run in range(num_runs):
            target = runs[run, TARGET]
            if not is_boundary[target]:
                is_boundary[target], waiting[num_waiting] = True, target
                num_waiting += 1
        nodes = with_room(nodes, ROOM * (num_runs + 1))
        if num_runs:
            escaped = escapes(runs[:num_runs], nodes.ranges, nodes.rows, nodes.slots, nodes.counts)
            add_arc(nodes.ranges, nodes.counts, state, _BACKSLASH, _BACKSLASH, escaped)
        for arc in range(offsets[state], offsets[state + 1]):
            _add_literal(nodes.ranges, nodes.counts, state, arcs[arc, LOW], arcs[arc, HIGH], arcs[arc, REACHED])
        if final[state]:
            add_arc(nodes.ranges, nodes.counts, state, _QUOTE, _QUOTE, end)
    for state in range(num_states):
        if not is_boundary[state]:
            nodes = with_room(nodes, ROOM)
            for arc in range(offsets[state], offsets[state + 1]):
                add_arc(nodes.ranges, nodes.counts, state, arcs[arc, LOW], arcs[arc, HIGH], arcs[arc, REACHED])
    num_arcs, num_nodes = nodes.counts[0], nodes.counts[1]
    interval, _, cut = over_intervals(nodes.ranges[:num_arcs], 0, 1 << 40)
    ends = np.zeros(num_nodes, np.bool_)
    ends[end] = True
    return tabulate(begin, Transitions(ends, cut[0], cut[1], cut[2]), interval, 0, dense_bytes)


@kernel
def _add_literal(ranges: IntArray, counts: Counts, state: int, low: int, high: int, target: int) -> None:
    """An arc of the content, without the bytes that are no spelling of a character."""
    low = max(low, _FIRST_LITERAL)
    for excepted in (_QUOTE, _BACKSLASH):
        if low <= excepted <= high:
            if low < excepted:
                add_arc(ranges, counts, state, low, excepted - 1, target)
            low = excepted + 1
    if low <= high:
        add_arc(ranges, counts, state, low, high, target)


@kernel
def _runs(state: int, offsets: IntArray, arcs: IntArray, runs: IntArray) -> tuple[IntArray, int]:
    """The runs of a boundary state, and how many there are."""
    count = 0
    for arc in range(offsets[state], offsets[state + 1]):
        low, high, target = arcs[arc, LOW], arcs[arc, HIGH], arcs[arc, REACHED]
        if low < 0x80:
            runs, count = add_run(runs, count, low, high, target)
        elif low < 0xE0:
            runs, count = _runs_behind(target, 1, low - 0xC0, high - 0xC0, offsets, arcs, runs, count)
        elif low < 0xF0:
            runs, count = _runs_behind(target, 2, low - 0xE0, high - 0xE0, offsets, arcs, runs, count)
        else:
            runs, count = _runs_behind(target, 3, low - 0xF0, high - 0xF0, offsets, arcs, runs, count)
    return runs, count


@kernel
def _runs_behind(
    state: int, missing: int, low: int, high: int, offsets: IntArray, arcs: IntArray, runs: IntArray, count: int
) -> tuple[IntArray, int]:
    """Adds the runs of characters that go on at a state, where `missing` bytes are missing and what there is stands for
    a number from `low` to `high`."""
    reached = _only_target(state, missing, offsets, arcs)
    if reached >= 0:
        size = 64**missing
        return add_run(runs, count, low * size, high * size + size - 1, reached)
    # A stack of what is still to be walked, the last first: state, bytes missing, first and last number.
    stack = np.empty((512, 4), np.int64)
    top = 0
    for number in range(high, low - 1, -1):
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = state, missing, number, number
        top += 1
    while top:
        top -= 1
        source, left, first, last = stack[top]
        reached = _only_target(source, left, offsets, arcs)
        size = 64**left
        if left == 0:
            runs, count = add_run(runs, count, first, last, source)
        elif reached >= 0:
            runs, count = add_run(runs, count, first * size, last * size + size - 1, reached)
        elif first < last:
            for number in range(last, first - 1, -1):
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = source, left, number, number
                top += 1
        else:
            for arc in range(offsets[source + 1] - 1, offsets[source] - 1, -1):
                stack[top, 0], stack[top, 1] = arcs[arc, REACHED], left - 1
                stack[top, 2] = first * 64 + arcs[arc, LOW] - 0x80
                stack[top, 3] = first * 64 + arcs[arc, HIGH] - 0x80
                top += 1
    return runs, count


@kernel
def _only_target(state: int, missing: int, offsets: IntArray, arcs: IntArray) -> int:
    """The state that any continuation of so many bytes leads to, -1 where there is none."""
    for _ in range(missing):
        arc = offsets[state]
        if offsets[state + 1] != arc + 1 or arcs[arc, LOW] != 0x80 or arcs[arc, HIGH] != 0xBF:
            return -1
        state = arcs[arc, REACHED]
    return state
