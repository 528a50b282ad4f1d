"""The steps of an arena as kernels for a GPU, in Triton (`decoding.arena.on_gpu` calls them).

With tensor operations a step takes about 400 launches, most of which only add two numbers for each sequence. A kernel
follows a sequence from table to table, so a step is one launch, and so is a mask.

    mask_logits     sets logits to minus infinity; one program for 2,048 tokens of a sequence
    mask_words      the same as packed masks
    fit_classes     which classes fit a budget; one program for some classes of a sequence
    advance         the step after a token; one program for a sequence

`decoding.arena.program` defines the results, and `decoding.arena.layout` the tables.

Rejected: a mask that is made first and read by a second kernel (this doubles the memory traffic of 16-bit logits).
"""

from __future__ import annotations

import triton
import triton.language as tl

from decoding.arena import layout, sequences
from tokenfst.pushdown import distance

CHUNK_WORDS = tl.constexpr(layout.CHUNK_WORDS)
CHUNK_TOKENS = tl.constexpr(32 * layout.CHUNK_WORDS)
EMPTY_CHUNK = tl.constexpr(layout.EMPTY_CHUNK)
DEAD, ENDED = tl.constexpr(layout.DEAD), tl.constexpr(layout.ENDED)
COUNT, FAR = tl.constexpr(layout.COUNT), tl.constexpr(distance.FAR)
CLASSES, ROW_MASK = tl.constexpr(layout.CLASSES), tl.constexpr(layout.ROW_MASK)
ROW_COMB, COMB = tl.constexpr(layout.ROW_COMB), tl.constexpr(layout.COMB)
OUTCOMES, TIMES = tl.constexpr(layout.OUTCOMES), tl.constexpr(layout.TIMES)
MOVES, PUSHES = tl.constexpr(layout.MOVES), tl.constexpr(layout.PUSHES)
POPS, PUSHED, PUSH_AT = tl.constexpr(layout.POPS), tl.constexpr(layout.PUSHED), tl.constexpr(layout.PUSH_AT)
TARGET, KEEPS, ADDS = tl.constexpr(layout.TARGET), tl.constexpr(layout.KEEPS), tl.constexpr(layout.ADDS)
NODES, WALK, NODE_ROWS = tl.constexpr(layout.NODES), tl.constexpr(layout.WALK), tl.constexpr(layout.NODE_ROWS)
WALK_AT, ROWS_AT = tl.constexpr(layout.WALK_AT), tl.constexpr(layout.ROWS_AT)
CUTS, CUTS_AT, NUM_CUTS = tl.constexpr(layout.CUTS), tl.constexpr(layout.CUTS_AT), tl.constexpr(layout.NUM_CUTS)
REST_OF, REST, NEXT = tl.constexpr(layout.REST_OF), tl.constexpr(layout.REST), tl.constexpr(layout.NEXT)
COST, NODE_RUNS, RUNS = tl.constexpr(layout.COST), tl.constexpr(layout.NODE_RUNS), tl.constexpr(layout.RUNS)
NUM_CLASSES, NUM_SYMBOLS = tl.constexpr(layout.NUM_CLASSES), tl.constexpr(layout.NUM_SYMBOLS)
NUM_RESTS, GAUGE, DEPTH = tl.constexpr(layout.NUM_RESTS), tl.constexpr(layout.GAUGE), tl.constexpr(layout.DEPTH)
HAS_RUNS = tl.constexpr(layout.HAS_RUNS)
MOVE_SIZE, NODE_SIZE = tl.constexpr(layout.MOVE_SIZE), tl.constexpr(layout.NODE_SIZE)
PAIR_SIZE, STACK_ENTRY_SIZE = tl.constexpr(layout.PAIR_SIZE), tl.constexpr(sequences.STACK_ENTRY_SIZE)


@triton.jit
def probe(out):
    """Write a number, to see whether kernels can be compiled and launched."""
    tl.store(out, 1)


@triton.jit
def block_of(words, places, slots, sequence):
    """Return where the block of a sequence's automaton begins."""
    return words + tl.load(places + tl.load(slots + sequence))


@triton.jit
def table(block, field: tl.constexpr):
    """Return where a table of a block begins."""
    return block + tl.load(block + field)


