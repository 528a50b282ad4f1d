"""Arrays at random for every function of `decoding._native`: an error that says what is wrong, or an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata._native import Budget
from automata.errors import LimitExceeded
from decoding import _native

# Places in the head of a block, of numbers and of tables (`native/decoding/layout.h`).
FIELDS, ROW_COMB, COMB, NUM_CLASSES, CHUNK_WORDS, ENDED = 32, 4, 5, 23, 64, 1
REFUSALS = (TypeError, ValueError, LimitExceeded)
WILD = [-(1 << 31), -1, 0, 1, 2, 30, 31, 32, 63, 64, 95, 1 << 20, (1 << 31) - 1]
KINDS = [np.int32, np.int64, np.int16, np.float32, np.float64, np.uint8, np.bool_]

numbers = st.one_of(st.integers(-2, 40), st.sampled_from(WILD))


@st.composite
def arrays(draw: Any, kind: Any = np.int64, ndim: int = 1, values: Any = numbers) -> Any:
    """Mostly what is asked for, and sometimes something else."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.sampled_from([None, 3, "x", [1, 2], np.zeros(3, "U1"), np.float64(2)]))
    if draw(st.integers(0, 9)) == 0:
        kind, ndim = draw(st.sampled_from(KINDS)), draw(st.integers(0, 4))
    shape = draw(st.lists(st.integers(0, 5), min_size=ndim, max_size=ndim))
    found = np.array(draw(st.lists(values, min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))), object)
    with np.errstate(all="ignore"):
        array = found.astype(np.int64).astype(kind).reshape(shape)
    if ndim and draw(st.integers(0, 19)) == 0:
        return array[::-1]
    if draw(st.integers(0, 19)) == 0:
        array.flags.writeable = False
    return array


def edges() -> Any:
    """Edges of rows, mostly."""
    return arrays(np.int32, 2).map(lambda found: np.resize(found, (len(found), 3)) if np.ndim(found) == 2 else found)


def budget() -> Budget:
    return Budget(1 << 22, 5.0)


