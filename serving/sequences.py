"""One sequence that an engine passes as tokens, without saying which earlier tokens were taken back.

Such an engine calls a logits processor with the prompt, the written tokens, and the logits of the next token. The
written tokens may include draft tokens, which are gone in the next call.

    SequenceTracker      the state of a text, found by comparing its tokens with those of the previous call
    SequenceProcessor    computes biases for the logits of one text; the basis of the adapters for engines

A mistake of the caller raises an error, if the engine passes errors on. An automaton that exceeds its limits in the
middle of a text is not the caller's mistake, and must not end the other texts of a batch: only end tokens are allowed
in its text from then on, the error is logged, and `check` raises it. The same happens if a text can continue only with
tokens at which the engine stops.

Rejected: states in a table by the tokens of the text (a table grows with every draft, and a list of states can also be
rewound).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.errors import IncompleteOutput, TokenNotAllowed
from automata.limits import DEFAULT_LIMITS, Limits
from automata.texts import common_prefix_length
from decoding.inputs.constraints import Constrained, ConstraintLike, check_width, constrained, resolved
from serving.matcher import EXCEEDED, Matcher
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

logger = logging.getLogger(__name__)


class SequenceTracker:
    """The state of a text, even if some of its tokens are taken back.

    Attributes:
        matcher: the state of the text.
    """

    def __init__(self, automaton: TokenAutomaton, stops: Iterable[int] = ()) -> None:
        """Begin before the first token.

        Args:
            automaton: the automaton.
            stops: tokens that end the text where it may end, in addition to the end tokens of the vocabulary.
        """
        self.matcher = Matcher(automaton, stops)
        self._tokens: list[int] = []

    def follow(self, tokens: Sequence[int]) -> None:
        """Move to the state after `tokens`, which are the whole text so far.

        Raises:
            TokenNotAllowed: one of the tokens is not allowed; the state is then the one after the tokens that this text
                and the previous one have in common.
            LimitExceeded, TooManyConfigurations, NondeterministicGrammar: as for `TokenAutomaton.advance`.
        """
        common = common_prefix_length(self._tokens, tokens)
        self.matcher.rollback(len(self._tokens) - common)
        del self._tokens[common:]
        new = list(tokens[common:])
        if not self.matcher.accept(new):
            right = self.matcher.validate(new)
            raise TokenNotAllowed(f"token {new[right]}, number {common + right + 1} of the text, is not allowed there")
        self._tokens += new

    def biases(self, width: int, max_tokens: int | None = None) -> npt.NDArray[np.float32]:
        """Return the biases to add to the logits of the next token, `[width]` float32.

        The bias is minus infinity for tokens that are not allowed, and minus the cost for the others.

        Args:
            width: the width of the logits, at least that of the vocabulary; nothing is allowed past the vocabulary.
            max_tokens: the maximum number of tokens of the whole text, including the end token. A token is then allowed
                only if the text can still be completed after it. None for any number.

        Raises:
            LimitExceeded: a lazy automaton exceeds its limits.
        """
        matcher, found = self.matcher, np.full(width, -np.inf, np.float32)
        automaton, state = matcher.automaton, matcher.state
        # After the end, end tokens are allowed as often as the engine asks, whatever the budget.
        remaining = None if max_tokens is None or matcher.has_ended else max_tokens - matcher.num_tokens
        found[: len(automaton.vocabulary)][automaton.mask(state, remaining)] = 0
        if automaton.is_weighted and not matcher.has_ended:
            tokens, costs = automaton.token_costs(state)
            found[tokens] -= costs
        found[[stop for stop in matcher.stops if stop < width]] = found[automaton.vocabulary.eos_ids[0]]
        return found


class _OnlyStops(IncompleteOutput):
    """Every token that may come next is one at which the engine stops, and the text may not end yet."""


class SequenceProcessor:
    """Constrains one text of one sequence; make one for each text.

    Attributes:
        vocabulary: the tokens.
        max_tokens: the maximum number of tokens of the text, including the end token, or None.
        error: the error that ended the text early, or None.
    """

    # Errors that end the text instead of being raised.
    _ending: ClassVar[tuple[type[Exception], ...]] = (*EXCEEDED, _OnlyStops)

    def __init__(
        self,
        constraint: ConstraintLike,
        vocabulary: Vocabulary,
        *,
        stops: Iterable[int] = (),
        max_tokens: int | None = None,
        at_text_start: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Compile the constraint, if it is not compiled yet.

        Args:
            constraint: what the text must match: anything that `tokenfst.compile` takes, an automaton, or a future of
                one, for which the first call waits.
            vocabulary: the tokens of the model.
            stops: further tokens at which the engine stops. They end the text where it may end, and are masked
                elsewhere. If nothing else is left, the text ends early, with `error`. Negative numbers are ignored.
            max_tokens: the maximum number of tokens of the text, including the end token. A token is then allowed only
                if the text can still be completed after it, so every text is complete. None: a text is cut off where
                the engine stops.
            at_text_start, limits: as for `tokenfst.compile`.

        Raises:
            IncompleteOutput: the shortest text takes more than `max_tokens` tokens.
            VocabularyError: an automaton is over another vocabulary, or the vocabulary has no end token.
            ValueError: there is no constraint, or an argument has a wrong value.
            PatternError, EmptyLanguage, LimitExceeded: as for `tokenfst.compile`.
        """
        if constraint is None:
            raise ValueError("without a constraint there is nothing to do: leave the processor out")
        if max_tokens is not None and max_tokens < 1:
            raise ValueError(f"max_tokens is 1 or more, or None, not {max_tokens}")
        self.vocabulary, self.max_tokens, self._at_text_start = vocabulary, max_tokens, at_text_start
        self.error: Exception | None = None
        self._stops = tuple(stop for stop in stops if stop >= 0)
        (one,) = constrained([constraint], vocabulary, at_text_start=at_text_start, limits=limits)
        if not isinstance(one, Future):
            resolved(one, vocabulary, max_tokens)
        self._constraint: Constrained = one
        self._tracker: SequenceTracker | None = None
        self._prompt: IntArray | None = None

    def biases(self, tokens: IntArray, width: int) -> npt.NDArray[np.float32]:
        """Return the biases to add to the logits of the next token, `[width]` float32.

        The bias is minus infinity for tokens that are not allowed, and minus the cost for the others.

        Args:
            tokens: `[n]`, the prompt and the written tokens. Those of the first call are the prompt, and are not
                constrained.
            width: the width of the logits.

        Raises:
            TokenNotAllowed: a written token is forbidden by the constraint.
            ValueError: the prompt differs from that of the first call, or the logits do not cover the vocabulary.
            VocabularyError: the logits are more than twice as wide as the vocabulary, so they belong to another model.
            Exception: in the first call, the error of a compilation for which it waited.
        """
        if self.error is None:
            try:
                return self._biases(tokens, width)
            except self._ending as error:
                logger.exception("a text is ended before its constraint is satisfied")
                self.error = error
        ends = [token for token in (*self.vocabulary.eos_ids, *self._stops) if token < width]
        found = np.full(width, -np.inf, np.float32)
        found[ends] = 0
        return found

    def _biases(self, tokens: IntArray, width: int) -> npt.NDArray[np.float32]:
        check_width(width, self.vocabulary)
        found = self._following(self._read(tokens)).biases(width, self.max_tokens)
        if found.max() == -np.inf:
            raise _OnlyStops("no token may come next, or only those at which the engine stops")
        return found

    def _read(self, tokens: IntArray) -> IntArray:
        """Return the prompt and the written tokens, given the tokens that the engine passes."""
        return tokens

    def _following(self, tokens: IntArray) -> SequenceTracker:
        """Return the tracker, moved to the end of the written tokens; the first call makes it."""
        if self._tracker is None or self._prompt is None:
            automaton = resolved(self._constraint, self.vocabulary, self.max_tokens, at_text_start=self._at_text_start)
            assert automaton is not None
            self._tracker, self._prompt = SequenceTracker(automaton, self._stops), tokens.copy()
        if not np.array_equal(tokens[: len(self._prompt)], self._prompt):
            raise ValueError("a processor is made for one text, and this is another prompt")
        self._tracker.follow(tokens[len(self._prompt) :].tolist())
        return self._tracker

    def check(self) -> None:
        """Raise the error that ended the text early, if there is one; call this after the text.

        Raises:
            LimitExceeded: the automaton, or compiling it, exceeded the limits.
            TooManyConfigurations: the text has more derivations side by side than the automaton may carry.
            IncompleteOutput: the engine never called the processor, so nothing was constrained; or the text could
                continue only with tokens at which the engine stops.
        """
        if self.error is not None:
            raise self.error
        if self._tracker is None:
            raise IncompleteOutput("the engine never called the processor, so nothing was constrained")
