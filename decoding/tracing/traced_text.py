"""One text with its steps, as plain numbers and strings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from automata.charts import Picture
from decoding.tracing import pictures

# Significant digits of the numbers in `data`: more than any picture shows.
_DIGITS = 6


@dataclass(frozen=True)
class Candidate:
    """A token that was likely before or after the mask, or was written.

    Attributes:
        token: the id of the token.
        name: its text, with escapes (`tokenfst.vocabulary.names`).
        before: its probability by the model, after penalties of `transformers`.
        after: its probability among the allowed tokens, with costs subtracted from the logits; 0 if it is forbidden.
            Temperature and truncation are applied later.
        allowed: whether the mask allows the token.
    """

    token: int
    name: str
    before: float
    after: float
    allowed: bool


@dataclass(frozen=True)
class TraceStep:
    """The writing of one token.

    Attributes:
        chosen: the token that was written.
        text: the text that it adds; "" for the end token, and as long as a character is incomplete.
        candidates: the likeliest tokens before the mask, the likeliest after it, and the one that was written, each
            once, in descending order of their probabilities before the mask.
        num_allowed: the number of tokens that the mask allows.
        removed: the total probability of the forbidden tokens.
        surprise: -log2 of the total probability of the allowed tokens, in bits.
        stacks: for grammars, the rules that are open before this token, from the outermost to the innermost; one stack
            for each way to read the text so far. A rule that is complete is left with the next byte. Empty for other
            constraints.
        pointer: for JSON, the pointer (RFC 6901) of the value that contains the end of the text before this token; None
            for other texts.
        notes: lines on the place before this token: what may come there, and the part of the pattern, the rule or the
            schema that requires it, as in `tokenfst.explain`.
    """

    chosen: Candidate
    text: str
    candidates: tuple[Candidate, ...]
    num_allowed: int
    removed: float
    surprise: float
    stacks: tuple[tuple[str, ...], ...] = ()
    pointer: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def wanted(self) -> Candidate:
        """The token that the model considered the likeliest."""
        return self.candidates[0]

    @property
    def forced(self) -> bool:
        """Whether no other token was allowed."""
        return self.num_allowed == 1

    @property
    def intervened(self) -> bool:
        """Whether the token that the model considered the likeliest was forbidden."""
        return not self.wanted.allowed

    @property
    def after(self) -> tuple[Candidate, ...]:
        """The allowed candidates, in descending order of their probabilities after the mask."""
        return tuple(sorted((one for one in self.candidates if one.allowed), key=lambda one: (-one.after, one.token)))

    def draw(self, *, title: str | None = None) -> Picture:
        """Return a picture of the candidates, before and after the mask.

        Args:
            title: a line above the picture.
        """
        return pictures.of_candidates([(one.name, one.before, one.after) for one in self.candidates], title)


@dataclass(frozen=True)
class TracedText:
    """A text and its steps.

    Attributes:
        prompt: the text before it.
        text: the text, as `generate` returns it without a trace.
        steps: one step for each token, including the end token.
    """

    prompt: str
    text: str
    steps: tuple[TraceStep, ...]

    @property
    def num_forced(self) -> int:
        """The number of tokens that were the only ones allowed."""
        return sum(step.forced for step in self.steps)

    @property
    def interventions(self) -> int:
        """The number of steps at which the token that the model considered the likeliest was forbidden."""
        return sum(step.intervened for step in self.steps)

    @property
    def total_surprise(self) -> float:
        """The sum of the surprises of all steps, in bits; see `decoding.difficulty`."""
        return math.fsum(step.surprise for step in self.steps)

    def draw(self, *, title: str | None = None) -> Picture:
        """Return a picture of the probability that the mask removed before each token.

        Args:
            title: a line above the picture.
        """
        return pictures.of_removed([(step.chosen.name, step.removed) for step in self.steps], title)

    def data(self) -> dict[str, Any]:
        """Return the text as JSON data; infinite numbers are None, and numbers have six significant digits."""
        return {
            "prompt": self.prompt,
            "text": self.text,
            "surprise": _number(self.total_surprise),
            "steps": [_step_data(step) for step in self.steps],
        }


def _step_data(step: TraceStep) -> dict[str, Any]:
    return {
        "chosen": step.chosen.token,
        "text": step.text,
        "allowed": step.num_allowed,
        "removed": _number(step.removed),
        "forced": step.forced,
        "intervened": step.intervened,
        "candidates": [
            [one.token, one.name, _number(one.before), _number(one.after), one.allowed] for one in step.candidates
        ],
        "stacks": [list(stack) for stack in step.stacks],
        "pointer": step.pointer,
        "notes": list(step.notes),
    }


def _number(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
