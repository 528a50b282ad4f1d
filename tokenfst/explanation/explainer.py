"""Explainer: explains texts of one constraint over one vocabulary.

The automaton over tokens says what is allowed; the automaton over bytes (`ByteView`) says at which byte a token fails;
a walk through the constraint, or the constraint itself (`SupportsReasons`), finds the place of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np

from automata.limits import Work
from automata.places import Walk
from automata.texts import text_bytes
from tokenfst.explanation.byte_view import ByteView
from tokenfst.explanation.explanation import Explanation, NamedToken, Reason
from tokenfst.explanation.nearest import nearest
from tokenfst.explanation.reasons import Reasons, SupportsReasons, walk_of
from tokenfst.token_automaton import Source, TokenAutomaton
from tokenfst.tokenizations import first_steps

# The number of nearest tokens that are named.
_NUM_NEAREST = 3


@dataclass(slots=True)
class _Written:
    """The text so far, and the states that it leads to.

    Attributes:
        at: the state of the view after `symbols`.
        state: the state of the automaton over tokens, None if no tokens write the text.
        symbols: the bytes that the view has read, and the labels of each token that was matched by its labels.
        text: all bytes of the text.
        failed: the position in `text` of the first byte that the view does not read, None if it reads all of them.
        has_begun: whether the next token continues a text; the first token may begin one and yet write nothing.
    """

    at: Any
    state: Any
    symbols: list[int | frozenset[str]] = field(default_factory=list)
    text: bytes = b""
    failed: int | None = None
    has_begun: bool = False

    def added(self, view: ByteView, text: bytes) -> _Written:
        """Return the text after some more bytes, which the view reads as far as it can."""
        at, length = view.read(self.at, text)
        failed = None if length == len(text) else len(self.text) + length
        return _Written(at, None, [*self.symbols, *text[:length]], self.text + text, failed, self.has_begun)

    def with_symbol(self, view: ByteView, token: int, text: bytes) -> _Written:
        """Return the text after an allowed token that is a symbol of the view, and that writes some bytes."""
        names, at = view.names_of(token), view.step_token(self.at, token)
        symbols = [*self.symbols, *([names] if names else [])]
        return _Written(at, None, symbols, self.text + text, None, self.has_begun)


class Explainer:
    """Explains texts of one constraint over one vocabulary."""

    def __init__(self, source: Source, automaton: TokenAutomaton, work: Work) -> None:
        """Compile the constraint over bytes.

        Args:
            source: what the automaton was compiled from.
            automaton: an automaton over the vocabulary.
            work: the limits.
        """
        self.source, self.vocabulary = source, automaton.vocabulary
        self.view = ByteView(
            source.constraint, self.vocabulary, source.terminals, work, at_text_start=automaton.at_text_start
        )

    def explain(self, automaton: TokenAutomaton, prefix: str | bytes | Iterable[int], token: Any) -> Explanation:
        """Explain a prefix and a token; see `tokenfst.explain`."""
        token = self._token(token)
        if isinstance(prefix, str | bytes):
            written = self._text(automaton, text_bytes(prefix))
        else:
            written, refused = self._tokens(automaton, prefix)
            token = token if refused is None else refused
        if written.failed is not None:
            own = b"" if token is None else self.vocabulary.tokens[token]
            return self._made(automaton, written, written.text, token, own, "byte", None)
        if token is None:
            return self._made(automaton, written, written.text, None, b"", None, written.state)
        return self._explain_token(automaton, written, token)

    def _token(self, token: int | str | bytes | None) -> int | None:
        """Return the id of a token.

        Raises:
            ValueError: there is no such token.
        """
        vocabulary = self.vocabulary
        if isinstance(token, str | bytes):
            if isinstance(token, str) and token in vocabulary.special_tokens:
                return vocabulary.special_tokens[token]
            text = text_bytes(token)
            found = next((number for number, own in enumerate(vocabulary.tokens) if own == text and text), None)
            if found is None:
                raise ValueError(f"no token of the vocabulary writes {token!r}")
            return found
        if token is not None and not 0 <= token < len(vocabulary):
            raise ValueError(f"token {token} is outside the vocabulary of {len(vocabulary):,} tokens")
        return token

    # The text so far

    def _text(self, automaton: TokenAutomaton, text: bytes) -> _Written:
        """Read a prefix that is given as text.

        Raises:
            ValueError: it matters which tokens wrote the text: tokenization is canonical, or the text contains that of
                a token that the constraint names.
        """
        if text and self.source.tokenization == "canonical":
            raise ValueError("what may follow canonical tokens depends on the last one: give the prefix as token ids")
        name = self._name_of_tokens_in(automaton, text)
        if name is not None:
            raise ValueError(f"tokens that {name!r} names may have written parts of the prefix: give it as token ids")
        written = _Written(self.view.start, automaton.start).added(self.view, text)
        written.state = _state_after(automaton, text) if written.failed is None else None
        written.has_begun = bool(text)
        return written

    def _name_of_tokens_in(self, automaton: TokenAutomaton, text: bytes) -> str | None:
        """Return a name in the constraint of a token that may have written a part of a text, None if there is none."""
        for name, members in self.view.labels.items():
            for token in members:
                own = self.vocabulary.tokens[token]
                first = self.vocabulary.detokenize([token], at_text_start=automaton.at_text_start)
                if (own and own in text) or (first and text.startswith(first)):
                    return name
        return None

    def _tokens(self, automaton: TokenAutomaton, prefix: Iterable[int]) -> tuple[_Written, int | None]:
        """Read a prefix that is given as tokens, up to the first that is refused; return also this token, or None."""
        written = _Written(self.view.start, automaton.start)
        for given in prefix:
            token = index(given)
            after = automaton.step(written.state, token) if 0 <= token < len(self.vocabulary) else None
            if after is None:
                self._token(token)
                return written, token
            if token not in self.vocabulary.eos_ids:
                written = self._after(written, token, self._bytes_of(automaton, token, written))
                written.has_begun = written.has_begun or self._begins(token)
            written.state = after
        return written, None

    def _after(self, written: _Written, token: int, own: bytes) -> _Written:
        """Return the text after an allowed token."""
        if self.view.is_symbol(token):
            return written.with_symbol(self.view, token, own)
        return written.added(self.view, own)

    def _bytes_of(self, automaton: TokenAutomaton, token: int, written: _Written) -> bytes:
        """Return the bytes that a token writes after the text so far."""
        return self.vocabulary.detokenize([token], at_text_start=automaton.at_text_start and not written.has_begun)

    def _begins(self, token: int) -> bool:
        """Return whether a token begins the text if no token before it does."""
        rule = self.vocabulary.text_start
        return bool(self.vocabulary.tokens[token]) and not (rule and token in rule.ignored)

    # Answers

    def _explain_token(self, automaton: TokenAutomaton, written: _Written, token: int) -> Explanation:
        own = self._bytes_of(automaton, token, written)
        is_end = token in self.vocabulary.eos_ids
        state = None if written.state is None else automaton.step(written.state, token)
        if state is not None:
            after = written if is_end else self._after(written, token, own)
            return self._made(automaton, after, written.text, token, own, None, state)
        names = self.view.names_of(token)
        after = written if is_end or not own else written.added(self.view, own)
        reason: Reason
        if written.state == automaton.end_state:
            reason = "ended"
        elif is_end and not self.view.may_end(written.at):
            reason = "end"
        elif not own and not is_end:
            reason = "label" if names else "silent"
        elif after.failed is not None:
            reason = "byte"
        else:
            reason = "tokenization" if self.source.tokenization == "canonical" else "vocabulary"
        return self._made(automaton, after, written.text, token, own, reason, written.state)

    def _made(
        self,
        automaton: TokenAutomaton,
        written: _Written,
        prefix: bytes,
        token: int | None,
        own: bytes,
        reason: Reason | None,
        state: Any,
    ) -> Explanation:
        """Return the explanation at the point up to which the text could be read.

        Args:
            automaton: the automaton over tokens.
            written: the text with the token, as far as it was read.
            prefix: the text without the token.
            token, own: the token, and the bytes that it writes.
            reason: why it is refused.
            state: the state whose allowed tokens are counted; None to count none.
        """
        view, ended = self.view, state is not None and state == automaton.end_state
        expected = frozenset[int]() if ended else view.expected(written.at)
        completion = None if ended else view.completion(written.at)
        text = written.text if written.failed is None else written.text[: written.failed]
        # In the token, all bytes from this point on are refused; in the prefix, only the next byte.
        rest = written.text[len(text) :] if len(text) >= len(prefix) else written.text[len(text) : len(text) + 1]
        refused = {"byte": rest, "end": b""}.get(reason or "")
        reasons = self._reasons(written, text, refused, expected)
        target = own if reason is not None and own else completion or b""
        allowed = [] if ended else self._allowed(automaton, state)
        return Explanation(
            prefix=prefix,
            token=token,
            written=own,
            is_end=token in self.vocabulary.eos_ids,
            reason=reason,
            offset=written.failed,
            expected=expected,
            may_end=not ended and view.may_end(written.at),
            labels=() if ended else view.expected_labels(written.at),
            completion=completion,
            places=reasons.places,
            keywords=reasons.keywords,
            together=reasons.together,
            settings=reasons.settings,
            is_syntax=reasons.is_syntax,
            num_allowed=len(allowed),
            nearest=self._nearest(target, allowed),
            pattern=self.source.constraint if isinstance(self.source.constraint, str) else None,
        )

    def _allowed(self, automaton: TokenAutomaton, state: Any) -> list[int]:
        if state is None:
            return []
        found: list[int] = np.flatnonzero(automaton.mask(state)).tolist()
        return found

    def _nearest(self, text: bytes, allowed: list[int]) -> tuple[NamedToken, ...]:
        """Return the nearest allowed tokens; if there are few, also an end token if it is allowed."""
        tokens = self.vocabulary.tokens
        near = nearest(text, tokens, allowed, _NUM_NEAREST)
        if len(near) < _NUM_NEAREST:
            near += [token for token in allowed if token in self.vocabulary.eos_ids][:1]
        return tuple(NamedToken(token, tokens[token]) for token in near)

    def _reasons(self, written: _Written, text: bytes, refused: bytes | None, expected: frozenset[int]) -> Reasons:
        """Return the places of a text in the constraint, and why it may not continue if the constraint can tell."""
        constraint = self.source.constraint
        if self.vocabulary.detokenizer is not None:
            return Reasons()
        if isinstance(constraint, SupportsReasons):
            return constraint.reasons(text, refused, expected)
        walk = walk_of(constraint)
        walk = None if walk is None else _walked(walk, written.symbols)
        return Reasons(() if walk is None else walk.places(expected))


def _walked(walk: Walk, symbols: Iterable[int | frozenset[str]]) -> Walk | None:
    """Return a walk after some symbols; None if it cannot read one, such as a named token that writes text."""
    for symbol in symbols:
        if not (walk.read(symbol) if isinstance(symbol, int) else walk.read_label(symbol)):
            return None
    return walk


def _state_after(automaton: TokenAutomaton, text: bytes) -> Any:
    """Return the state after tokens that write a text, None if no tokens do."""
    if not text:
        return automaton.start
    reached = dict[int, Any]()
    for _, length, after in first_steps(automaton, text):
        reached.setdefault(length, after)
    for begin in range(len(text)):
        state = reached.pop(begin, None)
        if state is not None:
            for token, length in automaton.vocabulary.tokens_at(text, begin):
                if begin + length not in reached:
                    after = automaton.step(state, token)
                    if after is not None:
                        reached[begin + length] = after
    return reached.get(len(text))
