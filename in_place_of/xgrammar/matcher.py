"""GrammarMatcher: the state of one text; a `serving.matcher.Matcher` with XGrammar's interface.

In XGrammar, a text that `accept_string` has read is one step of `rollback`. A `serving.matcher.Matcher` knows only
tokens, so each step has a number of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from automata.errors import NotOffered
from in_place_of.absent import Absent
from in_place_of.spelling import tokens_of
from in_place_of.xgrammar.bitmask import check_rows, words_of
from in_place_of.xgrammar.compiler import CompiledGrammar
from serving.matcher import Matcher, fill_masks

# The bound that `forced_text` requires; no constraint forces as much text.
_MAX_FORCED = 1 << 20


class GrammarMatcher:
    """The state of one text.

    Attributes:
        matcher: this project's matcher.
        stop_token_ids: the tokens that end the text.
    """

    get_captures = Absent("constraints with `parse` give the values of their parts")
    traverse_draft_tree = Absent(
        "serving.matcher.Matcher tries tokens with `validate`, and its `copy` is independent of it"
    )

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | Sequence[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> None:
        """Begin at the start of a text.

        Args:
            compiled_grammar: the grammar.
            override_stop_tokens: the tokens that end the text, at least those of the vocabulary; None for only those.
            terminate_without_stop_token: whether the text is finished as soon as it may end.
            max_rollback_tokens: has no effect, because all steps can be taken back.
            default_temperature: must be None.

        Raises:
            NotOffered: the stop tokens do not include those of the vocabulary, or a temperature is given.
            ValueError: a stop token is not in the vocabulary.
        """
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise TypeError(f"expected a CompiledGrammar of this package, not {type(compiled_grammar).__name__}")
        if default_temperature is not None:
            raise NotOffered("default_temperature", "give each call of the model its temperature")
        self._grammar, self._terminates = compiled_grammar, terminate_without_stop_token
        stops = [override_stop_tokens] if isinstance(override_stop_tokens, int) else override_stop_tokens
        ends = compiled_grammar.tokenizer_info.stop_token_ids
        if stops is not None and not set(ends) <= set(stops):
            instead = "give the TokenizerInfo the stop tokens of all its grammars"
            raise NotOffered(f"override_stop_tokens without {ends}", instead)
        if stops is not None and not all(0 <= stop < compiled_grammar.tokenizer_info.vocab_size for stop in stops):
            raise ValueError(f"a stop token of {sorted(stops)} is not one of the vocabulary's")
        self.stop_token_ids: list[int] = ends if stops is None else sorted(stops)
        self.matcher = Matcher(compiled_grammar.automaton, stops or ())
        self._lengths: list[int] = []

    @property
    def max_rollback_tokens(self) -> int:
        """The number of steps that can be taken back: -1 for all."""
        return -1

    @property
    def temperature(self) -> None:
        """The default temperature; always None."""

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """Continue the text with a token; return False, and change nothing, if the token is not allowed.

        With `terminate_without_stop_token`, stop tokens are not accepted, although masks allow them.

        Raises:
            LimitExceeded: the automaton exceeds its limits, as for all methods.
        """
        known = 0 <= token_id < self._grammar.tokenizer_info.vocab_size
        if not known or self.matcher.has_ended or (self._terminates and token_id in self.stop_token_ids):
            return False
        return self._accept([token_id])

    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Continue the text with bytes, as one step; return False, and change nothing, if they are not allowed.

        A text never ends the matcher, even if its bytes are those of stop tokens.

        Raises:
            VocabularyError: no tokens write exactly these bytes.
        """
        text = input_str.encode() if isinstance(input_str, str) else input_str
        tokens = None if self.matcher.has_ended else tokens_of(self.matcher, text)
        return tokens is not None and self._accept(tokens, as_text=True)

    def _accept(self, tokens: list[int], *, as_text: bool = False) -> bool:
        if not self.matcher.accept(tokens, as_text=as_text):
            return False
        self._lengths.append(len(tokens))
        return True

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, *, debug_print: bool = False) -> bool:
        """Write the mask of the next token into a row; return False if it allows every token.

        Args:
            bitmask: int32 `[B, W]` or `[W]` on the host: a tensor, or an array.
            index: the row.
            debug_print: has no effect.

        Raises:
            IndexError: there is no such row.
        """
        rows = words_of(bitmask)
        check_rows([index], len(rows))
        words = rows[index]
        if not self.matcher.fill(words):
            # `fill` has allowed all tokens; raise the error instead.
            self.matcher.automaton.fill_bitmask(self.matcher.state, words)
        every = self.matcher.automaton.vocabulary.all_words
        return not np.array_equal(words[: len(every)] & every, every)

    def find_jump_forward_string(self) -> str:
        """Return the text that must come next."""
        return self.matcher.forced_text(_MAX_FORCED)

    def rollback(self, num_tokens: int = 1) -> None:
        """Take the last steps back.

        Raises:
            ValueError: there are fewer steps.
        """
        if not 0 <= num_tokens <= len(self._lengths):
            raise ValueError(f"{num_tokens} steps cannot be taken back: there were {len(self._lengths)}")
        at = len(self._lengths) - num_tokens
        self.matcher.rollback(sum(self._lengths[at:]))
        del self._lengths[at:]

    def reset(self) -> None:
        """Take all steps back."""
        self.matcher.reset()
        self._lengths.clear()

    def is_completed(self) -> bool:
        """Return whether the text may end here, or has ended."""
        return self.matcher.has_ended or self.matcher.automaton.is_final(self.matcher.state)

    def is_terminated(self) -> bool:
        """Return whether a stop token was accepted; with `terminate_without_stop_token`, whether the text may end."""
        return self.is_completed() if self._terminates else self.matcher.has_ended

    def fork(self) -> GrammarMatcher:
        """Return an independent copy with the same state."""
        other = GrammarMatcher(self._grammar, terminate_without_stop_token=self._terminates)
        other.stop_token_ids, other.matcher = list(self.stop_token_ids), self.matcher.copy()
        other._lengths = list(self._lengths)
        return other


