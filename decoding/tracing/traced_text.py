"""One text with what happened at each of its tokens, as plain numbers and strings."""

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
        token: its id.
        name: its text, with escapes (`tokenfst.vocabulary.names`).
        before: its probability as the model gave it, after penalties of `transformers`.
        after: its probability among the allowed tokens, less what it costs; 0 if it is forbidden. Temperature and
            truncation act afterwards.
        allowed: whether the mask allows it.
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
        text: what it adds to the text; "" for the end token, and while a character is not whole.
        candidates: the likeliest tokens before the mask, the likeliest after it, and the one that was written, each
            once, the likeliest before the mask first.
        num_allowed: how many tokens the mask allows.
        removed: the probability of all tokens that it forbids.
        surprise: -log2 of the probability of all that it allows, in bits.
        stacks: for grammars, the rules that are open before this token, the outermost first and the innermost last; one
            stack for each way in which the text so far can be read. A rule that is over is left with the next byte.
            Empty for other constraints.
        pointer: for JSON, the pointer of the value that the text before this token is in (RFC 6901); None for others.
        notes: lines on the place before this token: what may come there, and the part of the pattern, the rule or the
            schema that says so, as `tokenfst.explain` has them.
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
        """The token that the model found likeliest."""
        return self.candidates[0]

    @property
    def forced(self) -> bool:
        """Whether nothing else was allowed."""
        return self.num_allowed == 1

    @property
    def intervened(self) -> bool:
        """Whether what the model found likeliest was forbidden."""
        return not self.wanted.allowed

    @property
    def after(self) -> tuple[Candidate, ...]:
        """The candidates that are allowed, the likeliest after the mask first."""
        return tuple(sorted((one for one in self.candidates if one.allowed), key=lambda one: (-one.after, one.token)))

    def draw(self, *, title: str | None = None) -> Picture:
        """Return a picture of the candidates, before the mask and after it.

        Args:
            title: a line above the picture.
        """
        return pictures.of_candidates([(one.name, one.before, one.after) for one in self.candidates], title)


@dataclass(frozen=True)
class TracedText:
    """A text and its steps.

    Attributes:
        prompt: what came before it.
        text: the text, as `generate` returns it without a trace.
        steps: one for each token, the end token included.
    """

    prompt: str
    text: str
    steps: tuple[TraceStep, ...]

    @property
    def num_forced(self) -> int:
        """How many tokens were the only ones allowed."""
        return sum(step.forced for step in self.steps)

    @property
    def interventions(self) -> int:
        """How often the token that the model found likeliest was forbidden."""
        return sum(step.intervened for step in self.steps)

    @property
    def total_surprise(self) -> float:
        """2 to the minus this is the probability that the model, left alone, had stayed within the constraint."""
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
