"""Models that are tables: the logits depend on the last two tokens. And what they write, found by trying everything."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from decoding.sampling import History, Sampling, probabilities
from decoding.speculation import ROOT, Reading
from tokenfst import Vocabulary

LETTERS = Vocabulary([b"a", b"b", b"ab", b"ba", b"c", b"", b"bb"], eos_ids=[5])
PROMPT = [0, 4]

Texts = dict[tuple[int, ...], float]


class Table:
    """A reader of the next token's logits, by the last two tokens."""

    def __init__(self, seed: int, width: int = len(LETTERS), scale: float = 1.0) -> None:
        shape = len(LETTERS), len(LETTERS), width
        self.logits = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale
        self.forwards = 0

    def read(self, readings: Sequence[Reading]) -> list[Tensor]:
        self.forwards += 1
        found = []
        for reading in readings:
            pairs = [self._last(reading, place) for place in reading.places]
            found.append(self.logits[[first for first, _ in pairs], [second for _, second in pairs]])
        return found

    def _last(self, reading: Reading, place: int) -> tuple[int, int]:
        path = list[int]()
        while place != ROOT and len(path) < 2:
            path.insert(0, reading.tokens[place])
            place = reading.parents[place]
        first, second = [*reading.text[-2:], *path][-2:]
        return first, second


@cache
def written(table: Table, pattern: str, sampling: Sampling, limit: int) -> Texts:
    """The probability of every text, as tokens with the end token, that plain constrained sampling writes within a
    limit: what is allowed is found from all token sequences that match."""
    end = LETTERS.eos_ids[0]
    letters = [token for token in range(len(LETTERS)) if token != end]
    whole = set[tuple[int, ...]]()
    for length in range(limit):
        for tokens in itertools.product(letters, repeat=length):
            if re.fullmatch(pattern, LETTERS.detokenize(tokens).decode()):
                whole.add((*tokens, end))
    begun = {tokens[:length] for tokens in whole for length in range(len(tokens) + 1)}
    found: Texts = {}
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        tokens, likelihood = waiting.pop()
        if tokens in whole:
            found[tokens] = likelihood
            continue
        first, second = [*PROMPT, *tokens][-2:]
        mask = torch.zeros(1, table.logits.shape[2], dtype=torch.bool)
        mask[0, : len(LETTERS)] = torch.tensor([(*tokens, token) in begun for token in range(len(LETTERS))])
        history = History(torch.tensor([tokens], dtype=torch.int64), torch.tensor([PROMPT]))
        row = probabilities(table.logits[first, second][None], mask, sampling, history)[0]
        waiting += [((*tokens, int(token)), likelihood * float(row[token])) for token in row.nonzero()]
    return found


def chance(counts: dict[tuple[int, ...], int], expected: Texts) -> float:
    """The probability that draws from `expected` are as far from it as these, by Pearson's chi-square.

    Texts that are expected less than five times are taken together.
    """
    assert counts.keys() <= expected.keys(), "a text was written that cannot be"
    total, rare = sum(counts.values()), [0.0, 0.0]
    distance, cells = 0.0, 0
    for text, likelihood in expected.items():
        seen, mean = counts.get(text, 0), likelihood * total
        if mean < 5:
            rare[0] += seen
            rare[1] += mean
        else:
            distance += (seen - mean) ** 2 / mean
            cells += 1
    if rare[1] >= 5:
        distance += (rare[0] - rare[1]) ** 2 / rare[1]
        cells += 1
    assert cells > 3, "nothing is left to compare"
    return float(torch.special.gammaincc(torch.tensor((cells - 1) / 2), torch.tensor(distance / 2)))
