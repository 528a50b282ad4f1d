"""Subsets: a network of nested rules made deterministic on demand, one state's row at a time.

A network is laid out as a non-deterministic automaton (`automata.nested.laying`). A state of what is stepped through is
a set of its states, made when it is first reached, and its row when it is first left: the subset construction, as far
as the walks come and no farther. Rules need no copies for it, and nothing is minimized:

    set       sets of states that read something, call or end; equal ones are one number
    call      entering a set whose states call a rule pushes that set, and the rule begins
    return    entering a set whose states end a rule pops a set of calls, and goes on where they go on after that exit

What leads to no end is left out before: each state that is kept leads to the end of its rule, so every set leads on.
Where a rule may end in a way that a caller does not want, this would not be exact; such networks are compiled as a
whole.

Where units of a language are counted (`automata.nested.counted`), the states of one more unit are made when it is
first reached: *blocks* of states, behind those of the network, each with the number of units before it. They have the
arcs of the unit, so a bound costs nothing where it is not reached. A set whose counts are so far from their bounds that
no token can tell allows what the set allows that has the unit without counts (`far_set`): one set for all of them.

The arrays are two, since each one that a kernel is given costs its caller time:

    net    [..]   read only: a head of places, and from each of them on one table (`NET_*`)
    sets   [..]   a head of numbers and places, and from each of them on one table (`SET_*`)
"""

from __future__ import annotations

import numpy as np

from automata.byte_automaton import ByteArray
from automata.errors import EmptyLanguage
from automata.grouping import grouped
from automata.jit import kernel
from automata.limits import Work
from automata.nested.determinize import _productive
from automata.nested.inlining import check_calls
from automata.nested.laying import Chains, Copies, lay_out
from automata.nested.network import NestedNetwork
from automata.openfst import BoolArray
from tokenfst.lazy.program import BELOW, HEIGHT, POPS, SYMBOL, Machine, Program, class_members, stack_step
from tokenfst.loops import DEAD, Ints

# For how many sets there is room at first: a power of two.
_LEAST_ROOM, _MOST_ROOM = 1 << 10, 1 << 14

UNKNOWN = -(1 << 31)
# Columns of counters.
COUNTER_BELOW, COUNTER_WITHIN, COUNTER_COPY, COUNTER_LOW, COUNTER_HIGH = range(5)
NO_ROOM = -3

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
# The head of `sets`: how many sets there are, how many members, how many steps, how often a closure was made; where
# their members begin, what entering them does, the slots that find them, the set of each single state, the marks of
# states, where rules begin, where a set is gathered, the blocks (counter, how many units are before it, and the block
# behind it, 0 where there is none yet), the members; and for how many sets, and how many members, there is room, how
# many rules there are, how many blocks, and for how many there is room.
(SET_COUNT, SET_MEMBERS, SET_STEPS, SET_STAMP, SET_BEGIN, SET_ENTRY, SET_SLOTS, SET_SINGLE, SET_MARKS, SET_RULES,
 SET_WORK, SET_BLOCKS, SET_POOL, SET_ROOM, SET_POOL_ROOM, SET_NUM_RULES, SET_NUM_BLOCKS,
 SET_BLOCK_ROOM) = range(18)  # fmt: skip
