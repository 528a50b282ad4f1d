"""Covers: states behind which a quoted text may go on in any way, for so many characters at least.

A pattern that some place of a text has to match, `[0-9]{16}`, or one of words, `(\\S+\\s+){0,99}\\S+`, allows nearly
every text to go on; but its states are many, and none loops on all that quoted text holds (`tokenfst.lazy.text`). What
matters for a mask is not where a token leads but whether it leads anywhere. So a search looks at what all texts of one
character lead to, of two, and so on; none of them may be dead or touch the stack.

    level    the states that texts of so many characters lead to and shorter ones do not
    cover    of a state, the number of characters that are free behind it

The row of a state with a cover of n is then made of the tokens of up to n characters that quoted text holds, which are
all allowed, and a walk over the others. For `[0-9]{16}` anywhere in a text that is a fortieth of the walk over all.
"""

from __future__ import annotations

from automata.jit import plain_kernel
from automata.transition.stacks import HEIGHT, SYMBOL
from tokenfst.lazy.program import ASCII_WORDS, Machine, Unnamed
from tokenfst.lazy.rows import COUNT, DONE, FINAL, LOWEST, NEEDS_ROOM, allowed_of, may_end
from tokenfst.lazy.sets import SET_FULL
from tokenfst.lazy.subsets import has_row
from tokenfst.lazy.walk import TO_COME, Tries, allowed_tokens
from tokenfst.transition.loops import AFTER_CONTINUATION, AFTER_LEAD, NEXT_HIGH, NEXT_LOW, Ints
from tokenfst.transition.trie import Nodes

# Covers that tokens are sorted by; a search goes no farther, and looks at no more than so many states.
COVERS = (8, 16, 32)
_MOST_CHARACTERS = 32
_MOST_STATES = 1 << 11


@plain_kernel
def find_cover(walks: Unnamed, tables: Unnamed, own: Ints, stamps: Ints, state: int) -> int:
    """How many characters of `own` are free behind a state, up to `_MOST_CHARACTERS`; -1 where there is no room.

    Args:
        walks, tables: the vocabulary's `Tries` and the program's `Machine`.
        own: `[5]`, the ASCII bytes as bits, and whether characters beyond ASCII are among them.
        stamps: `[Q + 1]`, which search has last met each state, and with what pending of a character; at its end the
            last search. Searches are numbered by tens.
        state: where the text goes on.
    """
    tries, m = Tries(*walks), Machine(*tables)
    queue, stamp = tries.found, stamps[-1] + 10
    stamps[-1], stamps[state], queue[0] = stamp, stamp, state
    first, end = 0, 1
    for free in range(_MOST_CHARACTERS):
        last = end
        for place in range(first, last):
            end = _add_behind(queue[place], own, m, stamps, stamp, queue, end)
            if m.sets[SET_FULL]:
                return -1
            if end < 0 or end > _MOST_STATES:
                return free
        if end == last:
            return _MOST_CHARACTERS
        first = last
    return _MOST_CHARACTERS


@plain_kernel
def _add_behind(state: int, own: Ints, m: Machine, stamps: Ints, stamp: int, queue: Ints, end: int) -> int:
    """Adds what single characters lead to to the queue; returns its new end, -1 where one of them leads nowhere."""
    table, members, byte_class = m.table, m.members, m.byte_class
    if not has_row(state, m):
        return -1
    for column in range(table.shape[1]):
        inside = 0
        for word in range(ASCII_WORDS):
            inside |= members[column, word] & own[word]
        if inside:
            end = _add(table[state, column], stamps, stamp, queue, end)
            if end < 0:
                return -1
    seen_class, seen_pending = -1, -1
    for lead in range(0xC2, 0xF5 if own[ASCII_WORDS] else 0):
        column, pending = byte_class[lead], AFTER_LEAD[lead]
        if column == seen_class and pending == seen_pending:
            continue
        seen_class, seen_pending = column, pending
        if TO_COME[pending] == 1:
            end = _add_last(table[state, column], pending, m, stamps, stamp, queue, end)
        elif TO_COME[pending] == 2:
            end = _add_last_two(table[state, column], pending, m, stamps, stamp, queue, end)
        else:
            end = _add_last_three(table[state, column], pending, m, stamps, stamp, queue, end)
        if end < 0:
            return -1
    return end


