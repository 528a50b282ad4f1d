"""The allowed tokens that are nearest to a text.

    nearest   first those with the longest common prefix with the text; of these, those at the least edit distance
              (Levenshtein: bytes inserted, deleted or replaced); of these, the shortest; of these, the lowest ids

Distances are computed for all tokens of one length at once, beginning with the lengths nearest to that of the text: a
token whose length differs by n is at a distance of at least n.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from automata.arrays import IntArray
from automata.texts import common_prefix_length


def nearest(text: bytes, tokens: Sequence[bytes], allowed: Iterable[int], number: int) -> list[int]:
    """Return the ids of the nearest tokens among those allowed that write something, the nearest first.

    Args:
        text: the text.
        tokens: the bytes of each token.
        allowed: the ids to choose from.
        number: the maximum number of tokens to return.
    """
    by_beginning: dict[int, list[int]] = defaultdict(list)
    for token in allowed:
        if tokens[token]:
            by_beginning[common_prefix_length(text, tokens[token])].append(token)
    found: list[int] = []
    for length in sorted(by_beginning, reverse=True):
        if len(found) < number:
            found += _by_distance(text, tokens, by_beginning[length], number - len(found))
    return found


def _by_distance(text: bytes, tokens: Sequence[bytes], candidates: list[int], number: int) -> list[int]:
    by_length: dict[int, list[int]] = defaultdict(list)
    for token in candidates:
        by_length[len(tokens[token])].append(token)
    best: list[tuple[int, int, int]] = []
    for length in sorted(by_length, key=lambda length: (abs(length - len(text)), length)):
        if len(best) == number and abs(length - len(text)) > best[-1][0]:
            break
        own = by_length[length]
        rows = np.frombuffer(b"".join([tokens[token] for token in own]), np.uint8).reshape(len(own), length)
        distances = edit_distances(text, rows).tolist()
        best = sorted([*best, *((one, length, token) for one, token in zip(distances, own, strict=True))])[:number]
    return [token for _, _, token in best]


def edit_distances(text: bytes, rows: np.typing.NDArray[np.uint8]) -> IntArray:
    """Return the edit distance between a text and each of N others of one length, `[N]`.

    Args:
        text: the text.
        rows: `[N, L]`, the others.
    """
    number, length = rows.shape
    before = np.tile(np.arange(length + 1, dtype=np.int32), (number, 1))
    for at, byte in enumerate(text):
        after = np.empty_like(before)
        after[:, 0] = at + 1
        for place in range(length):
            replaced = before[:, place] + (rows[:, place] != byte)
            put_in = np.minimum(after[:, place], before[:, place + 1]) + 1
            after[:, place + 1] = np.minimum(replaced, put_in)
        before = after
    return before[:, length]