SET_HEAD = 18


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
    has_text = _productive(num_outer, outer[:count], unread, starts, first_exit, calls, targets, ends)
    alive = _alive(num_outer, outer[:count], unread, first_exit, calls, targets, ends, has_text)
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
def _arcs_of(net: Ints, sets: Ints, state: int, arcs: Ints, count: int) -> int:
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
def _counted(net: Ints, sets: Ints, state: int) -> tuple[int, int, int, int]:
    """The counter of a state of a block (where it is in `net`), how many units are before it, which state of the block
    it is, 0 for the one between two units, and the block (where it is in `sets`)."""
    number = state - net[NET_STATES]
    block = sets[SET_BLOCKS] + 3 * (number // net[NET_WIDTH])
    return net[NET_COUNTERS] + 5 * sets[block], sets[block + 1], number % net[NET_WIDTH], block


@kernel
def _counted_arcs(net: Ints, sets: Ints, state: int, arcs: Ints, count: int) -> int:
    """`_arcs_of` a state of a block: those of the unit, where its end is the beginning of the next block."""
    counter, before, inside, block = _counted(net, sets, state)
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
            return NO_ROOM
        made = sets[SET_BLOCKS] + 3 * number
        sets[made], sets[made + 1], sets[made + 2] = sets[block], before + 1, 0
        sets[block + 2], sets[SET_NUM_BLOCKS] = number, number + 1
    return int(net[NET_STATES] + sets[block + 2] * net[NET_WIDTH])


@kernel
def far_set(state: int, longest: int, m: Machine) -> int:
    """The set that allows what a set allows, of tokens of at most `longest` bytes, without counts that are too far from
    their bounds for that; NO_ROOM where there is none."""
    net, sets = m.net, m.sets
    work, count, changed = sets[sets[SET_WORK] : sets[SET_BLOCKS]], 0, False
    sets[SET_STAMP] += 1
    pool, begin = sets[SET_POOL], sets[SET_BEGIN] + state
    for place in range(pool + sets[begin], pool + sets[begin + 1]):
        member = _far_state(net, sets, sets[place], longest)
        changed = changed or member != sets[place]
        if sets[sets[SET_MARKS] + member] != sets[SET_STAMP]:
            sets[sets[SET_MARKS] + member] = sets[SET_STAMP]
            work[count] = member
            count += 1
    return _set_of(work, count, m) if changed else state


@kernel
def _far_state(net: Ints, sets: Ints, state: int, longest: int) -> int:
    if state < net[NET_STATES]:
        return state
    counter, before, inside, _ = _counted(net, sets, state)
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
def _chain_arc(net: Ints, chain: int, place: int, arcs: Ints, count: int) -> int:
    """Adds the arc behind so many bytes of a chain."""
    row = net[NET_CHAINS] + 3 * chain
    # The next chain's first inner state is behind the last of this one.
    arcs[count, 0] = arcs[count, 1] = net[net[NET_TEXT] + net[row + 1] + place]
    arcs[count, 2] = net[row] + place if net[row] + place < net[row + 3] else net[row + 2]
    return count + 1


@kernel
def _unread_of(net: Ints, sets: Ints, state: int, found: Ints) -> int:
    """Writes the states that a state leads to unread; returns how many there are. `found` has room for all."""
    count = 0
    if state >= net[NET_STATES]:
        counter, before, inside, _ = _counted(net, sets, state)
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
def _reads(net: Ints, sets: Ints, state: int) -> bool:
    """Whether a state reads something, calls or ends."""
    if state >= net[NET_STATES]:
        counter, before, inside, _ = _counted(net, sets, state)
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


@kernel
def _alive(
    num_states: int,
    arcs: Ints,
    epsilon: Ints,
    first_exit: Ints,
    calls: Ints,
    targets: Ints,
    ends: Ints,
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


@kernel
def first_sets(starts: Ints, m: Machine) -> int:
    """Makes the sets where rules begin; returns the first, or NO_ROOM."""
    sets = m.sets
    work = sets[sets[SET_WORK] : sets[SET_BLOCKS]]
    for rule in range(len(starts)):
        work[0] = starts[rule]
        found = _set_of(work, 1, m)
        if found < 0:
            return NO_ROOM
        sets[sets[SET_RULES] + rule] = found
    return int(sets[sets[SET_RULES]])


@kernel
def _set_of(work: Ints, count: int, m: Machine) -> int:
    """The number of the set with the states `work[:count]` and those that they lead to unread; NO_ROOM for none."""
    net, sets = m.net, m.sets
    sets[SET_STAMP] += 1
    stamp, marks = sets[SET_STAMP], sets[SET_MARKS]
    for place in range(count):
        sets[marks + work[place]] = stamp
    at, kept = 0, 0
    while at < count:
        state = work[at]
        at += 1
        # What a state leads to unread is gathered behind what has been gathered, and kept where it is new.
        number = _unread_of(net, sets, state, work[count:])
        for place in range(count, count + number):
            target = work[place]
            if sets[marks + target] != stamp:
                sets[marks + target] = stamp
                work[count] = target
                count += 1
        if _reads(net, sets, state):
            # In order, so that equal sets are equal.
            place = kept
            while place and work[place - 1] > state:
                work[place] = work[place - 1]
                place -= 1
            work[place] = state
            kept += 1
    mask = 2 * sets[SET_ROOM] - 1
    slot = _slot(work[:kept]) & mask
    begin, pool, slots = sets[SET_BEGIN], sets[SET_POOL], sets[SET_SLOTS]
    while sets[slots + slot]:
        known = sets[slots + slot] - 1
        first = sets[begin + known]
        if sets[begin + known + 1] - first == kept:
            place = 0
            while place < kept and sets[pool + first + place] == work[place]:
                place += 1
            if place == kept:
                return int(known)
        slot = (slot + 1) & mask
    number, first = sets[SET_COUNT], sets[SET_MEMBERS]
    if number == sets[SET_ROOM] or first + kept > sets[SET_POOL_ROOM]:
        return NO_ROOM
    sets[slots + slot] = number + 1
    sets[pool + first : pool + first + kept] = work[:kept]
    sets[SET_COUNT], sets[SET_MEMBERS], sets[begin + number + 1] = number + 1, first + kept, first + kept
    sets[sets[SET_ENTRY] + number] = _entry(number, work[:kept], m)
    m.table[number, :] = UNKNOWN
    return int(number)


@kernel
def _entry(number: int, members: Ints, m: Machine) -> int:
    """What entering a set does, as entries of the table say it."""
    net, sets = m.net, m.sets
    m.ends[number] = DEAD
    for state in members:
        if state >= net[NET_OUTER]:
            continue
        call, way = net[net[NET_CALL] + state], net[net[NET_END] + state]
        if call >= 0 or way > 0:
            step = sets[SET_STEPS]
            sets[SET_STEPS] += 1
            m.steps[step, :] = 0
            if call >= 0:
                rule = net[net[NET_CALLS] + 3 * call + 1]
                # Pushes one symbol, the set itself.
                m.steps[step, 2], m.steps[step, 3], m.steps[step, 4] = number, 1, sets[sets[SET_RULES] + rule]
                m.symbols[number] = number
                m.returns[number, :] = UNKNOWN
            else:
                m.steps[step, 0], m.steps[step, 1] = way - net[net[NET_EXITS] + net[net[NET_RULE] + way]], -1
            return int(-2 - step)
        if way == 0:
            m.ends[number] = 0
    return number


@kernel
def expand(state: int, m: Machine) -> bool:
    """Fills in the row of a set; false where there was no room for those that it leads to."""
    net, sets = m.net, m.sets
    num_classes = m.table.shape[1]
    single, many = np.full(num_classes, -1, np.int32), np.zeros(num_classes, np.bool_)
    pool = sets[SET_POOL]
    begin, end = sets[sets[SET_BEGIN] + state], sets[sets[SET_BEGIN] + state + 1]
    arcs, num_arcs = np.empty(((end - begin) * net[NET_MOST], 3), np.int32), 0
    for place in range(pool + begin, pool + end):
        num_arcs = _arcs_of(net, sets, sets[place], arcs, num_arcs)
        if num_arcs < 0:
            return False
    for arc in range(num_arcs):
        for column in range(arcs[arc, 0], arcs[arc, 1] + 1):
            if single[column] < 0:
                single[column] = arcs[arc, 2]
            elif single[column] != arcs[arc, 2]:
                many[column] = True
    work = sets[sets[SET_WORK] : sets[SET_BLOCKS]]
    row = np.full(num_classes, DEAD, np.int32)
    for column in range(num_classes):
        target = single[column]
        if target < 0:
            continue
        if many[column]:
            sets[SET_STAMP] += 1
            count = 0
            for arc in range(num_arcs):
                if arcs[arc, 0] <= column <= arcs[arc, 1]:
                    mark = sets[SET_MARKS] + arcs[arc, 2]
                    if sets[mark] != sets[SET_STAMP]:
                        sets[mark] = sets[SET_STAMP]
                        work[count] = arcs[arc, 2]
                        count += 1
            reached = _set_of(work, count, m)
        else:
            reached = sets[sets[SET_SINGLE] + target] - 1
            if reached < 0:
                work[0] = target
                reached = _set_of(work, 1, m)
                if reached >= 0:
                    sets[sets[SET_SINGLE] + target] = reached + 1
        if reached < 0:
            return False
        row[column] = sets[sets[SET_ENTRY] + reached]
    m.table[state] = row
    return True


@kernel
def returned(called: int, way: int, m: Machine) -> int:
    """Where the text goes on after calls, the set of which was pushed, that ended in an exit; DEAD or NO_ROOM."""
    net, sets = m.net, m.sets
    if m.returns[called, way] == UNKNOWN:
        work, count = sets[sets[SET_WORK] : sets[SET_BLOCKS]], 0
        sets[SET_STAMP] += 1
        pool, begin = sets[SET_POOL], sets[SET_BEGIN] + called
        for place in range(pool + sets[begin], pool + sets[begin + 1]):
            call = net[net[NET_CALL] + sets[place]]
            if call >= 0:
                target = net[net[NET_TARGETS] + net[net[NET_CALLS] + 3 * call + 2] + way]
                if target >= 0 and sets[sets[SET_MARKS] + target] != sets[SET_STAMP]:
                    sets[sets[SET_MARKS] + target] = sets[SET_STAMP]
                    work[count] = target
                    count += 1
        if count == 0:
            m.returns[called, way] = DEAD
        else:
            reached = _set_of(work, count, m)
            if reached < 0:
                return NO_ROOM
            m.returns[called, way] = reached
    return int(m.returns[called, way])


@kernel
def special_step(
    does: int, state: int, column: int, m: Machine, cells: Ints, top: int, free: int, known: int, lowest: int
) -> tuple[int, int, int, int]:
    """What an entry of the table does that is below DEAD: a step of the stack, or one that is not known yet.

    Arguments and what is returned are those of `stack_step`; the target is NO_ROOM where there is none for more sets.
    """
    if does == UNKNOWN:
        if not expand(state, m):
            return NO_ROOM, top, free, lowest
        does = m.table[state, column]
        if does >= DEAD:
            return does, top, free, lowest
    step = -2 - does
    if m.steps[step, POPS] >= 0:
        return stack_step(step, m.steps, m.symbols, cells, top, free, known, lowest)
    if top < known and cells[top, HEIGHT] < lowest:
        lowest = cells[top, HEIGHT]
    return returned(cells[top, SYMBOL], m.steps[step, 0], m), cells[top, BELOW], free, lowest


@kernel
def has_row(state: int, m: Machine) -> bool:
    """Whether the row of a state is known, after it has been filled in if it was not; false where there is no room."""
    return m.table[state, 0] != UNKNOWN or expand(state, m)


def new_sets(net: Ints, num_rules: int, room: int, pool_room: int) -> Ints:
    """`sets` with room for so many, and so many members in all."""
    num_counters = int(net[NET_NUM_COUNTERS])
    # One more unit makes a few sets at least.
    block_room = num_counters + room // 4 if num_counters else 0
    num_states = int(net[NET_STATES]) + block_room * int(net[NET_WIDTH])
    sizes = [room + 1, room, 2 * room, num_states, num_states, num_rules, num_states + len(net), 3 * block_room]
    sizes.append(pool_room)
    places = np.cumsum([SET_HEAD, *sizes])
    sets: Ints = np.zeros(int(places[-1]), np.int32)
    sets[SET_BEGIN : SET_POOL + 1] = places[:-1]
    sets[SET_ROOM], sets[SET_POOL_ROOM], sets[SET_NUM_RULES] = room, pool_room, num_rules
    sets[SET_NUM_BLOCKS], sets[SET_BLOCK_ROOM] = num_counters, block_room
    # Each counter has its first block.
    sets[sets[SET_BLOCKS] : sets[SET_BLOCKS] + 3 * num_counters : 3] = np.arange(num_counters)
    return sets


def has_room_for(machine: Machine, units: int) -> bool:
    """Whether there is room for so many more units where they are counted, one by one."""
    sets = machine.sets
    left = int(sets[SET_ROOM]) - int(sets[SET_COUNT])
    return (
        left > units * (int(machine.net[NET_WIDTH]) + 4)
        and int(sets[SET_BLOCK_ROOM]) - int(sets[SET_NUM_BLOCKS]) > units
    )


def grown(machine: Machine) -> Machine:
    """The same with room for twice as many sets."""
    old, room, pool_room = machine.sets, 2 * int(machine.sets[SET_ROOM]), 2 * int(machine.sets[SET_POOL_ROOM])
    count, num_blocks = int(old[SET_COUNT]), int(old[SET_NUM_BLOCKS])
    num_states = int(machine.net[NET_STATES]) + num_blocks * int(machine.net[NET_WIDTH])
    sets = new_sets(machine.net, int(old[SET_NUM_RULES]), room, pool_room)
    sets[:SET_BEGIN], sets[SET_NUM_BLOCKS] = old[:SET_BEGIN], num_blocks
    sizes = {SET_BEGIN: count + 1, SET_ENTRY: count, SET_SINGLE: num_states, SET_MARKS: num_states}
    sizes |= {SET_RULES: int(old[SET_NUM_RULES]), SET_BLOCKS: 3 * num_blocks, SET_POOL: int(old[SET_MEMBERS])}
    for place, size in sizes.items():
        sets[sets[place] : sets[place] + size] = old[old[place] : old[place] + size]
    refill(sets)
    tables = [_longer(array, room) for array in (machine.table, machine.ends, machine.steps, machine.symbols)]
    table, ends, steps, symbols = tables
    returns = _longer(machine.returns, room)
    return machine._replace(table=table, ends=ends, steps=steps, symbols=symbols, sets=sets, returns=returns)


def _longer(array: Ints, size: int) -> Ints:
    longer = np.empty((size, *array.shape[1:]), np.int32)
    longer[: len(array)] = array
    return longer


@kernel
def refill(sets: Ints) -> None:
    """Fills in the slots."""
    mask, begin, pool, slots = 2 * sets[SET_ROOM] - 1, sets[SET_BEGIN], sets[SET_POOL], sets[SET_SLOTS]
    for number in range(sets[SET_COUNT]):
        first, last = pool + sets[begin + number], pool + sets[begin + number + 1]
        slot = _slot(sets[first:last]) & mask
        while sets[slots + slot]:
            slot = (slot + 1) & mask
        sets[slots + slot] = number + 1


@kernel
def _slot(members: Ints) -> int:
    value = np.uint64(len(members))
    for state in members:
        value = (value ^ np.uint64(state)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return int(np.int64(value >> np.uint64(33)))


def subset_program(network: NestedNetwork, work: Work) -> Program | None:
    """The program of a network, None where subsets would not be exact.

    Raises:
        EmptyLanguage: the network has no text.
        LimitExceeded: it has more arcs than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    check_calls(network)
    layout = lay_out(network, frozenset(), work, written=False)
    if layout.labels:
        return None
    exact, has_text, net, byte_class, num_classes = net_of(
        layout.num_states,
        layout.chains,
        layout.copies,
        layout.epsilon,
        layout.starts,
        layout.first_exit,
        layout.calls,
        layout.targets,
        layout.ends,
        layout.counters,
    )
    if not has_text:
        raise EmptyLanguage("the rules have no text")
    if not exact:
        return None
    num_states, num_rules = int(net[NET_STATES]), len(layout.starts)
    room = min(_MOST_ROOM, max(_LEAST_ROOM, 1 << num_states.bit_length()))
    most_exits = int(np.diff(layout.first_exit).max())
    machine = Machine(
        np.empty((room, num_classes), np.int32),
        byte_class,
        class_members(byte_class, num_classes),
        np.empty(room, np.int32),
        np.empty((room, 6), np.int32),
        np.empty(room, np.int32),
        net,
        new_sets(net, num_rules, room, 8 * room),
        np.empty((room, most_exits), np.int32),
    )
    while (start := first_sets(layout.starts, machine)) < 0:
        machine = grown(machine)
    return Program(machine, start, most_pushed=1, counts=len(layout.counters) > 0)
