"""Headroom: how much stack the rest of a text needs.

    headroom of a state       the least number of symbols above the present top with which the rules at hand can be
                              ended: those of the state, and of its local stacks
    headroom of a symbol      the same, after the symbol has been popped

A configuration is safe under a depth limit D if its height plus the headroom of its state is at most D, and so is, for
each of its symbols, the height below the symbol plus the headroom of the symbol. From a safe configuration there is a
step to a safe one that is nearer to the end of the text: some element of the state has a derivation that stays within
D; what the automaton pushes at any time is at most what this derivation has pushed.

With words this is not certain: the longest match may forbid the derivation that needs least, and then a text that
stays below D may need more than the number says.

The number for a state of the network is the least, over its ways to an end of its rule, of the greatest, over the
calls on the way, of one more than the number for the start of the rule that is called and the number for the state
that the call returns to; a tail call pushes nothing (Knuth 1977, "A generalization of Dijkstra's algorithm").
"""

from __future__ import annotations

import heapq

import numpy as np

from automata.pushdown.places import Places, Stack


def headrooms(places: Places) -> list[int]:
    """The headroom of each state of the network."""
    before: list[list[int]] = [[] for _ in places.final]
    calls: list[list[tuple[int, int, int, int]]] = [[] for _ in places.final]
    source, column = np.nonzero(places.go >= 0)
    for state, target in set(zip(source.tolist(), places.go[source, column].tolist(), strict=True)):
        before[target].append(state)
    for state in range(len(places.final)):
        for _, target in places.words[state]:
            before[target].append(state)
        for rule, back in places.calls[state]:
            call = (state, places.rule_start[rule], back, 0 if places.returns_at_once[back] else 1)
            calls[call[1]].append(call)
            calls[back].append(call)
    room = [-1] * len(before)
    heap = [(0, state) for state, final in enumerate(places.final) if final or state == places.end_state]
    while heap:
        height, state = heapq.heappop(heap)
        if room[state] >= 0:
            continue
        room[state] = height
        for other in before[state]:
            heapq.heappush(heap, (height, other))
        for caller, begin, back, pushed in calls[state]:
            if room[begin] >= 0 and room[back] >= 0:
                heapq.heappush(heap, (max(room[begin] + pushed, room[back]), caller))
    return room


def needed(room: list[int], stack: Stack, state: int) -> int:
    """The headroom of an element."""
    return max(len(stack) + room[state], *(height + room[symbol] for height, symbol in enumerate(stack)), 0)
