"""The steps of an arena beside a walk through tables, made at random or by hand, with every stack written out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pushdown_tables import Configuration, Edges, Move, Steps, Walk, make_tables, random_tables, tables_of_steps
from tape import Tape

from automata.errors import EmptyLanguage, LimitExceeded, TooManyConfigurations
from automata.limits import Work
from decoding.arena import FREE_SLOT, Arena, Sequences
from decoding.arena.block import block_of
from decoding.arena.comb import comb
from decoding.arena.from_pushdown import of_pushdown
from decoding.arena.machine import single_rows
from decoding.arena.parallel import common
from tokenfst import Vocabulary
from tokenfst.finite.classes import END, NEVER
from tokenfst.pushdown.distance import distances, stack_distance
from tokenfst.pushdown.tables import PushdownTables


def vocabulary_of_size(size: int) -> Vocabulary:
    return Vocabulary([bytes([65 + number % 26, 97 + number // 26]) for number in range(size)], [])


def arena_of(
    tables: PushdownTables, token_class: Sequence[int], max_depth: int, width: int | None = None
) -> Arena | None:
    """An arena with tables alone in slot 1; None if every text needs a higher stack."""
    try:
        found = distances(stack_distance(tables))
    except LimitExceeded:
        reject()
    classes, ends = np.array(token_class, np.int32), SimpleNamespace(eos_ids=(0,))
    stand_in: Any = SimpleNamespace(
        tables=tables, token_class=classes, max_depth=None, distances=found, vocabulary=ends
    )
    arena = Arena(
        vocabulary_of_size(len(token_class)),
        width=width,
        max_bytes=1 << 20,
        max_depth=max_depth,
        configurations=tables.max_configurations,
    )
    try:
        block = block_of(of_pushdown(stand_in, max_depth), arena.width, 0, arena.width, Work())
        assert arena.enter(block) == 1
    except EmptyLanguage:
        assert not Walk(tables, max_depth).allowed([(tables.start, ())])
        return None
    return arena


def some_classes(num_classes: int, seed: int) -> list[int]:
    """Each class has two tokens or three, in any order."""
    random = np.random.default_rng(seed)
    classes = np.repeat(np.arange(num_classes), random.integers(2, 4, num_classes))
    shuffled: list[int] = random.permutation(classes).tolist()
    return shuffled


def check_walks(arena: Arena, tables: PushdownTables, classes: list[int], seed: int, length: int = 12) -> None:
    """Random texts, allowed tokens mostly, against a walk through the tables; every other sequence is free."""
    random, batch = np.random.default_rng(seed), 6
    walk, token_class = Walk(tables, arena.max_depth), np.array(classes)
    expected: list[list[Configuration]] = [[(tables.start, ())] for _ in range(batch)]
    at, most = arena.starts([1, FREE_SLOT] * batch), [1] * batch
    for _ in range(length):
        most = [max(count, len(configurations)) for count, configurations in zip(most, expected, strict=True)]
        masks, words = arena.mask(at), arena.bitmask(at)
        tokens = []
        for row, configurations in enumerate(expected):
            overflowed = bool(at.overflowed[2 * row])
            assert not overflowed or most[row] > arena.configurations
            wanted = np.isin(token_class, sorted(walk.allowed([] if overflowed else configurations)))
            assert masks[2 * row, : len(wanted)].tolist() == wanted.tolist()
            assert not masks[2 * row, len(wanted) :].any()
            assert masks[2 * row + 1].tolist() == [True] * len(wanted) + [False] * (arena.width - len(wanted))
            unpacked = np.unpackbits(words[2 * row].numpy().view(np.uint8), bitorder="little")
            assert unpacked[: arena.width].tolist() == masks[2 * row].tolist()
            assert not unpacked[arena.width :].any()
            choices = np.flatnonzero(wanted) if wanted.any() and random.random() < 0.95 else np.arange(len(wanted))
            tokens += [int(random.choice(choices))] * 2
        check_core(arena, at, seed)
        at = arena.advance(at, torch.tensor(tokens))
        numbers = token_class[tokens[::2]].tolist()
        expected = [walk.advance(each, number)[:100] for each, number in zip(expected, numbers, strict=True)]


def check_core(arena: Arena, at: Sequences, seed: int) -> None:
    """What is allowed, what is written into logits, and where every token leads, is what the tensor operations say."""
    words = arena.bitmask(at)
    assert torch.equal(words, arena._program.mask_words(at, 1)[:, : words.shape[1]])
    logits = torch.randn(len(at.slot), arena.width, generator=torch.Generator().manual_seed(seed))
    for remaining in (None, 3, torch.arange(len(at.slot)) % 5):
        mask = arena.mask(at, remaining)
        written = arena.apply_(logits.clone(), at, remaining)
        assert torch.equal(written, logits.masked_fill(~mask, float("-inf")))
    for token in range(0, len(arena.vocabulary), 3) if arena.configurations == 1 else ():
        tokens = torch.full((len(at.slot),), token)
        assert_same(arena, arena.advance(at, tokens), arena._program.advance(at, tokens))


def assert_same(arena: Arena, one: Sequences, other: Sequences) -> None:
    """Whether sequences stand at the same place; what lies above a stack means nothing."""
    assert torch.equal(one.row, other.row)
    assert torch.equal(one.overflowed, other.overflowed)
    alive = one.row[:, :, 0] > 1
    for name in ("counter", "height"):
        assert torch.equal(getattr(one, name)[alive], getattr(other, name)[alive])
    filled = torch.arange(one.stack.shape[2]) < one.height[..., None]
    inside = filled & alive[..., None]
    assert torch.equal(one.stack[inside], other.stack[inside])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 6))
def test_steps_equal_a_walk_through_random_tables(seed: int, max_depth: int) -> None:
    tables = random_tables(seed)
    classes = some_classes(tables.num_classes, seed)
    arena = arena_of(tables, classes, max_depth, len(classes) + seed % 40)
    if arena is not None:
        check_walks(arena, tables, classes, seed)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 6), st.integers(2, 5))
def test_parallel_configurations_equal_a_walk_with_all_of_them(seed: int, max_depth: int, carried: int) -> None:
    tables = random_tables(seed, carried)
    classes = some_classes(tables.num_classes, seed)
    arena = arena_of(tables, classes, max_depth)
    if arena is not None:
        check_walks(arena, tables, classes, seed)


LETTERS = ["a", "b", "aa", "ab", "abb", "aabb", "bb", "bbb"]
# State 0 reads a and pushes, state 1 reads b and pops; the lowest symbol is 1, and below it the text is at its end.
COUNTING: Steps = {
    (0, "a"): [((), (1,), 1)],
    (1, "a"): [((), (0,), 1)],
    (1, "b"): [((0,), (), 2), ((1,), (), 3)],
    (2, "b"): [((0,), (), 2), ((1,), (), 3)],
}


def counting(max_depth: int, tokens: list[str] = LETTERS) -> Arena | None:
    """a^n b^n, n > 0."""
    tables = tables_of_steps(COUNTING, final=3, num_symbols=2, tokens=tokens)
    return arena_of(tables, [*range(2, 2 + len(tokens)), END, NEVER], max_depth)


def write(arena: Arena, tokens: list[str]) -> Sequences:
    at = arena.starts([1])
    for token in tokens:
        at = arena.advance(at, torch.tensor([LETTERS.index(token) if token else 8]))
    return at


def allowed(arena: Arena, at: Sequences, row: int = 0) -> set[str]:
    names = [*LETTERS, "", "never"]
    return {names[token] for token in arena.token_ids(at)[row].tolist()}


def test_tokens_that_cross_the_turn_are_allowed_where_the_stack_has_what_they_pop() -> None:
    arena = counting(8)
    assert arena is not None
    assert allowed(arena, arena.starts([1])) == {"a", "aa", "ab", "aabb"}
    assert allowed(arena, write(arena, ["a"])) == {"a", "aa", "b", "ab", "abb", "aabb"}
    assert allowed(arena, write(arena, ["aa"])) == {"a", "aa", "b", "bb", "ab", "abb", "aabb"}
    assert allowed(arena, write(arena, ["aa", "abb"])) == {"b"}
    assert int(arena.forced(write(arena, ["aa", "abb"]))) == LETTERS.index("b")
    assert int(arena.forced(write(arena, ["aa"]))) == -1
    assert allowed(arena, write(arena, ["aa", "abb", "b"])) == {""}
    assert allowed(arena, write(arena, ["aa", "abb", "b", ""])) == {""}
    assert allowed(arena, write(arena, ["aa", "abb", "b", "", "a"])) == {""}
    assert allowed(arena, write(arena, ["b"])) == set()
    assert arena.astray(write(arena, ["b"])).all()
    assert arena.ended(write(arena, ["ab", ""])).all()
    assert not arena.ended(write(arena, ["aa"])).any()


def test_at_the_greatest_depth_pushes_are_masked_and_the_text_can_be_completed() -> None:
    arena = counting(3)
    assert arena is not None
    assert allowed(arena, write(arena, ["aa"])) == {"a", "b", "bb", "ab", "abb", "aabb"}
    assert allowed(arena, write(arena, ["aa", "a"])) == {"b", "bb", "bbb", "ab", "abb", "aabb"}
    assert allowed(arena, write(arena, ["aa", "a", "b", "bb"])) == {""}
    assert arena.astray(write(arena, ["aa", "aa"])).all()
    # What one token pushes and pops itself takes no room.
    arena = counting(0)
    assert arena is not None
    assert allowed(arena, arena.starts([1])) == {"ab", "aabb"}
    assert counting(0, ["a", "b"]) is None


def test_branches_share_what_was_written_before_and_nothing_after() -> None:
    arena = counting(8)
    assert arena is not None
    trunk = write(arena, ["aa"])
    branches = arena.advance(trunk.index_select(torch.tensor([0, 0, 0])), torch.tensor([0, 1, 3]))
    assert [allowed(arena, branches, row) for row in range(3)] == [
        allowed(arena, write(arena, ["aa", token])) for token in ("a", "b", "ab")
    ]
    assert allowed(arena, trunk) == allowed(arena, write(arena, ["aa"]))


@pytest.mark.parametrize("carried", [1, 3])
def test_steps_on_a_device_never_wait_for_it(carried: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Arena, "_on_cpu", False)
    for seed in range(6):
        tables = random_tables(seed, carried)
        arena = arena_of(tables, some_classes(tables.num_classes, seed), 4)
        if arena is None:
            continue
        at, remaining = arena.starts([1, FREE_SLOT, 1]), torch.tensor([4, 5, 6])
        logits, tokens = torch.randn(3, arena.width), torch.tensor([0, 1, 2])
        with Tape() as tape:
            for token in range(5):
                arena.mask(at)
                arena.bitmask(at, remaining)
                arena.apply_(logits.clone(), at, remaining - token, wrap_up=remaining.float())
                arena.forced(at)
                arena.min_tokens_left(at)
                at = arena.advance(at, tokens + token)
        assert len(tape) > 0


@pytest.mark.parametrize("carried", [1, 3])
def test_mask_choice_and_step_are_one_graph(carried: int) -> None:
    tables = random_tables(4, carried)
    arena = arena_of(tables, some_classes(tables.num_classes, 0), 5)
    assert arena is not None

    def step(at: Sequences, logits: torch.Tensor, remaining: torch.Tensor) -> tuple[Sequences, torch.Tensor]:
        tokens = arena.apply_(logits.clone(), at, remaining).argmax(-1)
        return arena.advance(at, tokens), arena.bitmask(at)

    # fullgraph: a read of a tensor on the host would break the graph, and that is an error here.
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
    at = compiled_at = arena.starts([1, 1, FREE_SLOT, 1])
    for seed in range(4):
        logits = torch.randn(4, arena.width, generator=torch.Generator().manual_seed(seed))
        remaining = torch.tensor([9, 8, 7, 20]) - seed
        at, words = step(at, logits, remaining)
        compiled_at, compiled_words = compiled(compiled_at, logits, remaining)
        assert torch.equal(words, compiled_words)
        assert_same(arena, at, compiled_at)


def test_a_sequence_with_too_many_configurations_allows_nothing_and_says_so() -> None:
    # Each token pushes one of two symbols, and nothing tells the texts apart: 2, 4, 8 configurations.
    move: list[Move] = [(0, (symbol,), 0, 1) for symbol in range(2)]
    edges: Edges = {(0, 2): move, (0, 3): [(0, (), 0, 0)], (1, END): [(0, (), 1, 0)]}
    tables = make_tables(0, 4, [[-1, -1], [-1, -1]], edges, 2, 0, max_configurations=4)
    arena = arena_of(tables, [2, 3], 9)
    assert arena is not None
    at = arena.starts([1, 1])
    for tokens, overflowed in [([0, 1], False), ([0, 1], False), ([1, 1], False), ([0, 0], True), ([1, 1], True)]:
        at = arena.advance(at, torch.tensor(tokens))
        assert at.overflowed.tolist() == [overflowed, False]
        assert arena.astray(at).tolist() == [overflowed, False]
        with pytest.raises(TooManyConfigurations, match=r"sequences \[0\]") if overflowed else nullcontext():
            arena.check(at)
        assert arena.mask(at).tolist() == [[not overflowed] * 2, [True] * 2]


def test_configurations_that_come_to_the_same_are_merged() -> None:
    # Two ways to write each token, by another push and pop, that leave the same stack: one configuration, always.
    move: list[Move] = [(0, (0,), 0, 1), (0, (0,), 1, 1)]
    again: list[Move] = [(1, (0, 0), 0, 2), (0, (0,), 0, 1)]
    edges: Edges = {(0, 2): move, (1, 2): move, (3, 3): again[:1], (0, 3): again[1:], (2, END): [(0, (), 2, 0)]}
    tables = make_tables(0, 4, [[3], [3], [-1], [-1]], edges, 3, 1, max_configurations=2)
    arena = arena_of(tables, [2, 3], 30)
    assert arena is not None
    check_walks(arena, tables, [2, 3], 0)
    at = arena.starts([1])
    for token in [0, 1, 1, 0, 1]:
        at = arena.advance(at, torch.tensor([token]))
    assert not at.overflowed.any()


def test_stacks_that_look_alike_and_have_other_heights_are_not_merged() -> None:
    # One token pushes one symbol or two, the other pops one, and the end comes with the empty stack.
    edges: Edges = {(0, 2): [(0, (0,), 0, 1), (0, (0, 0), 0, 2)], (2, 3): [(1, (), 0, 0)], (1, END): [(0, (), 1, 0)]}
    tables = make_tables(0, 4, [[2], [-1], [-1]], edges, 2, 1, max_configurations=6)
    arena = arena_of(tables, [2, 3, END], 20)
    assert arena is not None
    at = arena.starts([1])
    for token, pops in [(0, True), (0, True), (0, True), *[(1, True)] * 5, (1, False)]:
        at = arena.advance(at, torch.tensor([token]))
        assert arena.mask(at).tolist() == [[True, pops, False]]
    check_walks(arena, tables, [2, 3, END], 1)


def test_what_stacks_have_in_common_is_found_wherever_they_part() -> None:
    random = np.random.default_rng(0)
    first = random.integers(0, 3, (60, 1, 24))
    # Each place is the first that differs in some pair, with others behind it.
    other = np.where((np.arange(24) >= np.arange(60)[:, None] % 25) & (random.random((60, 24)) < 0.7), 3, first[:, 0])
    stacks = np.concatenate([first, other[:, None]], 1)
    found = common(torch.from_numpy(stacks).int())
    for (below, above), pair in zip(stacks.tolist(), found.tolist(), strict=True):
        expected = next((place for place in range(24) if below[place] != above[place]), 24)
        assert pair == [[24, expected], [expected, 24]]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 60), st.integers(1, 700))
def test_combs_hold_every_row_and_nothing_else(seed: int, num_rows: int, num_classes: int) -> None:
    random = np.random.default_rng(seed)
    rows = [np.flatnonzero(random.random(num_classes) < random.random() ** 4) for _ in range(num_rows)]
    offsets = np.cumsum([0, *map(len, rows)])
    number = np.concatenate(rows)
    value = random.integers(0, 99, len(number))
    combs, table = comb(single_rows(offsets, number, value), num_classes)
    for row, (base, first) in enumerate(combs.tolist()):
        assert first == row
        entries = table[base : base + num_classes]
        assert len(entries) == num_classes
        found = entries[:, 0] == row
        assert np.flatnonzero(found).tolist() == rows[row].tolist()
        assert entries[found, 1].tolist() == value[offsets[row] : offsets[row + 1]].tolist()
