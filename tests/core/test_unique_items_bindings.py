"""The memory of items that must differ: whatever bytes it is fed, it stays in bounds, and masks have all of its steps.

The marked automaton reads any bytes, and a mark after every `[`, so that texts need not be JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from arrays import NUMBERS, OTHERS, attempt, budget, ints
from hypothesis import given, settings
from hypothesis import strategies as st
from random_automata import MANY, SEEDS

from automata import _native as automata
from automata.errors import LimitExceeded
from tokenfst._native import ItemScalar, ItemTokenReader, LazyCore, SeparatingTokens, TextLibrary, VocabularyTries

MARKS = 0xFE, 0xFD
BYTES = TextLibrary(VocabularyTries([*(bytes([byte]) for byte in range(256)), b""], ints([256])))
ANYTHING = automata.ByteTables.sparse(
    0, ints([0, 1]), ints([[0, 255, 0]]), np.array([True]), np.zeros((1, 0), np.int32)
)
LETTERS = [
    *(bytes([letter]) for letter in b'[]{}",:\\u01e.-+ tna'),
    b"\xc3\xa9",
    b"\xf0",
    b"\\ud83d",
    b'"a"',
    b'","',
    b"true",
]


def reader(tokens: list[bytes], max_positions: int = 1_000) -> ItemTokenReader:
    marked = LazyCore.from_bytes(BYTES, ANYTHING, 100, budget())
    return ItemTokenReader(marked, SeparatingTokens(VocabularyTries(tokens, ints([]))), MARKS, max_positions)


@given(SEEDS)
@MANY
def test_no_mask_lacks_a_step(seed: int) -> None:
    rng = Random(seed)
    tokens = sorted({b"".join(rng.choices(LETTERS, k=rng.randint(1, 4))) for _ in range(60)})
    followed = reader(tokens)
    position = followed.start
    for _ in range(12):
        mask = np.full((len(tokens) + 31) // 32, -1, np.int32)
        reached = {}
        try:
            followed.clear(position, mask)
            for number, token in enumerate(tokens):
                after = followed.after(position, token)
                if after is not None and followed.can_continue(after):
                    reached[number] = after
        except (LimitExceeded, ValueError):  # an escape that is none, an exponent without digits
            return
        bits = np.unpackbits(mask.view(np.uint8), count=len(tokens), bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) >= reached.keys()
        if not reached:
            return
        position = reached[rng.choice(sorted(reached))]
        assert repr(position)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_arguments_of_any_kind(data: Any) -> None:
    followed = reader([b"a"])
    anything = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(OTHERS), st.binary(max_size=9))
    out = st.sampled_from([np.zeros(size, kind) for size in (0, 1, 2) for kind in (np.int32, np.int64, np.float32)])
    scalar = st.sampled_from([ItemScalar.string(), ItemScalar.plain(b"1.0"), ItemScalar.plain(b"tr")])
    calls: list[Callable[[], object]] = [
        lambda: followed.after(data.draw(anything), data.draw(anything)),
        lambda: followed.after(followed.start, data.draw(anything)),
        lambda: followed.clear(followed.start, data.draw(out)),
        lambda: followed.doubtful(followed.start, data.draw(out)),
        lambda: followed.can_continue(data.draw(anything)),
        lambda: followed.some_way(data.draw(anything)),
        lambda: ItemScalar.plain(data.draw(anything)).value(),
        lambda: data.draw(scalar).read(data.draw(st.binary(max_size=20))).value(),
        lambda: data.draw(scalar).may_be(data.draw(scalar).read(data.draw(st.binary(max_size=9))).value()),
        lambda: ItemTokenReader(data.draw(anything), data.draw(anything), data.draw(anything), data.draw(anything)),
    ]
    attempt(data.draw(st.sampled_from(calls)))


def test_a_mark_is_a_byte_and_the_automaton_reads_bytes() -> None:
    separating = SeparatingTokens(VocabularyTries([b"a"], ints([])))
    few = LazyCore.from_bytes(TextLibrary(VocabularyTries([b"a"], ints([]))), ANYTHING, 100, budget())
    with pytest.raises(ValueError, match="reads bytes"):
        ItemTokenReader(few, separating, MARKS, 9)
    for marks in ((256, 0xFD), (0xFE, 256)):
        with pytest.raises(ValueError, match="mark 256"):
            ItemTokenReader(LazyCore.from_bytes(BYTES, ANYTHING, 100, budget()), separating, marks, 9)
