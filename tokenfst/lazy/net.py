"""Net: a network of nested rules as one array, which kernels read arcs from without writing them out.

A network that has been laid out (`automata.nested.laying`) is chains of bytes, copies of pieces, epsilon arcs, calls
and ends. The array has each of these once, however often a piece is copied: arcs are made from it as they are needed
(`tokenfst.lazy.readings`). What leads to no end is left out: each state that is kept leads to the end of its rule.

    net    [..]   read only: a head of places, and from each of them on one table (`NET_*`)

It is one array, since each one that a kernel is given costs its caller time.
"""

from __future__ import annotations

import numpy as np

from automata.arrays import ByteArray
from automata.transition.grouping import grouped
from automata.jit import kernel
from automata.transition.nested import Chains, Copies
from automata.nested.paths import ENDLESS
from automata.transition.productive import leading_on, productive
from automata.arrays import BoolArray
from tokenfst.transition.loops import Ints

# Columns of counters.
(COUNTER_TARGET, COUNTER_PIECE, COUNTER_ENTRY, COUNTER_LOW, COUNTER_HIGH, COUNTER_NUMBERS, COUNTER_SLACK,
 COUNTER_ENDLESS) = range(8)  # fmt: skip
COUNTER_COLUMNS = 8
# Columns of numbers: whether a state of a piece is counted, and how many are entered from there on, at least and most.
NUMBER_COUNTED, NUMBER_LEAST, NUMBER_MOST = range(3)

# The head of `net`: how many states there are, S of a network and N in all; how many arcs a state has at most; where
# the edges of each state of the network begin, the edges (`2 * chain` or `2 * copy + 1`), the same of epsilon arcs; the
# call of each of them, and the exit it ends in; calls, targets and first exits as in `Layout`, and the rule of each
# exit; how many chains there are, and of each its first inner state, its text and its target; the classes of the texts;
# how many copies there are, and of each its first inner state, its piece and its target; the first state of each piece;
# and where the arcs of each state of pieces begin, the arcs (lowest class, highest class, target), the same of epsilon
# arcs; how many counters there are, and of each what `Layout.counters` has, the largest least, and whether no most is
# between 0 and `ENDLESS`; the numbers of their pieces; and how many states a block has.
(NET_OUTER, NET_STATES, NET_MOST, NET_EDGE_OFFSETS, NET_EDGES, NET_EPSILON_OFFSETS, NET_EPSILON, NET_CALL, NET_END,
 NET_CALLS, NET_TARGETS, NET_EXITS, NET_RULE, NET_NUM_CHAINS, NET_CHAINS, NET_TEXT, NET_NUM_COPIES, NET_COPIES,
 NET_PIECES, NET_ARC_OFFSETS, NET_ARCS, NET_INNER_OFFSETS, NET_INNER, NET_NUM_COUNTERS, NET_COUNTERS,
 NET_NUMBERS, NET_WIDTH) = range(27)  # fmt: skip
_NET_HEAD = 27


@kernel
def net_of(
    num_outer: int,
    chains: Chains,
    copies: Copies,
    epsilon: Ints,
    starts: Ints,
    first_exit: Ints,
    calls: Ints,
    targets: Ints,
    ends: Ints,
    counters: Ints,
    numbers: Ints,
) -> tuple[bool, bool, Ints, ByteArray, int]:
    """Whether subsets of a layout are exact, whether it has a text, its `net`, the class of each byte, and how many
    classes there are."""
    byte_class = _classes(chains, copies)
    first_of_piece = np.zeros(len(copies.num_states) + 1, np.int32)
    for piece in range(len(copies.num_states)):
        first_of_piece[piece + 1] = first_of_piece[piece] + copies.num_states[piece]
    inner_arcs, inner_epsilon = _of_pieces(
        copies.arc_offsets, copies.arcs, copies.epsilon_offsets, copies.epsilon, first_of_piece
    )
    leads_on = _lead_on(first_of_piece, inner_arcs, inner_epsilon)
    # The network alone, where a chain, a copy or what is counted is one arc.
    outer = np.zeros((len(chains.source) + len(copies.source) + len(counters), 4), np.int32)
    count = 0
    for chain in range(len(chains.source)):
        outer[count, 0], outer[count, 3] = chains.source[chain], chains.target[chain]
        count += 1
    for copy in range(len(copies.source)):
        if leads_on[first_of_piece[copies.piece[copy]]]:
            outer[count, 0], outer[count, 3] = copies.source[copy], copies.target[copy]
            count += 1
    for counter in range(len(counters)):
        outer[count, 0], outer[count, 3] = counters[counter, 0], counters[counter, 1]
        count += 1
    has_text = productive(num_outer, outer[:count], epsilon, starts, first_exit, calls, targets, ends)
    alive = leading_on(num_outer, outer[:count], epsilon, first_exit, calls, targets, ends, has_text)
    exact = True
    for call in range(len(calls)):
        if alive[calls[call, 0]]:
            for way in range(first_exit[calls[call, 1]], first_exit[calls[call, 1] + 1]):
                target = targets[calls[call, 2] + way - first_exit[calls[call, 1]]]
                exact = exact and (not has_text[way] or (target >= 0 and alive[target]))
    net = _written(
        num_outer, chains, copies, epsilon, first_exit, calls, targets, ends, alive, byte_class, first_of_piece,
        inner_arcs, inner_epsilon, leads_on, counters, numbers,
    )  # fmt: skip
    return exact, has_text[0], net, byte_class, int(byte_class[255]) + 1


