"""How far it is to the ends of rules, for the states of a network that is made deterministic on demand.

Each state of the network has a row: how many tokens lead from it to each exit of its rule, at most. A literal text is
cut into as few tokens as there are for it alone; everything else is read byte by byte, for every byte is a token. So
from each state with a number above 0 some token leads to one with a smaller number, which is what budgets take
(`tokenfst.over_tokens`). A set is as far from an exit as the nearest of its states.

    ahead     [T]      how many tokens the rest of its literal text takes, for every place of `net`'s texts
    inside    [I]      how many bytes it is from every state of a piece to its end
    far       [N, E]   how far it is from every state of the network to each exit of its rule, E at most: the least
                       solution of the sums along arcs, and of the ways through a call by each of its exits
    layers    [..]     where something is counted, how many bytes it is from every state of a piece to its end, by how
                       many are counted on the way

Rejected: one number for each state, the way to the nearest exit (which exit it is may decide whether the text can ever
end); tokens that reach beyond a literal text (they would have to be found for every way that leads on).
"""

from __future__ import annotations

import numpy as np

from automata.jit import kernel, plain_kernel
from tokenfst.lazy.net import (
    COUNTER_COLUMNS,
    COUNTER_ENTRY,
    COUNTER_HIGH,
    COUNTER_LOW,
    COUNTER_NUMBERS,
    COUNTER_PIECE,
    COUNTER_TARGET,
    NET_ARC_OFFSETS,
    NET_ARCS,
    NET_CALL,
    NET_CALLS,
    NET_CHAINS,
    NET_COPIES,
    NET_COUNTERS,
    NET_EDGE_OFFSETS,
    NET_EDGES,
    NET_END,
    NET_EPSILON,
    NET_EPSILON_OFFSETS,
    NET_EXITS,
    NET_INNER,
    NET_INNER_OFFSETS,
    NET_NUM_CHAINS,
    NET_NUM_COPIES,
    NET_NUM_COUNTERS,
    NET_NUMBERS,
    NET_OUTER,
    NET_PIECES,
    NET_RULE,
    NET_STATES,
    NET_TARGETS,
    NET_TEXT,
    NUMBER_COUNTED,
)
from tokenfst.lazy.program import Machine
from tokenfst.lazy.readings import counted
from tokenfst.lazy.sets import SET_BEGIN, SET_POOL, SET_RULES
from tokenfst.transition.loops import Ints
from tokenfst.transition.trie import BYTE, CHILDREN, COUNT_SHIFT, END_RANK, FIRST_RANK, Nodes

# More than any distance; three of them still fit.
FAR = 1 << 29
# Layers of one counter at most; where they do not grow evenly by then, what lies behind them is taken for too far.
_MOST_LAYERS = 1 << 10


@kernel
def distances_to_exits(m: Machine, nodes: Nodes) -> Ints:
    """`far`; `nodes` is a trie of tokens, beside which every byte is one."""
    net = m.net
    ahead, inside, units = _tokens_ahead(m, nodes), _bytes_inside(net), counted_bytes(m)
    far = np.full((net[NET_STATES], m.returns.shape[1]), FAR, np.int32)
    changed = True
    while changed:
        changed = False
        for state in range(net[NET_OUTER] - 1, -1, -1):
            changed = _lowered(m, state, ahead, inside, units, far) or changed
        # A rule may begin inside of a piece.
        changed = _lowered_inside(m, ahead, inside, far) or changed
    return far


@plain_kernel
def _lowered_inside(m: Machine, ahead: Ints, inside: Ints, far: Ints) -> bool:
    """Lowers the rows of all states inside of chains and copies; whether anything has changed."""
    net, changed = m.net, False
    for chain in range(net[NET_NUM_CHAINS]):
        row = net[NET_CHAINS] + 3 * chain
        for state in range(net[row], net[row + 3]):
            more = ahead[net[row + 1] + state - net[row] + 1]
            changed = _lower(far, state, more, net[row + 2]) or changed
    for copy in range(net[NET_NUM_COPIES]):
        row = net[NET_COPIES] + 3 * copy
        piece = net[NET_PIECES] + net[row + 1]
        for number in range(2, net[piece + 1] - net[piece]):
            more = inside[net[piece] + number]
            changed = _lower(far, net[row] + number - 2, more, net[row + 2]) or changed
    return changed


