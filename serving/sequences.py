"""One sequence that an engine hands over as tokens, without saying what became of the earlier ones.

Such an engine calls a logits processor with the prompt, what was written, and the logits of the next token. Draft
tokens are among what was written, and are gone at the next call.

    SequenceTracker      the state of a text, found from what its tokens have in common with those of the call before
    SequenceProcessor    what is added to the logits of one text; the adapters of engines are made of it

A mistake is raised where the engine lets errors through. An automaton that exceeds its limits in the middle of a text
is nobody's mistake, and must not end the other texts of a batch: only end tokens are allowed in its text from then on,
the error is logged, and `check` raises it. So it is where a text can continue with nothing but tokens at which the
engine stops.

Rejected: states in a table by the tokens of the text (a table grows with every draft; a list of states goes back as
well).
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
    """Where a text stands, whichever of its tokens were taken back.

    Attributes:
        matcher: the state of the text.
    """

    def __init__(self, automaton: TokenAutomaton, stops: Iterable[int] = ()) -> None:
        """Stand before the first token.

        Args:
            automaton: the automaton.
            stops: tokens that end the text where it may end, beside the end tokens of the vocabulary.
        """
        self.matcher = Matcher(automaton, stops)
        self._tokens: list[int] = []

    def follow(self, tokens: Sequence[int]) -> None:
        """Stand after tokens, which are the whole text.

        Raises:
            TokenNotAllowed: the text may not continue with one of them; what comes before it is kept.
            LimitExceeded, TooManyConfigurations: as `TokenAutomaton.advance`.
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
        """Return what is added to the logits of the next token, `[width]` float32.

        It is minus infinity for tokens that are not allowed, and less what the others cost.

        Args:
            width: the width of the logits, at least that of the vocabulary; nothing is allowed past the vocabulary.
            max_tokens: how many tokens the whole text may have, the end token included. A token is then allowed only if
                the text can still be completed after it. None for any number.

        Raises:
            LimitExceeded: a lazy automaton exceeds its limits.
        """
        matcher, found = self.matcher, np.full(width, -np.inf, np.float32)
        automaton, state = matcher.automaton, matcher.state
        # After the end an end token may come as often as an engine asks.
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
        max_tokens: how many tokens the text may have, the end token included, or None.
        error: what ended the text early, or None.
    """

    # What ends the text in place of being raised.
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
                one, which is waited for at the first call.
            vocabulary: the tokens of the model.
            stops: further tokens at which the engine stops. They end the text where it may end, and are masked
                elsewhere. Where nothing else is left, the text ends early, with `error`. Negative numbers are none.
            max_tokens: how many tokens the text may have, the end token included. A token is then allowed only if the
                text can still be completed after it, so every text is complete. None: a text is cut off where the
                engine stops.
            at_text_start, limits: as for `tokenfst.compile`.

        Raises:
            IncompleteOutput: the shortest text takes more than `max_tokens` tokens.
            VocabularyError: an automaton is over another vocabulary, or the vocabulary has no end token.
            ValueError: there is no constraint, or an argument is not what it should be.
            PatternError, EmptyLanguage, LimitExceeded: as `tokenfst.compile`.
        """
        if constraint is None:
            raise ValueError("without a constraint there is nothing to do: leave the processor out")
        if max_tokens is not None and max_tokens < 1:
            raise ValueError(f"max_tokens is 1 or more, or None, not {max_tokens}")
        self.vocabulary, self.max_tokens = vocabulary, max_tokens
        self.error: Exception | None = None
        self._stops = tuple(stop for stop in stops if stop >= 0)
        (one,) = constrained([constraint], vocabulary, at_text_start=at_text_start, limits=limits)
        if not isinstance(one, Future):
            resolved(one, vocabulary, max_tokens)
        self._constraint: Constrained = one
        self._tracker: SequenceTracker | None = None
        self._prompt: IntArray | None = None

    def biases(self, tokens: IntArray, width: int) -> npt.NDArray[np.float32]:
        """Return what is added to the logits of the next token, `[width]` float32.

        It is minus infinity for tokens that are not allowed, and less what the others cost.

        Args:
            tokens: `[n]`, the prompt and what was written. Those of the first call are the prompt, and are not
                constrained.
            width: the width of the logits.

        Raises:
            TokenNotAllowed: a token that the constraint forbids was written.
            ValueError: the prompt is another one than at the first call, or the logits do not cover the vocabulary.
            VocabularyError: the logits are more than twice as wide as the vocabulary, so they are another model's.
            Exception: what compiling a constraint that was waited for raised, at the first call.
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
        """Return the prompt and what was written, out of what the engine hands over."""
        return tokens

    def _following(self, tokens: IntArray) -> SequenceTracker:
        """Return the tracker, after what was written; the first call makes it."""
        if self._tracker is None or self._prompt is None:
            automaton = resolved(self._constraint, self.vocabulary, self.max_tokens)
            assert automaton is not None
            self._tracker, self._prompt = SequenceTracker(automaton, self._stops), tokens.copy()
        if not np.array_equal(tokens[: len(self._prompt)], self._prompt):
            raise ValueError("this is another prompt than before: a processor is made for one text")
        self._tracker.follow(tokens[len(self._prompt) :].tolist())
        return self._tracker

    def check(self) -> None:
        """Raise what ended the text early, if anything did; call it after the text.

        Raises:
            LimitExceeded: the automaton, or compiling it, exceeded the limits.
            TooManyConfigurations: the text has more derivations side by side than the automaton carries.
            IncompleteOutput: the engine never called the processor, so nothing was constrained; or the text could
                continue only with tokens at which the engine stops.
        """
        if self.error is not None:
            raise self.error
        if self._tracker is None:
            raise IncompleteOutput("the engine never called the processor, so nothing was constrained")