@kernel
def _classes(chains: Chains, copies: Copies) -> ByteArray:
    cuts = np.zeros(257, np.bool_)
    for byte in chains.text:
        cuts[byte] = cuts[np.int64(byte) + 1] = True
    for arc in range(len(copies.arcs)):
        cuts[copies.arcs[arc, 1]] = cuts[copies.arcs[arc, 2] + 1] = True
    byte_class = np.zeros(256, np.uint8)
    for byte in range(1, 256):
        byte_class[byte] = byte_class[byte - 1] + cuts[byte]
    return byte_class


@kernel
def _of_pieces(
    arc_offsets: Ints, arcs: Ints, epsilon_offsets: Ints, epsilon: Ints, first_of_piece: Ints
) -> tuple[Ints, Ints]:
    """The arcs `[A, 4]` and epsilon arcs `[E, 2]` of all pieces, with their states numbered through."""
    arcs, epsilon = arcs.copy(), epsilon.copy()
    for piece in range(len(first_of_piece) - 1):
        first = first_of_piece[piece]
        for arc in range(arc_offsets[piece], arc_offsets[piece + 1]):
            arcs[arc, 0] += first
            arcs[arc, 3] += first
        for arc in range(epsilon_offsets[piece], epsilon_offsets[piece + 1]):
            epsilon[arc, 0] += first
            epsilon[arc, 1] += first
    return arcs, epsilon


@kernel
def _lead_on(first_of_piece: Ints, arcs: Ints, epsilon: Ints) -> BoolArray:
    """Which states of pieces lead to the end of their piece."""
    num_states = first_of_piece[-1]
    arc_offsets, arc_order = grouped(num_states, arcs[:, 3])
    epsilon_offsets, epsilon_order = grouped(num_states, epsilon[:, 1])
    found, waiting, size = np.zeros(num_states, np.bool_), np.empty(num_states, np.int32), 0
    for piece in range(len(first_of_piece) - 1):
        waiting[size] = first_of_piece[piece] + 1
        found[waiting[size]] = True
        size += 1
    while size:
        size -= 1
        state = waiting[size]
        for place in range(arc_offsets[state], arc_offsets[state + 1]):
            source = arcs[arc_order[place], 0]
            if not found[source]:
                found[source] = True
                waiting[size] = source
                size += 1
        for place in range(epsilon_offsets[state], epsilon_offsets[state + 1]):
            source = epsilon[epsilon_order[place], 0]
            if not found[source]:
                found[source] = True
                waiting[size] = source
                size += 1
    return found


@kernel
def _written(
    num_outer: int, chains: Chains, copies: Copies, epsilon: Ints, first_exit: Ints, calls: Ints, targets: Ints,
    ends: Ints, alive: BoolArray, byte_class: ByteArray, first_of_piece: Ints, arcs: Ints, inner: Ints,
    leads_on: BoolArray, counters: Ints, numbers: Ints,
) -> Ints:  # fmt: skip
    """The `net`, without what leads to no end."""
    num_chains, num_copies, num_inner = len(chains.source), len(copies.source), first_of_piece[-1]
    size = _NET_HEAD + 1 + 4 * (num_outer + 1) + num_chains + num_copies + len(epsilon) + num_chains
    size += 3 * len(calls) + len(targets) + 2 * len(first_exit) + 4 * num_chains + len(chains.text) + 3 * num_copies
    size += len(first_of_piece) + 2 * (num_inner + 1) + 3 * len(arcs) + len(inner) + COUNTER_COLUMNS * len(counters)
    size += 3 * len(numbers)
    net = np.full(size, -1, np.int32)
    net[NET_OUTER], net[NET_MOST] = num_outer, 1
    arc_offsets, arc_order = grouped(num_inner, arcs[:, 0])
    at = _write_edges(net, _NET_HEAD, chains, copies, alive, first_of_piece, arc_offsets, leads_on)
    at = _write_epsilon(net, at, chains, epsilon, counters, alive)
    at = _write_calls(net, at, first_exit, calls, targets, ends, alive)
    at = _write_inner(net, at, chains, copies, first_of_piece, byte_class)
    at = _write_pieces(net, at, arcs, arc_offsets, arc_order, inner, leads_on, byte_class)
    _write_counters(net, at, counters, copies, numbers)
    return net


