"""A logits processor for `transformers`: every token that the constraint forbids gets minus infinity.

It knows a row by its tokens (`decoding.following`), so it serves whatever calls it: greedy search, sampling, beams,
assisted generation, which asks about draft tokens and takes them back, and any cache. What was there at the first call
is the prompt, padding included, and is not constrained.

Constraints that are still being compiled are waited for at the first call, when the prompt has been read: that is how
compiling and reading the prompt go on side by side (`decoding.compiling`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

import torch
from torch import Tensor
from transformers import LogitsProcessor

from automata.errors import IncompleteOutput, TokenNotAllowed
from decoding.following import Automaton, Following

__all__ = ["Automaton", "Constrained", "ConstraintLogitsProcessor"]

# An automaton, one that is still being compiled, or None for text that is free.
Constrained: TypeAlias = Automaton | Future[Any] | None


class ConstraintLogitsProcessor(LogitsProcessor):
    """Constrains one call of `generate`, in any of its modes, with any batch and left padding. Make one for each call.

    Attributes:
        max_new_tokens: the limit that `generate` is given.
        wrap_up_after: after how many tokens texts are urged to end.
        max_depth: how many symbols the stack of a grammar's automaton may hold.
    """

    def __init__(
        self,
        automaton: Constrained | Sequence[Constrained],
        *,
        max_new_tokens: int | None = None,
        wrap_up_after: int | None = None,
        max_depth: int | None = None,
    ) -> None:
        """Makes a processor.

        Args:
            automaton: what every row is to write; or one for each prompt, None where anything may be written. A future
                is waited for at the first call.
            max_new_tokens: the limit that `generate` is given, the end token counted. With it every text is complete
                when the limit strikes: a token is allowed only if the rest can still be written.
            wrap_up_after: a soft close: once so many tokens are written, each token is charged for those by which it
                makes the text longer than it has to be. A token more costs 1 in the logits at first, and 1 more with
                every token written. None: texts are as long as the model likes.
            max_depth: how many symbols the stack of a grammar's automaton may hold; see `Arena`.

        Raises:
            IncompleteOutput: the shortest text takes more tokens than `max_new_tokens`.
            ValueError: `wrap_up_after` is below 0.
        """
        if wrap_up_after is not None and wrap_up_after < 0:
            raise ValueError(f"wrap_up_after is a number of tokens, not {wrap_up_after}")
        self._constrained: list[Constrained] = list(automaton) if isinstance(automaton, Sequence) else [automaton]
        self.max_new_tokens = max_new_tokens
        self.wrap_up_after = wrap_up_after
        self.max_depth = max_depth
        for one in self._constrained:
            if not isinstance(one, Future):
                self._check_limit(one)
        # Models whose logits have different widths may take turns, as in assisted generation.
        self._following: dict[tuple[torch.device, int], Following] = {}
        self._prompt: Tensor | None = None

    def automata(self) -> list[Automaton | None]:
        """The automata, one or as many as there are prompts; waits for those that are being compiled.

        Raises:
            IncompleteOutput: the shortest text of one takes more tokens than `max_new_tokens`.
            Exception: what compiling one raised.
        """
        automata = [one.result() if isinstance(one, Future) else one for one in self._constrained]
        for automaton in automata:
            self._check_limit(automaton)
        return automata

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Masks the scores of the next token.

        Args:
            input_ids: `[B, T]`, the prompt and what has been generated. With several constraints B is a multiple of
                their number: the rows of each prompt are neighbours.
            scores: `[B, V]`, logits or log-probabilities, of any width that covers the vocabulary.

        Returns:
            `[B, V]`, minus infinity where a token is forbidden, less what is charged for length after `wrap_up_after`
            tokens. A row that went astray (a beam of probability zero) has nothing allowed but the end token.

        Raises:
            TokenNotAllowed: every row holds a token that the constraint forbids.
            IncompleteOutput: a row can be completed within the tokens that are left, but only with a stack higher than
                `max_depth`; or the shortest text of a constraint that was waited for takes more than `max_new_tokens`.
            TooManyConfigurations: a row has more derivations side by side than the automaton carries.
            ValueError: these are other prompts than at the first call, or the scores do not cover the vocabulary.
        """
        mask = self.mask(input_ids, scores)
        return self.charged(input_ids, scores).masked_fill(~mask, float("-inf"))

    def charged(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The scores less what is charged for length after `wrap_up_after` tokens, `[B, V]`; arguments as of a call."""
        if self.wrap_up_after is None:
            return scores
        following = self._on(input_ids, scores)
        price = input_ids.shape[1] - following.prompt_length - self.wrap_up_after + 1
        if price <= 0:
            return scores
        return scores - (price * following.excess(following.states(input_ids))).to(scores.dtype)

    def mask(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The tokens that are allowed, `[B, V]` bool; arguments and errors as of a call."""
        following = self._on(input_ids, scores)
        states = following.states(input_ids)
        remaining = None
        if self.max_new_tokens is not None:
            remaining = self.max_new_tokens - (input_ids.shape[1] - following.prompt_length)
        mask = following.mask(states, remaining)
        astray = following.astray(states)
        for row in (~(mask.any(1) | astray)).nonzero().flatten().tolist():
            # A beam of probability zero may hold a token that there was no room for.
            if remaining is None or not following.needs_more(states, row, remaining):
                raise IncompleteOutput("a text cannot be completed within both `max_new_tokens` and `max_depth`")
            astray[row] = True
        if bool(astray.any()):
            if bool(astray.all()):
                raise TokenNotAllowed("every sequence holds a token that the constraint forbids")
            mask[:, following.end_ids] |= astray[:, None]
        return mask

    def _on(self, input_ids: Tensor, scores: Tensor) -> Following:
        if self._prompt is None:
            self._prompt = input_ids
        key = scores.device, scores.shape[1]
        if key not in self._following:
            self._following[key] = Following(self.automata(), self._prompt, *key, self.max_depth)
        return self._following[key]

    def _check_limit(self, automaton: Automaton | None) -> None:
        if automaton is None or self.max_new_tokens is None:
            return
        if not automaton.fits(automaton.start, self.max_new_tokens):
            least, limit = automaton.min_tokens(automaton.start), self.max_new_tokens
            raise IncompleteOutput(f"the constraint takes at least {least} tokens, and the limit is {limit}")
