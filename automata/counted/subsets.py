"""The subset construction with one counter: sets of states whose elements inside loops all hold the same count.

A set is made and found again as in `automata.determinize`: the states that a byte led to, before following epsilon
arcs. Epsilon arcs are followed for a value r of the register, from 1 up; the least value at which some mark would be
decided in another way ends the interval for which the outcome stands, and the next one begins there. On the way an
element inside a loop has a kind: its count is still r, or r + 1 since it went round, or 1 since it came in. After a
byte all elements inside loops must agree on one kind, which is then the action of the arc.

Two ways to one state with different counts agree where one can do all that the other can: the lower count where only
the upper bound matters, the higher one where only the lower bound does (columns of `automata.counted.layout`).
"""

from __future__ import annotations

import numpy as np

from automata.counted.layout import ENTER, FEWER, HIGH, ITERATE, LOW, NEITHER, PLAIN, PREFERS, UNBOUNDED
from automata.transition.determinize import DONE, STOPPED, TOO_MANY_STATES, TOO_MUCH_MEMORY, Sets, find, with_room
from automata.transition.grouping import grouped
from automata.jit import kernel
from automata.limits import Flag
from automata.arrays import IntArray

# How an element's count compares with the register: outside of loops; 1; the same; one more. Ascending by count.
_OUTSIDE, _ENTERED, _SAME, _NEXT = range(4)
# Rows of the arcs: from state `source` by a symbol, while the register is between low and high.
SOURCE, SYMBOL, FROM, UPTO, TARGET, ACTION = range(6)
_NO_LIMIT = 1 << 30


