"""Token healing: remove the last tokens of a prompt, and let the text begin with their bytes.

A prompt that ends in `"name": "Jo` may end in a token `Jo`. A model that was trained on `John` as one token does not
expect `hn` after it. So the token is removed from the prompt, and the text is constrained to begin with `Jo`: with this
token, with shorter ones, or with one that extends beyond it into the constraint's language (Lundberg 2023, "The Art of
Prompt Design: Prompt Boundaries and Token Healing").

    Healed         any automaton over tokens, with bytes before its texts; nothing is compiled again
    Unspelled      the state after a part of these bytes
    heal(...)      a prompt and an automaton -> the rest of the prompt, and a `Healed` automaton

A token may begin within the prefix and end in the automaton's language. Its state is then the one after the tokens that
write the same bytes of the language. An automaton that accepts every tokenization of its texts has one such state. One
that was made from an FST over tokens, or that has names of tokens that write text, may have several, or forbid some of
these tokens; then it is refused. States after the prefix are the automaton's own.

Rejected: an automaton of prefix and language (compiled again for each prompt); a walk over bytes (the given automata
are over tokens).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.errors import EmptyLanguage, VocabularyError
from automata.texts import text_bytes
from automata.weighted.units import from_units
from decoding.inputs.counts import token_count
from decoding.inputs.prompts import token_ids
from decoding.inputs.tokens_by_bytes import tokens_by_bytes
from tokenfst.canonical.automaton import CanonicalTokenAutomaton
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.misuse import check_automaton
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.weighted.automaton import WeightedTokenAutomaton
from tokenfst.weighted.token_costs import CostTable

S = TypeVar("S")

# More than any number of tokens.
_NEVER: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class Unspelled:
    """The state after `written` bytes of the prefix, fewer than all."""

    written: int


class Healed(TokenAutomaton):
    """All tokenizations of a prefix followed by a text of an automaton.

    Its states are `Unspelled`, and after the prefix those of the automaton. A token that extends from the prefix into
    the language stands for the tokens that write the same bytes there, also if these have names in the constraint
    (`tokenfst.finite.terminals`).

    Attributes:
        inner: the automaton.
        prefix: the bytes that come first; `text` does not return them.
    """

    def __init__(self, inner: TokenAutomaton, prefix: str | bytes) -> None:
        """Put bytes before an automaton.

        Raises:
            EmptyLanguage: no tokens spell the prefix and a text.
            VocabularyError: a token that begins within the prefix continues with bytes that no tokens spell, so that
                the state after it is unknown; this never happens if every byte is a token by itself.
            ValueError: the automaton is for the start of a text, or for canonical tokenization, in which tokens
                depend on those before them; or the detokenizer is a transducer, whose state depends on the prefix; or
                the costs of tokens do not follow from their bytes; or the state after a token that begins within the
                prefix depends on how the bytes that follow are cut into tokens.
        """
        if inner.at_text_start or isinstance(inner, CanonicalTokenAutomaton):
            kind = "canonical tokenization" if isinstance(inner, CanonicalTokenAutomaton) else "the start of a text"
            raise ValueError(f"a prompt is healed before the continuation of a text, and this automaton is for {kind}")
        if inner.vocabulary.detokenizer is not None:
            raise ValueError("a prompt is not healed for a vocabulary whose detokenizer is a transducer")
        if isinstance(inner, WeightedTokenAutomaton) and inner.table.is_over_tokens:
            raise ValueError("a prompt is not healed before tokens whose costs do not follow from their bytes")
        self.inner, self.prefix = inner, text_bytes(prefix)
        self.vocabulary, self.at_text_start = inner.vocabulary, False
        self.start: Any = Unspelled(0) if self.prefix else inner.start
        self._tokens = tokens_by_bytes(self.vocabulary)
        # By bytes, the state that they lead to from the inner start; None if they lead nowhere.
        self._reached: dict[bytes, Any] = {b"": inner.start}
        # Masks of the states along these bytes: looking into one is faster than catching an error of `advance`.
        self._masks: dict[Any, memoryview] = {}
        self._spells_all = self.vocabulary.has_every_byte
        # Whether any tokens that write a text lead to the same state. Lazy automata have no names of writing tokens.
        support = inner.support if isinstance(inner, WeightedTokenAutomaton) else inner
        self._is_free = isinstance(support, LazyTokenAutomaton)
        self._spelled: dict[int, list[tuple[int, Any]]] = {}
        self._steps: dict[int, dict[int, Any]] = {}
        if self.min_tokens(self.start) >= _NEVER:
            raise EmptyLanguage(f"no tokens of the vocabulary spell {self.prefix!r} and a text after it")

    @property
    def end_state(self) -> Any:
        """The state after an end token."""
        return self.inner.end_state

    @property
    def nbytes(self) -> int:
        """The memory of the inner automaton in bytes."""
        return self.inner.nbytes

    @property
    def is_weighted(self) -> bool:
        """Whether tokens have costs."""
        return self.inner.is_weighted

    @property
    def initial_cost(self) -> float:
        """The cost of every text before its first token."""
        return self.inner.initial_cost

    def token_costs(self, state: Any) -> tuple[IntArray, npt.NDArray[np.float32]]:
        """Return the tokens whose cost in a state is not 0; see `TokenAutomaton.token_costs`. The prefix is free."""
        if not isinstance(state, Unspelled):
            return self.inner.token_costs(state)
        if not isinstance(self.inner, WeightedTokenAutomaton):
            return super().token_costs(state)
        tokens = [token for token, to in self._targets(state.written).items() if not isinstance(to, Unspelled)]
        costs = [self._cost(self.inner.table, state, token) for token in tokens]
        return np.array(tokens, np.int32), np.array(costs, np.float32)

    def weight(self, tokens: Iterable[int] | str | bytes) -> float:
        """Return the cost of a whole text; see `TokenAutomaton.weight`. The prefix is free."""
        whole = tokens if isinstance(tokens, str | bytes) else list(tokens)
        if not self.accepts(whole):
            return inf
        if isinstance(whole, str | bytes):
            return self.inner.weight(text_bytes(whole)[len(self.prefix) :])
        if not isinstance(self.inner, WeightedTokenAutomaton):
            return 0.0
        table, state, cost = self.inner.table, self.start, self.initial_cost
        for token in whole[:-1] if whole and whole[-1] in self.vocabulary.eos_ids else whole:
            cost += self._cost(table, state, token)
            state = self.advance(state, token)
        return cost + from_units(table.end_cost(state.byte_state))

    def _cost(self, table: CostTable, state: Any, token: int) -> float:
        """Return the cost of an allowed token."""
        if isinstance(state, Unspelled):
            return table.cost_from_start(self.vocabulary.tokens[token][len(self.prefix) - state.written :])
        return from_units(table.after(state.byte_state, token)[1])

    def is_final(self, state: Any) -> bool:
        """Return whether the text may end in a state."""
        return not isinstance(state, Unspelled) and self.inner.is_final(state)

    def advance(self, state: Any, token: int) -> Any:
        """Return the state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
        """
        if not isinstance(state, Unspelled):
            return self.inner.advance(state, token)
        reached = self._targets(state.written).get(token)
        if reached is None:
            raise self._refusal(state, token)
        return reached

    def key(self, state: Any) -> tuple[int, ...]:
        """Return a key for a state; see `TokenAutomaton.key`."""
        return (-1, state.written) if isinstance(state, Unspelled) else self.inner.key(state)

    def min_tokens(self, state: Any) -> int:
        """Return the least number of tokens from a state to the end of the text, including the end token."""
        return self._least[state.written] if isinstance(state, Unspelled) else self.inner.min_tokens(state)

    def text(self, token_ids: Any) -> bytes:
        """Return the bytes that tokens write after the prefix."""
        return super().text(token_ids)[len(self.prefix) :]

    def fill_bitmask(self, state: Any, out: IntArray, remaining: int | None = None) -> None:
        """Write the mask of a state as packed words; see `TokenAutomaton.fill_bitmask`."""
        if not isinstance(state, Unspelled):
            self.inner.fill_bitmask(state, out, remaining)
            return
        if out.dtype != np.int32 or out.ndim != 1:
            raise TypeError(f"a mask is int32 [W], and not {out.dtype} {list(out.shape)}")
        needed = len(self.vocabulary.all_words)
        if len(out) < needed:
            raise ValueError(f"a mask takes {needed} words, and there are {len(out)}")
        targets = self._targets(state.written)
        if remaining is not None:
            targets = {token: to for token, to in targets.items() if self.min_tokens(to) < remaining}
        bits = np.zeros(32 * len(out), np.uint8)
        bits[list(targets)] = 1
        out[:] = np.packbits(bits, bitorder="little").view(np.int32)

    # Tokens within the prefix

    def _targets(self, written: int) -> dict[int, Any]:
        """Return the tokens that may follow `written` bytes of the prefix and lead to an end, and their targets."""
        if written not in self._steps:
            # From every state of the inner automaton, an end can be reached.
            live = [self.min_tokens(Unspelled(at)) < _NEVER for at in range(len(self.prefix))]
            targets = self._spelling(written)
            self._steps[written] = {
                token: to for token, to in targets if not isinstance(to, Unspelled) or live[to.written]
            }
        return self._steps[written]

    def _spelling(self, written: int) -> list[tuple[int, Any]]:
        """Return all tokens that agree with the prefix and the language, and their targets."""
        if written not in self._spelled:
            self._spelled[written] = list(self._spell(written))
        return self._spelled[written]

    def _spell(self, written: int) -> Iterator[tuple[int, Any]]:
        rest, known = self.prefix[written:], self._tokens
        for length in range(1, len(rest)):
            for token in known.ids(rest[:length]):
                yield token, Unspelled(written + length)
        for token, beyond in known.beginning_with(rest):
            if not self._is_spelled(beyond):
                written_by = self.vocabulary.tokens[token]
                raise VocabularyError(
                    f"token {token} ({written_by!r}) continues with {beyond!r}, which no tokens spell"
                )
            if (reached := self._after(beyond)) is not None:
                yield token, reached

    def _after(self, text: bytes) -> Any:
        """Return the inner state after a text that tokens spell, or None if it does not begin any text of the language.

        Raises:
            ValueError: that depends on the tokens.
        """
        if text not in self._reached:
            # The last token of some tokenization, a long one first.
            for begin in range(len(text)):
                token = self._tokens.first.get(text[begin:])
                if token is not None and (not begin or self._is_spelled(text[:begin])):
                    self._reached[text] = self._advanced(self._after(text[:begin]), token)
                    break
            if not self._is_free:
                self._check_free(text)
        return self._reached[text]

    def _check_free(self, text: bytes) -> None:
        """Check that all tokens that write a text lead to the state that some of them lead to."""
        for begin in range(len(text)):
            if not self._is_spelled(text[:begin]):
                continue
            before = self._after(text[:begin])
            if any(self._advanced(before, token) != self._reached[text] for token in self._tokens.ids(text[begin:])):
                raise ValueError(
                    f"a prompt is not healed before an automaton in which the tokens that write {text!r} lead to "
                    "different states, or only some of them are allowed"
                )

    def _advanced(self, state: Any, token: int) -> Any:
        if state is None:
            return None
        mask = self._masks.get(state)
        if mask is None:
            mask = self._masks[state] = self.inner.mask(state).data
        return self.inner.advance(state, token) if mask[token] else None

    def _is_spelled(self, text: bytes) -> bool:
        """Return whether some tokens write exactly this text."""
        if self._spells_all or text in self._tokens.first:
            return True
        spelled = [True]
        for end in range(1, len(text) + 1):
            spelled.append(any(spelled[begin] and text[begin:end] in self._tokens.first for begin in range(end)))
        return spelled[-1]

    @cached_property
    def _least(self) -> list[int]:
        """The least number of tokens to the end, by the number of bytes of the prefix that have been written."""
        least = [_NEVER] * len(self.prefix)
        for written in range(len(self.prefix) - 1, -1, -1):
            reached = {to for _, to in self._spelling(written)}
            rests = [least[to.written] if isinstance(to, Unspelled) else self.inner.min_tokens(to) for to in reached]
            least[written] = 1 + min(rests, default=_NEVER)
        return least


def heal(prompt: Sequence[int], automaton: TokenAutomaton, *, max_tokens: int = 4) -> tuple[list[int], Healed]:
    """Remove the last tokens of a prompt, and put their bytes before the texts of an automaton.

    The removed tokens are the longest suffix of the prompt, of at most `max_tokens` tokens that write text, such that
    some longer token begins with the bytes of the suffix.

    Args:
        prompt: token ids; the first is never removed, because a model has to read something.
        automaton: the constraint on the text after the prompt, as a continuation of it.
        max_tokens: the maximum number of tokens to remove.

    Returns:
        The rest of the prompt, and an automaton whose texts begin with the bytes of the removed tokens. If no tokens
        are removed, it has the texts of the given automaton.

    Raises:
        EmptyLanguage, VocabularyError, ValueError: as for `Healed`.
        ValueError: a token id, or `max_tokens`, is negative.
        TypeError: the prompt is not a list of token ids, or the automaton is not a token automaton.
    """
    ids, max_tokens = token_ids(prompt), token_count("max_tokens", max_tokens, least=0)
    check_automaton(automaton)
    if ids and min(ids) < 0:
        raise ValueError(f"the prompt has the token {min(ids)}, which no vocabulary has")
    vocabulary = automaton.vocabulary
    known, kept, tail = tokens_by_bytes(vocabulary), len(ids), b""
    prefix = b""
    for at in range(len(ids) - 1, max(0, len(ids) - 1 - max_tokens), -1):
        # A model may read tokens that it cannot write, such as those of images.
        written = vocabulary.tokens[ids[at]] if ids[at] < len(vocabulary) else b""
        if not written:
            break
        tail = written + tail
        if any(beyond for _, beyond in known.beginning_with(tail)):
            kept, prefix = at, tail
    return ids[:kept], Healed(automaton, prefix)