class BatchGrammarMatcher:
    """The methods of `GrammarMatcher` for several matchers in one call."""

    batch_fill_temperature = Absent("give each call of the model its temperature")

    def __init__(self, max_threads: int | str = "auto") -> None:
        """Set the number of threads that fill masks; "auto" means one.

        Raises:
            ValueError: it is neither "auto" nor a positive number.
        """
        if max_threads != "auto" and (not isinstance(max_threads, int) or max_threads < 1):
            raise ValueError(f'the number of threads is positive, or "auto", not {max_threads!r}')
        self._threads = max_threads if isinstance(max_threads, int) else 1

    def batch_fill_next_token_bitmask(
        self,
        matchers: Sequence[GrammarMatcher],
        bitmask: Any,
        indices: Sequence[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Write the masks of matchers into rows, by default the first ones; other rows are unchanged.

        Raises:
            IndexError: there is no such row.
            LimitExceeded: an automaton exceeds its limits.
        """
        rows = range(len(matchers)) if indices is None else indices
        by_row, words = dict(zip(rows, matchers, strict=True)), words_of(bitmask)
        check_rows(by_row, len(words))
        positions = {row: matcher.matcher.position for row, matcher in by_row.items()}
        for row in fill_masks(positions, words, self._threads):
            by_row[row].fill_next_token_bitmask(bitmask, row)

    @staticmethod
    def batch_accept_token(
        matchers: Sequence[GrammarMatcher], tokens: Sequence[int], debug_print: bool = False
    ) -> list[bool]:
        """Continue each text with a token; return whether each token was accepted.

        Raises:
            ValueError: there are more or fewer tokens than matchers; nothing has changed.
        """
        pairs = list(zip(matchers, tokens, strict=True))
        return [matcher.accept_token(token) for matcher, token in pairs]

    @staticmethod
    def batch_accept_string(
        matchers: Sequence[GrammarMatcher], strings: Sequence[str | bytes], debug_print: bool = False
    ) -> list[bool]:
        """Continue each text with bytes; return whether they were accepted.

        Raises:
            ValueError: there are more or fewer texts than matchers; nothing has changed.
        """
        pairs = list(zip(matchers, strings, strict=True))
        return [matcher.accept_string(text) for matcher, text in pairs]

    @staticmethod
    def batch_rollback(matchers: Sequence[GrammarMatcher], num_tokens: int | Sequence[int] = 1) -> None:
        """Take the last steps of each text back; one number applies to all.

        Raises:
            ValueError: there are more or fewer numbers than matchers, or a matcher has fewer steps.
        """
        numbers = [num_tokens] * len(matchers) if isinstance(num_tokens, int) else num_tokens
        for matcher, number in list(zip(matchers, numbers, strict=True)):
            matcher.rollback(number)
