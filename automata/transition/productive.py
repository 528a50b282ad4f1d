"""Productive: which exits of a network's rules some text ends in, and which states lead to an end of their rule."""

from __future__ import annotations

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.jit import kernel, plain_kernel
from automata.transition.grouping import grouped


@kernel
def productive(
    num_states: int,
    arcs: IntArray,
    epsilon: IntArray,
    starts: IntArray,
    first_exit: IntArray,
    calls: IntArray,
    targets: IntArray,
    ends: IntArray,
) -> BoolArray:
    """Which exits some text ends in, `[X]`."""
    arc_offsets, arc_order = grouped(num_states, arcs[:, 0])
    epsilon_offsets, epsilon_order = grouped(num_states, epsilon[:, 0])
    call_offsets, call_order = grouped(num_states, calls[:, 0])
    end_offsets, end_order = grouped(num_states, ends[:, 0])
    of_callee, callee_order = grouped(len(starts), calls[:, 1])
    rule_of = np.zeros(first_exit[-1], np.int32)
    for rule in range(len(starts)):
        rule_of[first_exit[rule] : first_exit[rule + 1]] = rule
    has_text = np.zeros(first_exit[-1], np.bool_)
    seen, waiting = np.zeros(num_states, np.bool_), np.empty(num_states, np.int32)
    count = 0
    for rule in range(len(starts)):
        count = _reach(starts[rule], seen, waiting, count)
    at = 0
    while at < count:
        state = waiting[at]
        at += 1
        for place in range(arc_offsets[state], arc_offsets[state + 1]):
            count = _reach(arcs[arc_order[place], 3], seen, waiting, count)
        for place in range(epsilon_offsets[state], epsilon_offsets[state + 1]):
            count = _reach(epsilon[epsilon_order[place], 1], seen, waiting, count)
        for place in range(call_offsets[state], call_offsets[state + 1]):
            call = call_order[place]
            rule = calls[call, 1]
            for number in range(first_exit[rule], first_exit[rule + 1]):
                target = targets[calls[call, 2] + number - first_exit[rule]]
                if has_text[number] and target >= 0:
                    count = _reach(target, seen, waiting, count)
        for place in range(end_offsets[state], end_offsets[state + 1]):
            number = ends[end_order[place], 1]
            if has_text[number]:
                continue
            # From now on, a call that ends in this way leads on.
            has_text[number] = True
            rule = rule_of[number]
            for callee in range(of_callee[rule], of_callee[rule + 1]):
                call = callee_order[callee]
                target = targets[calls[call, 2] + number - first_exit[rule]]
                if seen[calls[call, 0]] and target >= 0:
                    count = _reach(target, seen, waiting, count)
    return has_text


@plain_kernel
def _reach(state: int, seen: BoolArray, waiting: IntArray, count: int) -> int:
    if not seen[state]:
        seen[state] = True
        waiting[count] = state
        return count + 1
    return count


@kernel
def leading_on(
    num_states: int,
    arcs: IntArray,
    epsilon: IntArray,
    first_exit: IntArray,
    calls: IntArray,
    targets: IntArray,
    ends: IntArray,
    has_text: BoolArray,
) -> BoolArray:
    """Which states lead to an end of their rule, `[N]`."""
    arc_offsets, arc_order = grouped(num_states, arcs[:, 3])
    epsilon_offsets, epsilon_order = grouped(num_states, epsilon[:, 1])
    after, before, count = np.empty(len(targets), np.int32), np.empty(len(targets), np.int32), 0
    for call in range(len(calls)):
        for way in range(first_exit[calls[call, 1]], first_exit[calls[call, 1] + 1]):
            target = targets[calls[call, 2] + way - first_exit[calls[call, 1]]]
            if target >= 0 and has_text[way]:
                after[count], before[count] = target, calls[call, 0]
                count += 1
    call_offsets, call_order = grouped(num_states, after[:count])
    alive, waiting, size = np.zeros(num_states, np.bool_), np.empty(num_states, np.int32), 0
    for end in range(len(ends)):
        if not alive[ends[end, 0]]:
            alive[ends[end, 0]] = True
            waiting[size] = ends[end, 0]
            size += 1
    while size:
        size -= 1
        state = waiting[size]
        for place in range(arc_offsets[state], arc_offsets[state + 1]):
            source = arcs[arc_order[place], 0]
            if not alive[source]:
                alive[source] = True
                waiting[size] = source
                size += 1
        for place in range(epsilon_offsets[state], epsilon_offsets[state + 1]):
            source = epsilon[epsilon_order[place], 0]
            if not alive[source]:
                alive[source] = True
                waiting[size] = source
                size += 1
        for place in range(call_offsets[state], call_offsets[state + 1]):
            source = before[call_order[place]]
            if not alive[source]:
                alive[source] = True
                waiting[size] = source
                size += 1
    return alive
