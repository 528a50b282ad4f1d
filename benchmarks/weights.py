"""Measure what weights add to a step of decoding on the CPU: masks and costs written into logits, and the new state.

    python benchmarks/weights.py [--vocab FILE] [--batch 1] [--rounds 200]

Each constraint is compiled twice: with its weights, and with `scale=0`, which gives the same automaton without costs.
Both follow the same texts in separate arenas, in turn, and the ratio is the median of the ratios of such pairs. The
other columns are the time to compile up to the first mask, the time of a step without costs, and the mean number of
tokens that have a cost in the states of a text.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import tokenfst
from automata import Expr, parse
from automata import expressions as ex
from constraints import choice
from decoding import bundled_model, vocabulary_of
from decoding.arena import Arena


def cases() -> dict[str, Callable[[], Expr]]:
    """Return a function that makes each constraint, by name."""
    hot = ["Kaltenbrunn", "Szczecin", "tokenfst", "OpenFst", "pynini", "transducer", "composition", "Mohri", "Pereira"]
    counted = {word: float(number % 97 + 1) for number, word in enumerate(words(10_000))}
    name = choice(counted)
    return {
        "hot words": lambda: hot_words([" " + word for word in hot]),
        "hot words, within words too": lambda: hot_words(hot),
        "10,000 names by counts": lambda: name,
        "a record with such a name": lambda: '{"name": "' + name + '", "age": ' + parse("[1-9][0-9]?") + "}",
        "a cost for every digit": lambda: (parse("[^0-9]") | parse("[0-9]").weighted(0.5)).star(),
    }


def hot_words(rewarded: Sequence[str]) -> Expr:
    """Return free text in which some words are rewarded."""
    return (ex.ANY_CHAR | ex.alternation(*[ex.literal(word).weighted(-1.5) for word in rewarded])).star()


def words(number: int) -> list[str]:
    """Return different made-up names, the same in every run."""
    syllables = ["ka", "to", "mi", "ra", "ne", "su", "lo", "vi", "de", "pa", "chi", "ber", "gan", "sten", "ov", "ter"]
    rng, found = random.Random(0), dict[str, None]()
    while len(found) < number:
        found["".join(rng.choices(syllables, k=rng.randint(2, 5))).capitalize()] = None
    return list(found)


def texts(automaton: tokenfst.TokenAutomaton, batch: int, rounds: int) -> list[list[int]]:
    """Return random allowed tokens for each sequence, `[batch][rounds]`; a sequence that has ended begins again."""
    rng = random.Random(0)
    found: list[list[int]] = []
    for _ in range(batch):
        state = automaton.start
        tokens: list[int] = []
        while len(tokens) < rounds:
            allowed = np.flatnonzero(automaton.mask(state))
            token = int(rng.choice(allowed.tolist()[:5000]))
            state = automaton.advance(state, token)
            tokens.append(token)
            if token in automaton.vocabulary.eos_ids:
                state = automaton.start
        found.append(tokens)
    return found


class Follower:
    """An arena with one automaton, and a batch that follows its texts."""

    def __init__(self, automaton: tokenfst.TokenAutomaton, tokens: Sequence[Sequence[int]]) -> None:
        self.arena = Arena.of([automaton])
        self.tokens = torch.tensor(tokens).T.contiguous()
        self.begin = self.arena.starts([1] * len(tokens))
        self.ends = set(automaton.vocabulary.eos_ids)
        self.logits = torch.randn(len(tokens), len(automaton.vocabulary))

    def rounds(self) -> list[float]:
        """Return the seconds of each step along the texts."""
        at, found = self.begin, []
        for now in self.tokens:
            scores = self.logits.clone()
            before = time.perf_counter()
            self.arena.apply_(scores, at)
            at = self.arena.advance(at, now)
            found.append(time.perf_counter() - before)
            if any(token in self.ends for token in now.tolist()):
                restarted = torch.tensor([token in self.ends for token in now.tolist()])
                at = at._replace(row=torch.where(restarted[:, None, None], self.begin.row, at.row))
        return found


def measure(make: Callable[[], Expr], vocabulary: tokenfst.Vocabulary, batch: int, rounds: int) -> str:
    """Return the figures of one line of the report."""
    before = time.perf_counter()
    weighted = tokenfst.compile(make(), vocabulary)
    weighted.mask(weighted.start)
    compiling = time.perf_counter() - before
    plain = tokenfst.compile(make(), vocabulary, scale=0)
    tokens = texts(weighted, batch, rounds)
    with_costs, without = Follower(weighted, tokens), Follower(plain, tokens)
    ratios, steps = list[float](), list[float]()
    for turn in range(9):
        first, second = (with_costs, without) if turn % 2 else (without, with_costs)
        pair = {first: first.rounds(), second: second.rounds()}
        ratios.append(statistics.median(pair[with_costs]) / statistics.median(pair[without]))
        steps.append(statistics.median(pair[without]))
    return (
        f"{compiling * 1e3:9.1f} ms  {statistics.median(steps) * 1e6:8.1f} us  {statistics.median(ratios):6.3f}  "
        f"{_priced(weighted, tokens[0][:50]):8.1f}"
    )


def _priced(automaton: Any, tokens: Sequence[int]) -> float:
    """Return the mean number of tokens with a cost in the states of a text."""
    state, counts = automaton.start, []
    for token in tokens:
        counts.append(len(automaton.token_costs(state)[0]))
        state = automaton.start if token in automaton.vocabulary.eos_ids else automaton.advance(state, token)
    return statistics.mean(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", help="a vocabulary file; default: the bundled model's")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    if options.vocab:
        tokens = tokenfst.load_vocabulary(options.vocab, eos_ids=()).tokens
        vocabulary = tokenfst.Vocabulary([*tokens, b""], len(tokens))
    else:
        vocabulary = vocabulary_of(bundled_model()[1])
    torch.set_num_threads(1)
    print(f"{len(vocabulary):,} tokens, batch {options.batch}")
    print(f"{'':28}{'compile':>12}  {'step':>11}  {'ratio':>6}  {'tokens with a cost':>8}")
    for name, make in cases().items():
        print(f"{name:28}{measure(make, vocabulary, options.batch, options.rounds)}", flush=True)


if __name__ == "__main__":
    main()
