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
from automata.nested.laying import Chains, Copies, lay, lay_out
from automata.nested.network import NestedNetwork
from automata.openfst import BoolArray
from tokenfst.lazy.program import BELOW, HEIGHT, POPS, SYMBOL, Machine, Program, class_members, stack_step
from tokenfst.loops import DEAD, Ints

UNKNOWN = -(1 << 31)
NO_ROOM = -3

# The head of `net`: how many states there are; where the arcs of each state begin, the arcs (lowest class, highest
# class, target), the same of epsilon arcs, the call of each state, the exit it ends in; calls, targets and first exits
# as in `Layout`; and the rule of each exit.
(NET_STATES, NET_ARC_OFFSETS, NET_ARCS, NET_EPSILON_OFFSETS, NET_EPSILON, NET_CALL, NET_END, NET_CALLS, NET_TARGETS,
 NET_EXITS, NET_RULE) = range(11)  # fmt: skip
# The head of `sets`: how many sets there are, how many members, how many steps, how often a closure was made; where
# their members begin, what entering them does, the slots that find them, the set of each single state, the marks of
# states, where rules begin, the members; and for how many sets, and how many members, there is room.
(SET_COUNT, SET_MEMBERS, SET_STEPS, SET_STAMP, SET_BEGIN, SET_ENTRY, SET_SLOTS, SET_SINGLE, SET_MARKS, SET_RULES,
 SET_POOL, SET_ROOM, SET_POOL_ROOM, SET_NUM_RULES) = range(14)  # fmt: skip
SET_HEAD = 14


@kernel
def net_of(
    num_states: int,
    chains: Chains,
    copies: Copies,
    epsilon: Ints,
    starts: Ints,
    first_exit: Ints,
    calls: Ints,
    targets: Ints,
    ends: Ints,
) -> tuple[bool, bool, Ints, ByteArray, int]:
    """Whether subsets of a layout are exact, whether it has a text, its `net`, the class of each byte, and how many
    classes there are."""
    num_states, arcs, unread = lay(chains, copies, epsilon, num_states)
    has_text = _productive(num_states, arcs, unread, starts, first_exit, calls, targets, ends)
    alive = _alive(num_states, arcs, unread, first_exit, calls, targets, ends, has_text)
    cuts = np.zeros(257, np.bool_)
    for arc in range(len(arcs)):
        cuts[arcs[arc, 1]] = cuts[arcs[arc, 2] + 1] = True
    byte_class = np.zeros(256, np.uint8)
    for byte in range(1, 256):
        byte_class[byte] = byte_class[byte - 1] + cuts[byte]
    exact = True
    for call in range(len(calls)):
        if alive[calls[call, 0]]:
            for way in range(first_exit[calls[call, 1]], first_exit[calls[call, 1] + 1]):
                target = targets[calls[call, 2] + way - first_exit[calls[call, 1]]]
                exact = exact and (not has_text[way] or (target >= 0 and alive[target]))
    size = 11 + 2 * (num_states + 1) + 3 * len(arcs) + len(unread) + 2 * num_states
    net = np.full(size + 3 * len(calls) + len(targets) + len(first_exit) + len(has_text), -1, np.int32)
    net[NET_STATES], at = num_states, 11
    arc_offsets, arc_order = grouped(num_states, arcs[:, 0])
    net[NET_ARC_OFFSETS], at = at, at + num_states + 1
    net[NET_ARCS] = at
    count = 0
    for state in range(num_states):
        net[net[NET_ARC_OFFSETS] + state] = count
        for place in range(arc_offsets[state], arc_offsets[state + 1]):
            arc = arc_order[place]
            if alive[arcs[arc, 3]]:
                net[at + 3 * count] = byte_class[arcs[arc, 1]]
                net[at + 3 * count + 1] = byte_class[arcs[arc, 2]]
                net[at + 3 * count + 2] = arcs[arc, 3]
                count += 1
    net[net[NET_ARC_OFFSETS] + num_states] = count
    at += 3 * count
    epsilon_offsets, epsilon_order = grouped(num_states, unread[:, 0])
    net[NET_EPSILON_OFFSETS], at = at, at + num_states + 1
    net[NET_EPSILON] = at
    count = 0
    for state in range(num_states):
        net[net[NET_EPSILON_OFFSETS] + state] = count
        for place in range(epsilon_offsets[state], epsilon_offsets[state + 1]):
            target = unread[epsilon_order[place], 1]
            if alive[target]:
                net[at + count] = target
                count += 1
    net[net[NET_EPSILON_OFFSETS] + num_states] = count
    at += count
    net[NET_CALL], net[NET_END], at = at, at + num_states, at + 2 * num_states
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
    for rule in range(len(starts)):
        net[at + first_exit[rule] : at + first_exit[rule + 1]] = rule
    return exact, has_text[0], net, byte_class, int(byte_class[255]) + 1


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
    net, sets = m.net, m.sets
    work = np.empty(net[NET_STATES] + 1, np.int32)
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
        offsets = net[NET_EPSILON_OFFSETS] + state
        for place in range(net[offsets], net[offsets + 1]):
            target = net[net[NET_EPSILON] + place]
            if sets[marks + target] != stamp:
                sets[marks + target] = stamp
                work[count] = target
                count += 1
        offsets = net[NET_ARC_OFFSETS] + state
        if net[offsets] < net[offsets + 1] or net[net[NET_CALL] + state] >= 0 or net[net[NET_END] + state] >= 0:
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
    pool, arcs = sets[SET_POOL], net[NET_ARCS]
    begin, end = sets[sets[SET_BEGIN] + state], sets[sets[SET_BEGIN] + state + 1]
    for place in range(pool + begin, pool + end):
        offsets = net[NET_ARC_OFFSETS] + sets[place]
        for arc in range(arcs + 3 * net[offsets], arcs + 3 * net[offsets + 1], 3):
            target = net[arc + 2]
            for column in range(net[arc], net[arc + 1] + 1):
                if single[column] < 0:
                    single[column] = target
                elif single[column] != target:
                    many[column] = True
    work = np.empty(net[NET_STATES] + 1, np.int32)
    row = np.full(num_classes, DEAD, np.int32)
    for column in range(num_classes):
        target = single[column]
        if target < 0:
            continue
        if many[column]:
            sets[SET_STAMP] += 1
            count = 0
            for place in range(pool + begin, pool + end):
                offsets = net[NET_ARC_OFFSETS] + sets[place]
                for arc in range(arcs + 3 * net[offsets], arcs + 3 * net[offsets + 1], 3):
                    if net[arc] <= column <= net[arc + 1]:
                        mark = sets[SET_MARKS] + net[arc + 2]
                        if sets[mark] != sets[SET_STAMP]:
                            sets[mark] = sets[SET_STAMP]
                            work[count] = net[arc + 2]
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
        work, count = np.empty(net[NET_STATES] + 1, np.int32), 0
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