def refused_or_done(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except REFUSALS:
        return None


def offsets_of(sizes: list[int]) -> Any:
    return np.cumsum([0, *sizes])


@settings(max_examples=75, deadline=None)
@given(arrays(np.int32), edges(), arrays(np.int32), numbers)
def test_combs_of_anything(offsets: Any, edges: Any, first: Any, num_classes: int) -> None:
    refused_or_done(_native.comb, offsets, edges, first, num_classes, budget())


@settings(max_examples=75, deadline=None)
@given(arrays(np.int32), edges(), arrays(np.int32), arrays(np.int32), numbers, numbers, numbers)
def test_masks_of_anything(
    offsets: Any, edges: Any, first: Any, classes: Any, num_classes: int, begin: int, end: int
) -> None:
    refused_or_done(_native.row_masks, offsets, edges, first, classes, num_classes, begin, end, budget())


# Of each family the level of each of its classes.
families_of_classes = st.lists(st.dictionaries(st.integers(0, 30), st.integers(0, 3), max_size=20), max_size=12)


def rows_of(families: list[dict[int, int]]) -> tuple[Any, Any, Any]:
    """Families with as many rows as they have levels, and one at least; outcomes count from 5 on."""
    offsets = offsets_of([len(family) for family in families]).astype(np.int32)
    levels = [(number, family[number]) for family in families for number in sorted(family)]
    edges = np.array([(number, place + 5, level) for place, (number, level) in enumerate(levels)], np.int32)
    first = offsets_of([1 + max(family.values(), default=0) for family in families]).astype(np.int32)
    return offsets, edges.reshape(-1, 3), first


def written_out(families: list[dict[int, int]]) -> list[set[int]]:
    """The classes of each row."""
    return [
        {number for number, own in family.items() if own <= level}
        for family in families
        for level in range(1 + max(family.values(), default=0))
    ]


@settings(max_examples=75, deadline=None)
@given(families_of_classes, st.integers(1, 2000))
def test_combs_hold_every_row_and_nothing_else(families: list[dict[int, int]], num_classes: int) -> None:
    kept = [{number: family[number] for number in family if number < num_classes} for family in families]
    offsets, edges, first = rows_of(kept)
    combs, table = _native.comb(offsets, edges, first, num_classes, budget())
    family_of = np.repeat(np.arange(len(kept)), np.diff(first))
    rows = written_out(kept)
    assert len(combs) == len(rows)
    for row, classes in enumerate(rows):
        (base, begin), family = combs[row], family_of[row]
        entries = table[base : base + num_classes]
        assert begin == first[family]
        assert len(entries) == num_classes
        found = np.flatnonzero((begin <= entries[:, 0]) & (entries[:, 0] <= row))
        assert set(found.tolist()) == classes
        own = edges[offsets[family] : offsets[family + 1]]
        assert entries[found, 1].tolist() == own[np.isin(own[:, 0], found), 1].tolist()


@settings(max_examples=75, deadline=None)
@given(families_of_classes, st.lists(st.integers(0, 30), max_size=40), st.integers(0, 50), st.integers(1, 5000))
def test_masks_are_of_the_tokens_of_their_classes(
    families: list[dict[int, int]], classes: list[int], begin: int, width: int
) -> None:
    token_class = np.array(classes, np.int32)
    arguments: Any = *rows_of(families), token_class, 31, begin, begin + width, budget()
    row_mask, masks, chunks, forced = _native.row_masks(*arguments)
    assert not chunks[0].any()
    assert len({chunk.tobytes() for chunk in chunks}) == len(chunks)
    rows = written_out(families)
    assert len(row_mask) == len(rows)
    for row, own in enumerate(rows):
        words = np.ascontiguousarray(chunks[masks[row_mask[row]]]).reshape(-1)
        found = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")) + begin
        allowed = [token for token, number in enumerate(classes) if number in own]
        # Class 0 is of tokens that are never allowed.
        expected = [token for token in allowed if begin <= token < begin + width and classes[token]]
        assert found.tolist() == expected
        assert forced[row] == (-2 if not allowed else allowed[0] if len(allowed) == 1 else -1)


@pytest.mark.parametrize("seed", range(12))
def test_masks_of_many_tokens(seed: int) -> None:
    """Rows that are alike, so that masks begin as others, with a class of most tokens or none."""
    random = np.random.default_rng(seed)
    num_classes, num_tokens, width = 24, 9_000, 9_500
    shares = random.dirichlet(np.full(num_classes, 0.1 if seed % 2 else 3.0))
    token_class = random.choice(num_classes, num_tokens, p=shares).astype(np.int32)
    alike = random.random((5, num_classes)) < 0.5
    rows = [np.flatnonzero(alike[row % 5] ^ (random.random(num_classes) < 0.1)).tolist() for row in range(60)]
    begin = 0 if seed % 3 else 1_000
    arguments: Any = *rows_of([dict.fromkeys(row, 0) for row in rows]), token_class, num_classes, begin, width, budget()
    row_mask, masks, chunks, _ = _native.row_masks(*arguments)
    assert len({chunk.tobytes() for chunk in chunks}) == len(chunks)
    for row, own in enumerate(rows):
        words = np.ascontiguousarray(chunks[masks[row_mask[row]]]).reshape(-1)
        found = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")) + begin
        expected = np.flatnonzero(np.isin(token_class, own) & (token_class > 0))
        assert np.array_equal(found, expected[expected >= begin])


def test_budgets_bound_what_is_made() -> None:
    offsets, first = np.arange(0, 30_003, 3, dtype=np.int32), np.arange(10_001, dtype=np.int32)
    number = np.sort(np.random.default_rng(0).integers(0, 3000, (10_000, 3)), 1) + np.arange(3)
    edges, classes = np.zeros((30_000, 3), np.int32), np.arange(3000, dtype=np.int32)
    edges[:, 0] = number.reshape(-1)
    calls: list[tuple[Any, Any]] = [(_native.comb, (3003,)), (_native.row_masks, (classes, 3003, 0, 128_000))]
    for call, arguments in calls:
        with pytest.raises(LimitExceeded):
            call(offsets, edges, first, *arguments, Budget(100_000, 5.0))


# Memory and steps.


def block(num_tokens: int, num_rows: int, *, weighted: bool = False) -> np.ndarray[Any, np.dtype[np.int32]]:
    """A block with one node, whose rows allow the odd classes and lead on to it."""
    classes = np.arange(num_tokens) % 4
    chunks = np.zeros((2, CHUNK_WORDS), np.uint32)
    chunks[1] = 0xAAAAAAAA
    tables: list[Any] = [classes]
    head = np.zeros(FIELDS, np.int64)
    place = FIELDS + chunks.size
    mask_at = place + num_tokens + num_rows
    combs = np.stack([np.arange(num_rows) * 4, np.arange(num_rows)], 1)
    entries = np.array([(row if number % 2 else -1, 0) for row in range(num_rows) for number in range(4)])
    masks = np.array([FIELDS, FIELDS + CHUNK_WORDS])
    tables += [np.array([mask_at, *[mask_at + 1] * (num_rows - 1)]), masks, np.full(num_rows, -1), combs, entries]
    tables += [np.zeros((1, 1)), np.array([[0, 0, 0, 2, 0, 0]]), [0]]
    tables += [[], [[-1, 0, 0, 0]] * 3, [], [2], [], [[1]], [], []]
    # The first token costs 1.5 in every row but that where nothing is allowed.
    weights = np.array([[0, np.float32(1.5).view(np.int32)]])
    tables += [[], [], np.array([[0, 0], *[[0, 1]] * (num_rows - 1)]) if weighted else [], weights if weighted else []]
    for field, table in enumerate(tables):
        head[field], place = place, place + np.size(table)
    numbers = {21: 0, 22: 1, NUM_CLASSES: 4, 24: 0, 25: 1, 26: 1, 31: int(weighted)}
    for field, value in numbers.items():
        head[field] = value
    return np.concatenate([head, chunks.view(np.int32).reshape(-1), *[np.ravel(table) for table in tables]]).astype(
        np.int32
    )


def memory(words: Any, size: int, *, configurations: int = 1, width: int = 40) -> Any:
    places, sizes = np.array([3, 0]), np.array([size, 0])
    return _native.ArenaMemory(words, places, sizes, configurations, 4, 0, width)


def sequences(size: int, row: int = 2, configurations: int = 1) -> list[Any]:
    return [
        np.zeros(size, np.int64),
        np.full((size, configurations, 1), row),
        np.zeros((size, configurations), np.int64),
        np.zeros((size, configurations), np.int64),
        np.zeros((size, configurations, 4, 3), np.int32),
    ]


def after(size: int) -> list[Any]:
    return [np.full_like(part, -9) for part in sequences(size)[1:]]


def test_a_block_made_by_hand_does_what_it_says() -> None:
    words = np.concatenate([np.zeros(3, np.int32), block(40, 3)])
    held, found = memory(words, len(words) - 3), after(2)
    held.check(*sequences(2))
    held.advance(*sequences(2), np.array([1, 2]), *found)
    assert found[0].ravel().tolist() == [2, 0]
    held.advance(*sequences(1, ENDED), np.array([1]), *(ended := after(1)))
    assert ended[0].ravel().tolist() == [ENDED]
    for kind in (np.int16, np.int32, np.int64):
        logits = np.ones((2, 40), kind)
        held.mask_logits(*sequences(2)[:2], -7, 1, logits)
        assert logits.tolist() == [[-7, 1] * 20] * 2
        held.mask_logits_within(*sequences(2), np.array([1, 2]), -8, 2, logits)
        assert logits.tolist() == [[-8] * 40, [-8, 1] * 20]
    out = np.full((2, CHUNK_WORDS), 5, np.int32)
    held.write_masks(*sequences(2)[:2], out)
    assert (out.view(np.uint32) == 0xAAAAAAAA).all()


def test_weights_are_subtracted_from_logits_of_every_type() -> None:
    words = np.concatenate([np.zeros(3, np.int32), block(40, 3, weighted=True)])
    # The only weight is that of token 0, which is not allowed; let it be of token 1.
    words[-2] = 1
    held, slots_and_rows = memory(words, len(words) - 3), sequences(2)[:2]
    slots_and_rows[1][1] = ENDED
    for kind, infinity in ((np.float32, -0x800000), (np.float64, -0x10000000000000), (np.float16, -0x400)):
        logits = np.full((2, 40), 2, kind)
        held.mask_logits(*slots_and_rows, infinity, 1, logits.view(f"i{logits.itemsize}"))
        assert logits[:, 0].tolist() == [-np.inf] * 2
        assert logits[:, 1].tolist() == [0.5] * 2
        assert logits[:, 3].tolist() == [2] * 2
    for value in np.arange(1 << 16, dtype=np.uint16).view(np.float16)[::7]:
        with np.errstate(over="ignore", invalid="ignore"):
            expected = (np.float32(value) - np.float32(1.5)).astype(np.float16)
        logits = np.full((2, 40), value, np.float16)
        held.mask_logits(*slots_and_rows, -0x400, 1, logits.view(np.int16))
        np.testing.assert_array_equal(logits[:, 1], np.full(2, expected))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_steps_through_memory_of_any_content(data: Any) -> None:
    made = block(40, 3, weighted=data.draw(st.booleans()))
    words = np.concatenate([np.zeros(3, np.int32), made, np.zeros(5, np.int32)])
    size = len(words) - data.draw(st.integers(0, 9))
    for _ in range(data.draw(st.integers(0, 12))):
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(numbers)
    held = memory(words, size)
    at = [part if data.draw(st.integers(0, 6)) else data.draw(arrays(part.dtype, part.ndim)) for part in sequences(3)]
    for _ in range(3):
        tokens = data.draw(st.one_of(st.just(np.array([1, 3, 39])), arrays()))
        logits = data.draw(st.sampled_from([np.ones((3, 40), np.float32), np.ones((3, 99), np.int16)[:, 2:42],
                                            np.ones((3, 80))[:, ::2], np.ones((40, 3)).T, None]))  # fmt: skip
        refused_or_done(held.check, *at)
        refused_or_done(held.mask_logits, *at[:2], data.draw(numbers), data.draw(numbers), logits)
        refused_or_done(held.mask_logits_within, *at, data.draw(arrays()), -1, 1, logits)
        refused_or_done(held.write_masks, *at[:2], data.draw(st.sampled_from([np.zeros((3, 64), np.int32), logits])))
        found = after(3)
        refused_or_done(held.advance, *at, tokens, *found)
        if data.draw(st.booleans()):
            at[1:] = found


@settings(max_examples=100, deadline=None)
@given(arrays(np.int32), arrays(), arrays(), numbers, numbers, numbers, numbers)
def test_memory_of_anything(
    words: Any, places: Any, sizes: Any, configurations: int, stack_size: int, begin: int, end: int
) -> None:
    held = refused_or_done(_native.ArenaMemory, words, places, sizes, configurations, stack_size, begin, end)
    if held is not None:
        refused_or_done(held.mask_logits, np.zeros(1, np.int64), np.zeros((1, 1, 1), np.int64), -1, 1, np.ones((1, 9)))


def test_logits_that_overlap_or_may_not_be_written_are_refused() -> None:
    words = np.concatenate([np.zeros(3, np.int32), block(40, 3)])
    held, at = memory(words, len(words) - 3), sequences(2)[:2]
    frozen = np.ones((2, 40), np.int32)
    frozen.flags.writeable = False
    overlapping = np.lib.stride_tricks.as_strided(np.ones(60, np.int32), (2, 40), (40, 4))
    for logits in (frozen, overlapping, np.broadcast_to(np.ones(40, np.int32), (2, 40)), np.ones((2, 41), np.int32)):
        with pytest.raises((TypeError, ValueError)):
            held.mask_logits(*at, -1, 1, logits)
