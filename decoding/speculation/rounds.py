"""The loop of speculative decoding: propose, read, verify, until every text has ended.

Each round takes one forward pass of the model for all texts together and writes, for each tree, the tokens that the
model accepts, and one more. A text that ends with tokens that are certain needs no forward pass for them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from decoding.inputs.constraints import check_has_end, check_limit
from decoding.inputs.counts import token_count
from decoding.sampling import Noise, Sampling
from decoding.speculation.proposer import InTurn, Proposer
from decoding.speculation.reader import CachedModel, Reader, reading_of
from decoding.speculation.statistics import Statistics
from decoding.speculation.tree import Text, Tree
from decoding.speculation.verify import Verdict, Verification, check_opportunistic
from tokenfst.misuse import check_automaton
from tokenfst.token_automaton import TokenAutomaton


@dataclass
class Written:
    """The texts that were written.

    Attributes:
        tokens: the tokens of each text, including the end token.
        texts: the bytes that the tokens of each text write.
        statistics: the statistics of the call.
    """

    tokens: list[list[int]] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)


def decode_speculatively(
    model: Any,
    prompts: Sequence[Sequence[int]],
    automata: TokenAutomaton | Sequence[TokenAutomaton],
    proposers: Sequence[Proposer] = (),
    *,
    sampling: Sampling | Sequence[Sampling] = Sampling(),  # noqa: B008 (immutable)
    max_new_tokens: int = 256,
    max_proposed: int = 32,
    opportunistic: bool = False,
) -> Written:
    """Write, after each prompt, a text that its automaton accepts, in fewer forward passes.

    This is the loop of `generate(..., speculation=...)`, for token ids and any `Reader`. Whatever is proposed, texts
    have the same distribution as with plain constrained sampling. If no proposer draws (as `DraftModel` does), their
    tokens are also the same, except for the last bits of the model's logits. Neither holds for `ForcedText` that is not
    verified.

    Args:
        model: a causal language model of `transformers`, or a `Reader` for as many texts as there are prompts.
        prompts: the token ids of each prompt, at least one.
        automata: the automata of the texts, one for all or one for each.
        proposers: the proposers, in this order; without any, each round writes one token.
        sampling: how texts are sampled, one for all or one for each. With one seed for all, all texts have the same
            draws.
        max_new_tokens: the limit for each text, including the end token. Texts are complete within this limit.
        max_proposed: the maximum number of tokens proposed at once for each text.
        opportunistic: whether to make a mask only if the first draw is refused, or a proposer asks for the mask.

    Returns:
        The texts, in the order of the prompts.

    Raises:
        IncompleteOutput: the shortest text of an automaton takes more than `max_new_tokens`; or a text cannot be
            completed within both `max_new_tokens` and the depth to which its automaton is limited (`within`).
        VocabularyError: an automaton's vocabulary has no end token, so no text could end; or the logits are more than
            twice as wide as the vocabulary, so they belong to another model.
        TooManyConfigurations: a text has more derivations side by side than the automaton may carry.
        TypeError: an automaton is something else.
        ValueError: a prompt is empty; there are more or fewer automata or settings than prompts; masking is
            opportunistic and the distribution is truncated; `CachedModel` refuses the model; the logits are narrower
            than the vocabulary; or a number is too small.
    """
    clock, max_new_tokens = time.perf_counter(), token_count("max_new_tokens", max_new_tokens, least=1)
    max_proposed = token_count("max_proposed", max_proposed, least=0)
    reader: Reader = model if hasattr(model, "read") else CachedModel(model, len(prompts))
    each = [automata] * len(prompts) if isinstance(automata, TokenAutomaton) else list(automata)
    for automaton in each:
        check_automaton(automaton)
    samplings = [sampling] * len(prompts) if isinstance(sampling, Sampling) else list(sampling)
    writings = _writings(prompts, each, samplings, max_new_tokens, opportunistic)
    proposer, statistics = InTurn(*proposers), Statistics()
    before = reader.forwards, proposer.forwards
    while live := [writing for writing in writings if not writing.has_ended]:
        _round(live, reader, proposer, statistics, max_proposed, opportunistic)
    statistics.forwards = reader.forwards - before[0]
    statistics.draft_forwards = proposer.forwards - before[1]
    statistics.seconds = time.perf_counter() - clock
    tokens = [writing.written for writing in writings]
    texts = [automaton.text(written) for automaton, written in zip(each, tokens, strict=True)]
    return Written(tokens, texts, statistics)


class _Writing:
    """One text that is being written."""

    def __init__(
        self, row: int, prompt: Sequence[int], automaton: TokenAutomaton, sampling: Sampling, seed: int, limit: int
    ) -> None:
        self.automaton = automaton
        self.state = automaton.start
        self._tokens, self._num_prompt = list(prompt), len(prompt)
        self._row, self._sampling, self._seed, self._limit = row, sampling, seed, limit

    @property
    def written(self) -> list[int]:
        return self._tokens[self._num_prompt :]

    @property
    def has_ended(self) -> bool:
        return len(self._tokens) > self._num_prompt and self._tokens[-1] in self.automaton.vocabulary.eos_ids

    def tree(self, max_nodes: int) -> Tree[Any]:
        text = Text(self._tokens, self._num_prompt, self._sampling, self._seed, self._row)
        return Tree(self.automaton, self.state, text, remaining=self._limit - text.step, max_nodes=max_nodes)

    def put(self, tokens: Sequence[int], proposer: Proposer) -> None:
        for token in tokens:
            before = self._tokens[-1] if len(self._tokens) > self._num_prompt else None
            proposer.observe(self.automaton, self.state, before, token)
            self.state = self.automaton.advance(self.state, token)
            self._tokens.append(token)


def _round(
    live: Sequence[_Writing],
    reader: Reader,
    proposer: Proposer,
    statistics: Statistics,
    max_proposed: int,
    opportunistic: bool,
) -> None:
    trees = [writing.tree(max_proposed) for writing in live]
    proposer.propose(trees)
    asked = [(tree, places) for tree in trees if (places := tree.asked())]
    logits = reader.read([reading_of(tree, places) for tree, places in asked]) if asked else []
    verification = Verification(trees, logits, opportunistic=opportunistic)
    for number, (writing, tree) in enumerate(zip(live, trees, strict=True)):
        verdict = verification.verdict(number)
        statistics.rounds += bool(tree.asked())
        _count(statistics, tree, verdict)
        writing.put([tree.tokens[node] for node in verdict.nodes], proposer)
        if verdict.token is not None:
            writing.put([verdict.token], proposer)


def _count(statistics: Statistics, tree: Tree[Any], verdict: Verdict) -> None:
    statistics.tokens += len(verdict.nodes) + (verdict.token is not None)
    statistics.certain += sum(tree.certain[node] for node in verdict.nodes)
    statistics.proposed += len(tree) - sum(tree.certain)
    statistics.accepted += sum(not tree.certain[node] for node in verdict.nodes)
    statistics.masks += tree.num_masks


def _writings(
    prompts: Sequence[Sequence[int]],
    automata: Sequence[TokenAutomaton],
    samplings: Sequence[Sampling],
    max_new_tokens: int,
    opportunistic: bool,
) -> list[_Writing]:
    if not len(prompts) == len(automata) == len(samplings):
        raise ValueError(f"there are {len(prompts)} prompts, {len(automata)} automata and {len(samplings)} settings")
    if not all(map(len, prompts)):
        raise ValueError("a prompt has no tokens: begin with the model's first special token")
    for automaton, sampling in zip(automata, samplings, strict=True):
        _check(automaton, max_new_tokens)
        if opportunistic:
            check_opportunistic(sampling)
    seeds: list[int] = Noise.of([sampling.seed for sampling in samplings]).seeds.tolist()
    parts = zip(prompts, automata, samplings, seeds, strict=True)
    return [_Writing(row, *part, max_new_tokens) for row, part in enumerate(parts)]


def _check(automaton: TokenAutomaton, max_new_tokens: int) -> None:
    check_has_end(automaton.vocabulary)
    check_limit(automaton, max_new_tokens)