def new_sets(num_states: int, num_rules: int, room: int, pool_room: int) -> Ints:
    """`sets` with room for so many, and so many members in all."""
    sizes = [room + 1, room, 2 * room, num_states, num_states, num_rules, pool_room]
    places = np.cumsum([SET_HEAD, *sizes])
    sets: Ints = np.zeros(int(places[-1]), np.int32)
    sets[SET_BEGIN : SET_POOL + 1] = places[:-1]
    sets[SET_ROOM], sets[SET_POOL_ROOM], sets[SET_NUM_RULES] = room, pool_room, num_rules
    return sets


def grown(machine: Machine) -> Machine:
    """The same with room for twice as many sets."""
    old, room, pool_room = machine.sets, 2 * int(machine.sets[SET_ROOM]), 2 * int(machine.sets[SET_POOL_ROOM])
    num_states, count = int(machine.net[NET_STATES]), int(old[SET_COUNT])
    sets = new_sets(num_states, int(old[SET_NUM_RULES]), room, pool_room)
    sets[:SET_BEGIN] = old[:SET_BEGIN]
    sizes = {SET_BEGIN: count + 1, SET_ENTRY: count, SET_SINGLE: num_states, SET_MARKS: num_states}
    sizes |= {SET_RULES: int(old[SET_NUM_RULES]), SET_POOL: int(old[SET_MEMBERS])}
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
    layout = lay_out(network, frozenset(), work)
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
    )
    if not has_text:
        raise EmptyLanguage("the rules have no text")
    if not exact:
        return None
    num_states, num_rules = int(net[NET_STATES]), len(layout.starts)
    room = 1 << max(10, (2 * num_states).bit_length())
    most_exits = int(np.diff(layout.first_exit).max())
    machine = Machine(
        np.empty((room, num_classes), np.int32),
        byte_class,
        class_members(byte_class, num_classes),
        np.empty(room, np.int32),
        np.empty((room, 6), np.int32),
        np.empty(room, np.int32),
        net,
        new_sets(num_states, num_rules, room, 8 * room),
        np.empty((room, most_exits), np.int32),
    )
    while (start := first_sets(layout.starts, machine)) < 0:
        machine = grown(machine)
    return Program(machine, start, most_pushed=1)