@triton.jit
def words_of(block, rows, num_rows, chunk):
    """Return the union of some rows' words of a chunk, `[CHUNK_WORDS]` int32, and how many rows allow a token in it."""
    lane = tl.arange(0, CHUNK_WORDS)
    united, used = tl.zeros((CHUNK_WORDS,), tl.int32), tl.zeros((), tl.int32)
    for number in range(num_rows):
        mask = tl.load(table(block, ROW_MASK) + tl.load(rows + number))
        place = tl.load(block + mask + chunk)
        if place != EMPTY_CHUNK:
            united |= tl.load(block + place + lane)
            used += 1
    return united, used


@triton.jit
def within(block, allowed, tokens, inside, fits):
    """Return which of the allowed tokens have a class that fits."""
    wanted = allowed & inside
    number = tl.load(table(block, CLASSES) + tokens, mask=wanted, other=0)
    return wanted & (tl.load(fits + number, mask=wanted, other=0) != 0)


@triton.jit
def binds_any(binds, sequence, num_parts, PARTS: tl.constexpr):
    """Return whether a row of a sequence allows a class that does not fit the budget."""
    part = tl.arange(0, PARTS)
    return tl.max(tl.load(binds + sequence * num_parts + part, mask=part < num_parts, other=0)) != 0


