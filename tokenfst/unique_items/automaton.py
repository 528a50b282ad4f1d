"""UniqueItemsTokenAutomaton: an automaton over tokens of JSON texts in which the items of some arrays must differ.

    rules         the automaton over tokens of the grammar, which lets items be equal
    marked        the automaton over bytes of the marked grammar, which says where such an array begins
    memory        the items so far, and what is under way (`tokenfst.unique_items.memory`)

No automaton of bounded size tells whether items differ, so a state is a value in Python: a state of `rules`, one of
`marked`, and a memory. A token is allowed if `rules` allow it, no item ends in it that was there, and the text can be
completed after it. It can be where nothing under way has *rivals*, earlier items that it may still become: then the
shortest way to the end of the item is one, and what comes after an item is never out of values, or the constraint would
have been refused (`constraints.json_schema.containers.supply`). Where there are rivals, a search byte by byte finds out
whether any way leads to where there are none. They are finitely many values, so it soon does: one character more makes
another string. Spellings without end of one value, such as 1.00, are cut where they can no longer matter
(`values.reduced`).

A mask is the one of `rules` without what these rules take away. Nearly all tokens need not be looked at: along the
sorted vocabulary, where bytes have settled that the item differs, only tokens that go on to another item can be wrong,
and of these not the ones after which a string may go on without end (`tokenfst.unique_items.endless`).

A budget counts the ways that are known: where there are no rivals, the number of `rules`; else the shortest way, token
by token or byte by byte, to where there are none, and that number there. If an array must go on after an item, so that
the way of `rules` may be one with equal items, one way is followed to its end for each of a few tokens, and the others
are not allowed. So texts end in time, but a mask with a budget may lack tokens after which they could, too.

Rejected: an automaton of the next item's language less the items so far, made anew for each array (one such difference
is as large as all spellings of an object); marking tokens by what they may write as an item (most is never asked).
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.token_automaton import State, TokenAutomaton
from tokenfst.unique_items.endless import Endless
from tokenfst.unique_items.reading import Place, Reading
from tokenfst.unique_items.token_order import IS_PLAIN, token_order
from tokenfst.unique_items.values import Text
from tokenfst.unique_items.ways import UniqueItemsState, Ways

# A mask as packed words, int32 `[ceil(V / 32)]`.
Words: TypeAlias = npt.NDArray[np.int32]

# The most tokens whose ways are followed for one mask, in arrays that must go on after an item.
MAX_FOLLOWED: Final = 64
# The number of states whose masks are kept; a full cache is emptied.
MAX_CACHED: Final = 1 << 10


class UniqueItemsTokenAutomaton(TokenAutomaton):
    """An automaton over tokens with a memory; see the module.

    Attributes:
        rules: the same automaton without the memory.
    """

    def __init__(self, rules: NativeTokenAutomaton, reading: Reading, *, needs_more: bool) -> None:
        """Initialize the automaton.

        Args:
            rules: the automaton of the grammar.
            reading: follows the text.
            needs_more: see `UniqueArrays`.
        """
        self.rules = rules
        self.reading = reading
        self.vocabulary = rules.vocabulary
        self.at_text_start = rules.at_text_start
        self.start = UniqueItemsState(rules.start, reading.start)
        self.order = token_order(rules.vocabulary)
        self.ways = Ways(rules, reading, self._child, self.order, needs_more)
        self._endless = Endless(rules, self.order)
        self._refused: dict[UniqueItemsState, _TokenSet | None] = {}

    def __repr__(self) -> str:
        return f"<UniqueItemsTokenAutomaton of {self.rules!r}>"

    @property
    def end_state(self) -> UniqueItemsState:
        """The state after an end token."""
        return UniqueItemsState(self.rules.end_state, None)

    @property
    def nbytes(self) -> int:
        """Memory in bytes; see `TokenAutomaton.nbytes`."""
        return self.rules.nbytes + self.reading.marked.nbytes

    def is_final(self, state: State) -> bool:
        """Return whether the text may end in a state."""
        return self.rules.is_final(state.rules)

    def key(self, state: State) -> tuple[int, ...]:
        """Return numbers for a state, without the memory; see `TokenAutomaton.key`."""
        return self.rules.key(state.rules)

    def _where(self, state: State) -> str:
        return self.rules._where(state.rules)

    # Steps

    def advance(self, state: State, token: int) -> UniqueItemsState:
        """Return the state after one more token; see `TokenAutomaton.advance`."""
        reached = self.step(state, token)
        if reached is None:
            raise self._refusal(state, token)
        return reached

    def step(self, state: State, token: int) -> UniqueItemsState | None:
        """Return the state after one more token, None if the token is not allowed."""
        reached = self._child(state, token)
        return reached if reached is not None and self.reading.goes_on(reached.place) else None

    def _child(self, state: UniqueItemsState, token: int) -> UniqueItemsState | None:
        """Return the state after a token; None if the rules do not allow it, or an item ends that was there."""
        rules = self.rules.step(state.rules, token)
        if rules is None:
            return None
        if token in self.vocabulary.eos_ids or state.place is None:
            return UniqueItemsState(rules, None)
        place = self.reading.after(state.place, self._bytes(state, token))
        return None if place is None else UniqueItemsState(rules, place)

    def _bytes(self, state: UniqueItemsState, token: int) -> bytes:
        if self._begins(state):
            return self.vocabulary.detokenize([token], at_text_start=True)
        return self.vocabulary.tokens[token]

    # Masks

    def fill_bitmask(self, state: State, out: npt.NDArray[np.int32], remaining: int | None = None) -> None:
        """Write the mask of a state as packed words; see `TokenAutomaton.fill_bitmask`."""
        if remaining is None:
            self.rules.core.fill_bitmask(state.rules, out)
            refused = self._refused_tokens(state, out)
            if refused is not None:
                refused.clear(out)
            return
        self.rules.core.fill_within(state.rules, out, remaining)
        if state.place is None:
            return
        if not self.fits(state, remaining):
            out[:] = 0
        elif self.ways.needs_more:
            self._keep_followed(state, out, remaining)
        else:
            refused = _TokenSet.of(self._refused_among(state, out, remaining))
            if refused is not None:
                refused.clear(out)

    def _refused_tokens(self, state: UniqueItemsState, words: Words) -> _TokenSet | None:
        """Return the tokens that the rules allow in a state, packed in words, and the memory does not, if any."""
        if state.place is None:
            return None
        try:
            return self._refused[state]
        except KeyError:
            found = _TokenSet.of(self._refused_among(state, words, None))
        if len(self._refused) >= MAX_CACHED:
            self._refused.clear()
        self._refused[state] = found
        return found

    def _refused_among(self, state: UniqueItemsState, words: Words, remaining: int | None) -> list[int]:
        """Return which of some tokens are not allowed: since the text cannot go on, or not within a budget."""
        assert state.place is not None
        refused = []
        for token, place in self._doubtful(state, words, without_endless=remaining is None):
            if place is None or not self.reading.goes_on(place):
                refused.append(token)
            elif remaining is not None:
                reached = UniqueItemsState(self.rules.step(state.rules, token), place)
                if not self.ways.is_within(reached, remaining - 1):
                    refused.append(token)
        return refused

    def _doubtful(
        self, state: UniqueItemsState, words: Words, *, without_endless: bool
    ) -> Iterator[tuple[int, Place | None]]:
        """Yield the tokens after which something under way has rivals, or that cannot be read, and where they lead.

        Args:
            state: the state.
            words: the tokens that the rules allow, packed.
            without_endless: whether to leave out tokens after which the text can be completed whatever the rivals are.
        """
        assert state.place is not None
        order, reading = self.order, self.reading
        if self._begins(state):
            for at in _among(words, order.opening, order.ids):
                token = int(order.ids[at])
                yield token, reading.after(state.place, self._bytes(state, token))
            return
        is_endless = without_endless and state.place.memory.is_in_text
        waiting = [(state.place, 0, len(order.texts), b"")]
        while waiting:
            place, low, high, prefix = waiting.pop()
            closing = order.closing
            if is_endless and (not prefix or (IS_PLAIN(prefix) and self._endless.loops(state.rules))):
                closing = self._endless.left(state.rules, words)
            if not place.memory.has_rivals:
                yield from self._going_on(place, low, high, prefix, words, closing)
                continue
            while low < high and prefix and order.texts[low] == prefix:
                if _has(words, order.ids[low]):
                    yield int(order.ids[low]), place
                low += 1
            following = place.memory.bytes_for_rivals()
            if following is not None:
                yield from self._going_on(place, low, high, prefix, words, closing, following)
            for byte in reading.bytes_after(place) if following is None else following:
                longer = prefix + bytes([byte])
                first, end = order.branch(low, high, longer)
                if first == end:
                    continue
                after = reading.after(place, longer[-1:])
                if after is not None:
                    waiting.append((after, first, end, longer))
                else:
                    for at in _among(words, np.arange(first, end), order.ids):
                        yield int(order.ids[at]), None

    def _going_on(
        self,
        place: Place,
        low: int,
        high: int,
        prefix: bytes,
        words: Words,
        closing: IntArray,
        but_for: Container[int] = (),
    ) -> Iterator[tuple[int, Place | None]]:
        """Yield the same of the tokens of a range that begin with a prefix, after which there are no rivals; or where
        there are none after the next byte, whatever it is but for some."""
        memory, order = place.memory, self.order
        kind = order.others if memory.containers else order.opening
        if isinstance(memory.scalar, Text):
            kind = closing
        first, end = np.searchsorted(kind, (low, high))
        for at in _among(words, kind[first:end], order.ids):
            rest = order.texts[at][len(prefix) :]
            if not rest or rest[0] in but_for:
                continue
            after = self.reading.after(place, rest)
            if after is None or after.memory.has_rivals:
                yield int(order.ids[at]), after

    def _keep_followed(self, state: UniqueItemsState, out: npt.NDArray[np.int32], remaining: int) -> None:
        """Keep of the tokens in a mask some after which a way is known to end within a budget."""
        bits = np.unpackbits(out.view(np.uint8), count=len(self.vocabulary), bitorder="little")
        allowed = np.flatnonzero(bits).tolist()
        # One step of the way that is followed, what ends the text, and others.
        tried = dict.fromkeys([self.ways.next_token(state), *self.vocabulary.eos_ids, *allowed])
        out[:] = 0
        mask = set(allowed)
        for token in [token for token in tried if token in mask][:MAX_FOLLOWED]:
            reached = self.step(state, token)
            if reached is not None and self.ways.length(reached) < remaining:
                out.view(np.uint32)[token >> 5] |= np.uint32(1 << (token & 31))

    # Budgets

    def min_tokens(self, state: State) -> int:
        """Return a number of tokens that suffices to complete the text; see `TokenAutomaton.min_tokens`."""
        return self.ways.length(state)

    def fits(self, state: State, remaining: int) -> bool:
        """Return whether the text can be completed within a budget; see `TokenAutomaton.fits`."""
        return self.ways.is_within(state, remaining)


def _has(words: Words, tokens: Any) -> Any:
    """Return whether tokens are in a mask, each."""
    return words[tokens >> 5] >> (tokens & 31) & 1


def _among(words: Words, places: IntArray, ids: IntArray) -> list[int]:
    """Return those of some places in an order whose tokens are in a mask."""
    found: list[int] = places[_has(words, ids[places]) != 0].tolist()
    return found


class _TokenSet(NamedTuple):
    """Some tokens, as they are taken out of a mask.

    Attributes:
        words: `[n]`, the words of a mask that they are in.
        others: `[n]`, the bits of all other tokens in these.
    """

    words: IntArray
    others: npt.NDArray[np.int32]

    @classmethod
    def of(cls, tokens: list[int]) -> _TokenSet | None:
        """Return the set of some tokens; None for none."""
        if not tokens:
            return None
        bits: dict[int, int] = {}
        for token in tokens:
            bits[token >> 5] = bits.get(token >> 5, 0) | 1 << (token & 31)
        others = ~np.array(list(bits.values()), np.uint32)
        return cls(np.array(list(bits), np.int32), others.view(np.int32))

    def clear(self, mask: Words) -> None:
        """Take the tokens out of a mask."""
        mask[self.words] &= self.others
