"""Net: a network of nested rules as one array, which kernels read arcs from without writing them out.

A network that has been laid out (`automata.nested.laying`) is chains of bytes, copies of pieces, epsilon arcs, calls
and ends. The array has each of these once, however often a piece is copied: arcs are made from it as they are needed
(`tokenfst.lazy.readings`). What leads to no end is left out: each state that is kept leads to the end of its rule.

    net    [..]   read only: a head of places, and from each of them on one table (`NET_*`)

It is one array, since each one that a kernel is given costs its caller time.
"""

from __future__ import annotations

import numpy as np

from automata.byte_automaton import ByteArray
from automata.grouping import grouped
from automata.jit import kernel
from automata.nested.laying import Chains, Copies
from automata.nested.productive import leading_on, productive
from automata.openfst import BoolArray
from tokenfst.loops import Ints

# Columns of counters.
COUNTER_BELOW, COUNTER_WITHIN, COUNTER_COPY, COUNTER_LOW, COUNTER_HIGH = range(5)

# The head of `net`: how many states there are, S of a network and N in all; how many arcs a state has at most; where
# the edges of each state of the network begin, the edges (`2 * chain` or `2 * copy + 1`), the same of epsilon arcs; the
# call of each of them, and the exit it ends in; calls, targets and first exits as in `Layout`, and the rule of each
# exit; how many chains there are, and of each its first inner state, its text and its target; the classes of the texts;
# how many copies there are, and of each its first inner state, its piece and its target; the first state of each piece;
# and where the arcs of each state of pieces begin, the arcs (lowest class, highest class, target), the same of epsilon
# arcs; how many counters there are, and of each the two states that `Layout.counters` has, the copy at the second of
# them, and the bounds; and how many states a block has.
(NET_OUTER, NET_STATES, NET_MOST, NET_EDGE_OFFSETS, NET_EDGES, NET_EPSILON_OFFSETS, NET_EPSILON, NET_CALL, NET_END,
 NET_CALLS, NET_TARGETS, NET_EXITS, NET_RULE, NET_NUM_CHAINS, NET_CHAINS, NET_TEXT, NET_NUM_COPIES, NET_COPIES,
 NET_PIECES, NET_ARC_OFFSETS, NET_ARCS, NET_INNER_OFFSETS, NET_INNER, NET_NUM_COUNTERS, NET_COUNTERS,
 NET_WIDTH) = range(26)  # fmt: skip
