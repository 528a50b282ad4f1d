"""The best of several texts, which are sampled together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import torch
from torch import Tensor
from transformers import PreTrainedModel

from automata.limits import DEFAULT_LIMITS, Limits
from decoding.difficulty import Difficulty
from decoding.inputs.constraints import ConstraintLikes, automata_for, dead_end
from decoding.inputs.counts import token_count
from decoding.inputs.prompts import Prompts, prompt_tokens
from decoding.inputs.vocabularies import vocabulary_of
from decoding.masking.costs import subtract_costs
from decoding.sampling import NOTHING, History, Noise, Sampling, SamplingOptions, choose, derived_seed, probabilities
from decoding.sampling.parameters import sampling_of
from decoding.sampling.penalties import penalized
from decoding.search.hypothesis import Hypothesis, check_penalty, normalized
from decoding.search.scorers import Logits, Scorer, scorer_of
from decoding.search.steps import Position, Step
from tokenfst.token_automaton import TokenAutomaton


def best_of_n(
    model: PreTrainedModel | Logits,
    tokenizer: Any,
    prompts: Prompts,
    constraint: ConstraintLikes,
    *,
    max_new_tokens: int = 256,
    n: int = 4,
    temperature: float = 1.0,
    seed: int | None = None,
    length_penalty: float = 0.0,
    judge: Callable[[str], float] | None = None,
    difficulty: Difficulty | None = None,
    at_text_start: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    **options: Unpack[SamplingOptions],
) -> list[list[Hypothesis]]:
    """Sample n texts for each prompt and rank them.

    Args:
        model: a causal language model of `transformers`, or a function from token sequences to logits `[R, V]`.
        tokenizer: the model's fast tokenizer; or its `Vocabulary` if prompts are token ids.
        prompts, constraint: as for `generate`, but each prompt must have a constraint. States are kept on the host, so
            a grammar's stack may have any height.
        max_new_tokens: the limit of each text, including the end token.
        n: the number of texts to sample for each prompt.
        temperature: as for `generate`; 1 is the model's own distribution.
        seed: makes sampling repeatable. Each of the n texts has a seed derived from it, so the texts of a prompt do not
            depend on the other prompts.
        length_penalty: texts are ranked by log-probability / length ** penalty.
        judge: a function from a text to the score by which it is ranked instead.
        difficulty: collects every step; text i of prompt p has the number p * n + i, in the order of sampling.
        at_text_start, limits: as for `generate`.
        **options: further settings of `Sampling`, such as `top_k`.

    Returns:
        For each prompt, all n texts with their scores, best first; a text appears as often as it was sampled. All are
        complete.

    Raises:
        IncompleteOutput: the shortest text takes more than `max_new_tokens`; or a text cannot be completed within both
            `max_new_tokens` and the depth to which its automaton is limited (`within`).
        ValueError: n is not positive; `length_penalty` is out of its range; there are more or fewer constraints than
            prompts; or the logits are narrower than the vocabulary.
        Exception: as for `generate`.
    """
    n = token_count("n", n, least=1, of="texts")
    check_penalty(length_penalty)
    max_new_tokens = token_count("max_new_tokens", max_new_tokens, least=1)
    sampling = sampling_of("best_of_n", temperature, seed, options)
    vocabulary, prompted = vocabulary_of(tokenizer, model), prompt_tokens(tokenizer, prompts, model)
    automata = automata_for(
        constraint, vocabulary, len(prompted), max_new_tokens, at_text_start=at_text_start, limits=limits
    )
    samples = [_Sample(automata[row], automata[row].start, row, row) for row in range(len(prompted)) for _ in range(n)]
    if samples:
        _Sampler(samples, prompted, sampling, difficulty).run(scorer_of(model), max_new_tokens)
    found = [sample.hypothesis(length_penalty, judge) for sample in samples]
    return [sorted(found[first : first + n], key=lambda one: -one.score) for first in range(0, len(found), n)]


@dataclass
class _Sample:
    """A text so far; `row` is the row of its logits."""

    automaton: TokenAutomaton
    state: Any
    prompt: int
    row: int
    tokens: list[int] = field(default_factory=list)
    log_probability: float = 0.0
    ended: bool = False

    def add(self, token: int, score: float) -> None:
        """Write a token.

        Raises:
            IncompleteOutput: the token is `NOTHING`.
        """
        if token == NOTHING:
            raise dead_end()
        self.tokens.append(token)
        self.log_probability += score
        self.ended = token in self.automaton.vocabulary.eos_ids
        if not self.ended:
            self.state = self.automaton.advance(self.state, token)

    def hypothesis(self, length_penalty: float, judge: Callable[[str], float] | None) -> Hypothesis:
        """Return the text, which has ended."""
        text = self.automaton.text(self.tokens[:-1]).decode()
        score = normalized(self.log_probability, len(self.tokens), length_penalty) if judge is None else judge(text)
        return Hypothesis(text, tuple(self.tokens), self.log_probability, score)


class _Sampler:
    """Samples texts until all have ended, the same number for each prompt."""

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

    def run(self, scorer: Scorer, max_new_tokens: int) -> None:
        """Sample all texts to their ends."""
        logits = scorer.start(self.prompts)
        live = list(range(len(self.samples)))
        for step in range(max_new_tokens):
            self._step(logits, live, step, max_new_tokens - step)
            live = [number for number in live if not self.samples[number].ended]
            if not live:
                return
            unfinished = [self.samples[number] for number in live]
            logits = scorer.step([sample.row for sample in unfinished], [sample.tokens[-1] for sample in unfinished])
            for row, sample in enumerate(unfinished):
                sample.row = row

    def _step(self, logits: Tensor, live: list[int], step: int, remaining: int) -> None:
        """Add a token to each text that has not ended."""
        samples, numbers = [self.samples[number] for number in live], torch.tensor(live)
        logits = logits[torch.tensor([sample.row for sample in samples], device=logits.device)]
        noise = Noise(self.seeds[numbers].to(logits.device))
        history = self._history(samples, logits)
        positions = [Position(sample.automaton, sample.state) for sample in samples]
        now = Step.of(logits, positions, remaining)
        scores = penalized(logits.float(), self.sampling.on(logits.device), history)
        tokens = choose(probabilities(subtract_costs(scores, positions), now.allowed, self.sampling), noise, step)
        if self.difficulty is not None:
            wanted = choose(probabilities(scores, None, self.sampling), noise, step)
            self.difficulty.add(logits, now.allowed, wanted, numbers)
        places = tokens.clamp(min=0)[:, None]
        own = now.scores.gather(1, places)[:, 0]
        found = torch.where(now.ends.gather(1, places)[:, 0], now.end_scores(), own)
        for sample, token, score in zip(samples, tokens.tolist(), found.tolist(), strict=True):
            sample.add(token, score)

    def _history(self, samples: list[_Sample], logits: Tensor) -> History:
        written = [sample.tokens for sample in samples]
        prompts = [self.prompts[sample.prompt] for sample in samples]
        return History.of(written, prompts, logits.device)
