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
from automata.transition.from_ranges import tables_of
from automata.jit import kernel, plain_kernel
from automata.arrays import BoolArray, IntArray
from automata.transition.sparse import HIGH, LOW, REACHED, by_state
from automata.transition.tabulate import SPARSE, Tables, from_either
from constraints.json_schema.strings.escapes import ROOM, Counts, Nodes, add_arc, escapes, with_room
from constraints.json_schema.strings.runs import TARGET, add_run

_QUOTE, _BACKSLASH, _FIRST_LITERAL = 0x22, 0x5C, 0x20


def spelled(content: ByteAutomaton, *, usual: bool = False) -> ByteAutomaton:
    """All spellings, in quotes, of the strings that an automaton over UTF-8 accepts.

    Args:
        content: a minimal automaton that accepts nothing but UTF-8; without labels.
        usual: only those that programs write, each character by itself: escapes of what must have one or is beyond
            ASCII, and those short where they can be, and with small letters.
    """
    if content.is_empty:
        return content
    offsets, arcs = by_state(content)
    return from_either(_spelled(content.start, content.final, offsets, arcs, usual), ())


@kernel
def _spelled(start: int, final: BoolArray, offsets: IntArray, arcs: IntArray, usual: bool) -> Tables:
    """The tables of the spellings. States of the content keep their numbers; then come the start and the end, and then
    the nodes of escapes."""
    num_states = len(final)
    begin, end = num_states, num_states + 1
    nodes = Nodes(
        np.empty((4 * len(arcs) + ROOM, 4), np.int32),
        np.empty((ROOM, 2), np.int32),
        np.full(4 * ROOM, -1, np.int32),
        np.array([0, num_states + 2, num_states + 2, int(usual)]),
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
            if escaped >= 0:
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
    ends = np.zeros(num_nodes, np.bool_)
    ends[end] = True
    return tables_of(begin, ends, nodes.ranges[:num_arcs], SPARSE)


@plain_kernel
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
            runs, count = _behind_two(target, low - 0xC0, high - 0xC0, offsets, arcs, runs, count)
        elif low < 0xF0:
            runs, count = _behind_three(target, low - 0xE0, high - 0xE0, offsets, arcs, runs, count)
        else:
            runs, count = _behind_four(target, low - 0xF0, high - 0xF0, offsets, arcs, runs, count)
    return runs, count


@kernel
def _behind_two(
    state: int, low: int, high: int, offsets: IntArray, arcs: IntArray, runs: IntArray, count: int
) -> tuple[IntArray, int]:
    """Adds the runs of characters that go on at a state with one byte more, where the bytes so far stand for a number
    from `low` to `high`."""
    reached = _only_target(state, 1, offsets, arcs)
    if reached >= 0:
        return add_run(runs, count, low << 6, (high << 6) + 0x3F, reached)
    for number in range(low, high + 1):
        base = (number << 6) - 0x80
        for arc in range(offsets[state], offsets[state + 1]):
            runs, count = add_run(runs, count, base + arcs[arc, LOW], base + arcs[arc, HIGH], arcs[arc, REACHED])
    return runs, count


@kernel
def _behind_three(
    state: int, low: int, high: int, offsets: IntArray, arcs: IntArray, runs: IntArray, count: int
) -> tuple[IntArray, int]:
    """The same with two bytes more."""
    reached = _only_target(state, 2, offsets, arcs)
    if reached >= 0:
        return add_run(runs, count, low << 12, (high << 12) + 0xFFF, reached)
    for number in range(low, high + 1):
        base = (number << 6) - 0x80
        for arc in range(offsets[state], offsets[state + 1]):
            first, last = base + arcs[arc, LOW], base + arcs[arc, HIGH]
            runs, count = _behind_two(arcs[arc, REACHED], first, last, offsets, arcs, runs, count)
    return runs, count


@kernel
def _behind_four(
    state: int, low: int, high: int, offsets: IntArray, arcs: IntArray, runs: IntArray, count: int
) -> tuple[IntArray, int]:
    """The same with three bytes more."""
    reached = _only_target(state, 3, offsets, arcs)
    if reached >= 0:
        return add_run(runs, count, low << 18, (high << 18) + 0x3FFFF, reached)
    for number in range(low, high + 1):
        base = (number << 6) - 0x80
        for arc in range(offsets[state], offsets[state + 1]):
            first, last = base + arcs[arc, LOW], base + arcs[arc, HIGH]
            runs, count = _behind_three(arcs[arc, REACHED], first, last, offsets, arcs, runs, count)
    return runs, count


@plain_kernel
def _only_target(state: int, missing: int, offsets: IntArray, arcs: IntArray) -> int:
    """The state that any continuation of so many bytes leads to, -1 where there is none."""
    for _ in range(missing):
        arc = offsets[state]
        if offsets[state + 1] != arc + 1 or arcs[arc, LOW] != 0x80 or arcs[arc, HIGH] != 0xBF:
            return -1
        state = arcs[arc, REACHED]
    return state
