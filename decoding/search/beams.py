"""Beam search over the texts of a language, and diverse beam search.

    at each step, for each prompt and group:
        ends        every live beam that may end becomes a finished text; the best `width` are kept
        tokens      every live beam is extended by one token; the best `width` extensions stay live

The mask is applied first, and the best remaining tokens are taken (Language AI Handbook, "Constrained Beam Search"). A
finished text does not take the place of a beam, so short texts do not crowd out long ones. A group is finished when it
has `width` finished texts and no live beam can still beat the worst of them: log-probabilities only fall, so there is a
bound on what a beam may reach. If weights reward later tokens (such as hot words in free text), there is no such bound,
and the search continues up to the limit.

In diverse beam search (Vijayakumar et al. 2018, algorithm 1), groups choose one after another, and `diversity` is
subtracted from a token's log-probability for each beam of an earlier group of the same prompt that chose this token at
the same step (Hamming diversity). This affects only which beams stay live; scores remain the model's. A text that an
earlier group finished is not taken again, so the texts of all groups differ.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import inf
from typing import Any

from transformers import PreTrainedModel

from automata.limits import DEFAULT_LIMITS, Limits
from decoding.inputs.constraints import ConstraintLikes, automata_for, dead_end
from decoding.inputs.counts import token_count
from decoding.inputs.healing import Healed
from decoding.inputs.prompts import Prompts, prompt_tokens
from decoding.inputs.vocabularies import vocabulary_of
from decoding.search.hypothesis import Hypothesis, check_penalty, normalized
from decoding.search.scorers import Logits, scorer_of
from decoding.search.steps import Continuations, Position, Step
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.weighted.automaton import WeightedTokenAutomaton


def beam_search(
    model: PreTrainedModel | Logits,
    tokenizer: Any,
    prompts: Prompts,
    constraint: ConstraintLikes,
    *,
    max_new_tokens: int = 256,
    beams: int = 4,
    groups: int = 1,
    diversity: float = 0.0,
    length_penalty: float = 0.0,
    at_text_start: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[list[Hypothesis]]:
    """Search for the likeliest texts.

    Args:
        model: a causal language model of `transformers`, or a function from token sequences to logits `[R, V]`.
        tokenizer: the model's fast tokenizer; or its `Vocabulary` if prompts are token ids.
        prompts, constraint: as for `generate`, but each prompt must have a constraint. States are kept on the host, so
            a grammar's stack may have any height.
        max_new_tokens: the limit of each text, including the end token.
        beams: the number of beams for each prompt, in all groups together.
        groups: the number of groups into which the beams are divided. Without `diversity`, all of them follow the same
            beams, and find fewer texts than one group would.
        diversity: the amount subtracted from the log-probability of a token for each beam of an earlier group that
            chose it at the same step, in nats.
        length_penalty: texts are ranked by log-probability / length ** penalty; 0 ranks by log-probability alone.
        at_text_start, limits: as for `generate`.

    Returns:
        For each prompt, up to `beams` texts with their scores, best first; fewer if there are no more, or if a group
        found only texts that earlier groups had found. All are complete, and differ as sequences of tokens.

    Raises:
        IncompleteOutput: the shortest text takes more than `max_new_tokens`; or no beam can be completed within both
            `max_new_tokens` and the depth to which its automaton is limited (`within`).
        ValueError: `beams` is not positive, or not a multiple of `groups`; `diversity` is negative or not finite;
            `length_penalty` is out of its range; there are more or fewer constraints than prompts; or the logits are
            narrower than the vocabulary.
        Exception: as for `generate`.
    """
    beams, groups = token_count("beams", beams, of="beams"), token_count("groups", groups, of="groups")
    if groups < 1 or beams < 1 or beams % groups:
        raise ValueError(f"{beams} beams cannot be divided into {groups} groups")
    if not 0 <= diversity < inf:
        raise ValueError(f"diversity is finite and at least 0, not {diversity}")
    max_new_tokens = token_count("max_new_tokens", max_new_tokens, least=1)
    vocabulary, prompted = vocabulary_of(tokenizer, model), prompt_tokens(tokenizer, prompts, model)
    automata = automata_for(
        constraint, vocabulary, len(prompted), max_new_tokens, at_text_start=at_text_start, limits=limits
    )
    if not prompted:
        return []
    check_penalty(length_penalty)
    bounds = _Limits(beams // groups, diversity, length_penalty, max_new_tokens)
    searches = [_Search(automaton, row, groups, bounds) for row, automaton in enumerate(automata)]
    scorer = scorer_of(model)
    logits = scorer.start(prompted)
    for step in range(max_new_tokens):
        positions = _positions(searches, len(logits))
        continuations = Step.of(logits, positions, max_new_tokens - step).continuations(beams)
        live = [beam for search in searches for beam in search.step(continuations)]
        if not live:
            break
        logits = scorer.step([beam.row for beam in live], [beam.tokens[-1] for beam in live])
        for row, beam in enumerate(live):
            beam.row = row
    return [search.found() for search in searches]


@dataclass(frozen=True)
class _Limits:
    width: int
    diversity: float
    length_penalty: float
    max_new_tokens: int


@dataclass
class _Beam:
    """A text so far; `row` is the row of its logits or, until these are computed, of its parent's."""

    tokens: tuple[int, ...]
    state: Any
    log_probability: float
    row: int