@plain_kernel
def _child(nodes: Nodes, node: int, byte: int) -> int:
    """The child of a node with a byte, or 0."""
    low = nodes[node, CHILDREN]
    high = low + (nodes[node, BYTE] >> COUNT_SHIFT)
    while low < high:
        middle = (low + high) >> 1
        own = nodes[middle, BYTE] & 255
        if own == byte:
            return int(middle)
        if own < byte:
            low = middle + 1
        else:
            high = middle
    return 0


@kernel
def _tokens_ahead(m: Machine, nodes: Nodes) -> Ints:
    net = m.net
    byte_of = np.zeros(256, np.int32)
    for byte in range(255, -1, -1):
        # A byte of a literal text is alone in its class.
        byte_of[m.byte_class[byte]] = byte
    text, size = net[NET_TEXT], net[NET_COPIES] - net[NET_TEXT]
    # One place more, where nothing is ahead.
    ahead = np.zeros(size + 1, np.int32)
    for chain in range(net[NET_NUM_CHAINS]):
        row = net[NET_CHAINS] + 3 * chain
        end = net[row + 4] if chain + 1 < net[NET_NUM_CHAINS] else size
        for place in range(end - 1, net[row + 1] - 1, -1):
            least, node, at = 1 + (ahead[place + 1] if place + 1 < end else 0), 0, place
            while at < end:
                node = _child(nodes, node, byte_of[net[text + at]])
                if node == 0:
                    break
                at += 1
                own = nodes[nodes[node, CHILDREN], FIRST_RANK] if nodes[node, CHILDREN] else nodes[node, END_RANK]
                if nodes[node, FIRST_RANK] < own:
                    least = min(least, 1 + (ahead[at] if at < end else 0))
            ahead[place] = least
    return ahead


@kernel
def _bytes_inside(net: Ints) -> Ints:
    pieces, num_states = net[NET_PIECES], net[net[NET_ARC_OFFSETS] - 1]
    inside = np.full(num_states, FAR, np.int32)
    for piece in range(pieces, net[NET_ARC_OFFSETS] - 1):
        inside[net[piece] + 1] = 0
    changed = True
    while changed:
        changed = False
        for state in range(num_states - 1, -1, -1):
            least, offsets = inside[state], net[NET_ARC_OFFSETS] + state
            for arc in range(net[NET_ARCS] + 3 * net[offsets], net[NET_ARCS] + 3 * net[offsets + 1], 3):
                least = min(least, 1 + inside[net[arc + 2]])
            offsets = net[NET_INNER_OFFSETS] + state
            for place in range(net[NET_INNER] + net[offsets], net[NET_INNER] + net[offsets + 1]):
                least = min(least, inside[net[place]])
            if least < inside[state]:
                inside[state] = least
                changed = True
    return inside


@plain_kernel
def _lower(far: Ints, state: int, more: int, target: int) -> bool:
    """Lowers the row of a state to that of another one, and so much more."""
    changed = False
    for way in range(far.shape[1]):
        if far[target, way] + more < far[state, way]:
            far[state, way] = far[target, way] + more
            changed = True
    return changed


@plain_kernel
def _lowered(m: Machine, state: int, ahead: Ints, inside: Ints, units: Ints, far: Ints) -> bool:
    """Lowers the row of a state of the network by all that leads from it; whether anything has changed."""
    net, changed = m.net, False
    way = net[net[NET_END] + state]
    if way >= 0:
        own = way - net[net[NET_EXITS] + net[net[NET_RULE] + way]]
        changed = far[state, own] > 0
        far[state, own] = 0
    offsets = net[NET_EPSILON_OFFSETS] + state
    for place in range(net[NET_EPSILON] + net[offsets], net[NET_EPSILON] + net[offsets + 1]):
        if net[place] >= 0:
            changed = _lower(far, state, 0, net[place]) or changed
        else:
            counter = net[NET_COUNTERS] - COUNTER_COLUMNS * (net[place] + 1)
            more = _bytes_left(net, units, counter, net[counter + COUNTER_ENTRY], 0)
            changed = _lower(far, state, more, net[counter + COUNTER_TARGET]) or changed
    offsets = net[NET_EDGE_OFFSETS] + state
    for place in range(net[NET_EDGES] + net[offsets], net[NET_EDGES] + net[offsets + 1]):
        edge = net[place]
        row = (net[NET_COPIES] if edge & 1 else net[NET_CHAINS]) + 3 * (edge >> 1)
        more = inside[net[net[NET_PIECES] + net[row + 1]]] if edge & 1 else ahead[net[row + 1]]
        changed = _lower(far, state, more, net[row + 2]) or changed
    call = net[net[NET_CALL] + state]
    return (_through(m, state, call, units, far) if call >= 0 else False) or changed


