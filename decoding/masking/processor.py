"""A logits processor for `transformers`: every token that the constraint forbids gets minus infinity.

It knows a row by its tokens (`decoding.masking.batch_tracker`), so it serves every mode of `model.generate`: greedy
search, sampling, beams, assisted generation, which asks about draft tokens and takes them back, and any cache. The
tokens of the first call are the prompt, padding included, and are not constrained.

Constraints that are still being compiled are waited for at the first call, when the prompt has been read: compiling and
reading the prompt run side by side (`decoding.compiling`).
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor

from automata.limits import DEFAULT_LIMITS, Limits
from decoding.inputs.constraints import Constrained, ConstraintLikes, constrained, resolved
from decoding.inputs.counts import token_count
from decoding.inputs.vocabularies import vocabulary_of
from decoding.masking.batch_tracker import BatchTracker
from tokenfst.token_automaton import TokenAutomaton


class _WholeRowsOnly:
    """An attribute that continuous batching reads; it raises, where a value would lead to no more than a warning."""

    def __get__(self, processor: object, owner: type) -> None:
        if processor is not None:
            raise NotImplementedError(
                f"{owner.__name__} reads whole rows, and continuous batching hands over their last tokens alone: "
                "`constrained_batching` of serving/continuous_batching.py takes a constraint for each request"
            )


class ConstraintLogitsProcessor(LogitsProcessor):
    """Constrains one call of `model.generate`, in any mode, with any batch and left padding. Make one for each call.

    Attributes:
        vocabulary: the tokens.
        max_new_tokens: the limit of the call, or None.
        wrap_up_after: the number of tokens after which texts are urged to end, or None.
        max_depth: the most symbols on the stack of a grammar's automaton, or None.
    """

    supports_continuous_batching: Any = _WholeRowsOnly()

    def __init__(
        self,
        constraint: ConstraintLikes,
        tokenizer: Any,
        *,
        max_new_tokens: int | None,
        wrap_up_after: int | None = None,
        at_text_start: bool = False,
        max_depth: int | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Compile the constraint, if it is not compiled yet.

        Args:
            constraint: what each text must match: anything that `tokenfst.compile` takes, an automaton, or a future of
                one, which is waited for at the first call. Or a list with one for each prompt, None where anything may
                be written.
            tokenizer: the model's fast tokenizer, or its `Vocabulary`.
            max_new_tokens: the `max_new_tokens` of the call of `model.generate`, the end token counted. A token is then
                allowed only if the text can still be completed after it, so every text is complete. With None the
                processor does not know the limit, and a text is cut off where `model.generate` stops.
            wrap_up_after: once this many tokens are written, each token is charged for those by which it makes the text
                longer than the shortest. A token more costs 1 in the logits at first, and 1 more with every token
                written. None: never.
            at_text_start, limits: as for `tokenfst.compile`.
            max_depth: the most symbols on the stack of a grammar's automaton; see `Arena`.

        Raises:
            IncompleteOutput: the shortest text takes more tokens than `max_new_tokens`.
            VocabularyError: an automaton is over another vocabulary, or the vocabulary has no end token.
            TypeError, ValueError: an argument is not what it should be.
            PatternError, EmptyLanguage, LimitExceeded: as `tokenfst.compile`.
        """
        self.max_new_tokens = None if max_new_tokens is None else token_count("max_new_tokens", max_new_tokens)
        self.wrap_up_after = None if wrap_up_after is None else token_count("wrap_up_after", wrap_up_after)
        if self.max_new_tokens is not None and self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens is 1 or more, or None, not {max_new_tokens}")
        if self.wrap_up_after is not None and self.wrap_up_after < 0:
            raise ValueError(f"wrap_up_after is a number of tokens, not {wrap_up_after}")
        self.vocabulary, self.max_depth = vocabulary_of(tokenizer), max_depth
        each = constrained(constraint, self.vocabulary, at_text_start=at_text_start, limits=limits)
        self._constraints: list[Constrained] = [one if isinstance(one, Future) else self._resolved(one) for one in each]
        # Models whose logits have different widths may take turns, as in assisted generation.
        self._trackers: dict[tuple[torch.device, int], BatchTracker] = {}
        self._prompt: Tensor | None = None

    def automata(self) -> list[TokenAutomaton | None]:
        """Return the automata, one or as many as there are prompts; waits for those that are being compiled.

        Raises:
            IncompleteOutput: the shortest text of one takes more tokens than `max_new_tokens`.
            VocabularyError: one is over another vocabulary.
            Exception: what compiling one raised.
        """
        automata = [self._resolved(one) for one in self._constraints]
        self._constraints = [*automata]
        return automata

    def _resolved(self, one: Constrained) -> TokenAutomaton | None:
        return resolved(one, self.vocabulary, self.max_new_tokens)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return the scores of the next token, masked; `scores` stay as they are.

        Arguments and errors are those of `apply_`.
        """
        return self.apply_(input_ids, scores.clone())

    def apply_(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Mask the scores of the next token in place.

        On an accelerator nothing is read by the host while each row is one token longer than at the call before. What
        a row may have done wrong is then found every 32 calls, and by `check`.

        Args:
            input_ids: `[B, T]`, the prompt and what has been generated. With several constraints B is a multiple of
                their number, and the rows of each prompt are neighbors.
            scores: `[B, V]`, logits or log-probabilities, of any width that covers the vocabulary.

        Returns:
            `scores`: minus infinity where a token is forbidden, less what is charged for length after `wrap_up_after`
            tokens. A row that has gone astray (a beam of probability zero) has nothing allowed but the end token.

        Raises:
            TokenNotAllowed: every row holds a token that the constraint forbids.
            IncompleteOutput: a row can be completed within the tokens that are left, but only with a stack higher than
                `max_depth`; or the shortest text of a constraint that was waited for takes more than `max_new_tokens`.
            TooManyConfigurations: a row has more derivations side by side than the automaton carries.
            ValueError: the prompts are others than at the first call, or the scores do not cover the vocabulary.
            VocabularyError: the scores are more than twice as wide as the vocabulary, so they are another model's.
        """
        if self._prompt is None:
            self._prompt = input_ids
        key = scores.device, scores.shape[1]
        if key not in self._trackers:
            self._trackers[key] = BatchTracker(self.automata(), self._prompt, *key, self.max_depth)
        tracker = self._trackers[key]
        written = input_ids.shape[1] - tracker.prompt_length
        remaining = None if self.max_new_tokens is None else self.max_new_tokens - written
        price = 0 if self.wrap_up_after is None else max(0, written - self.wrap_up_after + 1)
        return tracker.apply_(scores, tracker.states(input_ids), remaining, price)

    def check(self) -> None:
        """Raise what `apply_` has left to be found later on an accelerator; waits for it.

        Raises:
            TokenNotAllowed, IncompleteOutput, TooManyConfigurations, ValueError: as `apply_`.
        """
        for tracker in self._trackers.values():
            tracker.check()


class InPlace(LogitsProcessor):
    """A processor that writes into the scores it is given, for callers that do not use them any more."""

    supports_continuous_batching: Any = _WholeRowsOnly()

    def __init__(self, processor: ConstraintLogitsProcessor) -> None:
        self._processor = processor

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        return self._processor.apply_(input_ids, scores)
