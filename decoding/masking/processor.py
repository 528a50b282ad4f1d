"""A logits processor for `transformers`, which sets the scores of forbidden tokens to minus infinity.

It recognizes a row by its tokens (`decoding.masking.batch_tracker`), so it works in every mode of `model.generate`:
greedy search, sampling, beams, assisted generation (which tries draft tokens and takes them back), and any cache. The
tokens of the first call are the prompt, including padding, and are not constrained.

If constraints are still being compiled, the first call waits for them, after the model has read the prompt: compiling
and reading the prompt run in parallel (`decoding.compiling`).
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor

from automata.errors import IncompleteOutput
from automata.limits import DEFAULT_LIMITS, Limits
from decoding.inputs.constraints import ConstraintLikes, constrained, resolved
from decoding.inputs.counts import token_count
from decoding.inputs.vocabularies import vocabulary_of
from decoding.masking.batch_tracker import BatchTracker
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary


class _WholeRowsOnly:
    """An attribute that continuous batching reads: reading it raises, whereas a value would only lead to a warning."""

    def __get__(self, processor: object, owner: type) -> None:
        if processor is not None:
            raise TypeError(
                f"{owner.__name__} reads whole rows, and continuous batching hands over their last tokens alone: "
                "`constrained_batching` of serving/continuous_batching.py takes a constraint for each request"
            )


class ConstraintLogitsProcessor(LogitsProcessor):
    """Constrains one call of `model.generate`, with any batch and left padding. Make one for each call.

    If other options or processors forbid all tokens that the constraint allows, the text ends there, incomplete, since
    only the mask is known here; `generate` finds and refuses such a text. A token that a model is told to begin with
    (`forced_bos_token_id`) is one of these: pass it in `decoder_input_ids`. For continuous batching, see
    `serving/continuous_batching.py`.

    Attributes:
        vocabulary: the tokens.
        max_new_tokens: the limit of the call, or None.
        wrap_up_after: the number of tokens after which texts are urged to end, or None.
        max_depth: the maximum number of symbols on the stack of a grammar's automaton, or None.
    """

    vocabulary: Vocabulary
    max_new_tokens: int | None
    wrap_up_after: int | None
    max_depth: int | None
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
                one, for which the first call waits. Or a list with one constraint for each prompt, None if anything may
                be written.
            tokenizer: the model's fast tokenizer, or its `Vocabulary`.
            max_new_tokens: the `max_new_tokens` of the call of `model.generate`, including the end token. A token is
                then allowed only if the text can still be completed after it, so every text is complete. With None, the
                processor does not know the limit, and a text is cut off where `model.generate` stops.
            wrap_up_after: once this many tokens are written, a price is subtracted from the score of a token for each
                token by which it makes the text longer than the shortest text. The price is 1 at first, and rises by 1
                with every token written. None: never.
            at_text_start, limits: as for `tokenfst.compile`.
            max_depth: the maximum number of symbols on the stack of a grammar's automaton; see `Arena`. None for the
                default of `Arena` if the automaton's tables can be made at once, and for no maximum otherwise.

        Raises:
            IncompleteOutput: the shortest text takes more tokens than `max_new_tokens`.
            VocabularyError: an automaton is over another vocabulary, or the vocabulary has no end token.
            TypeError, ValueError: an argument has the wrong type or value.
            PatternError, EmptyLanguage, LimitExceeded: as for `tokenfst.compile`.
        """
        self.max_new_tokens = None if max_new_tokens is None else token_count("max_new_tokens", max_new_tokens, least=1)
        self.wrap_up_after = None if wrap_up_after is None else token_count("wrap_up_after", wrap_up_after, least=0)
        self.max_depth = None if max_depth is None else token_count("max_depth", max_depth, least=0, of="symbols")
        self.vocabulary, self._at_text_start = vocabulary_of(tokenizer), at_text_start
        each = constrained(constraint, self.vocabulary, at_text_start=at_text_start, limits=limits)
        if not each:
            raise ValueError("there is no constraint: give one for all prompts, or one for each")
        self._constraints = each
        self._constraints = [one if isinstance(one, Future) else self._resolved(at) for at, one in enumerate(each)]
        # Models whose logits have different widths may take turns, as in assisted generation.
        self._trackers: dict[tuple[torch.device, int], BatchTracker] = {}
        self._prompt: Tensor | None = None

    def automata(self) -> list[TokenAutomaton | None]:
        """Return the automata, one for all prompts or one for each; wait for running compilations.

        Raises:
            IncompleteOutput: the shortest text of an automaton takes more tokens than `max_new_tokens`.
            VocabularyError: an automaton is over another vocabulary.
            Exception: the error of a compilation.
        """
        automata = [self._resolved(at) for at in range(len(self._constraints))]
        self._constraints = [*automata]
        return automata

    def _resolved(self, at: int) -> TokenAutomaton | None:
        try:
            return resolved(
                self._constraints[at], self.vocabulary, self.max_new_tokens, at_text_start=self._at_text_start
            )
        except IncompleteOutput as error:
            if len(self._constraints) == 1:
                raise
            raise IncompleteOutput(f"prompt {at}: {error}") from None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return the masked scores of the next token; `scores` are unchanged.

        Arguments and errors are those of `apply_`.
        """
        return self.apply_(input_ids, scores.clone())

    def apply_(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Mask the scores of the next token in place.

        On an accelerator, the host reads nothing as long as each row is one token longer than in the previous call.
        Errors in a row are then found every 32 calls, and by `check`.

        Args:
            input_ids: `[B, T]`, the prompts and the generated tokens. With several constraints, B is a multiple of
                their number, and the rows of each prompt are adjacent.
            scores: `[B, V]`, logits or log-probabilities, of any width that covers the vocabulary.

        Returns:
            `scores`: minus infinity for forbidden tokens, and less the price of length after `wrap_up_after` tokens. A
            row that holds a token that is not allowed (a beam of probability zero) allows only the end token; so does
            one in which other processors forbade all tokens that the constraint allows, whose text may then be
            incomplete.

        Raises:
            TokenNotAllowed: every row has a token that the constraint forbids.
            IncompleteOutput: a row can be completed within the remaining tokens, but only with a stack higher than
                `max_depth`, or than that of its automaton (`within`); or the shortest text of a constraint that was
                still being compiled takes more than `max_new_tokens`.
            TooManyConfigurations: a row has more derivations side by side than the automaton may carry.
            ValueError: the prompts differ from those of the first call, or the scores do not cover the vocabulary.
            VocabularyError: the scores are more than twice as wide as the vocabulary, so they belong to another model.
        """
        if scores.dim() != 2 or not scores.is_floating_point():
            shape, kind = list(scores.shape), str(scores.dtype).removeprefix("torch.")
            raise ValueError(f"the scores are [B, V] floating-point numbers, and not {shape} of {kind}")
        if self._prompt is None:
            self._prompt = input_ids
        key = scores.device, scores.shape[1]
        if key not in self._trackers:
            self._trackers[key] = BatchTracker(self.automata(), self.vocabulary, self._prompt, *key, self.max_depth)
        tracker = self._trackers[key]
        written = input_ids.shape[1] - tracker.prompt_length
        remaining = None if self.max_new_tokens is None else self.max_new_tokens - written
        wrap_up = 0 if self.wrap_up_after is None else max(0, written - self.wrap_up_after + 1)
        return tracker.apply_(scores, tracker.states(input_ids), remaining, wrap_up)

    def check(self) -> None:
        """Raise any error that `apply_` has not yet reported on an accelerator. This waits for the device.

        Raises:
            TokenNotAllowed, IncompleteOutput, TooManyConfigurations, ValueError: as for `apply_`.
        """
        for tracker in self._trackers.values():
            tracker.check()


class InPlace(LogitsProcessor):
    """A processor that masks the given scores in place, for callers that do not need the original scores."""

    supports_continuous_batching: Any = _WholeRowsOnly()

    def __init__(self, processor: ConstraintLogitsProcessor) -> None:
        self._processor = processor

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        return self._processor.apply_(input_ids, scores)
