"""LLMatcher: the state of one text; a `serving.matcher.Matcher` with llguidance's interface.

llguidance's matcher raises no error for a mistake in a grammar or a token that is not allowed. It enters an error
state, which it never leaves, and in which only end tokens are allowed. So does this one, also if a limit is exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import tokenfst
from automata.errors import NotOffered, TokenfstError
from in_place_of.absent import Absent
from in_place_of.llguidance.sources import constraint_of_source, regex_source, schema_source, warnings_of
from in_place_of.llguidance.tokenizer import LLTokenizer
from in_place_of.xgrammar.bitmask import check_rows
from serving.matcher import EXCEEDED, Matcher, fill_masks
from tokenfst.jump_forward import forced_text, retokenized, settled
from tokenfst.vocabulary.all_bytes import ALL_BYTES

T = TypeVar("T")

# The byte for an allowed token in llguidance's masks of bytes.
_ALLOWED_BIAS = 200
# The bound that `forced_text` requires; no constraint forces as much text.
_MAX_FORCED = 1 << 20


class LLMatcher:
    """The state of one text.

    Attributes:
        tokenizer: the tokens.
        matcher: this project's matcher; None if the grammar has a mistake.
    """

    get_capture = Absent("constraints with `parse` give the values of their parts")
    get_captures = Absent("constraints with `parse` give the values of their parts")
    unsafe_compute_mask_ptr = Absent("in_place_of.llguidance.numpy.fill_next_token_bitmask fills an array")
    unsafe_compute_mask_ptr_with_draft_token = Absent("fill a row after each of the tokens, and take them back")

    def __init__(self, tokenizer: LLTokenizer, grammar: str, *, log_level: int = 1, limits: None = None) -> None:
        """Begin at the start of a text.

        Args:
            tokenizer: the tokens.
            grammar: a grammar in Lark's syntax, or the result of a `grammar_from_` method.
            log_level: has no effect.
            limits: must be None.

        Raises:
            NotOffered: limits are given, or `constraint_of_source` does not support the grammar.
        """
        _check_limits(limits)
        self.tokenizer = tokenizer
        self.matcher: Matcher | None = None
        self._tokens: list[int] = []
        self._error, self._warnings = "", list[str]()
        try:
            constraint = constraint_of_source(grammar)
            self._warnings = warnings_of(constraint)
            self.matcher = Matcher(tokenfst.compile(constraint, tokenizer.vocabulary))
        except NotOffered:
            raise
        except (TokenfstError, ValueError) as error:
            self._error = str(error)

    # Grammars

    @staticmethod
    def grammar_from_regex(regex: str) -> str:
        """Return the grammar of a pattern, which must match whole texts."""
        return regex_source(regex)

    @staticmethod
    def grammar_from_lark(lark: str) -> str:
        """Return a grammar in Lark's syntax, unchanged."""
        return lark

    @staticmethod
    def grammar_from_json_schema(
        schema: str | Mapping[str, Any],
        defaults: Mapping[str, Any] | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the grammar of a JSON Schema.

        Args:
            schema: the schema as text or as a dict; its "x-guidance" has options.
            defaults: options that "x-guidance" overrides.
            overrides: options that override "x-guidance".

        Raises:
            ValueError: the text is not JSON.
        """
        return schema_source(schema, defaults or {}, overrides or {})

    @staticmethod
    def validate_grammar(grammar: str, tokenizer: LLTokenizer | None = None, *, limits: None = None) -> str:
        """Return the error in a grammar, or the empty text if it has none.

        Without a tokenizer, the tokens are single bytes.
        """
        found = LLMatcher(tokenizer or _bytes_alone(), grammar, limits=limits)
        return found.get_error()

    @staticmethod
    def validate_grammar_with_warnings(
        grammar: str, tokenizer: LLTokenizer | None = None, *, limits: None = None
    ) -> tuple[bool, list[str]]:
        """Return whether a grammar has an error, and the error or else the warnings."""
        found = LLMatcher(tokenizer or _bytes_alone(), grammar, limits=limits)
        return found.is_error(), [found.get_error()] if found.is_error() else found.get_grammar_warnings()

    def get_grammar_warnings(self) -> list[str]:
        """Return the keywords of a schema that were left out because of the option `lenient`."""
        return list(self._warnings)

    # The state

    def is_error(self) -> bool:
        """Return whether the matcher is in the error state, which is permanent."""
        return bool(self._error)

    def get_error(self) -> str:
        """Return the error, or the empty text if there is none."""
        return self._error

    def is_accepting(self) -> bool:
        """Return whether the text may end here, or has ended."""
        return self._asked(lambda one: one.has_ended or one.automaton.is_final(one.state), False)

    def is_stopped(self) -> bool:
        """Return whether only the end can come, the text has ended, or there was an error."""
        return self.stop_reason() != "NotStopped"

    def stop_reason(self) -> str:
        """Return "NotStopped", "NoExtension" if only the end can come, "EndOfSentence" or "InternalError"."""
        return self._asked(_stop_reason, "InternalError")

    def deep_copy(self) -> LLMatcher:
        """Return an independent copy with the same state."""
        other = LLMatcher.__new__(LLMatcher)
        other.tokenizer, other._error, other._warnings = self.tokenizer, self._error, self._warnings
        other.matcher = None if self.matcher is None else self.matcher.copy()
        other._tokens = list(self._tokens)
        return other

    # Tokens

    def consume_token(self, sampled_token: int) -> bool:
        """Continue the text with a token; if it is not allowed, return False and enter the error state.

        If the text has stopped, even by an error, an end token is allowed and changes nothing; it is not a step for
        `rollback`.
        """
        if sampled_token in self.tokenizer.eos_tokens and self.is_stopped():
            return True
        return self.consume_tokens([sampled_token])

    def consume_tokens(self, tokens: Sequence[int]) -> bool:
        """Continue the text with tokens; if they are not allowed, return False and enter the error state.

        Each of them is a step for `rollback`, including an end token and further end tokens after it. If the text had
        already stopped, no token is allowed.
        """
        has_stopped = self.is_stopped()
        for token in tokens:
            if has_stopped or not self._accepted(token):
                place = f"token {token}, number {len(self._tokens) + 1} of the text"
                self._error = self._error or f"{place}, is not allowed"
                break
        return not self._error

    def try_consume_tokens(self, tokens: Sequence[int]) -> int:
        """Continue the text with as many of the tokens as are allowed; return their number, which is 0 after a stop."""
        for number, token in enumerate(tokens):
            if self.is_stopped() or not self._accepted(token):
                return number
        return len(tokens)

    def _accepted(self, token: int) -> bool:
        """Continue the text with a token; return False, and change nothing, if it is not allowed."""
        is_token = 0 <= token < self.tokenizer.vocab_size
        if not is_token or not self._asked(partial(Matcher.accept, tokens=[token]), False):
            return False
        self._tokens.append(token)
        return True

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """Return how many of the tokens are allowed, up to an end token; 0 if the text has stopped."""
        size, ends = self.tokenizer.vocab_size, self.tokenizer.eos_tokens
        known = list(takewhile(lambda token: 0 <= token < size, tokens))
        end = next((number for number, token in enumerate(known) if token in ends), len(known))
        return 0 if self.is_stopped() else self._asked(lambda one: one.validate(known[: end + 1]), 0)

    def rollback(self, num_tokens: int) -> bool:
        """Take the last tokens back; if there are fewer, return False and enter the error state."""
        if self._error or self.matcher is None:
            return False
        if not 0 <= num_tokens <= len(self._tokens):
            self._error = f"{num_tokens} tokens cannot be taken back: {len(self._tokens)} were consumed"
            return False
        self.matcher.rollback(num_tokens)
        del self._tokens[len(self._tokens) - num_tokens :]
        return True

    def reset(self) -> bool:
        """Take all tokens back; return False in the error state."""
        return self.rollback(len(self._tokens))

    def compute_ff_bytes(self) -> bytes:
        """Return the bytes that must come next."""
        return self._asked(lambda one: forced_text(one.automaton, one.state, _MAX_FORCED), b"")

    def compute_ff_tokens(self) -> list[int]:
        """Return the forced bytes as the encoder's tokens, without the last piece if a token could extend beyond it."""
        text = self.compute_ff_bytes()
        if not text:
            return []
        tokens = retokenized(self.tokenizer.vocabulary, self._tokens, text, self.tokenizer.encode)
        return self._asked(lambda one: settled(one.automaton, one.state, tokens), [])

    # Masks

    def compute_bitmask(self) -> bytes:
        """Return the mask of the next token: bit `i & 7` of byte `i >> 3` is token i, in whole words of 4 bytes."""
        words = np.empty_like(self.tokenizer.vocabulary.all_words)
        self.fill(words)
        return words.tobytes()

    def compute_logit_bias(self) -> bytes:
        """Return the mask of the next token as one byte for each token: 200 if it is allowed, 0 if not."""
        words = np.frombuffer(self.compute_bitmask(), np.uint8)
        bits = np.unpackbits(words, count=self.tokenizer.vocab_size, bitorder="little")
        return (bits * np.uint8(_ALLOWED_BIAS)).tobytes()

    def fill(self, words: npt.NDArray[np.int32]) -> None:
        """Write the mask of the next token, `[W]` int32; words past the vocabulary are cleared."""
        if not self._asked(lambda one: one.fill(words), False):
            self.fill_end(words)

    def fill_end(self, words: npt.NDArray[np.int32]) -> None:
        """Allow only end tokens, after an error."""
        self._error = self._error or "the automaton exceeds its limits"
        ends = self.tokenizer.vocabulary.eos_words
        if len(words) < len(ends):
            raise ValueError(f"a mask takes {len(ends)} words, and there are {len(words)}")
        words[: len(ends)], words[len(ends) :] = ends, 0

    def _asked(self, question: Callable[[Matcher], T], otherwise: T) -> T:
        """Return the answer of the matcher, or `otherwise` after an error."""
        if self._error or self.matcher is None:
            return otherwise
        try:
            return question(self.matcher)
        except EXCEEDED as error:
            self._error = str(error)
            return otherwise


class LLExecutor:
    """Masks and tokens of several matchers in one call."""

    unsafe_compute_mask_ptr = Absent("in_place_of.llguidance.numpy.fill_next_token_bitmask_par fills an array")
    unsafe_compute_mask_ptr_with_draft_token = Absent("fill a row after each of the tokens, and take them back")

    def __init__(self, num_threads: int | None = None) -> None:
        """Set the number of threads that fill masks; None means one.

        Raises:
            ValueError: the number is not positive.
        """
        if num_threads is not None and (not isinstance(num_threads, int) or num_threads < 1):
            raise ValueError(f"the number of threads is positive, not {num_threads!r}")
        self.num_threads = num_threads or 1

    def consume_token_par(self, matchers_and_tokens: Sequence[tuple[LLMatcher, int]]) -> list[bool]:
        """Continue each text with a token; return whether each token was allowed."""
        return [matcher.consume_token(token) for matcher, token in matchers_and_tokens]

    def fill(self, matchers: Sequence[tuple[LLMatcher, int]], words: npt.NDArray[np.int32]) -> None:
        """Write the mask of each matcher into its row, `[B, W]` int32; other rows are unchanged.

        Raises:
            IndexError: there is no such row.
        """
        by_row = {row: one for one, row in matchers}
        check_rows(by_row, len(words))
        positions = {row: one.matcher.position for row, one in by_row.items() if one.matcher and not one.is_error()}
        exceeded = fill_masks(positions, words, self.num_threads)
        for row, one in by_row.items():
            if row in exceeded or row not in positions:
                one.fill_end(words[row])


def _stop_reason(matcher: Matcher) -> str:
    if matcher.has_ended:
        return "EndOfSentence"
    automaton, words = matcher.automaton, np.empty_like(matcher.automaton.vocabulary.all_words)
    if not automaton.is_final(matcher.state):
        return "NotStopped"
    automaton.fill_bitmask(matcher.state, words)
    return "NoExtension" if np.array_equal(words, automaton.vocabulary.eos_words) else "NotStopped"


def _bytes_alone() -> LLTokenizer:
    return LLTokenizer.of(ALL_BYTES, lambda text: list(text.encode()))


def _check_limits(limits: None) -> None:
    if limits is not None:
        raise NotOffered("limits", "tokenfst.compile takes automata.Limits")
