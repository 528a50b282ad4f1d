"""The best of several texts that are sampled, all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from decoding.difficulty import Difficulty
from decoding.sampling import History, Noise, Sampling, choose, derived_seed, probabilities
from decoding.search.hypothesis import Hypothesis, automata_of, normalized
from decoding.search.rows import Logits, Rows, rows_of
from decoding.search.steps import Place, Step
from tokenfst.token_automaton import TokenAutomaton


def best_of_n(
    model: PreTrainedModel | Logits,
    prompts: Sequence[Sequence[int]],
    constraint: TokenAutomaton | Sequence[TokenAutomaton],
    *,
    max_new_tokens: int,
    n: int = 4,
    sampling: Sampling | None = None,
    length_penalty: float = 0.0,
    judge: Callable[[bytes], float] | None = None,
    difficulty: Difficulty | None = None,
) -> list[list[Hypothesis]]:
    """Samples n texts for each prompt and ranks them.

    Args:
        model: a causal model, or a function from token sequences to logits `[R, V]`.
        prompts: the tokens of each prompt.
        constraint: an automaton for all prompts, or one for each.
        max_new_tokens: the limit of each text, the end token counted.
        n: how many texts are sampled.
        sampling: how; None for the model's own distribution. From its seed each of the n texts has its own, so a
            prompt's texts do not depend on the prompts beside it.
        length_penalty: texts are ranked by log-probability / length ** penalty.
        judge: ranks texts by what it gives, instead.
        difficulty: is given every step; text i of prompt p has the number p * n + i, in the order of sampling.

    Returns:
        For each prompt all n texts, best first, the same text as often as it was sampled. All are complete.

    Raises:
        IncompleteOutput: the shortest text takes more than `max_new_tokens`.
        ValueError: n is not positive; automata and prompts differ in number; the logits are narrower than the
            vocabulary.
    """
    if n < 1:
        raise ValueError(f"{n} texts cannot be sampled")
    automata = automata_of(constraint, len(prompts), max_new_tokens)
    samples = [_Sample(automata[row], automata[row].start, row, row) for row in range(len(prompts)) for _ in range(n)]
    if samples:
        _Sampler(samples, prompts, sampling or Sampling(), difficulty).run(rows_of(model), max_new_tokens)
    found = [sample.hypothesis(length_penalty, judge) for sample in samples]
    return [sorted(found[first : first + n], key=lambda one: -one.score) for first in range(0, len(found), n)]


@dataclass
class _Sample:
    """A text so far; `row` is where its logits are."""

    automaton: TokenAutomaton
    state: Any
    prompt: int
    row: int
    tokens: list[int] = field(default_factory=list)
    log_probability: float = 0.0
    ended: bool = False

    def add(self, token: int, score: float) -> None:
        """Writes a token."""
        self.tokens.append(token)
        self.log_probability += score
        self.ended = token in self.automaton.vocabulary.eos_ids
        if not self.ended:
            self.state = self.automaton.advance(self.state, token)

    def hypothesis(self, length_penalty: float, judge: Callable[[bytes], float] | None) -> Hypothesis:
        """The text, which has ended."""
        text = self.automaton.text(self.tokens[:-1])
        score = normalized(self.log_probability, len(self.tokens), length_penalty) if judge is None else judge(text)
        return Hypothesis(text, tuple(self.tokens), self.log_probability, score)


class _Sampler:
    """Samples texts until all have ended; as many for each prompt."""

    def __init__(
        self,
        samples: list[_Sample],
        prompts: Sequence[Sequence[int]],
        sampling: Sampling,
        difficulty: Difficulty | None,
    ) -> None:
        self.samples, self.prompts, self.sampling, self.difficulty = samples, prompts, sampling, difficulty
        first = int(Noise.of([sampling.seed]).seeds)
        n = len(samples) // len(prompts)
        self.seeds = Noise.of([derived_seed(first, number) for number in range(n)] * len(prompts)).seeds

    def run(self, rows: Rows, max_new_tokens: int) -> None:
        """Samples all texts to their ends."""
        logits = rows.start(self.prompts)
        live = list(range(len(self.samples)))
        for step in range(max_new_tokens):
            self._step(logits, live, step, max_new_tokens - step)
            live = [number for number in live if not self.samples[number].ended]
            if not live:
                return
            going_on = [self.samples[number] for number in live]
            logits = rows.step([sample.row for sample in going_on], [sample.tokens[-1] for sample in going_on])
            for row, sample in enumerate(going_on):
                sample.row = row

    def _step(self, logits: Tensor, live: list[int], step: int, remaining: int) -> None:
        """Adds a token to each text that has not ended."""
        samples, numbers = [self.samples[number] for number in live], torch.tensor(live)
        logits = logits[torch.tensor([sample.row for sample in samples], device=logits.device)]
        seeds = self.seeds[numbers].to(logits.device)
        noise = Noise(seeds, torch.full_like(seeds, step))
        history = self._history(samples, logits)
        now = Step.of(logits, [Place(sample.automaton, sample.state) for sample in samples], remaining)
        tokens = choose(probabilities(logits, now.allowed, self.sampling, history), noise)
        if self.difficulty is not None:
            wanted = choose(probabilities(logits, None, self.sampling, history), noise)
            self.difficulty.add(logits, now.allowed, wanted, numbers)
        places = tokens[:, None]
        own = now.scores.gather(1, places)[:, 0]
        scores = torch.where(now.ends.gather(1, places)[:, 0], now.end_scores(), own)
        for sample, token, score in zip(samples, tokens.tolist(), scores.tolist(), strict=True):
            sample.add(token, score)

    def _history(self, samples: list[_Sample], logits: Tensor) -> History:
        written = [sample.tokens for sample in samples]
        prompts = [self.prompts[sample.prompt] for sample in samples]
        return History(_padded(written, logits.device), _padded(prompts, logits.device))


def _padded(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Rows of tokens, `[R, T]` int64, with -1 where a row is shorter."""
    longest = max(map(len, rows))
    padded = [list(row) + [-1] * (longest - len(row)) for row in rows]
    return torch.tensor(padded, dtype=torch.int64, device=device).view(len(rows), longest)