@triton.jit(do_not_specialize=["num_rows", "begin", "width", "num_classes", "num_parts"])
def mask_logits(
    logits, stride, words, places, slots, all_rows, fits, binds, num_rows, begin, width, num_classes, num_parts,
    LIMITED: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Write minus infinity over the logits of forbidden tokens, `[B, width]`; tokens count from `begin`."""
    sequence, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    block = block_of(words, places, slots, sequence)
    found, used = words_of(block, all_rows + sequence * num_rows, num_rows, chunk)
    bit = tl.arange(0, 32)[None, :]
    first = chunk * CHUNK_TOKENS + 32 * tl.arange(0, CHUNK_WORDS)[:, None]
    own = logits + sequence * stride + first + bit
    nothing = tl.full((CHUNK_WORDS, 32), float("-inf"), logits.dtype.element_ty)
    # Most chunks and words of a mask allow no token; their logits are written several at a time.
    if (used == 0) & ((chunk + 1) * CHUNK_TOKENS <= width):
        tl.store(own, nothing)
    else:
        word, token = found[:, None], first + bit
        inside = token < width
        allowed = ((word >> bit) & 1) != 0
        if LIMITED:
            if binds_any(binds, sequence, num_parts, PARTS):
                allowed = within(block, allowed, begin + token, inside, fits + sequence * num_classes)
        whole = tl.broadcast_to((word == 0) & (first + 32 <= width), (CHUNK_WORDS, 32))
        tl.store(own, nothing, mask=whole)
        tl.store(own, nothing, mask=inside & ~whole & ~allowed)


@triton.jit(do_not_specialize=["num_rows", "begin", "width", "num_classes", "num_parts"])
def mask_words(
    out, words, places, slots, all_rows, fits, binds, num_rows, begin, width, num_classes, num_parts,
    LIMITED: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Write packed masks, `[B, C, CHUNK_WORDS]` int32 for C chunks."""
    sequence, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    block = block_of(words, places, slots, sequence)
    found, _ = words_of(block, all_rows + sequence * num_rows, num_rows, chunk)
    lane = tl.arange(0, CHUNK_WORDS)
    if LIMITED:
        if binds_any(binds, sequence, num_parts, PARTS):
            bit = tl.arange(0, 32)[None, :]
            token = chunk * CHUNK_TOKENS + 32 * lane[:, None] + bit
            allowed = ((found[:, None] >> bit) & 1) != 0
            allowed = within(block, allowed, begin + token, token < width, fits + sequence * num_classes)
            found = tl.sum(allowed.to(tl.int32) << bit, axis=1)
    tl.store(out + (sequence * tl.num_programs(1) + chunk) * CHUNK_WORDS + lane, found)


@triton.jit
def by_count(block, node, count, inside, num_steps):
    """Return the fewest tokens by count: the value of the last of a node's runs that begins no later than the count."""
    runs = table(block, NODE_RUNS) + PAIR_SIZE * node
    first = table(block, RUNS) + PAIR_SIZE * tl.load(runs, mask=inside, other=0)
    low, high = tl.zeros_like(node), tl.load(runs + 1, mask=inside, other=0)
    for _ in range(num_steps):
        middle = (low + high) // 2
        searching = low < high
        begins = tl.load(first + PAIR_SIZE * middle, mask=searching, other=0).to(tl.int64) <= count
        low = tl.where(searching & begins, middle + 1, low)
        high = tl.where(searching & ~begins, middle, high)
    return tl.load(first + PAIR_SIZE * (low - 1) + 1, mask=low > 0, other=0)


@triton.jit(do_not_specialize=["limit", "configurations", "parts", "stack_size", "num_classes", "num_steps"])
def fit_classes(
    fits, binds, words, places, slots, all_rows, counts, heights, stacks, limits, limit, configurations, parts,
    stack_size, num_classes, num_steps, HAS_LIMITS: tl.constexpr, CLASSES_AT_ONCE: tl.constexpr,
):  # fmt: skip
    """Write which classes fit the budgets, `[B, num_classes]` int8, and by part whether a row allows one that does not.

    The budgets are `limits`, `[B]`, or the same number for all.
    """
    sequence, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    block = block_of(words, places, slots, sequence)
    number = part * CLASSES_AT_ONCE + tl.arange(0, CLASSES_AT_ONCE)
    inside = number < tl.load(block + NUM_CLASSES)
    if HAS_LIMITS:
        limit = tl.load(limits + sequence)
    found = tl.zeros((CLASSES_AT_ONCE,), tl.int1)
    missed = tl.zeros((CLASSES_AT_ONCE,), tl.int1)
    times = tl.load(block + TIMES)
    for way in range(configurations):
        place = sequence * configurations + way
        count, height = tl.load(counts + place), tl.load(heights + place)
        stack = stacks + place * stack_size * STACK_ENTRY_SIZE
        for one in range(parts):
            row = tl.load(all_rows + place * parts + one)
            comb = table(block, ROW_COMB) + PAIR_SIZE * row
            entry = table(block, COMB) + PAIR_SIZE * (tl.load(comb) + number)
            named = tl.load(entry, mask=inside, other=-1)
            own = inside & (tl.load(comb + 1) <= named) & (named <= row)
            outcome = tl.load(entry + 1, mask=own, other=0)
            least = tl.full((CLASSES_AT_ONCE,), FAR, tl.int32)
            for time in range(times):
                move = tl.load(table(block, OUTCOMES) + outcome * times + time, mask=own, other=0)
                effects = table(block, MOVES) + MOVE_SIZE * move
                left = height - tl.load(effects + POPS, mask=own, other=0)
                top = stack + STACK_ENTRY_SIZE * (left - 1)
                context = tl.load(top + 1, mask=own & (left > 0), other=0)
                rest = tl.load(top + 2, mask=own & (left > 0), other=0)
                column = context * tl.load(block + NUM_RESTS) + tl.load(table(block, REST_OF) + move, mask=own, other=0)
                rest += tl.load(table(block, REST) + column, mask=own, other=0)
                if tl.load(block + HAS_RUNS) != 0:
                    node = tl.load(effects + TARGET, mask=own, other=0)
                    keeps = tl.load(effects + KEEPS, mask=own, other=0)
                    after = keeps * count + tl.load(effects + ADDS, mask=own, other=0)
                    rest += by_count(block, node, after, own, num_steps)
                least = tl.minimum(least, rest)
            fit = own & (least < limit)
            found |= fit
            missed |= own & ~fit
    tl.store(fits + sequence * num_classes + number, found.to(tl.int8), mask=number < num_classes)
    tl.store(binds + sequence * tl.num_programs(1) + part, tl.max(missed.to(tl.int32)))


@triton.jit
def row_of(block, node, gauge):
    """Return the row that a node itself selects: that of the interval in which the gauge lies."""
    record = table(block, NODES) + NODE_SIZE * node
    cuts = table(block, CUTS) + tl.load(record + CUTS_AT)
    low, high = tl.zeros_like(gauge), tl.load(record + NUM_CUTS).to(tl.int64)
    while low < high:
        middle = (low + high) // 2
        if tl.load(cuts + middle) <= gauge:
            low = middle + 1
        else:
            high = middle
    return tl.load(table(block, NODE_ROWS) + tl.load(record + ROWS_AT) + low)


@triton.jit(do_not_specialize=["parts_before", "parts", "num_tokens", "reads", "stack_size"])
def advance(
    words, places, slots, rows_before, counts_before, heights_before, stacks_before, tokens, rows_after, counts_after,
    heights_after, stacks_after, parts_before, parts, num_tokens, reads, stack_size, HAS_STACK: tl.constexpr,
    LANES: tl.constexpr, ENTRIES: tl.constexpr,
):  # fmt: skip
    """Write the states of sequences with one configuration each after one more token, `[B]` int64.

    Stacks are written if there are any: `stack_size` entries of three numbers each.
    """
    sequence = tl.program_id(0).to(tl.int64)
    block = block_of(words, places, slots, sequence)
    own_rows = rows_before + sequence * parts_before
    has_ended = tl.load(own_rows) == ENDED

    # The outcome of the token's class, which at most one of the rows has.
    token = tl.load(tokens + sequence)
    is_token = (token >= 0) & (token < num_tokens)
    number = tl.load(table(block, CLASSES) + token, mask=is_token, other=0)
    outcome = tl.full((), -1, tl.int32)
    for part in range(parts_before):
        row = tl.load(own_rows + part)
        comb = table(block, ROW_COMB) + PAIR_SIZE * row
        entry = table(block, COMB) + PAIR_SIZE * (tl.load(comb) + number)
        named = tl.load(entry)
        outcome = tl.where((tl.load(comb + 1) <= named) & (named <= row), tl.load(entry + 1), outcome)
    is_allowed = is_token & (outcome >= 0) & ~has_ended

    # The move: what it pops and pushes, and what it counts.
    effects = table(block, MOVES) + MOVE_SIZE * tl.maximum(outcome, 0)
    count = tl.load(effects + KEEPS) * tl.load(counts_before + sequence) + tl.load(effects + ADDS)
    base = tl.load(heights_before + sequence) - tl.load(effects + POPS)
    pushes = table(block, PUSHES) + tl.load(effects + PUSH_AT)
    pushed = tl.where(is_allowed, tl.load(effects + PUSHED), 0)
    height = base + pushed
    old = stacks_before + sequence * stack_size * STACK_ENTRY_SIZE
    if HAS_STACK:
        place = tl.arange(0, ENTRIES)
        entries = tl.load(old + place, mask=place < STACK_ENTRY_SIZE * stack_size, other=0)
        is_above = is_allowed & (base > 0)
        context = tl.load(old + STACK_ENTRY_SIZE * (base - 1) + 1, mask=is_above, other=0)
        cost = tl.load(old + STACK_ENTRY_SIZE * (base - 1) + 2, mask=is_above, other=0)
        for at in range(pushed):
            symbol = tl.load(pushes + at)
            entry = context * tl.load(block + NUM_SYMBOLS) + symbol
            cost = tl.minimum(cost + tl.load(table(block, COST) + entry), FAR)
            context = tl.load(table(block, NEXT) + entry)
            lowest = STACK_ENTRY_SIZE * (base + at)
            entries = tl.where(place == lowest, symbol, entries)
            entries = tl.where(place == lowest + 1, context, entries)
            entries = tl.where(place == lowest + 2, cost, entries)
        new = stacks_after + sequence * stack_size * STACK_ENTRY_SIZE
        tl.store(new + place, entries, mask=place < STACK_ENTRY_SIZE * stack_size)

    # The rows of the node and of those that the stack leads to from it.
    gauge = tl.where(tl.load(block + GAUGE) == COUNT, count, tl.load(block + DEPTH) - height)
    lane = tl.arange(0, LANES)
    rows = tl.where((lane == 0) & has_ended, ENDED, DEAD)
    node = tl.where(is_allowed, tl.load(effects + TARGET), DEAD)
    found = tl.zeros((), tl.int32)
    for read in range(reads + 1):
        row = row_of(block, node, gauge)
        rows = tl.where((lane == found) & (row != DEAD), row, rows)
        found += (row != DEAD).to(tl.int32)
        walk_at = tl.load(table(block, NODES) + NODE_SIZE * node + WALK_AT)
        below = height - 1 - read
        symbol = tl.load(block + NUM_SYMBOLS)
        if (walk_at >= 0) & (below >= 0):
            if below >= base:
                symbol = tl.load(pushes + (below - base))
            else:
                symbol = tl.load(old + STACK_ENTRY_SIZE * below)
        node = tl.load(table(block, WALK) + walk_at + symbol, mask=walk_at >= 0, other=DEAD)
    tl.store(rows_after + sequence * parts + lane, rows.to(tl.int64), mask=lane < parts)
    tl.store(counts_after + sequence, tl.where(is_allowed, count, 0))
    tl.store(heights_after + sequence, tl.where(is_allowed, height, 0))