_NET_HEAD = 26


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
    # The network alone, where a chain or a copy is one arc.
    outer = np.zeros((len(chains.source) + len(copies.source), 4), np.int32)
    count = 0
    for chain in range(len(chains.source)):
        outer[count, 0], outer[count, 3] = chains.source[chain], chains.target[chain]
        count += 1
    for copy in range(len(copies.source)):
        if leads_on[first_of_piece[copies.piece[copy]]]:
            outer[count, 0], outer[count, 3] = copies.source[copy], copies.target[copy]
            count += 1
    # What is counted is read as what is not counted, as far as it matters here.
    unread = np.concatenate((epsilon, counters[:, 0:3:2]))
    has_text = productive(num_outer, outer[:count], unread, starts, first_exit, calls, targets, ends)
    alive = leading_on(num_outer, outer[:count], unread, first_exit, calls, targets, ends, has_text)
    for counter in range(len(counters)):
        alive[counters[counter, 1]] = alive[counters[counter, 2]]
    exact = True
    for call in range(len(calls)):
        if alive[calls[call, 0]]:
            for way in range(first_exit[calls[call, 1]], first_exit[calls[call, 1] + 1]):
                target = targets[calls[call, 2] + way - first_exit[calls[call, 1]]]
                exact = exact and (not has_text[way] or (target >= 0 and alive[target]))
    net = _written(
        num_outer, chains, copies, epsilon, first_exit, calls, targets, ends, alive, byte_class, first_of_piece,
        inner_arcs, inner_epsilon, leads_on, counters,
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
    leads_on: BoolArray, counters: Ints,
) -> Ints:  # fmt: skip
    """The `net`, without what leads to no end."""
    num_chains, num_copies, num_inner = len(chains.source), len(copies.source), first_of_piece[-1]
    size = _NET_HEAD + 1 + 4 * (num_outer + 1) + num_chains + num_copies + len(epsilon) + num_chains
    size += 3 * len(calls) + len(targets) + 2 * len(first_exit) + 4 * num_chains + len(chains.text) + 3 * num_copies
    size += len(first_of_piece) + 2 * (num_inner + 1) + 3 * len(arcs) + len(inner) + 6 * len(counters)
    net = np.full(size, -1, np.int32)
    net[NET_OUTER], at = num_outer, _NET_HEAD
    # Edges and epsilon arcs of the network: counted, then placed.
    source = np.concatenate((chains.source, copies.source))
    offsets, order = grouped(num_outer, source)
    net[NET_EDGE_OFFSETS], at = at, at + num_outer + 1
    net[NET_EDGES] = at
    count, most = 0, 1
    arc_offsets, arc_order = grouped(num_inner, arcs[:, 0])
    for state in range(num_outer):
        net[net[NET_EDGE_OFFSETS] + state] = count
        widest = 0
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
        most = max(most, widest)
    net[net[NET_EDGE_OFFSETS] + num_outer] = count
    at += count
    empty = 0
    unread = np.empty((len(epsilon) + num_chains + len(counters), 2), np.int32)
    unread[: len(epsilon)] = epsilon
    for chain in range(num_chains):
        if chains.offsets[chain] == chains.offsets[chain + 1]:
            unread[len(epsilon) + empty, 0], unread[len(epsilon) + empty, 1] = (
                chains.source[chain],
                chains.target[chain],
            )
            empty += 1
    first_counter = len(epsilon) + empty
    unread = unread[: first_counter + len(counters)]
    unread[first_counter:] = counters[:, 0:3:2]
    offsets, order = grouped(num_outer, unread[:, 0])
    net[NET_EPSILON_OFFSETS], at = at, at + num_outer + 1
    net[NET_EPSILON], count = at, 0
    for state in range(num_outer):
        net[net[NET_EPSILON_OFFSETS] + state] = count
        for place in range(offsets[state], offsets[state + 1]):
            if alive[unread[order[place], 1]]:
                counter = order[place] - first_counter
                net[at + count] = unread[order[place], 1] if counter < 0 else -1 - counter
                count += 1
    net[net[NET_EPSILON_OFFSETS] + num_outer] = count
    at += count
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
    at += first_exit[-1]
    # Inner states are numbered behind those of the network: those of chains, then those of copies.
    number = num_outer
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
    net[NET_STATES] = number
    net[NET_PIECES] = at
    net[at : at + len(first_of_piece)] = first_of_piece
    at += len(first_of_piece)
    net[NET_ARC_OFFSETS], at = at, at + num_inner + 1
    net[NET_ARCS], count = at, 0
    for state in range(num_inner):
        net[net[NET_ARC_OFFSETS] + state], begun = count, count
        for place in range(arc_offsets[state], arc_offsets[state + 1]):
            arc = arc_order[place]
            if leads_on[arcs[arc, 3]]:
                net[at + 3 * count], net[at + 3 * count + 1] = byte_class[arcs[arc, 1]], byte_class[arcs[arc, 2]]
                net[at + 3 * count + 2] = arcs[arc, 3]
                count += 1
        most = max(most, count - begun)
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
    at += count
    net[NET_MOST] = most
    net[NET_NUM_COUNTERS], net[NET_COUNTERS], net[NET_WIDTH] = len(counters), at, 1
    for counter in range(len(counters)):
        net[at : at + 5] = counters[counter, 1:]
        net[at + COUNTER_COPY] += 1
        net[NET_WIDTH] = max(net[NET_WIDTH], copies.num_states[copies.piece[counters[counter, 3]]] - 1)
        at += 5
    return net
