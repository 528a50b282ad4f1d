"""Tensors of pushdown automata do what their tables say, token for token, for every sequence of a batch."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pushdown_cases import ambiguous, brackets, json, nested, sums
from pushdown_tables import Configuration, Walk, make_tables, random_tables, tables_of_steps

import tokenfst
from automata.errors import EmptyLanguage, TokenNotAllowed, TooManyConfigurations
from decoding import pushdown_masks, pushdown_parallel, pushdown_steps
from decoding.pushdown_tensors import Configurations, PushdownTensors
from tokenfst import PushdownTokenAutomaton, Vocabulary
from tokenfst.pushdown.tables import PushdownTables
from tokenfst.token_classes import END, NEVER


def automaton_of(tables: PushdownTables, seed: int = 0) -> Any:
    """Each class has two tokens or three, in any order."""
    random = np.random.default_rng(seed)
    classes = np.repeat(np.arange(tables.num_classes), random.integers(2, 4, tables.num_classes)).astype(np.int32)
    return stand_in(tables, random.permutation(classes))


def stand_in(tables: PushdownTables, token_class: Any) -> Any:
    """What tensors ask of an automaton."""
    return SimpleNamespace(tables=tables, token_class=np.array(token_class, np.int32), max_depth=None)


def check_walks(tensors: PushdownTensors, automaton: Any, seed: int, batch: int = 6, length: int = 12) -> None:
    """Random texts, allowed tokens mostly, against a walk through the tables."""
    random = np.random.default_rng(seed)
    walk = Walk(automaton.tables, tensors.max_depth)
    expected: list[list[Configuration]] = [[(automaton.tables.start, ())] for _ in range(batch)]
    at, most = tensors.starts(batch), [1] * batch
    for _ in range(length):
        most = [max(count, len(configurations)) for count, configurations in zip(most, expected, strict=True)]
        masks, words = tensors.mask(at), tensors.bitmask(at)
        tokens = []
        for row, configurations in enumerate(expected):
            overflowed = bool(at.overflowed[row])
            assert not overflowed or most[row] > tensors.parallel
            allowed = walk.allowed([] if overflowed else configurations)
            wanted = np.isin(automaton.token_class, sorted(allowed))
            assert masks[row, : len(wanted)].tolist() == wanted.tolist()
            assert not masks[row, len(wanted) :].any()
            unpacked = np.unpackbits(words[row].numpy().view(np.uint8), bitorder="little")
            assert unpacked[: tensors.width].tolist() == masks[row].tolist()
            assert not unpacked[tensors.width :].any()
            choices = np.flatnonzero(wanted) if wanted.any() and random.random() < 0.95 else np.arange(len(wanted))
            tokens.append(int(random.choice(choices)))
        at = tensors.advance(at, torch.tensor(tokens))
        numbers = [int(automaton.token_class[token]) for token in tokens]
        expected = [walk.advance(each, number)[:100] for each, number in zip(expected, numbers, strict=True)]


def tensors_of(automaton: Any, max_depth: int, width: int | None = None) -> PushdownTensors | None:
    try:
        return PushdownTensors(automaton, width=width, max_depth=max_depth)
    except EmptyLanguage:
        assert not Walk(automaton.tables, max_depth).allowed([(automaton.tables.start, ())])
        return None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 6))
def test_steps_equal_a_walk_through_random_tables(seed: int, max_depth: int) -> None:
    automaton = automaton_of(random_tables(seed), seed)
    tensors = tensors_of(automaton, max_depth, len(automaton.token_class) + seed % 40)
    if tensors is not None:
        check_walks(tensors, automaton, seed)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 6), st.integers(2, 5))
def test_parallel_configurations_equal_a_walk_with_all_of_them(seed: int, max_depth: int, carried: int) -> None:
    automaton = automaton_of(random_tables(seed, carried), seed)
    tensors = tensors_of(automaton, max_depth)
    if tensors is not None:
        check_walks(tensors, automaton, seed)


LETTERS = ["a", "b", "aa", "ab", "abb", "aabb", "bb", "bbb"]
# State 0 reads a and pushes, state 1 reads b and pops; the lowest symbol is 1, and below it the text is at its end.
COUNTING = {
    (0, "a"): [((), (1,), 1)],
    (1, "a"): [((), (0,), 1)],
    (1, "b"): [((0,), (), 2), ((1,), (), 3)],
    (2, "b"): [((0,), (), 2), ((1,), (), 3)],
}


def counting(tokens: list[str] = LETTERS) -> Any:
    """a^n b^n, n > 0."""
    tables = tables_of_steps(COUNTING, final=3, num_symbols=2, tokens=tokens)
    return stand_in(tables, [*range(2, 2 + len(tokens)), END, NEVER])


def write(tensors: PushdownTensors, tokens: list[str]) -> Configurations:
    at = tensors.starts(1)
    for token in tokens:
        at = tensors.advance(at, torch.tensor([LETTERS.index(token) if token else 8]))
    return at


def allowed(tensors: PushdownTensors, at: Configurations, row: int = 0) -> set[str]:
    names = [*LETTERS, "", "never"]
    return {name for name, bit in zip(names, tensors.mask(at)[row].tolist(), strict=True) if bit}


def test_tokens_that_cross_the_turn_are_allowed_where_the_stack_has_what_they_pop() -> None:
    tensors = PushdownTensors(counting(), max_depth=8)
    assert allowed(tensors, tensors.starts(1)) == {"a", "aa", "ab", "aabb"}
    assert allowed(tensors, write(tensors, ["a"])) == {"a", "aa", "b", "ab", "abb", "aabb"}
    assert allowed(tensors, write(tensors, ["aa"])) == {"a", "aa", "b", "bb", "ab", "abb", "aabb"}
    assert allowed(tensors, write(tensors, ["aa", "abb"])) == {"b"}
    assert allowed(tensors, write(tensors, ["aa", "abb", "b"])) == {""}
    assert allowed(tensors, write(tensors, ["aa", "abb", "b", ""])) == {""}
    assert allowed(tensors, write(tensors, ["aa", "abb", "b", "", "a"])) == {""}
    assert allowed(tensors, write(tensors, ["b"])) == set()
    assert int(write(tensors, ["b"]).state) == tensors.dead
    assert int(write(tensors, ["ab", ""]).state) == tensors.end


def test_at_the_greatest_depth_pushes_are_masked_and_the_text_can_be_completed() -> None:
    tensors = PushdownTensors(counting(), max_depth=3)
    assert allowed(tensors, write(tensors, ["aa"])) == {"a", "b", "bb", "ab", "abb", "aabb"}
    assert allowed(tensors, write(tensors, ["aa", "a"])) == {"b", "bb", "bbb", "ab", "abb", "aabb"}
    assert allowed(tensors, write(tensors, ["aa", "a", "b", "bb"])) == {""}
    assert int(write(tensors, ["aa", "aa"]).state) == tensors.dead
    # What one token pushes and pops itself takes no room.
    tensors = PushdownTensors(counting(), max_depth=0)
    assert allowed(tensors, tensors.starts(1)) == {"ab", "aabb"}
    with pytest.raises(EmptyLanguage, match="needs a stack of more than 0 symbols"):
        PushdownTensors(counting(["a", "b"]), max_depth=0)


def test_branches_share_what_was_written_before_and_nothing_after() -> None:
    tensors = PushdownTensors(counting(), max_depth=8)
    trunk = write(tensors, ["aa"])
    branches = tensors.advance(trunk.index_select(torch.tensor([0, 0, 0])), torch.tensor([0, 1, 3]))
    assert [allowed(tensors, branches, row) for row in range(3)] == [
        allowed(tensors, write(tensors, ["aa", token])) for token in ("a", "b", "ab")
    ]
    assert allowed(tensors, trunk) == allowed(tensors, write(tensors, ["aa"]))


class OnlyStatic(torch.utils._python_dispatch.TorchDispatchMode):
    """Refuses what the host would have to wait for, or what has a shape that depends on values."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert name not in {"_local_scalar_dense", "nonzero", "masked_select", "unique_dim", "_unique2", "item"}, name
        for index in args[1] if name == "index" else []:
            assert index is None or index.dtype == torch.int64
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("carried", [1, 3])
@pytest.mark.parametrize("limit", ["_WALK_ENTRIES", "_DENSE_ENTRIES", "WORDS_BYTES", None])
def test_steps_never_wait_for_the_device_whatever_the_tables(
    limit: str | None, carried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit is not None:
        monkeypatch.setattr(pushdown_masks if limit == "WORDS_BYTES" else pushdown_steps, limit, 0)
    for seed in range(6):
        automaton = automaton_of(random_tables(seed, carried), seed)
        tensors = tensors_of(automaton, 4)
        if tensors is None:
            continue
        check_walks(tensors, automaton, seed)
        at = tensors.starts(3)
        with OnlyStatic():
            for token in range(5):
                tensors.mask(at)
                tensors.bitmask(at)
                at = tensors.advance(at, torch.tensor([token, token + 1, token + 2]))


@pytest.mark.parametrize("carried", [1, 3])
def test_masks_and_steps_are_one_graph(carried: int) -> None:
    automaton = automaton_of(random_tables(4, carried))
    tensors = PushdownTensors(automaton, max_depth=5)

    def step(at: Configurations, logits: torch.Tensor) -> tuple[Configurations, torch.Tensor]:
        tokens = logits.masked_fill(~tensors.mask(at), float("-inf")).argmax(-1)
        return tensors.advance(at, tokens), tensors.bitmask(at)

    # fullgraph: a read of a tensor on the host would break the graph, and that is an error here.
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
    at = compiled_at = tensors.starts(4)
    for seed in range(4):
        logits = torch.randn(4, tensors.width, generator=torch.Generator().manual_seed(seed))
        at, words = step(at, logits)
        compiled_at, compiled_words = compiled(compiled_at, logits)
        assert torch.equal(words, compiled_words)
        assert torch.equal(at.state, compiled_at.state)
        assert torch.equal(at.height, compiled_at.height)


def test_a_sequence_with_too_many_configurations_allows_nothing_and_says_so() -> None:
    # Each token pushes one of two symbols, and nothing tells the texts apart: 2, 4, 8 configurations.
    move = [(0, (symbol,), 0, 1) for symbol in range(2)]
    edges = {(0, 2): move, (0, 3): [(0, (), 0, 0)], (1, END): [(0, (), 1, 0)]}
    tables = make_tables(0, 4, [[-1, -1], [-1, -1]], edges, 2, 0, max_configurations=4)
    tensors = PushdownTensors(stand_in(tables, [2, 3]), max_depth=9)
    at = tensors.starts(2)
    for tokens, overflowed in [([0, 1], False), ([0, 1], False), ([1, 1], False), ([0, 0], True), ([1, 1], True)]:
        at = tensors.advance(at, torch.tensor(tokens))
        assert at.overflowed.tolist() == [overflowed, False]
        assert tensors.astray(at).tolist() == [overflowed, False]
        with pytest.raises(TooManyConfigurations, match=r"sequences \[0\]") if overflowed else nullcontext():
            tensors.check(at)
        assert tensors.mask(at).tolist() == [[not overflowed] * 2, [True] * 2]


def test_configurations_that_come_to_the_same_are_merged() -> None:
    # Two ways to write each token, by another push and pop, that leave the same stack: one configuration, always.
    move = [(0, (0,), 0, 1), (0, (0,), 1, 1)]
    again = [(1, (0, 0), 0, 2), (0, (0,), 0, 1)]
    edges = {(0, 2): move, (1, 2): move, (3, 3): again[:1], (0, 3): again[1:], (2, END): [(0, (), 2, 0)]}
    tables = make_tables(0, 4, [[3], [3], [-1], [-1]], edges, 3, 1, max_configurations=2)
    automaton = stand_in(tables, [2, 3])
    tensors = PushdownTensors(automaton, max_depth=30)
    check_walks(tensors, automaton, 0)
    at = tensors.starts(1)
    for token in [0, 1, 1, 0, 1]:
        at = tensors.advance(at, torch.tensor([token]))
    assert not at.overflowed.any()


def test_stacks_that_look_alike_and_have_other_heights_are_not_merged() -> None:
    # One token pushes one symbol or two, the other pops one, and the end comes with the empty stack.
    edges = {(0, 2): [(0, (0,), 0, 1), (0, (0, 0), 0, 2)], (2, 3): [(1, (), 0, 0)], (1, END): [(0, (), 1, 0)]}
    tables = make_tables(0, 4, [[2], [-1], [-1]], edges, 2, 1, max_configurations=6)
    automaton = stand_in(tables, [2, 3, END])
    tensors = PushdownTensors(automaton, max_depth=20)
    at = tensors.starts(1)
    for token, pops in [(0, True), (0, True), (0, True), *[(1, True)] * 5, (1, False)]:
        at = tensors.advance(at, torch.tensor([token]))
        assert tensors.mask(at).tolist() == [[True, pops, False]]
    check_walks(tensors, automaton, 1)


def test_what_stacks_have_in_common_is_found_wherever_they_part() -> None:
    random = np.random.default_rng(0)
    first = random.integers(0, 3, (60, 1, 24))
    # Each place is the first that differs in some pair, with others behind it.
    other = np.where((np.arange(24) >= np.arange(60)[:, None] % 25) & (random.random((60, 24)) < 0.7), 3, first[:, 0])
    stacks = np.concatenate([first, other[:, None]], 1)
    found = pushdown_parallel.common(torch.from_numpy(stacks).to(torch.uint8))
    for (below, above), pair in zip(stacks.tolist(), found.tolist(), strict=True):
        expected = next((place for place in range(24) if below[place] != above[place]), 24)
        assert pair == [[24, expected], [expected, 24]]


CASES = {"nested": nested, "brackets": brackets, "json": json, "sums": sums, "ambiguous": ambiguous}
PIECES = [
    b"aa",
    b"ab",
    b"abb",
    b"()",
    b"([",
    b"])",
    b"))",
    b"((",
    b"]]]",
    b'"}',
    b'{"',
    b'":',
    b'"]}',
    b"[[",
    b"1,",
    b")*(",
]
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), *PIECES, b""], [256 + len(PIECES)])


