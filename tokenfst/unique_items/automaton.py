"""UniqueItemsTokenAutomaton: an automaton over tokens of JSON texts in which the items of some arrays must differ.

    rules         the token automaton of the grammar, which allows equal items
    reader        follows the text byte by byte in the marked grammar, which shows where such an array begins, with a
                  memory: the items so far, and the current item (`native/tokenfst/unique_items/`)

No automaton of bounded size can decide whether items differ, so a state is a value: a state of `rules`, and a position
of the reader. A token is allowed if `rules` allow it, it does not complete an item that occurred before, and the text
can be completed after it. A mask is that of `rules` without the tokens that the reader forbids.

A text may have several readings side by side: in one of them the items of an array must differ, in another they need
not. If an item equals an earlier one, `rules` read a mark, which ends the readings in which items must differ.

A budget uses the lengths of known ways to the end. The *rivals* of the current item are the earlier items that it may
still equal. Without rivals, the length is the number of tokens that `rules` need to the end. With rivals, it is the
length of the shortest way, token by token or byte by byte, to a state without rivals, plus the number that `rules` need
from there. If an array must continue after an item, the number that `rules` need includes a *detour*: the length of an
item that differs from all others that the array may have by then. So texts end in time, but a mask with a budget may
lack tokens after which the text could also end in time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from automata.cache import kept_while_alive
from automata.errors import LimitExceeded
from tokenfst import _native
from tokenfst.lazy import LazyTokenAutomaton
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.packed_words import set_tokens
from tokenfst.token_automaton import State, TokenAutomaton
from tokenfst.unique_items.language import REPEAT, UNIQUE, UniqueArrays
from tokenfst.unique_items.ways import UniqueItemsState, Ways
from tokenfst.vocabulary import Vocabulary

# A mask as packed words, int32 `[ceil(V / 32)]`.
Words: TypeAlias = npt.NDArray[np.int32]

# The greatest number of positions that one search visits to find out whether an item can still differ.
MAX_POSITIONS: Final = 20_000


class UniqueItemsTokenAutomaton(TokenAutomaton):
    """An automaton over tokens with a memory; see the module.

    Attributes:
        rules: the same automaton without the memory.
        marked: the automaton over bytes of the marked grammar.
        reader: reads texts in the marked grammar, with the memory.
    """

    def __init__(self, rules: NativeTokenAutomaton, marked: NativeTokenAutomaton, arrays: UniqueArrays) -> None:
        """Initialize the automaton.

        Args:
            rules: the automaton of the grammar (`language.repeating`).
            marked: the automaton over bytes of the marked grammar (`language.marked`).
            arrays: the language.

        Raises:
            LimitExceeded: following the grammar byte by byte takes too many copies of its rules.
        """
        if not isinstance(marked, LazyTokenAutomaton):
            raise LimitExceeded("the rules of arrays whose items must differ take too many copies, one for each end")
        self.rules = rules
        self.marked = marked
        self.vocabulary = rules.vocabulary
        self.at_text_start = rules.at_text_start
        separating = _separating_tokens(rules.vocabulary)
        self.reader = _native.ItemTokenReader(marked.core, separating, (UNIQUE, REPEAT), MAX_POSITIONS)
        self.start = UniqueItemsState(rules.start, self.reader.start)
        self.ways = Ways(rules, self.reader, self.step, arrays.has_detours)
        self._opening = separating.opening
        # The tokens that `rules` would read as a mark.
        self._marks = _tokens_with_repeat(rules.vocabulary) if arrays.others else []

    def __repr__(self) -> str:
        return f"<UniqueItemsTokenAutomaton of {self.rules!r}>"

    @property
    def end_state(self) -> UniqueItemsState:
        """The state after an end token."""
        return UniqueItemsState(self.rules.end_state, None)

    @property
    def nbytes(self) -> int:
        """The memory in bytes; see `TokenAutomaton.nbytes`."""
        return self.rules.nbytes + self.marked.nbytes

    def is_final(self, state: State) -> bool:
        """Return whether the text may end in a state."""
        return self.rules.is_final(_checked(state).rules)

    def key(self, state: State) -> tuple[int, ...]:
        """Return the key of a state, without the memory; see `TokenAutomaton.key`."""
        return self.rules.key(_checked(state).rules)

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
        rules = self.rules.step(_checked(state).rules, token)
        if rules is None:
            return None
        if token in self.vocabulary.eos_ids or state.position is None:
            return UniqueItemsState(rules, None)
        position = self.reader.after(state.position, self._bytes(state, token))
        if position is None or not self.reader.can_continue(position):
            return None
        return UniqueItemsState(self._marked_rules(state, token, rules, position), position)

    def _marked_rules(self, state: UniqueItemsState, token: int, rules: State, position: _native.ItemPosition) -> State:
        """Return the state of the rules after an allowed token, with a mark after each item that equals an earlier one.

        Args:
            state: the state before the token.
            token: the token.
            rules: the state of the rules after it, without marks.
            position: the position of the reader after it.
        """
        assert state.position is not None
        if position.num_repeats == state.position.num_repeats:
            return rules
        text = self._bytes(state, token)
        places = [0, *self.reader.repeats(state.position, text), len(text)]
        rules = state.rules
        for byte in bytes([REPEAT]).join(text[begin:end] for begin, end in pairwise(places)):
            rules = self.rules.step(rules, self.ways.byte_tokens[byte])
        return rules

    def _bytes(self, state: UniqueItemsState, token: int) -> bytes:
        if self._begins(state):
            return self.vocabulary.detokenize([token], at_text_start=True)
        return self.vocabulary.tokens[token]

    # Masks

    def fill_bitmask(self, state: State, out: Words, remaining: int | None = None) -> None:
        """Write the mask of a state as packed words; see `TokenAutomaton.fill_bitmask`."""
        if remaining is not None:
            self._fill_within(_checked(state), out, remaining)
            return
        self.rules.core.fill_bitmask(_checked(state).rules, out)
        set_tokens(out, self._marks, allowed=False)
        if state.position is None:
            return
        if self._begins(state):
            set_tokens(
                out,
                [token for token, reached in self._doubtful(state, out) if not self._can_continue(reached)],
                allowed=False,
            )
        else:
            self.reader.clear(state.position, out)

    def _can_continue(self, position: _native.ItemPosition | None) -> bool:
        return position is not None and self.reader.can_continue(position)

    def _doubtful(self, state: UniqueItemsState, words: Words) -> list[tuple[int, _native.ItemPosition | None]]:
        """Return the tokens that the memory may forbid, each with the position after it, None if it is not allowed.

        These are the tokens after which the current item has rivals, or in which an item ends that equals an earlier
        one; at the start of a text, the tokens that open an array and continue to its second item.

        Args:
            state: the state, which is not the end state.
            words: the tokens that the rules allow, packed.
        """
        assert state.position is not None
        if not self._begins(state):
            return self.reader.doubtful(state.position, words)
        opening = self._opening[words[self._opening >> 5] >> (self._opening & 31) & 1 != 0].tolist()
        return [(token, self.reader.after(state.position, self._bytes(state, token))) for token in opening]

    # Budgets

    def _fill_within(self, state: UniqueItemsState, out: Words, remaining: int) -> None:
        """Write the mask of a state within a budget."""
        self.ways.fill(state.rules, out, remaining)
        set_tokens(out, self._marks, allowed=False)
        if state.position is None:
            return
        if not self.fits(state, remaining):
            out[:] = 0
        else:
            set_tokens(
                out,
                [
                    token
                    for token, reached in self._doubtful(state, out)
                    if not self._can_end_within(state, token, reached, remaining)
                ],
                allowed=False,
            )

    def _can_end_within(
        self, state: UniqueItemsState, token: int, position: _native.ItemPosition | None, remaining: int
    ) -> bool:
        """Return whether the text can be completed within a budget that includes a token, which leads to a position."""
        if position is None or not self.reader.can_continue(position):
            return False
        rules = self._marked_rules(state, token, self.rules.step(state.rules, token), position)
        return self.ways.is_within(UniqueItemsState(rules, position), remaining - 1)

    def min_tokens(self, state: State) -> int:
        """Return a number of tokens that suffices to complete the text; see `TokenAutomaton.min_tokens`."""
        return self.ways.length(_checked(state))

    def fits(self, state: State, remaining: int) -> bool:
        """Return whether the text can be completed within a budget; see `TokenAutomaton.fits`."""
        return self.ways.is_within(_checked(state), remaining)


def _checked(state: State) -> UniqueItemsState:
    """Return a state unchanged; raise TypeError, as the native core does, if it is not a state."""
    if not isinstance(state, UniqueItemsState):
        raise TypeError(f"{state!r} is not a state of an automaton with a memory of items")
    return state


@kept_while_alive
def _separating_tokens(vocabulary: Vocabulary) -> _native.SeparatingTokens:
    """Return the tokens of a vocabulary in which another item may begin."""
    return _native.SeparatingTokens(vocabulary.native)


@kept_while_alive
def _tokens_with_repeat(vocabulary: Vocabulary) -> list[int]:
    """Return the tokens that contain the byte `REPEAT`, which the rules would read as a mark."""
    return [token for token, text in enumerate(vocabulary.tokens) if REPEAT in text]