@plain_kernel
def _through(m: Machine, state: int, call: int, units: Ints, far: Ints) -> bool:
    """Lowers the row of a state by its call."""
    net, sets, changed = m.net, m.sets, False
    row = net[NET_CALLS] + 3 * call
    exits = net[NET_EXITS] + net[row + 1]
    first = sets[SET_BEGIN] + sets[sets[SET_RULES] + net[row + 1]]
    for way in range(net[exits + 1] - net[exits]):
        target, least = net[net[NET_TARGETS] + net[row + 2] + way], FAR
        for place in range(sets[SET_POOL] + sets[first], sets[SET_POOL] + sets[first + 1]):
            like, more = _uncounted(m, sets[place], units)
            least = min(least, far[like, way] + more)
        if target >= 0 and least < FAR:
            changed = _lower(far, state, least, target) or changed
    return changed


@kernel
def counted_bytes(m: Machine) -> Ints:
    """How many bytes it is to the ends of what is counted, by how many are counted on the way: `[3 K + ..]`.

    For each counter where its layers begin, how many there are, and how much more each further one is (0: there is no
    way); then the layers, each with a number for every state of the piece. Once a layer is the one before and the same
    number more for all states, so are all behind it.
    """
    net = m.net
    found, end = np.zeros(3 * net[NET_NUM_COUNTERS] + 1, np.int32), 3 * net[NET_NUM_COUNTERS]
    for number in range(net[NET_NUM_COUNTERS]):
        counter = net[NET_COUNTERS] + COUNTER_COLUMNS * number
        piece = net[NET_PIECES] + net[counter + COUNTER_PIECE]
        size = net[piece + 1] - net[piece]
        found[3 * number] = end
        while True:
            if end + size > len(found):
                found = np.concatenate((found, np.zeros(len(found) + size, np.int32)))
            layer, count = found[end : end + size], found[3 * number + 1]
            _fill_layer(net, counter, layer, found[max(end - size, 0) : end], count)
            more = _growth(layer, found[max(end - size, 0) : end]) if count else -1
            found[3 * number + 1], end = count + 1, end + size
            if more >= 0 or count + 1 == _MOST_LAYERS:
                found[3 * number + 2] = max(more, 0)
                break
    return found


@plain_kernel
def _fill_layer(net: Ints, counter: int, layer: Ints, below: Ints, count: int) -> None:
    """Writes the layer of `count`, where `below` is the one before it."""
    first = net[net[NET_PIECES] + net[counter + COUNTER_PIECE]]
    numbers = net[NET_NUMBERS] + 3 * net[counter + COUNTER_NUMBERS]
    layer[:] = FAR
    if count == 0:
        layer[1] = 0
    changed = True
    while changed:
        changed = False
        for state in range(len(layer) - 1, -1, -1):
            least, offsets = layer[state], net[NET_ARC_OFFSETS] + first + state
            for place in range(net[NET_ARCS] + 3 * net[offsets], net[NET_ARCS] + 3 * net[offsets + 1], 3):
                target = net[place + 2] - first
                if not net[numbers + 3 * target + NUMBER_COUNTED]:
                    least = min(least, 1 + layer[target])
                elif count:
                    least = min(least, 1 + below[target])
            offsets = net[NET_INNER_OFFSETS] + first + state
            for place in range(net[NET_INNER] + net[offsets], net[NET_INNER] + net[offsets + 1]):
                least = min(least, layer[net[place] - first])
            if least < layer[state]:
                layer[state] = least
                changed = True


