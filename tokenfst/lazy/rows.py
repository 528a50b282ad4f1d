"""Rows: what a configuration allows, found by walks from it; each function is one call from Python.

A state is *text-like* if many ASCII bytes lead to one state and leave the stack alone. Its row is not found by walking
everything (`tokenfst.lazy.text`); the others allow little, and their walks look at a handful of nodes.
"""

from __future__ import annotations

import numpy as np

from automata.arrays import ByteArray
from automata.jit import plain_kernel
from automata.transition.stacks import HEIGHT, SYMBOL, kept
from tokenfst.lazy.program import ASCII_WORDS, Machine, Unnamed, stack_step
from tokenfst.lazy.sets import SET_FULL
from tokenfst.lazy.subsets import has_row, special_step
from tokenfst.lazy.walk import Tries, allowed_tokens, characters_lead_to, differing_tokens
from tokenfst.transition.loops import DEAD, LOOP_WORDS, Ints
from tokenfst.transition.trie import Nodes

# What a row has come to: a row, or a text-like state, or no room for more cells.
DONE, TEXT, NEEDS_ROOM = range(3)
# What is noted: the bytes of a text-like state (4 words, and whether characters beyond ASCII are among them), the state
# they lead to, and whether that one loops on them; or how many tokens were found, the height of the lowest cell looked
# at, and whether the text may end.
TEXT_TARGET, COUNT, LOWEST, FINAL, TEXT_LOOPS = 5, 6, 7, 8, 9
NOTE_WORDS = 10
# What is kept of a state: its loops, and what `find_text` notes.
MARK_WORDS = LOOP_WORDS + TEXT_TARGET + 1
# So many ASCII bytes to one state are a text.
_TEXT_BYTES = 24


@plain_kernel
def find_text(state: int, m: Machine, note: Ints) -> bool:
    """Whether a state is text-like; notes its bytes and where they lead. For lack of room it may seem not to be."""
    if not has_row(state, m):
        return False
    table, members = m.table, m.members
    most, target, widest = 0, DEAD, 0
    for column in range(table.shape[1]):
        if members[column, ASCII_WORDS] > most and table[state, column] >= 0:
            most, target, widest = members[column, ASCII_WORDS], table[state, column], column
    if target < 0:
        return False
    count = 0
    note[0] = note[1] = note[2] = note[3] = 0
    for column in range(table.shape[1]):
        if table[state, column] == target:
            count += members[column, ASCII_WORDS]
            for word in range(ASCII_WORDS):
                note[word] |= members[column, word]
    if count < _TEXT_BYTES:
        return False
    note[ASCII_WORDS] = -1 if characters_lead_to(state, target, m) else 0
    note[TEXT_TARGET] = target
    note[TEXT_LOOPS] = has_row(target, m) and table[target, widest] == target
    return True


@plain_kernel
def may_end(state: int, m: Machine, cells: Ints, top: int, lowest: int) -> tuple[bool, int]:
    """Whether the text may end in a configuration; and the new `lowest`."""
    does, known = m.ends[state], cells[0, SYMBOL]
    if does < DEAD:
        does, _, _, lowest = stack_step(-2 - does, m.steps, m.symbols, cells, top, known, known, lowest)
    return does >= 0, lowest


@plain_kernel
def find_row(
    walks: Unnamed, tables: Unnamed, cells: Ints, marks: Ints, note: Ints, room: int, texts: bool, state: int, top: int
) -> int:
    """Writes the tokens that a configuration allows to `found`, unless the state is text-like and `texts`.

    Says what it has come to, and notes what is known then. `room` is how many cells a walk may need, `marks` what is
    known of states: `[Q, 5 + 6]`, their loops (`tokenfst.lazy.walk`), and what `find_text` notes of each, -1 as the
    target where it is not text-like, 0 in all words where it is not known yet; `walks` are the vocabulary's `Tries`,
    `tables` the program's `Machine`.
    """
    tries, m = Tries(*walks), Machine(*tables)
    text = texts and find_text(state, m, note)
    if m.sets[SET_FULL]:
        return NEEDS_ROOM
    if text:
        return TEXT
    known = cells[0, SYMBOL]
    if known + room > len(cells):
        return NEEDS_ROOM
    final, lowest = may_end(state, m, cells, top, cells[top, HEIGHT] + 1)
    count, lowest = allowed_of(tries, tries.nothing, m, cells, marks, state, top, known, lowest)
    if count < 0:
        return NEEDS_ROOM
    note[COUNT], note[LOWEST], note[FINAL] = count, lowest, final
    return DONE


@plain_kernel
def allowed_of(
    tries: Tries, skipped: Ints, m: Machine, cells: Ints, marks: Ints, state: int, top: int, known: int, lowest: int
) -> tuple[int, int]:
    """The tokens that a configuration allows of those that do not begin with what is skipped; see `allowed_tokens`."""
    count = 0
    for nodes, characters in ((tries.whole, True), (tries.partial, False)):
        if count >= 0:
            count, lowest = allowed_tokens(
                nodes, 0, characters, tries.token_of_rank, skipped, m, cells, marks, tries.path,
                tries.found, count, state, top, known, known, lowest,
            )  # fmt: skip
    return count, lowest