@kernel
def _write_edges(
    net: Ints, at: int, chains: Chains, copies: Copies, alive: BoolArray, first_of_piece: Ints, arc_offsets: Ints,
    leads_on: BoolArray,
) -> int:  # fmt: skip
    """The edges of each state of the network, and how many arcs a state has at most; returns where the next table is,
    as all of these do."""
    num_outer, num_chains, count = net[NET_OUTER], len(chains.source), 0
    offsets, order = grouped(num_outer, np.concatenate((chains.source, copies.source)))
    net[NET_EDGE_OFFSETS], at = at, at + num_outer + 1
    net[NET_EDGES] = at
    for state in range(num_outer):
        net[net[NET_EDGE_OFFSETS] + state], widest = count, 0
        for place in range(offsets[state], offsets[state + 1]):
            edge = order[place]
            if edge < num_chains:
                if alive[chains.target[edge]] and chains.offsets[edge] < chains.offsets[edge + 1]:
                    net[at + count], count, widest = 2 * edge, count + 1, widest + 1
            else:
                copy = edge - num_chains
                first = first_of_piece[copies.piece[copy]]
                if alive[copies.target[copy]] and leads_on[first]:
                    net[at + count], count = 2 * copy + 1, count + 1
                    widest += arc_offsets[first + 1] - arc_offsets[first]
        net[NET_MOST] = max(net[NET_MOST], widest)
    net[net[NET_EDGE_OFFSETS] + num_outer] = count
    return at + count


@kernel
def _write_epsilon(net: Ints, at: int, chains: Chains, epsilon: Ints, counters: Ints, alive: BoolArray) -> int:
    """The epsilon arcs of each state of the network: those that there are, chains without a byte, and counters."""
    num_outer, count = net[NET_OUTER], 0
    unread = np.empty((len(epsilon) + len(chains.source) + len(counters), 2), np.int32)
    unread[: len(epsilon)] = epsilon
    first_counter = len(epsilon)
    for chain in range(len(chains.source)):
        if chains.offsets[chain] == chains.offsets[chain + 1]:
            unread[first_counter, 0], unread[first_counter, 1] = chains.source[chain], chains.target[chain]
            first_counter += 1
    unread = unread[: first_counter + len(counters)]
    unread[first_counter:] = counters[:, :2]
    offsets, order = grouped(num_outer, unread[:, 0])
    net[NET_EPSILON_OFFSETS], at = at, at + num_outer + 1
    net[NET_EPSILON] = at
    for state in range(num_outer):
        net[net[NET_EPSILON_OFFSETS] + state] = count
        for place in range(offsets[state], offsets[state + 1]):
            if alive[unread[order[place], 1]]:
                counter = order[place] - first_counter
                net[at + count] = unread[order[place], 1] if counter < 0 else -1 - counter
                count += 1
    net[net[NET_EPSILON_OFFSETS] + num_outer] = count
    return at + count


@kernel
def _write_calls(net: Ints, at: int, first_exit: Ints, calls: Ints, targets: Ints, ends: Ints, alive: BoolArray) -> int:
    """The call and the exit of each state; calls, targets, and exits with their rules."""
    num_outer = net[NET_OUTER]
    net[NET_CALL], net[NET_END], at = at, at + num_outer, at + 2 * num_outer
    for call in range(len(calls)):
        if alive[calls[call, 0]]:
            net[net[NET_CALL] + calls[call, 0]] = call
    for end in range(len(ends)):
        net[net[NET_END] + ends[end, 0]] = ends[end, 1]
    net[NET_CALLS] = at
    for call in range(len(calls)):
        net[at : at + 3] = calls[call]
        at += 3
    net[NET_TARGETS] = at
    for place in range(len(targets)):
        net[at + place] = targets[place] if targets[place] >= 0 and alive[targets[place]] else -1
    at += len(targets)
    net[NET_EXITS] = at
    net[at : at + len(first_exit)] = first_exit
    at += len(first_exit)
    net[NET_RULE] = at
    for rule in range(len(first_exit) - 1):
        net[at + first_exit[rule] : at + first_exit[rule + 1]] = rule
    return at + int(first_exit[-1])