@dataclass
class _Group:
    live: list[_Beam]
    finished: list[Hypothesis] = field(default_factory=list)


class _Search:
    """The search of one prompt."""

    def __init__(self, automaton: TokenAutomaton, row: int, groups: int, limits: _Limits) -> None:
        self.automaton, self.limits = automaton, limits
        self.may_rise = _has_rewards(automaton)
        start = _Beam((), automaton.start, 0.0, row)
        self.groups = [_Group([start]) for _ in range(groups)]

    def step(self, continuations: list[Continuations]) -> list[_Beam]:
        """End and extend all groups; return the live beams, those of a group together."""
        chosen: Counter[int] = Counter()
        ended: set[tuple[int, ...]] = set()
        for number, group in enumerate(self.groups):
            self._end(group, number, continuations, ended)
            group.live = self._extended(group, continuations, chosen)
            chosen.update(beam.tokens[-1] for beam in group.live)
        return [beam for group in self.groups for beam in group.live]

    def found(self) -> list[Hypothesis]:
        """Return the finished texts of all groups, best first.

        Raises:
            IncompleteOutput: there are none: every beam ended where its automaton allows nothing.
        """
        finished = [one for group in self.groups for one in group.finished]
        if not finished:
            raise dead_end()
        return sorted(finished, key=lambda one: -one.score)

    def _end(self, group: _Group, number: int, continuations: list[Continuations], ended: set[tuple[int, ...]]) -> None:
        for beam in group.live:
            end = continuations[beam.row].end
            if end is None or (*beam.tokens, end[0]) in ended:
                continue
            tokens, total = (*beam.tokens, end[0]), beam.log_probability + end[1]
            score = normalized(total, len(tokens), self.limits.length_penalty)
            group.finished.append(Hypothesis(self.automaton.text(beam.tokens).decode(), tokens, total, score, number))
        group.finished.sort(key=lambda one: -one.score)
        del group.finished[self.limits.width :]
        # Only the texts that are kept: one that was not good enough for this group may be good enough for the next.
        ended.update(one.tokens for one in group.finished)

    def _extended(self, group: _Group, continuations: list[Continuations], chosen: Counter[int]) -> list[_Beam]:
        longer = [
            (total - self.limits.diversity * chosen[token], total, beam, token)
            for beam in group.live
            for token, score in continuations[beam.row].tokens
            if self._may_win(group, total := beam.log_probability + score, len(beam.tokens) + 1)
        ]
        # Sorting is stable: among equals the better beam comes first.
        longer.sort(key=lambda one: -one[0])
        return [
            _Beam((*beam.tokens, token), self.automaton.advance(beam.state, token), total, beam.row)
            for _, total, beam, token in longer[: self.limits.width]
        ]

    def _may_win(self, group: _Group, total: float, length: int) -> bool:
        """Return whether a text whose first `length` tokens have the log-probability `total` can be among the best."""
        if self.may_rise or len(group.finished) < self.limits.width:
            return True
        ends = length + 1, self.limits.max_new_tokens
        return max(normalized(total, end, self.limits.length_penalty) for end in ends) > group.finished[-1].score


def _has_rewards(automaton: TokenAutomaton) -> bool:
    """Return whether a token may raise the score of a text."""
    while isinstance(automaton, Healed):
        automaton = automaton.inner
    return isinstance(automaton, WeightedTokenAutomaton) and automaton.has_rewards


def _positions(searches: list[_Search], rows: int) -> list[Position]:
    """Return the position of each row."""
    positions: dict[int, Position] = {}
    for search in searches:
        for group in search.groups:
            positions.update({beam.row: Position(search.automaton, beam.state) for beam in group.live})
    return [positions[row] for row in range(rows)]