@plain_kernel
def find_beside(
    walks: Unnamed,
    tables: Unnamed,
    cells: Ints,
    marks: Ints,
    note: Ints,
    room: int,
    rests: Nodes,
    token_of_rest: Ints,
    roots: Ints,
    own: Ints,
    state: int,
    top: int,
) -> int:
    """The tokens that a text-like state allows beside those that are all text; arguments as of `find_row`.

    `own` is the text's characters, as `find_text` notes them; `rests`, `token_of_rest` and `roots` are what follows the
    text in tokens that begin with some of it: by its length where each character leads to another state, all together
    where all lead back (`tokenfst.lazy.text`). The length up
    to which tokens that are all text are allowed is noted as the target; where longer ones may be too, it is -1, and
    nothing has been found.
    """
    tries, m, known = Tries(*walks), Machine(*tables), cells[0, SYMBOL]
    if known + room > len(cells):
        return NEEDS_ROOM
    chain, length = tries.chain, 0
    chain[0] = state
    while length + 1 < len(roots) and _leads_on(chain[length], own, m, marks, note):
        length += 1
        chain[length] = marks[chain[length - 1], LOOP_WORDS + TEXT_TARGET]
    note[TEXT_TARGET] = -1
    ends = length + 1 == len(roots) or _refuses(chain[length], own, m)
    if m.sets[SET_FULL]:
        return NEEDS_ROOM
    if not ends:
        return DONE
    final, lowest = may_end(state, m, cells, top, cells[top, HEIGHT] + 1)
    count, lowest = allowed_of(tries, own, m, cells, marks, state, top, known, lowest)
    for place in range(length + 1):
        if count < 0:
            return NEEDS_ROOM
        count, lowest = allowed_tokens(
            rests, roots[place], False, token_of_rest, tries.nothing, m, cells, marks, tries.path,
            tries.found, count, chain[place], top, known, known, lowest,
        )  # fmt: skip
    if count < 0:
        return NEEDS_ROOM
    note[COUNT], note[LOWEST], note[FINAL], note[TEXT_TARGET] = count, lowest, final, length
    return DONE


@plain_kernel
def _leads_on(state: int, own: Ints, m: Machine, marks: Ints, note: Ints) -> bool:
    """Whether all characters of a text lead from a state to one other."""
    row = marks[state, LOOP_WORDS:]
    if not (row[0] | row[1] | row[2] | row[3] | row[TEXT_TARGET]):
        found = find_text(state, m, note)
        if m.sets[SET_FULL]:
            return False
        for word in range(TEXT_TARGET + 1):
            row[word] = note[word] if found else -(word == TEXT_TARGET)
    return row[TEXT_TARGET] >= 0 and not (
        own[0] & ~row[0] | own[1] & ~row[1] | own[2] & ~row[2] | own[3] & ~row[3] | own[4] & ~row[4]
    )


@plain_kernel
def _refuses(state: int, own: Ints, m: Machine) -> bool:
    """Whether no character of a text leads on from a state."""
    table, members, byte_class = m.table, m.members, m.byte_class
    if not has_row(state, m):
        return False
    for column in range(table.shape[1]):
        if table[state, column] != DEAD:
            for word in range(ASCII_WORDS):
                if members[column, word] & own[word]:
                    return False
    if own[ASCII_WORDS]:
        for lead in range(0xC2, 0xF5):
            if table[state, byte_class[lead]] != DEAD:
                return False
    return True


@plain_kernel
def find_difference(
    walks: Unnamed,
    tables: Unnamed,
    cells: Ints,
    marks: Ints,
    note: Ints,
    room: int,
    state: int,
    other: int,
    top: int,
) -> int:
    """The tokens that only one of two states allows, with the same stack; whether the text may end is said of the
    first. Arguments as of `find_row`."""
    tries, m, known = Tries(*walks), Machine(*tables), cells[0, SYMBOL]
    if known + 2 * room > len(cells):
        return NEEDS_ROOM
    final, lowest = may_end(state, m, cells, top, cells[top, HEIGHT] + 1)
    count = 0
    for nodes, characters in ((tries.whole, True), (tries.partial, False)):
        count, lowest = differing_tokens(
            nodes, characters, tries.token_of_rank, m, cells, marks, tries.path,
            tries.found, count, state, other, top, known, known, lowest,
        )  # fmt: skip
        if count < 0:
            return NEEDS_ROOM
    note[COUNT], note[LOWEST], note[FINAL] = count, lowest, final
    return DONE


@plain_kernel
def read_token(
    data: ByteArray,
    offsets: Ints,
    tables: Unnamed,
    cells: Ints,
    slots: Ints,
    room: int,
    token: int,
    state: int,
    top: int,
) -> int:
    """The configuration after a token, `stack << 32 | state`; DEAD where it is not allowed, -2 where cells have no
    room."""
    m, known = Machine(*tables), cells[0, SYMBOL]
    if known + room > len(cells):
        return -2
    begin, end = offsets[token], offsets[token + 1]
    if begin == end:
        return DEAD
    free, lowest = known, 0
    table, byte_class = m.table, m.byte_class
    for place in range(begin, end):
        column = byte_class[data[place]]
        reached = table[state, column]
        if reached < DEAD:
            reached, top, free, lowest = special_step(reached, state, column, m, cells, top, free, known, lowest)
        if reached < 0:
            return DEAD if reached == DEAD else -2
        state = reached
    if top >= known:
        top = kept(cells, slots, top, known)
    return top << 32 | state


@plain_kernel
def fill(base: Ints, flips: Ints, out: Ints) -> None:
    """Writes the words of a row: `base`, with some tokens' bits flipped."""
    for word in range(len(base)):
        out[word] = base[word]
    out[len(base) :] = 0
    for token in flips:
        out[token >> 5] ^= np.int32(np.uint32(1) << np.uint32(token & 31))