@kernel
def _write_inner(
    net: Ints, at: int, chains: Chains, copies: Copies, first_of_piece: Ints, byte_class: ByteArray
) -> int:
    """Inner states, numbered behind those of the network: those of chains, then those of copies."""
    number, num_chains, num_copies = net[NET_OUTER], len(chains.source), len(copies.source)
    net[NET_NUM_CHAINS], net[NET_CHAINS] = num_chains, at
    for chain in range(num_chains):
        net[at], net[at + 1], net[at + 2] = number, chains.offsets[chain], chains.target[chain]
        number += max(chains.offsets[chain + 1] - chains.offsets[chain] - 1, 0)
        at += 3
    net[at] = number
    at += 1
    net[NET_TEXT] = at
    for place in range(len(chains.text)):
        net[at + place] = byte_class[chains.text[place]]
    at += len(chains.text)
    net[NET_NUM_COPIES], net[NET_COPIES] = num_copies, at
    for copy in range(num_copies):
        net[at], net[at + 1], net[at + 2] = number, copies.piece[copy], copies.target[copy]
        number += copies.num_states[copies.piece[copy]] - 2
        at += 3
    net[NET_STATES], net[NET_PIECES] = number, at
    net[at : at + len(first_of_piece)] = first_of_piece
    return at + len(first_of_piece)


@kernel
def _write_pieces(
    net: Ints, at: int, arcs: Ints, arc_offsets: Ints, arc_order: Ints, inner: Ints, leads_on: BoolArray,
    byte_class: ByteArray,
) -> int:  # fmt: skip
    """The arcs and epsilon arcs of each state of pieces."""
    num_inner, count = len(leads_on), 0
    net[NET_ARC_OFFSETS], at = at, at + num_inner + 1
    net[NET_ARCS] = at
    for state in range(num_inner):
        net[net[NET_ARC_OFFSETS] + state], begun = count, count
        for place in range(arc_offsets[state], arc_offsets[state + 1]):
            arc = arc_order[place]
            if leads_on[arcs[arc, 3]]:
                net[at + 3 * count], net[at + 3 * count + 1] = byte_class[arcs[arc, 1]], byte_class[arcs[arc, 2]]
                net[at + 3 * count + 2] = arcs[arc, 3]
                count += 1
        net[NET_MOST] = max(net[NET_MOST], count - begun)
    net[net[NET_ARC_OFFSETS] + num_inner] = count
    at += 3 * count
    offsets, order = grouped(num_inner, inner[:, 0])
    net[NET_INNER_OFFSETS], at = at, at + num_inner + 1
    net[NET_INNER], count = at, 0
    for state in range(num_inner):
        net[net[NET_INNER_OFFSETS] + state] = count
        for place in range(offsets[state], offsets[state + 1]):
            if leads_on[inner[order[place], 1]]:
                net[at + count] = inner[order[place], 1]
                count += 1
    net[net[NET_INNER_OFFSETS] + num_inner] = count
    return at + count


@kernel
def _write_counters(net: Ints, at: int, counters: Ints, copies: Copies, numbers: Ints) -> None:
    net[NET_NUM_COUNTERS], net[NET_COUNTERS], net[NET_WIDTH] = len(counters), at, 1
    for counter in range(len(counters)):
        net[at : at + COUNTER_SLACK] = counters[counter, 1:]
        num_states, first = copies.num_states[counters[counter, 2]], counters[counter, 6]
        net[at + COUNTER_SLACK] = numbers[first : first + num_states, NUMBER_LEAST].max()
        net[at + COUNTER_ENDLESS] = 1
        for row in range(first, first + num_states):
            if 0 < numbers[row, NUMBER_MOST] < ENDLESS:
                net[at + COUNTER_ENDLESS] = 0
        net[NET_WIDTH] = max(net[NET_WIDTH], num_states)
        at += COUNTER_COLUMNS
    net[NET_NUMBERS] = at
    for row in range(len(numbers)):
        net[at : at + 3] = numbers[row]
        at += 3
