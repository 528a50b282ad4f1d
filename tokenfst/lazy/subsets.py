"""Subsets: a network of nested rules made deterministic on demand, one state's row at a time.

A network is a non-deterministic automaton (`tokenfst.lazy.net`). A state of what is stepped through is a set of its
states, made when it is first reached, and its row when it is first left: the subset construction, as far as the walks
come and no farther. Rules need no copies for it, and nothing is minimized:

    set       sets of states that read something, call or end; equal ones are one number (`tokenfst.lazy.sets`)
    call      entering a set whose states call a rule pushes that set, and the rule begins
    return    entering a set whose states end a rule pops a set of calls, and goes on where they go on after that exit

States that lead to no end have been left out before, so every set leads on. Where a rule may end in a way that a caller
does not want, this would not be exact; such networks are compiled as a whole.
"""

from __future__ import annotations

import numpy as np

from automata.jit import kernel, plain_kernel
from automata.transition.stacks import BELOW, HEIGHT, SYMBOL
from tokenfst.lazy.net import NET_CALL, NET_CALLS, NET_END, NET_EXITS, NET_MOST, NET_OUTER, NET_RULE, NET_TARGETS
from tokenfst.lazy.program import POPS, Machine, stack_step
from tokenfst.lazy.readings import arcs_of, far_state, reads, unread_of
from tokenfst.lazy.sets import (
    NO_ROOM,
    SET_BEGIN,
    SET_BLOCKS,
    SET_COUNT,
    SET_ENTRY,
    SET_MARKS,
    SET_MEMBERS,
    SET_POOL,
    SET_POOL_ROOM,
    SET_ROOM,
    SET_RULES,
    SET_SINGLE,
    SET_SLOTS,
    SET_STAMP,
    SET_STEPS,
    SET_WORK,
    no_room,
    slot_of,
)
from tokenfst.transition.loops import DEAD, Ints

UNKNOWN = -(1 << 31)


@plain_kernel
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


@plain_kernel
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
        number = unread_of(net, sets, state, work[count:])
        for place in range(count, count + number):
            target = work[place]
            if sets[marks + target] != stamp:
                sets[marks + target] = stamp
                work[count] = target
                count += 1
        if reads(net, sets, state):
            # In order, so that equal sets are equal.
            place = kept
            while place and work[place - 1] > state:
                work[place] = work[place - 1]
                place -= 1
            work[place] = state
            kept += 1
    mask = 2 * sets[SET_ROOM] - 1
    slot = slot_of(work[:kept]) & mask
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
        return no_room(sets)
    sets[slots + slot] = number + 1
    for place in range(kept):
        sets[pool + first + place] = work[place]
    sets[SET_COUNT], sets[SET_MEMBERS], sets[begin + number + 1] = number + 1, first + kept, first + kept
    sets[sets[SET_ENTRY] + number] = _entry(number, work[:kept], m)
    m.table[number, :] = UNKNOWN
    return int(number)


@plain_kernel
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
    pool = sets[SET_POOL]
    begin, end = sets[sets[SET_BEGIN] + state], sets[sets[SET_BEGIN] + state + 1]
    arcs, num_arcs = np.empty(((end - begin) * net[NET_MOST], 3), np.int32), 0
    for place in range(pool + begin, pool + end):
        num_arcs = arcs_of(net, sets, sets[place], arcs, num_arcs)
        if num_arcs < 0:
            return False
    if num_arcs == 1:
        reached = sets[sets[SET_SINGLE] + arcs[0, 2]] - 1
        if reached < 0:
            reached = _behind(arcs[0, 2], m)
        if reached < 0:
            return False
        m.table[state] = DEAD
        m.table[state, arcs[0, 0] : arcs[0, 1] + 1] = sets[sets[SET_ENTRY] + reached]
        return True
    single, many = np.full(num_classes, -1, np.int32), np.zeros(num_classes, np.bool_)
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
            # A call takes longer than what it does where the set is known.
            reached = sets[sets[SET_SINGLE] + target] - 1
            if reached < 0:
                reached = _behind(target, m)
        if reached < 0:
            return False
        row[column] = sets[sets[SET_ENTRY] + reached]
    m.table[state] = row
    return True


@plain_kernel
def _behind(state: int, m: Machine) -> int:
    """The set with one state and those that it leads to unread; NO_ROOM for none."""
    sets = m.sets
    work = sets[sets[SET_WORK] : sets[SET_BLOCKS]]
    work[0] = state
    reached = _set_of(work, 1, m)
    if reached >= 0:
        sets[sets[SET_SINGLE] + state] = reached + 1
    return reached


@plain_kernel
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


@plain_kernel
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


@plain_kernel
def has_row(state: int, m: Machine) -> bool:
    """Whether the row of a state is known, after it has been filled in if it was not; false where there is no room."""
    return m.table[state, 0] != UNKNOWN or expand(state, m)


@plain_kernel
def far_set(state: int, longest: int, m: Machine) -> int:
    """The set that allows what a set allows, of tokens of at most `longest` bytes, without counts that are too far from
    their bounds for that; NO_ROOM where there is none."""
    net, sets = m.net, m.sets
    work, count, changed = sets[sets[SET_WORK] : sets[SET_BLOCKS]], 0, False
    sets[SET_STAMP] += 1
    pool, begin = sets[SET_POOL], sets[SET_BEGIN] + state
    for place in range(pool + sets[begin], pool + sets[begin + 1]):
        member = far_state(net, sets, sets[place], longest)
        changed = changed or member != sets[place]
        if sets[sets[SET_MARKS] + member] != sets[SET_STAMP]:
            sets[sets[SET_MARKS] + member] = sets[SET_STAMP]
            work[count] = member
            count += 1
    return _set_of(work, count, m) if changed else state
