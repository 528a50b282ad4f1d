"""Sets: the sets of states that have been made, as one array.

    sets   [..]   a head of numbers and places, and from each of them on one table (`SET_*`)

Equal sets are one number: slots find a set by its members. Where there is no room for one more, everything is copied to
arrays of twice the size (`grown`).
"""

from __future__ import annotations

import numpy as np

from automata.jit import plain_kernel
from tokenfst.lazy.net import NET_NUM_COUNTERS, NET_STATES, NET_WIDTH
from tokenfst.lazy.program import Machine
from tokenfst.transition.loops import Ints

NO_ROOM = -3

# The blocks that each counter has from the first: that of no unit, and those of so many that no token can tell how far
# from the bounds they are, below both and between them. In place of the number of units these have numbers below 0.
FIXED_BLOCKS = 3
BELOW, WITHIN = -1, -2

# The head of `sets`: whether there was no room for one more; how many sets there are, how many members, how many steps,
# how often a closure was made; where their members begin, what entering them does, the slots that find them, the set
# of each single state, the marks of states, where rules begin, where a set is gathered, the blocks (counter, how many
# units are before it, and the block behind it, 0 where there is none yet), the members; and for how many sets, and how
# many members, there is room, how many rules there are, how many blocks, and for how many there is room.
(SET_FULL, SET_COUNT, SET_MEMBERS, SET_STEPS, SET_STAMP, SET_BEGIN, SET_ENTRY, SET_SLOTS, SET_SINGLE, SET_MARKS,
 SET_RULES, SET_WORK, SET_BLOCKS, SET_POOL, SET_ROOM, SET_POOL_ROOM, SET_NUM_RULES, SET_NUM_BLOCKS,
 SET_BLOCK_ROOM) = range(19)  # fmt: skip
SET_HEAD = 19


def new_sets(net: Ints, num_rules: int, room: int, pool_room: int) -> Ints:
    """`sets` with room for so many, and so many members in all."""
    num_counters = int(net[NET_NUM_COUNTERS])
    # One more counted state makes a few sets at least, and large blocks come to few of their states.
    block_room = 0
    if num_counters:
        block_room = FIXED_BLOCKS * num_counters + max(64, min(room // 4, (room << 8) // int(net[NET_WIDTH])))
    num_states = int(net[NET_STATES]) + block_room * int(net[NET_WIDTH])
    sizes = [room + 1, room, 2 * room, num_states, num_states, num_rules, num_states + len(net), 3 * block_room]
    sizes.append(pool_room)
    places = np.cumsum([SET_HEAD, *sizes])
    sets: Ints = np.zeros(int(places[-1]), np.int32)
    sets[SET_BEGIN : SET_POOL + 1] = places[:-1]
    sets[SET_ROOM], sets[SET_POOL_ROOM], sets[SET_NUM_RULES] = room, pool_room, num_rules
    sets[SET_NUM_BLOCKS], sets[SET_BLOCK_ROOM] = FIXED_BLOCKS * num_counters, block_room
    fixed = sets[sets[SET_BLOCKS] : sets[SET_BLOCKS] + 3 * FIXED_BLOCKS * num_counters].reshape(-1, 3)
    fixed[:, 0], fixed[:, 1] = np.arange(len(fixed)) // FIXED_BLOCKS, np.tile((0, BELOW, WITHIN), num_counters)
    return sets


@plain_kernel
def no_room(sets: Ints) -> int:
    """NO_ROOM, which is noted until there is room."""
    sets[SET_FULL] = 1
    return NO_ROOM


def grown(machine: Machine) -> Machine:
    """The same with room for twice as many sets."""
    old, room, pool_room = machine.sets, 2 * int(machine.sets[SET_ROOM]), 2 * int(machine.sets[SET_POOL_ROOM])
    count, num_blocks = int(old[SET_COUNT]), int(old[SET_NUM_BLOCKS])
    num_states = int(machine.net[NET_STATES]) + num_blocks * int(machine.net[NET_WIDTH])
    sets = new_sets(machine.net, int(old[SET_NUM_RULES]), room, pool_room)
    sets[SET_COUNT:SET_BEGIN], sets[SET_NUM_BLOCKS] = old[SET_COUNT:SET_BEGIN], num_blocks
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


@plain_kernel
def refill(sets: Ints) -> None:
    """Fills in the slots."""
    mask, begin, pool, slots = 2 * sets[SET_ROOM] - 1, sets[SET_BEGIN], sets[SET_POOL], sets[SET_SLOTS]
    for number in range(sets[SET_COUNT]):
        first, last = pool + sets[begin + number], pool + sets[begin + number + 1]
        slot = slot_of(sets[first:last]) & mask
        while sets[slots + slot]:
            slot = (slot + 1) & mask
        sets[slots + slot] = number + 1


@plain_kernel
def slot_of(members: Ints) -> int:
    value = np.uint64(len(members))
    for state in members:
        value = (value ^ np.uint64(state)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return int(np.int64(value >> np.uint64(33)))
