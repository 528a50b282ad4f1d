"""The steps of an arena on the CPU: kernels that do for each sequence what `decoding.arena.program` does for a batch.

    mask_logits     chunk by chunk: nothing is touched where all 32 tokens of a word are allowed, and no mask is made
    mask_words      the same chunks, as they are
    advance_rows    a look-up in each row, the stack, the nodes, their rows

Large batches are cut between threads, since what takes the time is writing logits.

Rejected: making the mask `[B, V]` first (as much memory traffic again as the logits themselves).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from automata.jit import kernel, plain_kernel
from decoding.arena import layout
from decoding.arena.layout import (
    ADDS,
    CHUNK_WORDS,
    COUNT,
    CUTS_AT,
    DEAD,
    EMPTY_CHUNK,
    ENDED,
    FAR,
    KEEPS,
    NUM_CUTS,
    POPS,
    PUSH_AT,
    PUSHED,
    ROWS_AT,
    TARGET,
    WALK_AT,
)
from decoding.arena.program import Program
from decoding.arena.sequences import CONTEXT, COST, SYMBOL, Sequences

Words = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# Minus infinity as the bits of a logit, and the type of as many bits.
_BITS = {
    torch.float32: (torch.int32, -0x800000),
    torch.float16: (torch.int16, -0x400),
    torch.bfloat16: (torch.int16, -0x80),
    torch.float64: (torch.int64, -0x10000000000000),
}
# Logits that are worth a thread.
_LOGITS_PER_THREAD = 1 << 19
_NO_LIMIT = FAR
_EACH_BIT = (1 << np.arange(32, dtype=np.uint32)).view(np.int32)


def mask_logits(program: Program, logits: Tensor, at: Sequences, remaining: Tensor | int | None, begin: int) -> None:
    """Writes minus infinity over forbidden tokens; see `Arena.apply_`."""
    integers, infinity = _BITS[logits.dtype]
    bits = logits.detach().view(integers).numpy()
    limits, least = np.empty(len(bits), np.int64), bits.dtype.type(infinity)
    limits[:] = _NO_LIMIT if remaining is None else remaining

    def mask(rows: tuple[int, int]) -> None:
        _mask(
            program.words.numpy(),
            program.places.numpy(),
            at.slot.numpy(),
            at.row.numpy(),
            at.counter.numpy(),
            at.height.numpy(),
            at.stack.numpy(),
            limits,
            program.shape.classes,
            begin,
            least,
            bits,
            *rows,
        )

    parts = min(torch.get_num_threads(), len(bits), max(bits.size // _LOGITS_PER_THREAD, 1))
    if parts == 1:
        mask((0, len(bits)))
    else:
        list(_threads(parts).map(mask, pairwise(np.linspace(0, len(bits), parts + 1, dtype=int).tolist())))


@lru_cache(4)
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="tokenfst-masks")


def mask_words(program: Program, at: Sequences, num_chunks: int) -> Tensor:
    """Packed masks; see `Program.mask_words`."""
    written = torch.empty((len(at.slot), num_chunks * CHUNK_WORDS), dtype=torch.int32)
    masks = np.empty(at.row.shape[1] * at.row.shape[2], np.int64)
    tables = program.words.numpy(), program.places.numpy()
    _write_words(*tables, at.slot.numpy(), at.row.numpy(), masks, num_chunks, written.numpy())
    return written


def advance_rows(program: Program, at: Sequences, tokens: Tensor) -> Sequences:
    """Where sequences with one configuration each stand after one more token; see `Arena.advance`."""
    after = Sequences(
        at.slot, torch.zeros_like(at.row), torch.zeros_like(at.counter), torch.zeros_like(at.height), at.stack.clone(),
        at.overflowed,
    )  # fmt: skip
    _advance(
        program.words.numpy(),
        program.places.numpy(),
        at.slot.numpy(),
        at.row.numpy(),
        at.counter.numpy(),
        at.height.numpy(),
        tokens.numpy(),
        after.row.numpy(),
        after.counter.numpy(),
        after.height.numpy(),
        after.stack.numpy(),
    )
    return after


@plain_kernel
def _advance(
    words: Words, places: Longs, slot: Longs, rows: Longs, counts: Longs, heights: Longs, tokens: Longs,
    after_rows: Longs, after_counts: Longs, after_heights: Longs, stacks: Words,
) -> None:  # fmt: skip
    """What comes after is all zeros before, which is dead."""
    for sequence in range(len(slot)):
        base = places[slot[sequence]]
        if rows[sequence, 0, 0] == ENDED:
            after_rows[sequence, 0, 0] = ENDED
            continue
        entry = _entry(words, base, rows[sequence, 0], tokens[sequence])
        if entry < 0:
            continue
        move = base + words[base + layout.MOVES] + 6 * np.int64(words[entry + 1])
        count = words[move + KEEPS] * counts[sequence, 0] + words[move + ADDS]
        left = heights[sequence, 0] - words[move + POPS]
        height = left + words[move + PUSHED]
        stack = stacks[sequence, 0]
        if height > left:
            _push(words, base, stack, left, words[move + PUSHED], words[move + PUSH_AT])
        _settle(words, base, words[move + TARGET], count, height, stack, after_rows[sequence, 0])
        after_counts[sequence, 0], after_heights[sequence, 0] = count, height


@plain_kernel
def _entry(words: Words, base: int, rows: Longs, token: int) -> int:
    """The entry of a token in the rows of a configuration, or -1."""
    number = words[base + words[base + layout.CLASSES] + token]
    for part in range(len(rows)):
        row = rows[part]
        if row == DEAD:
            break
        place = np.int64(words[base + words[base + layout.ROW_COMB] + row] + number)
        entry: int = base + words[base + layout.COMB] + 2 * place
        if words[entry] == row:
            return entry
    return -1


@plain_kernel
def _push(words: Words, base: int, stack: Words, height: int, pushed: int, push_at: int) -> None:
    """Puts symbols on a stack, with what they mean for distances."""
    symbols = words[base + layout.NUM_SYMBOLS]
    context, cost = 0, 0
    if height:
        context, cost = stack[height - 1, CONTEXT], stack[height - 1, COST]
    at = base + words[base + layout.PUSHES] + push_at
    for number in range(pushed):
        symbol = words[at + number]
        entry = base + context * symbols + symbol
        cost = min(cost + words[words[base + layout.COST] + entry], FAR)
        context = words[words[base + layout.NEXT] + entry]
        stack[height + number, SYMBOL], stack[height + number, CONTEXT] = symbol, context
        stack[height + number, COST] = cost


@plain_kernel
def _settle(words: Words, base: int, node: int, count: int, height: int, stack: Words, rows: Longs) -> None:
    """Notes the rows of a node and of those that the stack leads on to."""
    gauge = count if words[base + layout.GAUGE] == COUNT else words[base + layout.DEPTH] - height
    below, found = height, 0
    while True:
        at = base + words[base + layout.NODES] + 4 * np.int64(node)
        row = _row(words, base, at, gauge)
        if row != DEAD:
            rows[found] = row
            found += 1
        if words[at + WALK_AT] < 0:
            break
        below -= 1
        symbol = stack[below, SYMBOL] if below >= 0 else words[base + layout.NUM_SYMBOLS]
        node = words[base + words[base + layout.WALK] + words[at + WALK_AT] + symbol]


@plain_kernel
def _row(words: Words, base: int, at: int, gauge: int) -> int:
    """The row of the node at a place by itself."""
    low, high = 0, words[at + NUM_CUTS]
    cuts = base + words[base + layout.CUTS] + words[at + CUTS_AT]
    while low < high:
        middle = (low + high) // 2
        if words[cuts + middle] <= gauge:
            low = middle + 1
        else:
            high = middle
    row: int = words[base + words[base + layout.NODE_ROWS] + words[at + ROWS_AT] + low]
    return row


@kernel
def _mask(
    words: Words, places: Longs, slots: Longs, rows: Longs, counts: Longs, heights: Longs, stacks: Words,
    limits: Longs, num_classes: int, begin: int, infinity: int, bits: Longs, first: int, last: int,
) -> None:  # fmt: skip
    fits, ways, parts = np.empty(num_classes, np.bool_), rows.shape[1], rows.shape[2]
    masks, chunk = np.empty(ways * parts, np.int64), np.empty(CHUNK_WORDS, np.int32)
    for sequence in range(first, last):
        base, logits, all_fit = places[slots[sequence]], bits[sequence], True
        if limits[sequence] < FAR:
            fits[:] = False
            for way in range(ways):
                for part in range(parts):
                    all_fit &= _fitting(
                        words, base, rows[sequence, way, part], counts[sequence, way], heights[sequence, way],
                        stacks[sequence, way], limits[sequence], fits,
                    )  # fmt: skip
        if all_fit:
            found = _masks(words, base, rows[sequence], masks)
            _mask_by_words(words, base, masks[:found], chunk, infinity, logits)
        else:
            classes = base + words[base + layout.CLASSES] + begin
            for token in range(len(logits)):
                if not fits[words[classes + token]]:
                    logits[token] = infinity


@plain_kernel
def _masks(words: Words, base: int, rows: Longs, masks: Longs) -> int:
    """Notes where the masks of rows lie, `[P, L]`, one at least, and says how many there are."""
    found = 0
    for way in range(rows.shape[0]):
        for part in range(rows.shape[1]):
            if rows[way, part] != DEAD or found == 0:
                masks[found] = base + words[base + words[base + layout.ROW_MASK] + rows[way, part]]
                found += 1
    return found


@plain_kernel
def _write_words(
    words: Words, places: Longs, slots: Longs, rows: Longs, masks: Longs, num_chunks: int, written: Words
) -> None:
    """Masks of all sequences, `[B, num_chunks * CHUNK_WORDS]`."""
    for sequence in range(len(slots)):
        base = places[slots[sequence]]
        found = _masks(words, base, rows[sequence], masks)
        for number in range(num_chunks):
            chunk = written[sequence, CHUNK_WORDS * number : CHUNK_WORDS * (number + 1)]
            _unite(words, base, masks[:found], number, chunk)


@plain_kernel
def _unite(words: Words, base: int, masks: Longs, number: int, chunk: Words) -> None:
    """One chunk of some masks together, `[CHUNK_WORDS]`."""
    is_first = True
    for mask in masks:
        begin = words[mask + number]
        # Most chunks of most masks.
        if begin == EMPTY_CHUNK:
            continue
        part = words[base + begin : base + begin + CHUNK_WORDS]
        if is_first:
            for at in range(CHUNK_WORDS):
                chunk[at] = part[at]
        else:
            for at in range(CHUNK_WORDS):
                chunk[at] |= part[at]
        is_first = False
    if is_first:
        chunk[:] = 0


@plain_kernel
def _mask_by_words(words: Words, base: int, masks: Longs, chunk: Words, infinity: int, logits: Longs) -> None:
    for number in range(-(-len(logits) // (32 * CHUNK_WORDS))):
        _unite(words, base, masks, number, chunk)
        first = 32 * CHUNK_WORDS * number
        whole = min(CHUNK_WORDS, (len(logits) - first) // 32)
        some = np.int32(0)
        for at in range(whole):
            some |= chunk[at]
        if some == 0:
            # Most chunks of a mask that allows little.
            logits[first : first + 32 * whole] = infinity
        for at in range(whole if some else 0):
            if chunk[at] != -1:
                _mask_word(chunk[at], infinity, logits[first + 32 * at : first + 32 * at + 32])
        for token in range(first + 32 * whole, min(first + 32 * CHUNK_WORDS, len(logits))):
            if not (chunk[whole] >> (token & 31)) & 1:
                logits[token] = infinity


@plain_kernel
def _mask_word(word: int, infinity: int, logits: Longs) -> None:
    """The 32 logits of a word, several at a time; shifts would be of 64 bits each, and one at a time."""
    for bit in range(32):
        logits[bit] = logits[bit] if word & _EACH_BIT[bit] else infinity


@plain_kernel
def _fitting(
    words: Words, base: int, row: int, count: int, height: int, stack: Words, limit: int, fits: npt.NDArray[np.bool_]
) -> bool:
    """Notes the classes after which less than a number of tokens are left to write; whether all are such."""
    all_fit, times = True, words[base + layout.TIMES]
    entry = base + words[base + layout.COMB] + 2 * np.int64(words[base + words[base + layout.ROW_COMB] + row])
    for number in range(words[base + layout.NUM_CLASSES]):
        if words[entry + 2 * number] != row:
            continue
        outcome = words[entry + 2 * number + 1]
        least = FAR
        for time in range(times):
            move = outcome
            if times > 1:
                move = words[base + words[base + layout.OUTCOMES] + outcome * times + time]
            least = min(least, _rest(words, base, move, count, height, stack))
        if least < limit:
            fits[number] = True
        else:
            all_fit = False
    return all_fit


@plain_kernel
def _rest(words: Words, base: int, move: int, count: int, height: int, stack: Words) -> int:
    """The fewest tokens after a move."""
    at = base + words[base + layout.MOVES] + 6 * np.int64(move)
    left, context, cost = height - words[at + POPS], 0, 0
    if left > 0:
        context, cost = stack[left - 1, CONTEXT], stack[left - 1, COST]
    rest: int = cost + words[base + words[base + layout.REST] + context * words[base + layout.NUM_MOVES] + move]
    if words[base + layout.HAS_RUNS]:
        runs = base + words[base + layout.NODE_RUNS] + 2 * np.int64(words[at + TARGET])
        first = base + words[base + layout.RUNS] + 2 * np.int64(words[runs])
        after = words[at + KEEPS] * count + words[at + ADDS]
        low, high = 0, words[runs + 1]
        while low < high:
            middle = (low + high) // 2
            if words[first + 2 * middle] <= after:
                low = middle + 1
            else:
                high = middle
        if low:
            rest += words[first + 2 * (low - 1) + 1]
    return rest
