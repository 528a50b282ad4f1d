"""Headroom in a network whose rules end in more than one way; what it means is said in `automata.pushdown.headroom`.

Where a rule may end in several ways, the number for a state is the least over its ways to any end, and the number for a
symbol is the greatest over the exits that its text goes on after: then, however a rule ends, there is room for what
follows. A way from a state to one end of its rule, with room h, is

    bytes               to a state that has such a way
    a call              whose rule has a way with room h - 1 to an exit after which there is such a way, and whose
                        symbol has at most the number h

The last makes it two fixpoints, one in the other: with every symbol allowed, ways are found from the ends backwards;
symbols that turn out to need more than h are taken out, and ways are found anew. With one exit for each rule nothing is
ever taken out. So from a configuration with room there is always a step to another one that is nearer to the end.
"""

from __future__ import annotations

import numpy as np

from automata.transition.grouping import grouped
from automata.jit import kernel, plain_kernel
from automata.arrays import BoolArray, IntArray


@kernel
def headrooms(
    num_states: int, edges: IntArray, calls: IntArray, ends: IntArray, begins: IntArray, returns: IntArray
) -> tuple[IntArray, IntArray]:
    """The headroom of each state `[N]` and of each symbol `[S]`.

    Args:
        num_states: N.
        edges: `[n, 2]`, source and target of steps that leave the stack as it is.
        calls: `[n, 2]`, source of steps that push, and the symbol.
        ends: `[n, 2]`, source of steps that pop, and the exit.
        begins: `[S]`, the state after the symbol has been pushed.
        returns: `[S, M]`, the state after each exit, or -1.
    """
    num_symbols, num_exits = returns.shape
    # Pairs of a state and an exit; those found, at which height.
    room = np.full(num_states * num_exits, -1, np.int32)
    found, count = np.empty(num_states * num_exits, np.int32), 0
    for end in range(len(ends)):
        count = _find(ends[end, 0] * num_exits + ends[end, 1], 0, room, found, count)
    height, settled, allowed = 0, -1, np.ones(num_symbols, np.bool_)
    while settled < count:
        settled = count if height else 0
        while True:
            count = _ways(height, edges, calls, returns, begins, allowed, room, found, count)
            if height == 0 or num_exits == 1 or not _taken_out(returns, room, allowed):
                break
            for place in range(settled, count):
                room[found[place]] = -1
            count = settled
        height += 1
        allowed[:] = True
    by_state, by_symbol = np.zeros(num_states, np.int32), np.zeros(num_symbols, np.int32)
    for state in range(num_states):
        least = -1
        for way in range(num_exits):
            known = room[state * num_exits + way]
            if known >= 0 and (least < 0 or known < least):
                least = known
        by_state[state] = max(least, 0)
    for symbol in range(num_symbols):
        for way in range(num_exits):
            if returns[symbol, way] >= 0:
                by_symbol[symbol] = max(by_symbol[symbol], by_state[returns[symbol, way]])
    return by_state, by_symbol


@kernel
def _ways(
    height: int,
    edges: IntArray,
    calls: IntArray,
    returns: IntArray,
    begins: IntArray,
    allowed: BoolArray,
    room: IntArray,
    found: IntArray,
    count: int,
) -> int:
    """Finds the pairs with a way of some height, and says how many pairs there are then."""
    num_symbols, num_exits = returns.shape
    num_states = len(room) // num_exits
    before, before_order = grouped(num_states, edges[:, 1])
    pushing, pushing_order = grouped(num_symbols, calls[:, 1])
    returned, returned_order = grouped(num_states + 1, returns.copy().reshape(-1) + 1)
    at = 0
    while at < count:
        state, way = divmod(found[at], num_exits)
        at += 1
        for place in range(before[state], before[state + 1]):
            count = _find(edges[before_order[place], 0] * num_exits + way, height, room, found, count)
        for place in range(returned[state + 1], returned[state + 2]):
            symbol, ended = divmod(returned_order[place], num_exits)
            if allowed[symbol] and 0 <= room[begins[symbol] * num_exits + ended] < height:
                for call in range(pushing[symbol], pushing[symbol + 1]):
                    source = calls[pushing_order[call], 0]
                    count = _find(source * num_exits + way, height, room, found, count)
    return count


@plain_kernel
def _find(pair: int, height: int, room: IntArray, found: IntArray, count: int) -> int:
    if room[pair] < 0:
        room[pair] = height
        found[count] = pair
        return count + 1
    return count


@plain_kernel
def _taken_out(returns: IntArray, room: IntArray, allowed: BoolArray) -> bool:
    """Whether symbols are no longer allowed, because what may follow one has no way that has been found."""
    num_symbols, num_exits = returns.shape
    some = False
    for symbol in range(num_symbols):
        for ended in range(num_exits):
            state = returns[symbol, ended]
            if allowed[symbol] and state >= 0:
                known = False
                for way in range(num_exits):
                    known |= room[state * num_exits + way] >= 0
                if not known:
                    allowed[symbol], some = False, True
    return some