@kernel
def counted_subsets(
    num_symbols: int,
    arcs: IntArray,
    epsilon: IntArray,
    loop_of: IntArray,
    loops: IntArray,
    max_states: int,
    max_bytes: int,
    stop: Flag,
) -> tuple[int, IntArray, IntArray, IntArray]:
    """The deterministic automaton from state 0 to state 1; its state 0 is the start.

    Args:
        num_symbols: symbols are numbers below this.
        arcs: `[3, A]`, source, symbol and target.
        epsilon: `[3, M]`, source, target and mark.
        loop_of: `[N]`, the loop that each state is inside of, or -1.
        loops: `[L, 3]`.
        max_states: where to stop.
        max_bytes: where to stop, for the memory of all sets of states.
        stop: `[1]`, looked at for every state.

    Returns:
        DONE, or why it was stopped; the least register value with which each state is final, `[Q]`, -1 where none is;
        the arcs `[6, M]`, an action n >= 0 adding n to the register and ~n setting it to n; and two loops that would
        need counts of their own at the same time, `[2]`, -1 where there are none.
    """
    num_states = len(loop_of)
    arc_offset, arc_order = grouped(num_states, arcs[0])
    epsilon_offset, epsilon_order = grouped(num_states, epsilon[0])
    offset, members, slots = np.zeros(129, np.int32), np.zeros(1024, np.int32), np.full(512, -1, np.int32)
    count, offset[1] = 1, 1
    find(offset, members, slots, 0, 1)
    final = np.full(128, -1, np.int32)
    made = np.empty((6, 512), np.int32)
    num_made, stamp = 0, 0
    # Elements are states with a kind: 4 x state + kind.
    seen, closure = np.full(4 * num_states, -1, np.int32), np.empty(4 * num_states, np.int32)
    first, touched = np.full(num_symbols, -1, np.int32), np.empty(num_symbols, np.int32)
    link = np.empty((3, 3 * arcs.shape[1] + 1), np.int32)
    marked, best = np.full(num_states, -1, np.int32), np.empty(num_states, np.int32)
    clash = np.full(2, -1, np.int32)
    state = 0
    max_members = min(max_bytes // 4, 2**31 - 1 - link.shape[1])
    while state < count <= max_states and offset[count] <= max_members and clash[0] < 0 and stop[0] == 0:
        if state >= len(final):
            final = np.concatenate((final, np.full(len(final), -1, np.int32)))
        # The greatest value that the register can have here; 0 where nothing counts.
        most = _NO_LIMIT
        for at in range(offset[state], offset[state + 1]):
            loop = loop_of[members[at]]
            if loop >= 0:
                most = min(most, loops[loop, LOW] if loops[loop, HIGH] == UNBOUNDED else loops[loop, HIGH])
        register = 1
        if most == _NO_LIMIT:
            register = most = 0
        while register <= most and clash[0] < 0:
            stamp += 1
            change, size = most + 1, 0
            for at in range(offset[state], offset[state + 1]):
                element = 4 * members[at] + (_SAME if loop_of[members[at]] >= 0 else _OUTSIDE)
                seen[element] = stamp
                closure[size] = element
                size += 1
            num_links, num_touched, at = 0, 0, 0
            while at < size:
                member, kind = closure[at] >> 2, closure[at] & 3
                at += 1
                if member == 1 and final[state] < 0:
                    final[state] = register
                for place in range(epsilon_offset[member], epsilon_offset[member + 1]):
                    arc = epsilon_order[place]
                    target, mark, after = epsilon[1, arc], epsilon[2, arc], kind
                    if mark == ENTER:
                        after = _ENTERED
                    elif mark != PLAIN:
                        low, high = loops[loop_of[member], LOW], loops[loop_of[member], HIGH]
                        if kind == _SAME and register < low:
                            change = min(change, low)
                        if mark == ITERATE:
                            # To go round twice without reading leads to nothing new.
                            if kind != _SAME or register == high:
                                continue
                            if high == UNBOUNDED:
                                after = _NEXT if register < low else _SAME
                            else:
                                change, after = min(change, high), _NEXT
                        elif kind == _SAME and register < low:
                            continue
                        else:
                            after = _OUTSIDE
                    if seen[4 * target + after] != stamp:
                        seen[4 * target + after] = stamp
                        closure[size] = 4 * target + after
                        size += 1
                for place in range(arc_offset[member], arc_offset[member + 1]):
                    arc = arc_order[place]
                    symbol = arcs[1, arc]
                    if first[symbol] < 0:
                        touched[num_touched] = symbol
                        num_touched += 1
                    link[0, num_links], link[1, num_links], link[2, num_links] = arcs[2, arc], first[symbol], kind
                    first[symbol] = num_links
                    num_links += 1
            if num_made + num_touched > made.shape[1]:
                grown = np.empty((6, 2 * (num_made + num_touched)), np.int32)
                grown[:, :num_made] = made[:, :num_made]
                made = grown
            for number in range(num_touched):
                symbol = touched[number]
                if count + 1 >= len(offset) or offset[count] + num_links > len(members):
                    offset, members, slots = with_room(Sets(offset, members, slots), count, num_links)
                top, at = offset[count], first[symbol]
                first[symbol] = -1
                stamp += 1
                while at >= 0:
                    target, kind = link[0, at], link[2, at]
                    at = link[1, at]
                    if marked[target] != stamp:
                        marked[target], best[target] = stamp, kind
                        members[top] = target
                        top += 1
                    elif best[target] != kind:
                        loop = loop_of[target]
                        if loops[loop, PREFERS] == NEITHER:
                            clash[:] = loop
                        fewer = loops[loop, PREFERS] == FEWER
                        best[target] = min(best[target], kind) if fewer else max(best[target], kind)
                action, holder = _OUTSIDE, -1
                for at in range(offset[count], top):
                    target = members[at]
                    if loop_of[target] < 0:
                        continue
                    if holder >= 0 and best[target] != action:
                        clash[0], clash[1] = holder, loop_of[target]
                    action, holder = best[target], loop_of[target]
                if top - offset[count] > 1:
                    members[offset[count] : top].sort()
                found = find(offset, members, slots, count, top)
                made[SOURCE, num_made], made[SYMBOL, num_made], made[TARGET, num_made] = state, symbol, found
                made[FROM, num_made], made[UPTO, num_made] = register, change - 1
                if action >= _SAME:
                    made[ACTION, num_made] = action - _SAME
                else:
                    made[ACTION, num_made] = ~(1 if action == _ENTERED else 0)
                num_made += 1
                if found == count:
                    count += 1
                    offset[count] = top
            stamp += 1
            register = change
        state += 1
    if count > len(final):
        final = np.concatenate((final, np.full(count - len(final), -1, np.int32)))
    status = DONE if state == count else TOO_MANY_STATES if count > max_states else TOO_MUCH_MEMORY
    if stop[0]:
        status = STOPPED
    return status, final[:count], made[:, :num_made], clash
