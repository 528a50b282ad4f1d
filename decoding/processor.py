"""A logits processor for `transformers`: every token that the constraint forbids gets minus infinity.

The processor keeps the automaton state of every row. From one call to the next the rows are the same with one token
more, and the states advance by it; where they are not (beams that changed places, tokens taken back), states are found
again from the first generated token on. What was there at the first call is the prompt, padding included, and is not
constrained.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import torch
from torch import Tensor
from transformers import LogitsProcessor

from automata.errors import IncompleteOutput, TokenNotAllowed
from decoding.canonical_tensors import CanonicalTensors
from decoding.pushdown_tensors import PushdownTensors
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
        least = automaton.min_tokens(automaton.start)
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
        elif input_ids.shape == (seen.shape[0], seen.shape[1] + 1) and torch.equal(input_ids[:, :-1], seen):
            states = tensors.advance(states, input_ids[:, -1])
        else:
            states = tensors.starts(len(input_ids))
            for tokens in input_ids[:, self._prompt_length :].unbind(1):
                states = tensors.advance(states, tokens)
        self._seen, self._states = input_ids, states
        return states