WEIGHTS = np.where(np.arange(len(VOCABULARY)) < 256, 1, 9)


def after(automaton: PushdownTokenAutomaton, state: Any, token: int) -> Any:
    """As tensors have it: what is not allowed leads to nothing, None, and the end takes anything and stays."""
    if state is None or state == automaton.end_state:
        return state
    try:
        return automaton.advance(state, token)
    except TokenNotAllowed:
        return None


@pytest.mark.parametrize("max_depth", [2, 5, 40])
@pytest.mark.parametrize("name", CASES)
def test_batches_of_texts_are_what_the_automaton_says_of_each(name: str, max_depth: int) -> None:
    automaton = tokenfst.compile(CASES[name](), VOCABULARY).within(max_depth)
    assert isinstance(automaton, PushdownTokenAutomaton)
    tensors, random = PushdownTensors(automaton), np.random.default_rng(max_depth)
    assert tensors.max_depth == max_depth
    states: list[Any] = [automaton.start] * 8
    at = tensors.starts(8)
    for _ in range(30):
        tokens = []
        for row, (state, mask) in enumerate(zip(states, tensors.mask(at), strict=True)):
            expected = automaton.mask(state) if state is not None else np.zeros(len(VOCABULARY), np.bool_)
            assert mask.tolist() == expected.tolist()
            # Pieces are drawn more often than single bytes, and seldom what is not allowed.
            weights = (expected | (random.random(len(expected)) < 0.0003)) * WEIGHTS
            tokens.append(int(random.choice(len(expected), p=weights / weights.sum())) if weights.any() else 0)
            states[row] = after(automaton, state, tokens[-1])
        at = tensors.advance(at, torch.tensor(tokens))
        assert tensors.astray(at).tolist() == [state is None for state in states]
