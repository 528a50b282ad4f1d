"""What does not fit an arena is refused with a message that names it, before anything is read or written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete

from decoding.arena import Arena
from decoding.arena.checks import check_logits
from decoding.arena.machine import Machine, leaves, plain_moves, single_rows
from decoding.arena.mask_chunks import mask_chunks
from tokenfst import Vocabulary

VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), b"aa", b""], [257])
WIDTH = 300
SIZE = 4


def arena_of(configurations: int = 1) -> Arena:
    arena = Arena(VOCABULARY, width=WIDTH, max_bytes=1 << 20, max_depth=3, max_slots=4, configurations=configurations)
    assert arena.add(complete("(ab)*c", VOCABULARY)) == 1
    assert arena.add(complete("[a-c]{2,9}", VOCABULARY)) == 2
    arena.drop(1)
    return arena


@pytest.fixture(params=[1, 2])
def arena(request: pytest.FixtureRequest) -> Arena:
    return arena_of(request.param)


def logits(rows: int = SIZE, width: int = WIDTH) -> torch.Tensor:
    return torch.zeros(rows, width)


@pytest.mark.parametrize("slots", [[77], [1], [-1], [2, 3], torch.tensor([2, 77]), torch.tensor([-1])])
def test_slots_that_are_not_in_use(arena: Arena, slots: Any) -> None:
    number = max(slots.tolist() if isinstance(slots, torch.Tensor) else slots)
    with pytest.raises(ValueError, match=rf"slot {number} is not in use; those in use are \[0, 2\]"):
        arena.starts(slots)
    with pytest.raises(ValueError, match=f"slot {number} is not in use"):
        arena.min_tokens(number)


@pytest.mark.parametrize("slots", [["a"], [1.5], torch.tensor([1.0]), torch.zeros(1, 1, dtype=torch.int64), 2])
def test_slots_that_are_no_numbers(arena: Arena, slots: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        arena.starts(slots)


def test_one_slot_is_given_in_a_list(arena: Arena) -> None:
    slot: Any = 2
    with pytest.raises(TypeError, match=r"slots are a list, even if there is one: \[slot\], not 2"):
        arena.starts(slot)


@pytest.mark.parametrize(
    ("given_logits", "message"),
    [
        (logits(2), r"\[2, 300\], and there are 4 sequences and 300 tokens"),
        (logits(SIZE, 258), r"\[4, 258\], and there are 4 sequences and 300 tokens"),
        (logits(SIZE, 5000), r"\[4, 5000\], .*: for a model that pads its logits, make the arena with `width`"),
        (logits().flatten(), r"\[1200\]"),
        (logits().long(), "int64"),
        (logits().numpy(), "ndarray"),
        (logits().to("meta"), "on meta"),
    ],
)
@pytest.mark.parametrize("remaining", [None, 3])
def test_logits_that_do_not_fit(arena: Arena, given_logits: Any, message: str, remaining: int | None) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        arena.apply_(given_logits, arena.starts([2] * SIZE), remaining)


@pytest.mark.parametrize("remaining", [torch.ones(3), torch.ones(3).long(), torch.ones(SIZE), "x", 2.5,
                                       torch.ones(SIZE, dtype=torch.int64, device="meta")])  # fmt: skip
def test_budgets_that_do_not_fit(arena: Arena, remaining: Any) -> None:
    at = arena.starts([2] * SIZE)
    for step in (lambda: arena.apply_(logits(), at, remaining), lambda: arena.mask(at, remaining),
                 lambda: arena.bitmask(at, remaining), lambda: arena.token_ids(at, remaining)):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="remaining"):
            step()


def test_budgets_of_any_size_and_type_are_taken(arena: Arena) -> None:
    at = arena.starts([2] * SIZE)
    free = arena.mask(at)
    tensors = torch.full((SIZE,), 1 << 40), torch.full((SIZE,), 100, dtype=torch.int8)
    remaining: Any
    for remaining in (10**30, 1 << 40, np.int64(50), np.uint8(50), True, *tensors):
        expected = free if remaining is not True else torch.zeros_like(free)
        assert torch.equal(arena.mask(at, remaining), expected)
        assert torch.equal(arena.apply_(logits(), at, remaining), logits().masked_fill(~expected, float("-inf")))
    assert not arena.mask(at, -(10**30)).any()
    every_other = torch.arange(2 * SIZE)[::2] % 2 + 40
    assert torch.equal(arena.apply_(logits(), at, every_other), logits().masked_fill(~free, float("-inf")))


@pytest.mark.parametrize("wrap_up", [torch.ones(3), torch.ones(SIZE, 1), torch.ones(SIZE).long(), 1.0])
def test_soft_closes_that_do_not_fit(arena: Arena, wrap_up: Any) -> None:
    written = logits()
    with pytest.raises((TypeError, ValueError), match="wrap_up"):
        arena.apply_(written, arena.starts([2] * SIZE), wrap_up=wrap_up)
    assert torch.equal(written, logits())


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (torch.tensor([97]), r"\[1\], and there are 4 sequences"),
        (torch.tensor([97] * 5), r"\[5\]"),
        (torch.tensor([[97] * 4]), r"\[1, 4\]"),
        (torch.tensor([97.0] * 4), "integers"),
        (torch.tensor([97, 97, WIDTH, 97]), "token 300"),
        (torch.tensor([97, -1, 97, 97]), "token -1"),
        (torch.tensor([97] * 4, device="meta"), "on meta"),
        ([97] * 4, "list"),
    ],
)
def test_tokens_that_do_not_fit(arena: Arena, tokens: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        arena.advance(arena.starts([2] * SIZE), tokens)


def test_tokens_of_other_integer_types_are_taken(arena: Arena) -> None:
    at = arena.starts([2] * SIZE)
    expected = arena.advance(at, torch.full((SIZE,), 97))
    for tokens in (torch.full((SIZE,), 97, dtype=torch.int32), torch.full((2 * SIZE,), 97)[::2]):
        assert torch.equal(arena.advance(at, tokens).row, expected.row)


MASKS: list[Callable[[Arena, Any], object]] = [
    Arena.bitmask,
    Arena.mask,
    Arena.token_ids,
    lambda arena, at: arena.apply_(logits(), at),
]
STEPS: list[Callable[[Arena, Any], object]] = [
    Arena.min_tokens_left,
    Arena.ended,
    Arena.astray,
    Arena.check,
    Arena.forced,
    Arena.excess,
    lambda arena, at: arena.mask(at, 5),
    lambda arena, at: arena.apply_(logits(), at, 5),
    lambda arena, at: arena.advance(at, torch.full((SIZE,), 97)),
    *MASKS,
]


@pytest.mark.parametrize("step", STEPS)
def test_sequences_of_other_arenas_and_shapes(arena: Arena, step: Callable[[Arena, Any], object]) -> None:
    at = arena.starts([2] * SIZE)
    wrong: list[Any] = [None, tuple(at), arena_of(3).starts([2] * SIZE)]
    wrong += [at._replace(row=part) for part in (at.row[:2], at.row.int(), at.row[0], at.row.repeat(1, 2, 1))]
    if step not in MASKS:
        wrong += [Arena(VOCABULARY).starts([0] * SIZE), at._replace(stack=at.stack[:, :, :-1])]
    for found in wrong:
        with pytest.raises((TypeError, ValueError)):
            step(arena, found)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("slot", 77, "slot 77"), ("slot", 1, "slot 1"), ("slot", -1, "slot -1"), ("row", 1000, "row 1000"),
     ("row", -1, "row -1"), ("height", -1, "-1 symbols"), ("height", 99, "99 symbols"), ("counter", -1, "-1"),
     ("counter", 1 << 40, "counted to")],
)  # fmt: skip
def test_sequences_that_stand_nowhere(arena: Arena, field: str, value: int, message: str) -> None:
    at = arena.starts([2] * SIZE)
    changed = getattr(at, field).clone()
    changed.view(-1)[-1] = value
    found = at._replace(**{field: changed})
    # Masks without a budget look at rows alone, and some look at no numbers at all.
    blind = [Arena.ended, Arena.astray, Arena.check, *([] if field in ("slot", "row") else MASKS)]
    for step in (step for step in STEPS if step not in blind):
        with pytest.raises(ValueError, match=message):
            step(arena, found)


def test_logits_wherever_they_lie_are_masked_in_place() -> None:
    arena = arena_of()
    at = arena.starts([2, 0, 2])
    expected = torch.zeros(3, WIDTH).masked_fill(~arena.mask(at), float("-inf"))
    columns, steps = torch.zeros(WIDTH, 3).T, torch.zeros(3, 2 * WIDTH)[:, ::2]
    for found in (columns, steps, torch.zeros(6, WIDTH)[::2], torch.zeros(3, WIDTH, requires_grad=True)):
        with torch.no_grad():
            assert arena.apply_(found, at) is found
        assert torch.equal(found.detach(), expected)
    nothing = torch.zeros(0, WIDTH)
    assert arena.apply_(nothing, arena.starts([])) is nothing


OVERLAPPING = {
    "one row": torch.zeros(1, WIDTH).expand(SIZE, WIDTH),
    "one column": torch.zeros(SIZE, 1).expand(SIZE, WIDTH),
    "one number": torch.zeros(1, 1).expand(SIZE, WIDTH),
    "rows that begin in others": torch.zeros(2 * WIDTH).as_strided((SIZE, WIDTH), (WIDTH - 200, 1)),
    "columns that begin in others": torch.zeros(2 * WIDTH).as_strided((SIZE, WIDTH), (1, SIZE - 3)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
@pytest.mark.parametrize("remaining", [None, 3])
def test_logits_that_overlap(arena: Arena, name: str, remaining: int | None) -> None:
    given_logits = OVERLAPPING[name]
    for wrap_up in (None, torch.ones(SIZE)):
        with pytest.raises(ValueError, match="logits overlap in memory"):
            arena.apply_(given_logits, arena.starts([2] * SIZE), remaining, wrap_up=wrap_up)
    assert not given_logits.any()


@given(st.tuples(*[st.integers(0, 4)] * 2), st.tuples(*[st.integers(0, 6)] * 2))
def test_logits_overlap_where_a_place_in_memory_occurs_twice(shape: tuple[int, int], strides: tuple[int, int]) -> None:
    found = torch.arange(40.0).as_strided(shape, strides)
    try:
        check_logits(found, *shape, found.device)
        overlap = False
    except ValueError:
        overlap = True
    assert overlap == (len(found.unique()) < found.numel())


@pytest.mark.parametrize("remaining", [None, 3, torch.zeros(0, dtype=torch.int64)])
def test_no_sequences_at_all(arena: Arena, remaining: Any) -> None:
    at = arena.starts([])
    assert arena.mask(at, remaining).shape == (0, WIDTH)
    assert arena.bitmask(at, remaining).shape == (0, -(-WIDTH // 32))
    assert arena.token_ids(at, remaining) == []
    assert arena.apply_(logits(0), at, remaining, wrap_up=torch.zeros(0)).shape == (0, WIDTH)
    assert len(arena.advance(at, torch.zeros(0, dtype=torch.int64)).slot) == 0


@settings(max_examples=75, deadline=None)
@given(st.randoms(use_true_random=False))
def test_whatever_stands_in_the_numbers_nothing_is_read_outside_of_them(random: Any) -> None:
    """Numbers at random in the memory of the arena and in sequences: an error, or some answer."""
    arena, kind = arena_of(), random.randrange(3)
    at = arena.starts([random.choice([0, 2]) for _ in range(SIZE)])
    wild = [-(1 << 31), -1, 0, 1, 2, 27, 28, 29, 300, 1000, 1 << 20, (1 << 31) - 1]
    if kind:
        words = arena._heap.words
        for _ in range(random.randrange(1, 40)):
            words[random.randrange(arena.nbytes // 4 if kind == 1 else 28)] = random.choice(wild)
    else:
        for part in (at.row, at.counter, at.height, at.stack):
            part.view(-1)[random.randrange(part.numel())] = random.choice(wild)
    for remaining, width in product((None, 3), (torch.float32, torch.bfloat16)):
        try:
            arena.apply_(logits().to(width), at, remaining)
            arena.bitmask(at)
            for _ in range(3):
                at = arena.advance(at, torch.tensor([random.randrange(WIDTH) for _ in range(SIZE)]))
        except ValueError:
            pass


def test_masks_of_large_automata_are_made_in_time() -> None:
    random, num_rows, num_classes = np.random.default_rng(0), 100_000, 120_000
    number = np.sort(random.integers(2, num_classes, (num_rows, 3)), 1)
    number += np.arange(3)  # so that they differ
    offsets, outcome = np.arange(num_rows + 1) * 3, np.zeros(3 * num_rows, np.int64)
    nothing = np.zeros(1, np.int64)
    machine = Machine(
        token_class=random.integers(0, num_classes, 128_000), num_classes=num_classes + 3,
        rows=single_rows(offsets, number.reshape(-1), outcome), outcomes=nothing[:, None], moves=plain_moves(nothing),
        nodes=leaves(nothing, nothing, nothing), node_rows=nothing, first=0, rest=nothing[:, None], rest_of=nothing,
        least=1,
    )  # fmt: skip
    begun = perf_counter()
    row_mask, masks, chunks, forced = mask_chunks(machine, 0, 128_000)
    assert perf_counter() - begun < 5
    for row in range(0, num_rows, 5000):
        words = chunks[masks[row_mask[row]]].reshape(-1)
        allowed = np.unpackbits(words.view(np.uint8), bitorder="little")[:128_000]
        expected = np.flatnonzero(np.isin(machine.token_class, number[row]))
        assert np.flatnonzero(allowed).tolist() == expected.tolist()
        assert forced[row] == (expected[0] if len(expected) == 1 else -1 - (len(expected) == 0))