@plain_kernel
def _growth(layer: Ints, below: Ints) -> int:
    """By how much a layer is more than the one before it, -1 where that differs; 0 where nothing leads on in it."""
    more = 0
    for state in range(len(layer)):
        if layer[state] < FAR:
            if below[state] >= FAR or (more and layer[state] - below[state] != more):
                return -1
            more = layer[state] - below[state]
    for state in range(len(layer) if more else 0):
        if layer[state] >= FAR and below[state] < FAR:
            return -1
    return more


@plain_kernel
def _bytes_left(net: Ints, units: Ints, counter: int, state: int, before: int) -> int:
    """The bytes from a state of a counter's piece, behind so many units, to an end where enough is counted."""
    number = (counter - net[NET_COUNTERS]) // COUNTER_COLUMNS
    piece = net[NET_PIECES] + net[counter + COUNTER_PIECE]
    size = net[piece + 1] - net[piece]
    begin, layers, more = units[3 * number], units[3 * number + 1], np.int64(units[3 * number + 2])
    fewest = np.int64(max(net[counter + COUNTER_LOW] - before, 0)) if before >= 0 else np.int64(0)
    most = max(fewest, np.int64(layers - 1))
    if before >= 0 and net[counter + COUNTER_HIGH] >= 0:
        most = min(most, np.int64(net[counter + COUNTER_HIGH] - before))
    least = np.int64(FAR)
    for count in range(fewest, most + 1):
        left = np.int64(units[begin + min(count, layers - 1) * size + state])
        if count >= layers:
            left = left + more * (count - layers + 1) if more else np.int64(FAR)
        least = min(least, left)
    return int(least)


@plain_kernel
def _uncounted(m: Machine, state: int, units: Ints) -> tuple[int, int]:
    """A state of the network that is as far from all ends as a state that may count, and how much farther that is."""
    net = m.net
    if state < net[NET_STATES]:
        return state, 0
    counter, before, inside, _ = counted(net, m.sets, state)
    return int(net[counter + COUNTER_TARGET]), _bytes_left(net, units, counter, inside, before)


@plain_kernel
def set_distance(m: Machine, number: int, far: Ints, units: Ints, behind: Ints) -> int:
    """The least over a set's states and exits of the way there and what lies behind it, `[E]`."""
    sets, least = m.sets, FAR
    begin = sets[SET_BEGIN] + number
    for place in range(sets[SET_POOL] + sets[begin], sets[SET_POOL] + sets[begin + 1]):
        state, more = _uncounted(m, sets[place], units)
        for way in range(len(behind)):
            least = min(least, far[state, way] + behind[way] + more)
    return min(least, FAR)


@kernel
def lifted(m: Machine, called: int, far: Ints, behind: Ints) -> Ints:
    """What lies behind the exits of the rule that a set calls, `[E]`, where `behind` lies behind those of its own."""
    net, sets = m.net, m.sets
    above = np.full(len(behind), FAR, np.int32)
    begin = sets[SET_BEGIN] + called
    for place in range(sets[SET_POOL] + sets[begin], sets[SET_POOL] + sets[begin + 1]):
        call = net[net[NET_CALL] + sets[place]] if sets[place] < net[NET_OUTER] else -1
        if call >= 0:
            row = net[NET_CALLS] + 3 * call
            exits = net[NET_EXITS] + net[row + 1]
            for way in range(net[exits + 1] - net[exits]):
                target = net[net[NET_TARGETS] + net[row + 2] + way]
                for own in range(len(behind) if target >= 0 else 0):
                    above[way] = min(above[way], far[target, own] + behind[own])
    return above


@plain_kernel
def none_missing(number: int, m: Machine) -> bool:
    """Whether all that a set counts is as many already as there must be, and may become as many as it likes."""
    net, sets = m.net, m.sets
    begin = sets[SET_BEGIN] + number
    for place in range(sets[SET_POOL] + sets[begin], sets[SET_POOL] + sets[begin + 1]):
        if sets[place] >= net[NET_STATES]:
            counter, before, _, _ = counted(net, sets, sets[place])
            if 0 <= before < net[counter + COUNTER_LOW] or net[counter + COUNTER_HIGH] >= 0:
                return False
    return True
