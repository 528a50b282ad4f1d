"""A logits processor for `transformers`: every token that the constraint forbids gets minus infinity.

The processor keeps the automaton state of every row. From one call to the next each row is one that was there before,
with one token more (beams change places), and its state advances by that; where some row is not (tokens taken back),
states are found again from the first generated token on. What was there at the first call is the prompt, padding
included, and is not constrained.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import torch
from torch import Tensor
from transformers import LogitsProcessor

from automata.errors import IncompleteOutput, TokenNotAllowed
from decoding.canonical_tensors import CanonicalTensors
from decoding.pushdown_tensors import Configurations, PushdownTensors
from decoding.tensors import AutomatonTensors
from tokenfst.automaton import TokenAutomaton
from tokenfst.canonical import CanonicalAutomaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton

Automaton: TypeAlias = TokenAutomaton | CanonicalAutomaton | PushdownTokenAutomaton


class _Tensors(Protocol):
    """What a processor asks of tensors; states are whatever they say."""

    device: torch.device
    width: int
    is_end: Tensor

    def starts(self, batch: int) -> Any: ...

    def astray(self, states: Any) -> Tensor: ...

    def mask(self, states: Any, remaining: int | None = None) -> Tensor: ...

    def advance(self, states: Any, tokens: Tensor) -> Any: ...


class ConstraintLogitsProcessor(LogitsProcessor):
    """Constrains one call of `generate`: greedy, sampling or beams, any batch, left padding. Make one for each call."""

    def __init__(
        self, automaton: Automaton, *, max_new_tokens: int | None = None, max_depth: int | None = None
    ) -> None:
        """Makes a processor.

        Args:
            automaton: what every row is to write.
            max_new_tokens: the limit that `generate` is given, the end token counted. With it every text is complete
                when the limit strikes: a token is allowed only if the rest can still be written.
            max_depth: how many symbols the stack of a grammar's automaton may hold; see `PushdownTensors`.

        Raises:
            IncompleteOutput: the shortest text takes more tokens than `max_new_tokens`.
        """
        least = _least_tokens(automaton)
        if max_new_tokens is not None and max_new_tokens < least:
            raise IncompleteOutput(f"the constraint takes at least {least} tokens, and the limit is {max_new_tokens}")
        self.automaton = automaton
        self.max_new_tokens = max_new_tokens
        self.max_depth = max_depth
        self._tensors: _Tensors | None = None
        self._prompt_length = 0
        self._seen: Tensor | None = None
        self._states: Any = None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Masks the scores of the next token.

        Args:
            input_ids: `[B, T]`, the prompt and what has been generated.
            scores: `[B, V]`, logits or log-probabilities, of any width that covers the vocabulary.

        Returns:
            `[B, V]`, minus infinity where a token is forbidden. A row that went astray (a beam of probability zero)
            has nothing allowed but the end token.

        Raises:
            TokenNotAllowed: every row holds a token that the constraint forbids.
            IncompleteOutput: a row can be completed within the tokens that are left, but only with a stack higher than
                `max_depth`.
            TooManyConfigurations: a row has more derivations side by side than the automaton carries.
        """
        tensors = self._on(scores)
        states = self._follow(input_ids, tensors)
        remaining = None
        if self.max_new_tokens is not None:
            remaining = self.max_new_tokens - (input_ids.shape[1] - self._prompt_length)
        if isinstance(tensors, PushdownTensors):
            tensors.check(states)
        astray = tensors.astray(states)
        if bool(astray.all()):
            raise TokenNotAllowed("every sequence holds a token that the constraint forbids")
        mask = tensors.mask(states, remaining) | (astray[:, None] & tensors.is_end)
        if isinstance(tensors, PushdownTensors) and not bool(mask.any(1).all()):
            raise IncompleteOutput("a text cannot be completed within both `max_new_tokens` and `max_depth`")
        return scores.masked_fill(~mask, float("-inf"))

    def _on(self, scores: Tensor) -> _Tensors:
        tensors = self._tensors
        if tensors is None or tensors.device != scores.device or tensors.width != scores.shape[1]:
            tensors = self._tensors = self._copied(scores.device, scores.shape[1])
        return tensors

    def _copied(self, device: torch.device, width: int) -> _Tensors:
        if isinstance(self.automaton, PushdownTokenAutomaton):
            return PushdownTensors(self.automaton, device, width, max_depth=self.max_depth)
        if isinstance(self.automaton, CanonicalAutomaton):
            return CanonicalTensors(self.automaton, device, width)
        return AutomatonTensors(self.automaton, device, width)

    def _follow(self, input_ids: Tensor, tensors: _Tensors) -> Any:
        """The state of each row."""
        seen, states = self._seen, self._states
        if seen is None or states is None:
            self._prompt_length = input_ids.shape[1]
            states = tensors.starts(len(input_ids))
        elif (rows := _rows_of(input_ids[:, :-1], seen)) is not None:
            moved = states.index_select(rows) if isinstance(states, Configurations) else states[rows]
            states = tensors.advance(moved, input_ids[:, -1])
        else:
            states = tensors.starts(len(input_ids))
            for tokens in input_ids[:, self._prompt_length :].unbind(1):
                states = tensors.advance(states, tokens)
        self._seen, self._states = input_ids, states
        return states


def _rows_of(rows: Tensor, seen: Tensor) -> Tensor | None:
    """Where each row stood among those seen, `[B]`; None if some row was not there."""
    if rows.shape[1] != seen.shape[1]:
        return None
    if torch.equal(rows, seen):
        return torch.arange(len(rows), device=rows.device)
    same = torch.stack([(row == seen).all(1) for row in rows])
    return same.to(torch.uint8).argmax(1) if bool(same.any(1).all()) else None


def _least_tokens(automaton: Automaton) -> int:
    if isinstance(automaton, PushdownTokenAutomaton):
        return automaton.distances.first
    return automaton.min_tokens(automaton.start)
