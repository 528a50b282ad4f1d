"""Readings: what the states of a net lead to, byte by byte and unread, where units of a language are counted too.

Where units are counted (`automata.nested.paths`), the states behind one more unit are made when it is first reached:
*blocks* of states, behind those of the network, each with the number of units before it. They have the arcs of the
automaton whose counted states end a unit, those behind which the text can still come to an end within the bounds; so a
bound costs nothing where it is not reached. Numbers that are so far from their bounds that no token can tell have
one block in common (`far_state`).
"""

from __future__ import annotations

from automata.jit import plain_kernel
from automata.nested.paths import ENDLESS
from automata.transition.nested import leads_on
from tokenfst.lazy.net import (
    COUNTER_COLUMNS,
    COUNTER_ENDLESS,
    COUNTER_ENTRY,
    COUNTER_HIGH,
    COUNTER_LOW,
    COUNTER_NUMBERS,
    COUNTER_PIECE,
    COUNTER_SLACK,
    COUNTER_TARGET,
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
    NET_NUMBERS,
    NET_OUTER,
    NET_PIECES,
    NET_STATES,
    NET_TEXT,
    NET_WIDTH,
    NUMBER_COUNTED,
    NUMBER_LEAST,
    NUMBER_MOST,
)
from tokenfst.lazy.sets import BELOW, FIXED_BLOCKS, NO_ROOM, SET_BLOCK_ROOM, SET_BLOCKS, SET_NUM_BLOCKS, WITHIN, no_room
from tokenfst.transition.loops import Ints


@plain_kernel
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


@plain_kernel
def _chain_arc(net: Ints, chain: int, place: int, arcs: Ints, count: int) -> int:
    """Adds the arc behind so many bytes of a chain."""
    row = net[NET_CHAINS] + 3 * chain
    # The next chain's first inner state is behind the last of this one.
    arcs[count, 0] = arcs[count, 1] = net[net[NET_TEXT] + net[row + 1] + place]
    arcs[count, 2] = net[row] + place if net[row] + place < net[row + 3] else net[row + 2]
    return count + 1


@plain_kernel
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


@plain_kernel
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


@plain_kernel
def counted(net: Ints, sets: Ints, state: int) -> tuple[int, int, int, int]:
    """The counter of a state of a block (where it is in `net`), how many units are before it, or `BELOW` or `WITHIN`,
    which state of the piece it is, and the number of the block."""
    number = state - net[NET_STATES]
    block = number // net[NET_WIDTH]
    row = sets[SET_BLOCKS] + 3 * block
    return net[NET_COUNTERS] + COUNTER_COLUMNS * sets[row], sets[row + 1], number % net[NET_WIDTH], block


@plain_kernel
def _goes_on(net: Ints, counter: int, before: int, row: int) -> bool:
    """Whether texts go on from a state of a piece, of which `row` says where its numbers are in `net`, that is entered
    behind so many units."""
    if before == WITHIN:
        return True
    if before == BELOW:
        return bool(net[row + NUMBER_MOST] == ENDLESS)
    low, high = net[counter + COUNTER_LOW], net[counter + COUNTER_HIGH]
    return leads_on(before + net[row], low, high, net[row + NUMBER_LEAST], net[row + NUMBER_MOST])


@plain_kernel
def _counted_arcs(net: Ints, sets: Ints, state: int, arcs: Ints, count: int) -> int:
    """`arcs_of` a state of a block: those of the piece, as far as texts go on behind them."""
    counter, before, inside, block = counted(net, sets, state)
    first = net[net[NET_PIECES] + net[counter + COUNTER_PIECE]]
    numbers = net[NET_NUMBERS] + 3 * net[counter + COUNTER_NUMBERS]
    offsets = net[NET_ARC_OFFSETS] + first + inside
    for place in range(net[NET_ARCS] + 3 * net[offsets], net[NET_ARCS] + 3 * net[offsets + 1], 3):
        target = net[place + 2] - first
        if not _goes_on(net, counter, before, numbers + 3 * target):
            continue
        arcs[count, 0], arcs[count, 1] = net[place], net[place + 1]
        if target == 1:
            arcs[count, 2] = net[counter + COUNTER_TARGET]
        elif net[numbers + 3 * target + NUMBER_COUNTED]:
            behind = _next_block(net, sets, counter, before, block)
            if behind < 0:
                return NO_ROOM
            arcs[count, 2] = net[NET_STATES] + behind * net[NET_WIDTH] + target
        else:
            arcs[count, 2] = state - inside + target
        count += 1
    return count


@plain_kernel
def _next_block(net: Ints, sets: Ints, counter: int, before: int, block: int) -> int:
    """The block behind one more unit."""
    row = sets[SET_BLOCKS] + 3 * block
    if before < 0:
        return block
    if net[counter + COUNTER_HIGH] < 0 and before + 1 >= net[counter + COUNTER_LOW]:
        return int(FIXED_BLOCKS * sets[row] - WITHIN)
    if sets[row + 2] == 0:
        number = sets[SET_NUM_BLOCKS]
        if number == sets[SET_BLOCK_ROOM]:
            return no_room(sets)
        made = sets[SET_BLOCKS] + 3 * number
        sets[made], sets[made + 1], sets[made + 2] = sets[row], before + 1, 0
        sets[row + 2], sets[SET_NUM_BLOCKS] = number, number + 1
    return int(sets[row + 2])