@plain_kernel
def _add(state: int, stamps: Ints, stamp: int, queue: Ints, end: int) -> int:
    if state < 0 or end == len(queue):
        return -1
    if stamps[state] != stamp:
        stamps[state], queue[end] = stamp, state
        end += 1
    return end


@plain_kernel
def _is_new(state: int, pending: int, stamps: Ints, stamp: int) -> bool:
    """Whether a state inside of a character has not been met yet with the same pending of it."""
    if stamps[state] == stamp + 1 + pending:
        return False
    stamps[state] = stamp + 1 + pending
    return True


@plain_kernel
def _add_last(state: int, pending: int, m: Machine, stamps: Ints, stamp: int, queue: Ints, end: int) -> int:
    """`_add_behind` for a state inside of a character with one byte to come."""
    table, byte_class, seen = m.table, m.byte_class, -1
    if state < 0 or not has_row(state, m):
        return -1
    if _is_new(state, pending, stamps, stamp):
        for byte in range(NEXT_LOW[pending], NEXT_HIGH[pending] + 1):
            if byte_class[byte] != seen:
                seen = byte_class[byte]
                end = _add(table[state, seen], stamps, stamp, queue, end)
                if end < 0:
                    return -1
    return end


@plain_kernel
def _add_last_two(state: int, pending: int, m: Machine, stamps: Ints, stamp: int, queue: Ints, end: int) -> int:
    table, byte_class, seen, after = m.table, m.byte_class, -1, AFTER_CONTINUATION[pending]
    if state < 0 or not has_row(state, m):
        return -1
    if _is_new(state, pending, stamps, stamp):
        for byte in range(NEXT_LOW[pending], NEXT_HIGH[pending] + 1):
            if byte_class[byte] != seen:
                seen = byte_class[byte]
                end = _add_last(table[state, seen], after, m, stamps, stamp, queue, end)
                if end < 0:
                    return -1
    return end


@plain_kernel
def _add_last_three(state: int, pending: int, m: Machine, stamps: Ints, stamp: int, queue: Ints, end: int) -> int:
    table, byte_class, seen, after = m.table, m.byte_class, -1, AFTER_CONTINUATION[pending]
    if state < 0 or not has_row(state, m):
        return -1
    if _is_new(state, pending, stamps, stamp):
        for byte in range(NEXT_LOW[pending], NEXT_HIGH[pending] + 1):
            if byte_class[byte] != seen:
                seen = byte_class[byte]
                end = _add_last_two(table[state, seen], after, m, stamps, stamp, queue, end)
                if end < 0:
                    return -1
    return end


@plain_kernel
def find_covered(
    walks: Unnamed,
    tables: Unnamed,
    cells: Ints,
    marks: Ints,
    note: Ints,
    room: int,
    beyond: Nodes,
    token_of_rank: Ints,
    own: Ints,
    state: int,
    top: int,
) -> int:
    """The tokens that a state allows beside those whose characters are free; arguments as of `find_row`.

    `beyond` is the trie of the other tokens that begin with a character of `own`.
    """
    tries, m, known = Tries(*walks), Machine(*tables), cells[0, SYMBOL]
    if known + room > len(cells):
        return NEEDS_ROOM
    final, lowest = may_end(state, m, cells, top, cells[top, HEIGHT] + 1)
    count, lowest = allowed_of(tries, own, m, cells, marks, state, top, known, lowest)
    if count >= 0:
        count, lowest = allowed_tokens(
            beyond, 0, False, token_of_rank, tries.nothing, m, cells, marks, tries.path,
            tries.found, count, state, top, known, known, lowest,
        )  # fmt: skip
    if count < 0:
        return NEEDS_ROOM
    note[COUNT], note[LOWEST], note[FINAL] = count, lowest, final
    return DONE
