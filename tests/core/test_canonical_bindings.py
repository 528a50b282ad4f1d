"""Arrays at random for what `tokenfst._native` has for canonical tokenization: an error that says what is wrong, or an
answer."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import _native as automata
from automata._native import Budget, ByteTables
from automata.errors import LimitExceeded
from tokenfst import _native
from tokenfst._native import VocabularyTries

REFUSALS = (TypeError, ValueError, LimitExceeded)
DENSE_BYTES = 1 << 20


def budget(memory: int = 1 << 24) -> Budget:
    return Budget(memory, 10.0)


def refused_or_done(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except REFUSALS:
        return None


def vocabulary(tokens: list[bytes], ends: list[int]) -> VocabularyTries:
    return VocabularyTries(tokens, np.array(ends, np.int32))


def automaton(num_states: int, arcs: list[tuple[int, int, int, int]], labels: int = 0) -> ByteTables:
    ranges, epsilon = np.array(arcs, np.int32).reshape(-1, 4), np.zeros((0, 2), np.int32)
    return automata.minimal(num_states, ranges, epsilon, labels, 10_000, DENSE_BYTES, budget())


# From state 0 to state 1.
ANY = automaton(2, [(0, 97, 99, 1), (1, 97, 99, 1)])
# Pieces of any text: a piece goes on and on, and its end may be decided anywhere, also before the first byte.
ONE_PIECE = (np.zeros(256, np.uint8), np.array([[-1], [1], [1]], np.int32), np.array([2, 2, -1], np.int32),
             np.array([True, True, False]))  # fmt: skip
PIECES = _native.PieceAutomaton(*ONE_PIECE)
NO_WORDS = _native.WholePieces(np.zeros(256, np.uint8), np.zeros((1, 1), np.int32), np.zeros(1, np.bool_),
                               np.zeros(0, np.int32))  # fmt: skip
NONE = np.zeros(0, np.int32)


def merged(tokens: list[bytes], piece: bytes) -> list[int]:
    """What an encoder makes of a piece by definition, where ids are ranks."""
    number = {token: at for at, token in reversed(list(enumerate(tokens)))}
    symbols = [number.get(piece[at : at + 1], -1) for at in range(len(piece))]
    while True:
        found = [(number[tokens[one] + tokens[other]], at) for at, (one, other) in enumerate(pairwise(symbols))
                 if min(one, other) >= 0 and tokens[one] + tokens[other] in number]  # fmt: skip
        if not found:
            return symbols
        rank, at = min(found)
        symbols[at : at + 2] = [rank]


# Encoders.

some_tokens = st.lists(st.text("abc", min_size=1, max_size=4).map(str.encode), max_size=9).map(
    lambda found: [b"a", b"b", b"c", *found]
)


@settings(max_examples=100, deadline=None)
@given(some_tokens)
def test_pairs_are_those_that_merging_leaves_alone(tokens: list[bytes]) -> None:
    made = _native.derivations(vocabulary(tokens, []), None, budget())
    relation = _native.pairs(made, budget())
    for token, flag in enumerate(made.made):
        assert flag == (merged(tokens, tokens[token]) == [token])
    for left, right in product(np.flatnonzero(made.made).tolist(), repeat=2):
        expected = merged(tokens, tokens[left] + tokens[right]) == [left, right]
        assert relation.may_follow(left, right) == expected
    assert sorted(relation.position) == list(range(len(tokens)))
    assert relation.token_at[relation.position].tolist() == list(range(len(tokens)))


wild = st.one_of(st.integers(-2, 12), st.sampled_from([-(1 << 31), (1 << 31) - 1, 1 << 40]))


@st.composite
def arrays(draw: Any, kind: Any = np.int32, shape: Any = None, values: Any = wild) -> Any:
    """Mostly what is asked for, and sometimes something else."""
    if draw(st.integers(0, 14)) == 0:
        return draw(st.sampled_from([None, 3, "x", [1], np.zeros((2, 2, 2), kind), np.zeros(8, kind)[::2]]))
    if draw(st.integers(0, 14)) == 0:
        kind = draw(st.sampled_from([np.int32, np.int64, np.uint8, np.bool_, np.float32]))
    size = shape or (draw(st.integers(0, 9)),)
    found = [draw(values) for _ in range(int(np.prod(size)))]
    with np.errstate(all="ignore"):
        return np.array(found, np.int64).astype(kind).reshape(size)


@settings(max_examples=75, deadline=None)
@given(some_tokens, arrays(shape=(4, 3)), wild, wild)
def test_merges_of_any_numbers(tokens: list[bytes], merges: Any, left: int, right: int) -> None:
    words = vocabulary([*tokens, b""], [len(tokens)])
    refused_or_done(_native.first_wrong_merge, words, merges)
    made = refused_or_done(_native.derivations, words, merges, budget())
    if made is not None:
        relation = _native.pairs(made, budget())
        refused_or_done(relation.may_follow, left, right)


@settings(max_examples=75, deadline=None)
@given(some_tokens, st.data())
def test_merges_that_spell_their_tokens(tokens: list[bytes], data: Any) -> None:
    number, merges = {token: at for at, token in enumerate(tokens)}, []
    for _ in range(data.draw(st.integers(0, 12))):
        left, right = (data.draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        if tokens[left] + tokens[right] in number:
            merges.append((left, right, number[tokens[left] + tokens[right]]))
    listed, words = np.array(merges, np.int32).reshape(-1, 3), vocabulary(tokens, [])
    assert _native.first_wrong_merge(words, listed) == len(merges)
    made = _native.derivations(words, listed, budget())
    relation = _native.pairs(made, budget())
    for left, right in product(range(len(tokens)), repeat=2):
        relation.may_follow(left, right)
    for token in np.flatnonzero(made.made & (made.left >= 0)).tolist():
        assert tokens[made.left[token]] + tokens[made.right[token]] == tokens[token]


# Pieces and whole pieces.


@st.composite
def pieces(draw: Any) -> Any:
    size, columns = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    states = st.integers(-1, size - 1)
    flag = st.integers(0, 1)
    if draw(st.booleans()):
        # Right in all but what it says.
        flags = np.array([draw(flag) for _ in range(size)], np.bool_)
        table = np.array([draw(states) for _ in range(size * columns)], np.int32).reshape(size, columns)
        byte_class = np.arange(256) % columns
        return byte_class.astype(np.uint8), table, np.array([draw(states) for _ in range(size)], np.int32), flags
    byte_class = draw(arrays(np.uint8, (256,), st.just(columns - 1)))
    table = draw(arrays(np.int32, (size, columns), draw(st.sampled_from([states, wild]))))
    return byte_class, table, draw(arrays(np.int32, (size,), states)), draw(arrays(np.bool_, (size,), flag))


@st.composite
def whole_pieces(draw: Any) -> Any:
    size, columns = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    byte_class = draw(arrays(np.uint8, (256,), st.just(columns - 1)))
    table = draw(arrays(np.int32, (size, columns), st.integers(0, size - 1)))
    return byte_class, table, draw(arrays(np.bool_, (size,), st.integers(0, 1))), draw(arrays(values=st.integers(0, 9)))


@st.composite
def constraints(draw: Any) -> ByteTables:
    if draw(st.booleans()):
        return ANY
    size, labels = draw(st.integers(2, 5)), draw(st.integers(0, 2))
    states, arcs = st.integers(0, size - 1), []
    for _ in range(draw(st.integers(1, 9))):
        low, high = sorted([draw(st.integers(97, 99)), draw(st.integers(97, 99))])
        arcs.append((draw(states), low, high, draw(states)))
    arcs += [(draw(states), 256 + label, 256 + label, draw(states)) for label in range(labels)]
    return automaton(size, arcs, labels)


@settings(max_examples=125, deadline=None)
@given(some_tokens, constraints(), pieces(), whole_pieces(), st.data())
def test_every_step_of_a_compilation(
    tokens: list[bytes], constraint: ByteTables, some_pieces: Any, some_words: Any, data: Any
) -> None:
    words = vocabulary([*tokens, b"", b""], [len(tokens)])
    made = _native.pairs(_native.derivations(words, None, budget()), budget())
    piece_bytes = refused_or_done(_native.PieceAutomaton, *some_pieces) or PIECES
    whole = refused_or_done(_native.WholePieces, *some_words) or NO_WORDS
    if not data.draw(st.booleans()):
        piece_bytes = PIECES
    max_states = data.draw(st.sampled_from([*[1000] * 12, 0, -1, 3]))
    found = refused_or_done(_native.canonical_product, constraint, piece_bytes, whole, max_states, budget())
    if found is None:
        return
    labelled = data.draw(st.lists(st.tuples(arrays(), arrays()), max_size=2))
    edges = refused_or_done(_native.canonical_edges, found, words, made, whole, data.draw(arrays()), labelled, budget())
    if edges is None:
        edges = refused_or_done(_native.canonical_edges, found, words, made, NO_WORDS, NONE, [], budget())
    if edges is None:
        assert found.is_empty
        return
    live = _native.live_edges(edges, found, made, 1, budget())
    result = refused_or_done(_native.CanonicalCore.from_live, words, live, found, made, max_states, 2, budget())
    if result is not None and live.has_text:
        check_walk(result, words, data)


def check_walk(found: Any, words: VocabularyTries, data: Any) -> None:
    """Masks agree with steps, and what they allow leads on to an end in as many tokens as promised."""
    state = 0
    for _ in range(6):
        mask = np.zeros(2, np.int32)
        found.fill_bitmask(state, mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()
        reached = {token: found.advance(state, token) for token in range(len(words))}
        assert allowed == [token for token, after in reached.items() if after is not None]
        least = found.min_tokens(state)
        assert least == min((found.min_tokens(reached[token]) for token in allowed), default=-1) + 1 or least == 0
        for remaining in (0, least, least + 1, 100):
            found.fill_within(state, mask, remaining)
            near = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()
            assert set(near) <= set(allowed)
            assert bool(near) == (least <= remaining and remaining > 0)
        if not allowed:
            break
        state = reached[data.draw(st.sampled_from(allowed))]


def test_parts_of_different_compilations_are_refused() -> None:
    few, many = vocabulary([b"a", b"b", b""], [2]), vocabulary([b"a", b"b", b"c", b"ab", b""], [4])
    relations = [_native.pairs(_native.derivations(words, None, budget()), budget()) for words in (few, many)]
    other = automaton(3, [(0, 97, 97, 2), (2, 98, 98, 1)])
    products = [_native.canonical_product(each, PIECES, NO_WORDS, 1000, budget()) for each in (ANY, other)]
    edges = [_native.canonical_edges(products[at], words, relations[at], NO_WORDS, NONE, [], budget())
             for at, words in enumerate((few, many))]  # fmt: skip
    with pytest.raises(ValueError, match="3 tokens"):
        _native.canonical_edges(products[0], many, relations[0], NO_WORDS, NONE, [], budget())
    with pytest.raises(ValueError, match="another"):
        _native.live_edges(edges[0], products[0], relations[1], 1, budget())
    with pytest.raises(ValueError, match="another"):
        _native.live_edges(edges[0], products[1], relations[0], 1, budget())
    live = _native.live_edges(edges[0], products[0], relations[0], 1, budget())
    for words, product_, relation in ((many, products[0], relations[1]), (few, products[1], relations[0])):
        with pytest.raises(ValueError, match="another"):
            _native.CanonicalCore.from_live(words, live, product_, relation, 1000, 2, budget())
    empty = _native.canonical_product(ANY, _native.PieceAutomaton(*ONE_PIECE[:3], np.zeros(3, np.bool_)), NO_WORDS, 9,
                                      budget())  # fmt: skip
    assert empty.is_empty
    with pytest.raises(ValueError, match="no state"):
        _native.canonical_edges(empty, few, relations[0], NO_WORDS, NONE, [], budget())
    with pytest.raises(LimitExceeded):
        _native.canonical_product(ANY, PIECES, NO_WORDS, 1, budget())
    with pytest.raises(LimitExceeded):
        _native.canonical_product(ANY, PIECES, NO_WORDS, 1000, Budget(100, 1.0))


# Automata from tables.

TOKENS = [b"a", b"b", b"ab", b"", b"c"]
WORDS = vocabulary(TOKENS, [3])
RELATION = _native.pairs(_native.derivations(WORDS, None, budget()), budget())
EDGES = [[0, 1, 1, 1, 1], [1, -1, 1, (1 << 31) - 1, 1], [0, 0, 1, 2, 1], [1, -1, -1, 5, 5]]
ROWS = (
    np.array([0, 2, 4, 4], np.int32),
    np.array(EDGES, np.int32),
    np.array([False, True, True]),
    np.array([0, 1, 1, -1, -1], np.int32),
)


@settings(max_examples=125, deadline=None)
@given(st.data())
def test_automata_of_any_tables(data: Any) -> None:
    parts = [part.copy() for part in ROWS]
    for _ in range(data.draw(st.integers(0, 3))):
        part = parts[data.draw(st.integers(0, 3))].reshape(-1)
        part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(-3, 6))
    at = data.draw(st.integers(0, 9))
    if at < 4:
        parts[at] = data.draw(arrays())
    found = refused_or_done(_native.CanonicalCore.from_subsets, WORDS, *parts, RELATION, data.draw(st.integers(-1, 3)))
    if found is None:
        return
    assert found.num_states == len(found.final) * len(TOKENS)
    for _ in range(8):
        state = data.draw(st.one_of(st.integers(-3, 20), st.sampled_from([1 << 40, -(1 << 62)])))
        out = data.draw(arrays(shape=(1,)))
        refused_or_done(found.advance, state, data.draw(wild))
        refused_or_done(found.is_final, state)
        refused_or_done(found.min_tokens, state)
        refused_or_done(found.fill_bitmask, state, out)
        refused_or_done(found.fill_within, state, out, data.draw(wild))
        refused_or_done(_native.fill_bitmasks, [found], [state], np.zeros((1, 1), np.int32))


def test_what_is_not_the_automatons_is_a_value_error() -> None:
    found = _native.CanonicalCore.from_subsets(WORDS, *ROWS, RELATION, 2)
    assert found.end_state == 10
    assert found.advance(0, 0) == 5
    words = np.zeros(2, np.int32)
    for state in (-1, 15, 1 << 40):
        for call in (found.is_final, found.min_tokens, lambda state: found.advance(state, 0)):
            with pytest.raises(ValueError, match=f"state {state} is not one"):
                call(state)
        with pytest.raises(ValueError, match="is not one"):
            found.fill_bitmask(state, words)
        with pytest.raises(ValueError, match="none of its"):
            _native.fill_bitmasks([found], [state], words[None])
    with pytest.raises(ValueError, match="takes 1 words"):
        found.fill_bitmask(0, words[:0])
    text: Any = "x"
    others: list[Any] = [text, None, 1.5, words.astype(np.int64)]
    for wrong in others:
        with pytest.raises(TypeError):
            found.fill_bitmask(0, wrong)
        with pytest.raises(TypeError):
            found.advance(text, 0)
    assert found.advance(0, 99) is found.advance(0, -1) is None
    with pytest.raises(ValueError, match=r"may not|read-only|not writeable"):
        found.edges[0, 0] = 1


def test_masks_are_the_same_from_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    found = _native.CanonicalCore.from_subsets(WORDS, *ROWS, RELATION, 1)

    def masks(seed: int) -> list[tuple[int, ...]]:
        words, made = np.zeros(1, np.int32), list[tuple[int, ...]]()
        for state in [0, 5, 6, 10] * 50:
            found.fill_within(state, words, seed % 3 + 1) if seed % 4 else found.fill_bitmask(state, words)
            made.append((state, int(words[0])))
        return made

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(masks, range(24)))
    for seed, result in enumerate(results):
        assert result == masks(seed)