@plain_kernel
def far_state(net: Ints, sets: Ints, state: int, longest: int) -> int:
    """The state that allows what a state allows, of tokens of at most `longest` bytes, and has no number of units where
    no such token can tell it."""
    if state < net[NET_STATES]:
        return state
    counter, before, inside, block = counted(net, sets, state)
    low, high = net[counter + COUNTER_LOW], net[counter + COUNTER_HIGH]
    # No token ends more units than it has bytes.
    if before < 0 or not (high < 0 or before <= high - longest - net[counter + COUNTER_SLACK]):
        return state
    if before >= low:
        far = WITHIN
    elif before < low - longest and net[counter + COUNTER_ENDLESS]:
        far = BELOW
    else:
        return state
    fixed = FIXED_BLOCKS * sets[sets[SET_BLOCKS] + 3 * block] - far
    return int(net[NET_STATES] + fixed * net[NET_WIDTH] + inside)


@plain_kernel
def _first_state(net: Ints, counter: int) -> int:
    """Where the texts of a counter begin."""
    row = net[NET_COUNTERS] + COUNTER_COLUMNS * counter
    is_bounded = net[row + COUNTER_LOW] > 0 or net[row + COUNTER_HIGH] >= 0
    block = FIXED_BLOCKS * counter - (0 if is_bounded else WITHIN)
    return int(net[NET_STATES] + block * net[NET_WIDTH] + net[row + COUNTER_ENTRY])


@plain_kernel
def _counted_unread(net: Ints, sets: Ints, state: int, found: Ints) -> int:
    """`unread_of` a state of a block: the end, if its texts may end there."""
    counter, before, inside, _ = counted(net, sets, state)
    first = net[net[NET_PIECES] + net[counter + COUNTER_PIECE]]
    numbers = net[NET_NUMBERS] + 3 * net[counter + COUNTER_NUMBERS]
    offsets = net[NET_INNER_OFFSETS] + first + inside
    for place in range(net[NET_INNER] + net[offsets], net[NET_INNER] + net[offsets + 1]):
        if net[place] - first == 1 and _goes_on(net, counter, before, numbers + 3):
            found[0] = net[counter + COUNTER_TARGET]
            return 1
    return 0


@plain_kernel
def unread_of(net: Ints, sets: Ints, state: int, found: Ints) -> int:
    """Writes the states that a state leads to unread; returns how many there are. `found` has room for all."""
    count = 0
    if state >= net[NET_STATES]:
        return _counted_unread(net, sets, state, found)
    if state < net[NET_OUTER]:
        offsets = net[NET_EPSILON_OFFSETS] + state
        for place in range(net[NET_EPSILON] + net[offsets], net[NET_EPSILON] + net[offsets + 1]):
            # Below 0: a counter.
            found[count] = net[place] if net[place] >= 0 else _first_state(net, -1 - net[place])
            count += 1
        offsets = net[NET_EDGE_OFFSETS] + state
        for place in range(net[NET_EDGES] + net[offsets], net[NET_EDGES] + net[offsets + 1]):
            if net[place] & 1:
                count = _copied_unread(net, net[place] >> 1, 0, found, count)
    elif state >= net[net[NET_CHAINS] + 3 * net[NET_NUM_CHAINS]]:
        copy = _last_before(net, net[NET_COPIES], net[NET_NUM_COPIES], state)
        count = _copied_unread(net, copy, state - net[net[NET_COPIES] + 3 * copy] + 2, found, count)
    return count


@plain_kernel
def _copied_unread(net: Ints, copy: int, state: int, found: Ints, count: int) -> int:
    row = net[NET_COPIES] + 3 * copy
    first = net[net[NET_PIECES] + net[row + 1]]
    offsets = net[NET_INNER_OFFSETS] + first + state
    for place in range(net[NET_INNER] + net[offsets], net[NET_INNER] + net[offsets + 1]):
        target = net[place] - first
        found[count] = net[row + 2] if target == 1 else net[row] + target - 2
        count += 1
    return count


@plain_kernel
def reads(net: Ints, sets: Ints, state: int) -> bool:
    """Whether a state reads something, calls or ends."""
    if state >= net[NET_STATES]:
        counter, before, inside, _ = counted(net, sets, state)
        first = net[net[NET_PIECES] + net[counter + COUNTER_PIECE]]
        numbers = net[NET_NUMBERS] + 3 * net[counter + COUNTER_NUMBERS]
        offsets = net[NET_ARC_OFFSETS] + first + inside
        for place in range(net[NET_ARCS] + 3 * net[offsets], net[NET_ARCS] + 3 * net[offsets + 1], 3):
            if _goes_on(net, counter, before, numbers + 3 * (net[place + 2] - first)):
                return True
        return False
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
