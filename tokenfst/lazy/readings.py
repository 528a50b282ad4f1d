"""Readings: what the states of a net lead to, byte by byte and unread, where units of a language are counted too.

Where units are counted (`automata.nested.counted`), the states of one more unit are made when it is first reached:
*blocks* of states, behind those of the network, each with the number of units before it. They have the arcs of the
unit, so a bound costs nothing where it is not reached. Counts that are so far from their bounds that no token can tell
are those of the unit without counts (`far_state`).
"""

from __future__ import annotations

from automata.jit import kernel
from tokenfst.lazy.net import (
    COUNTER_BELOW,
    COUNTER_COPY,
    COUNTER_HIGH,
    COUNTER_LOW,
    COUNTER_WITHIN,
    NET_ARC_OFFSETS,
    NET_ARCS,
    NET_CALL,
    NET_CHAINS,
    NET_COPIES,
    NET_COUNTERS,
    NET_EDGE_OFFSETS,
    NET_EDGES,
    NET_END,
    NET_EPSILON,
    NET_EPSILON_OFFSETS,
    NET_INNER,
    NET_INNER_OFFSETS,
    NET_NUM_CHAINS,
    NET_NUM_COPIES,
    NET_OUTER,
    NET_PIECES,
    NET_STATES,
    NET_TEXT,
    NET_WIDTH,
)
from tokenfst.lazy.sets import NO_ROOM, SET_BLOCK_ROOM, SET_BLOCKS, SET_NUM_BLOCKS, no_room
from tokenfst.loops import Ints


