"""ByteView: a constraint byte by byte, as an automaton over single bytes.

The vocabulary of a model may lack single bytes, and its tokenization may be canonical. So the same constraint over a
vocabulary of all bytes shows at which byte a token fails. Tokens that the constraint names are symbols of that
vocabulary too. If they begin a text, they write there what the decoder writes for them; bytes write themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from automata.counted import CountedByteAutomaton
from automata.errors import UnknownTerminal, WeightedLanguage
from automata.expressions import Expr
from automata.limits import Work
from automata.weighted import compile_weighted
from tokenfst.compile import Constraint, compile, language_of  # noqa: A004
from tokenfst.finite.terminals import Terminals, token_set
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES
from tokenfst.vocabulary.text_start import TextStart

_END: Final = 256
# The maximum number of bytes of a completion.
MAX_COMPLETION: Final = 200


class ByteView:
    """A constraint byte by byte.

    Attributes:
        start: the state before the first byte.
        labels: the names of tokens in the constraint, each with its tokens.
    """

    def __init__(
        self,
        constraint: Constraint,
        vocabulary: Vocabulary,
        terminals: Terminals,
        work: Work,
        *,
        at_text_start: bool,
    ) -> None:
        """Compile a constraint over bytes.

        Args:
            constraint: the constraint.
            vocabulary: the tokens that its labels stand for.
            terminals: the token ids of labels, by name.
            work: the limits.
            at_text_start: whether the tokens begin a text.
        """
        self.labels: Mapping[str, frozenset[int]] = {}
        self._symbol: dict[int, int] = {}
        if vocabulary.detokenizer is not None:
            constraint = vocabulary.detokenizer.spelled(constraint)
        self._constraint, self._limits = constraint, work.limits
        try:
            self._automaton = compile(constraint, ALL_BYTES, limits=work.limits)
        except UnknownTerminal:
            rule = vocabulary.text_start if at_text_start else None
            self._automaton = self._labelled(vocabulary, terminals, rule, work)
        self.start = self._automaton.start

    def _labelled(self, vocabulary: Vocabulary, terminals: Terminals, rule: TextStart | None, work: Work) -> Any:
        names = _names_in(self._constraint, work)
        self.labels = {name: frozenset(token_set(name, vocabulary, terminals).tolist()) for name in names}
        # The token after one that writes nothing, but begins the text, does not begin it.
        silent = vocabulary.silent_beginnings if rule else ()
        tokens = sorted(frozenset(silent).union(*self.labels.values()))
        self._symbol = {token: len(ALL_BYTES) + place for place, token in enumerate(tokens)}
        symbols = Vocabulary(
            [*ALL_BYTES.tokens, *(vocabulary.tokens[token] for token in tokens)],
            [_END],
            text_start=None if rule is None else self._beginning(rule, vocabulary),
        )
        own = {name: [self._symbol[token] for token in members] for name, members in self.labels.items()}
        at_text_start = rule is not None
        return compile(self._constraint, symbols, at_text_start=at_text_start, terminals=own, limits=work.limits)

    def _beginning(self, rule: TextStart, vocabulary: Vocabulary) -> TextStart:
        """Return what the symbols write at the start of a text."""
        first = {byte: bytes([byte]) for byte in range(_END)}
        for token, symbol in self._symbol.items():
            if vocabulary.tokens[token] and token not in rule.ignored:
                first[symbol] = rule.first(token, vocabulary.tokens[token])
        ignored = frozenset(self._symbol[token] for token in rule.ignored if token in self._symbol)
        return TextStart(exceptions=first, ignored=ignored)

    def names_of(self, token: int) -> frozenset[str]:
        """Return the names in the constraint that stand for a token."""
        return frozenset(name for name, tokens in self.labels.items() if token in tokens)

    def step(self, state: Any, byte: int) -> Any:
        """Return the state after a byte, None if it may not come."""
        return self._automaton.step(state, byte)

    def is_symbol(self, token: int) -> bool:
        """Return whether a token is read as a whole, by `step_token`, and not by its bytes."""
        return token in self._symbol

    def step_token(self, state: Any, token: int) -> Any:
        """Return the state after a token that is a symbol, None if it may not come."""
        return self._automaton.step(state, self._symbol[token])

    def read(self, state: Any, text: bytes) -> tuple[Any, int]:
        """Read a text as far as it can be read; return the state after that, and the number of bytes."""
        for at, byte in enumerate(text):
            after = self._automaton.step(state, byte)
            if after is None:
                return state, at
            state = after
        return state, len(text)

    def expected(self, state: Any) -> frozenset[int]:
        """Return the bytes that may come next."""
        return frozenset(np.flatnonzero(self._automaton.mask(state)[:_END]).tolist())

    def may_end(self, state: Any) -> bool:
        """Return whether the text may end."""
        return bool(self._automaton.is_final(state))

    def expected_labels(self, state: Any) -> tuple[str, ...]:
        """Return the names of sets of tokens whose tokens may all come next."""
        if not self.labels:
            return ()
        mask = self._automaton.mask(state)
        return tuple(name for name, tokens in self.labels.items() if all(mask[self._symbol[token]] for token in tokens))

    def completion(self, state: Any) -> bytes | None:
        """Return a shortest text that leads to the end; None if it needs labels, or more than `MAX_COMPLETION` bytes.

        If the tables are large, the text is short, but may not be the shortest.
        """
        automaton, written = self._automaton, bytearray()
        while not automaton.is_final(state):
            if len(written) == MAX_COMPLETION:
                return None
            after = {byte: automaton.advance(state, byte) for byte in _readable(self.expected(state))}
            if not after:
                return None
            least = {each: automaton.min_tokens(each) for each in set(after.values())}
            byte = min(after, key=lambda byte: least[after[byte]])
            if self.labels and least[after[byte]] >= automaton.min_tokens(state):
                return None
            written.append(byte)
            state = after[byte]
        return bytes(written)


def _names_in(constraint: Constraint, work: Work) -> tuple[str, ...]:
    """Return the names of tokens in a constraint."""
    try:
        language = language_of(constraint, work, may_count=False)
    except WeightedLanguage:
        if not isinstance(constraint, Expr):
            raise
        return compile_weighted(constraint, work).labels
    return () if isinstance(language, CountedByteAutomaton) else language.labels


def _readable(found: Iterable[int]) -> list[int]:
    """Return bytes in order: digits and letters first, nonprinting ones last."""
    return sorted(found, key=lambda byte: (not chr(byte).isalnum() or byte > 0x7F, not 0x20 <= byte < 0x7F, byte))