@kernel
def _last_before(net: Ints, rows: int, count: int, state: int) -> int:
    """The last of `count` rows of three that begins with a number that is not above a state."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) >> 1
        if net[rows + 3 * middle] <= state:
            low = middle
        else:
            high = middle
    return low


@kernel
def _chain_arc(net: Ints, chain: int, place: int, arcs: Ints, count: int) -> int:
    """Adds the arc behind so many bytes of a chain."""
    row = net[NET_CHAINS] + 3 * chain
    # The next chain's first inner state is behind the last of this one.
    arcs[count, 0] = arcs[count, 1] = net[net[NET_TEXT] + net[row + 1] + place]
    arcs[count, 2] = net[row] + place if net[row] + place < net[row + 3] else net[row + 2]
    return count + 1


@kernel
def _copied_arcs(net: Ints, copy: int, state: int, arcs: Ints, count: int) -> int:
    """Adds the arcs of a state of a piece, as they are in a copy; returns how many there are."""
    row = net[NET_COPIES] + 3 * copy
    first = net[net[NET_PIECES] + net[row + 1]]
    offsets = net[NET_ARC_OFFSETS] + first + state
    for place in range(net[NET_ARCS] + 3 * net[offsets], net[NET_ARCS] + 3 * net[offsets + 1], 3):
        target = net[place + 2] - first
        arcs[count, 0], arcs[count, 1] = net[place], net[place + 1]
        arcs[count, 2] = net[row + 2] if target == 1 else net[row] + target - 2
        count += 1
    return count


@kernel
def arcs_of(net: Ints, sets: Ints, state: int, arcs: Ints, count: int) -> int:
    """Adds the arcs of a state, `[n, 3]`: lowest class, highest class, target; returns how many there are, NO_ROOM
    where there is none for one more block."""
    if state >= net[NET_STATES]:
        return _counted_arcs(net, sets, state, arcs, count)
    if state < net[NET_OUTER]:
        offsets = net[NET_EDGE_OFFSETS] + state
        for place in range(net[NET_EDGES] + net[offsets], net[NET_EDGES] + net[offsets + 1]):
            edge = net[place]
            if edge & 1:
                count = _copied_arcs(net, edge >> 1, 0, arcs, count)
            else:
                count = _chain_arc(net, edge >> 1, 0, arcs, count)
        return count
    if state < net[net[NET_CHAINS] + 3 * net[NET_NUM_CHAINS]]:
        chain = _last_before(net, net[NET_CHAINS], net[NET_NUM_CHAINS], state)
        return _chain_arc(net, chain, state - net[net[NET_CHAINS] + 3 * chain] + 1, arcs, count)
    copy = _last_before(net, net[NET_COPIES], net[NET_NUM_COPIES], state)
    return _copied_arcs(net, copy, state - net[net[NET_COPIES] + 3 * copy] + 2, arcs, count)


@kernel
def counted(net: Ints, sets: Ints, state: int) -> tuple[int, int, int, int]:
    """The counter of a state of a block (where it is in `net`), how many units are before it, which state of the block
    it is, 0 for the one between two units, and the block (where it is in `sets`)."""
    number = state - net[NET_STATES]
    block = sets[SET_BLOCKS] + 3 * (number // net[NET_WIDTH])
    return net[NET_COUNTERS] + 5 * sets[block], sets[block + 1], number % net[NET_WIDTH], block


@kernel
def _counted_arcs(net: Ints, sets: Ints, state: int, arcs: Ints, count: int) -> int:
    """`_arcs_of` a state of a block: those of the unit, where its end is the beginning of the next block."""
    counter, before, inside, block = counted(net, sets, state)
    if inside == 0 and before == net[counter + COUNTER_HIGH]:
        return count
    begun, copy = count, net[counter + COUNTER_COPY]
    count = _copied_arcs(net, copy, inside + (inside > 0), arcs, count)
    for arc in range(begun, count):
        if arcs[arc, 2] == net[counter + COUNTER_WITHIN]:
            behind = _next_block(net, sets, counter, before, block)
            if behind < 0:
                return NO_ROOM
            arcs[arc, 2] = behind
        else:
            arcs[arc, 2] += state - inside + 1 - net[net[NET_COPIES] + 3 * copy]
    return count


@kernel
def _next_block(net: Ints, sets: Ints, counter: int, before: int, block: int) -> int:
    """The state behind one more unit."""
    if net[counter + COUNTER_HIGH] < 0 and before + 1 >= net[counter + COUNTER_LOW]:
        return int(net[counter + COUNTER_WITHIN])
    if sets[block + 2] == 0:
        number = sets[SET_NUM_BLOCKS]
        if number == sets[SET_BLOCK_ROOM]:
            return no_room(sets)
        made = sets[SET_BLOCKS] + 3 * number
        sets[made], sets[made + 1], sets[made + 2] = sets[block], before + 1, 0
        sets[block + 2], sets[SET_NUM_BLOCKS] = number, number + 1
    return int(net[NET_STATES] + sets[block + 2] * net[NET_WIDTH])


@kernel
def far_state(net: Ints, sets: Ints, state: int, longest: int) -> int:
    if state < net[NET_STATES]:
        return state
    counter, before, inside, _ = counted(net, sets, state)
    low, high, copy = net[counter + COUNTER_LOW], net[counter + COUNTER_HIGH], net[counter + COUNTER_COPY]
    # No token ends more units than it has bytes.
    if before >= low and (high < 0 or before <= high - longest):
        end = COUNTER_WITHIN
    elif before < low - longest:
        end, copy = COUNTER_BELOW, copy - 1
    else:
        return state
    return int(net[counter + end] if inside == 0 else net[net[NET_COPIES] + 3 * copy] + inside - 1)


@kernel
def unread_of(net: Ints, sets: Ints, state: int, found: Ints) -> int:
    """Writes the states that a state leads to unread; returns how many there are. `found` has room for all."""
    count = 0
    if state >= net[NET_STATES]:
        counter, before, inside, _ = counted(net, sets, state)
        if inside or before < net[counter + COUNTER_LOW]:
            return 0
        state = net[counter + COUNTER_WITHIN]
    if state < net[NET_OUTER]:
        offsets = net[NET_EPSILON_OFFSETS] + state
        for place in range(net[NET_EPSILON] + net[offsets], net[NET_EPSILON] + net[offsets + 1]):
            # Below 0: the first block of a counter.
            found[count] = net[place] if net[place] >= 0 else net[NET_STATES] - (net[place] + 1) * net[NET_WIDTH]
            count += 1
        offsets = net[NET_EDGE_OFFSETS] + state
        for place in range(net[NET_EDGES] + net[offsets], net[NET_EDGES] + net[offsets + 1]):
            if net[place] & 1:
                count = _copied_unread(net, net[place] >> 1, 0, found, count)
    elif state >= net[net[NET_CHAINS] + 3 * net[NET_NUM_CHAINS]]:
        copy = _last_before(net, net[NET_COPIES], net[NET_NUM_COPIES], state)
        count = _copied_unread(net, copy, state - net[net[NET_COPIES] + 3 * copy] + 2, found, count)
    return count


@kernel
def _copied_unread(net: Ints, copy: int, state: int, found: Ints, count: int) -> int:
    row = net[NET_COPIES] + 3 * copy
    first = net[net[NET_PIECES] + net[row + 1]]
    offsets = net[NET_INNER_OFFSETS] + first + state
    for place in range(net[NET_INNER] + net[offsets], net[NET_INNER] + net[offsets + 1]):
        target = net[place] - first
        found[count] = net[row + 2] if target == 1 else net[row] + target - 2
        count += 1
    return count


@kernel
def reads(net: Ints, sets: Ints, state: int) -> bool:
    """Whether a state reads something, calls or ends."""
    if state >= net[NET_STATES]:
        counter, before, inside, _ = counted(net, sets, state)
        return inside > 0 or before != net[counter + COUNTER_HIGH]
    if state < net[NET_OUTER]:
        if net[net[NET_CALL] + state] >= 0 or net[net[NET_END] + state] >= 0:
            return True
        offsets = net[NET_EDGE_OFFSETS] + state
        for place in range(net[NET_EDGES] + net[offsets], net[NET_EDGES] + net[offsets + 1]):
            if not net[place] & 1:
                return True
            first = net[net[NET_PIECES] + net[net[NET_COPIES] + 3 * (net[place] >> 1) + 1]]
            if net[net[NET_ARC_OFFSETS] + first] < net[net[NET_ARC_OFFSETS] + first + 1]:
                return True
        return False
    if state < net[net[NET_CHAINS] + 3 * net[NET_NUM_CHAINS]]:
        return True
    copy = _last_before(net, net[NET_COPIES], net[NET_NUM_COPIES], state)
    row = net[NET_COPIES] + 3 * copy
    inner = net[net[NET_PIECES] + net[row + 1]] + state - net[row] + 2
    return bool(net[net[NET_ARC_OFFSETS] + inner] < net[net[NET_ARC_OFFSETS] + inner + 1])
