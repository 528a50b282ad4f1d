"""TokenAutomaton: an exact deterministic automaton over the tokens of a vocabulary.

It accepts every tokenization of every text of its language and nothing else, and every state that it can be in leads on
to an end, so a mask never forbids what could still be completed and never leads into a dead end.

    state 0 .. Q - 2     where a text can stand between two tokens
    state Q - 1          the end of the sequence, after an end token
    class 0, NEVER       tokens that no state allows
    class 1, END         the end tokens
    class 2 ..           tokens that no state tells apart (`tokenfst.token_classes`)

Everything is read-only but a bounded cache of masks that have been asked for, so automata may be shared by threads.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from automata.distance import distances
from automata.errors import AutomatonFileError, TokenNotAllowed
from tokenfst.kept import Kept
from tokenfst.loops import Ints
from tokenfst.masks import ClassRuns, expand_runs, group_runs, mask_words
from tokenfst.over_tokens import OverTokens
from tokenfst.token_classes import END, NEVER
from tokenfst.transitions import Transitions
from tokenfst.vocabulary import Vocabulary

# Masks kept for states that have been visited; 16 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 4096
# States whose levels are kept (`tokenfst.over_tokens`).
MAX_CACHED_LEVELS = 1 << 16


class TokenAutomaton(OverTokens[int]):
    """An exact deterministic automaton over tokens; made by `tokenfst.compile` or `TokenAutomaton.load`.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        final: `[Q]` bool, where the text may end; the last state, after the end, is final too.
        transitions: state and class to state.
        run_end, run_class: `[R]` each, the class of every rank as runs (`tokenfst.token_classes.TokenClasses`).
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        start: int,
        final: npt.NDArray[np.bool_],
        transitions: Transitions,
        run_end: Ints,
        run_class: Ints,
        *,
        at_text_start: bool = False,
    ) -> None:
        self.vocabulary = vocabulary
        self.start = start
        self.final = final
        self.transitions = transitions
        self.run_end = run_end
        self.run_class = run_class
        self.at_text_start = at_text_start
        for array in (final, run_end, run_class):
            array.setflags(write=False)
        self._rank_of_token = vocabulary.rank_of_token.data
        self._final = final.data
        # By state; within a budget by state, and how many of the state's levels fit.
        self._masks: Kept[int | tuple[int, int], npt.NDArray[np.int32]] = Kept(MAX_CACHED_MASKS)
        self._levels: Kept[int, list[int]] = Kept(MAX_CACHED_LEVELS)

    def __repr__(self) -> str:
        return f"<TokenAutomaton of {self.num_states:,} states and {self.num_classes:,} classes, {self.nbytes:,} bytes>"

    # Sizes

    @property
    def num_states(self) -> int:
        """Q, the state after the end included."""
        return self.transitions.num_states

    @property
    def num_classes(self) -> int:
        """K, NEVER and END included."""
        return self.transitions.num_classes

    @property
    def nbytes(self) -> int:
        """Memory of the tables in bytes, without the vocabulary and without cached masks."""
        return (
            self.transitions.nbytes
            + self.final.nbytes
            + self.run_end.nbytes
            + self.run_class.nbytes
            + (self._class_of_rank.nbytes)
        )

    @property
    def end_state(self) -> int:
        """Q - 1, the state after an end token."""
        return self.num_states - 1

    # Steps

    def is_final(self, state: int) -> bool:
        """Whether the text may end here."""
        return bool(self._final[state])

    def advance(self, state: int, token: int) -> int:
        """The state after one more token.

        Raises:
            TokenNotAllowed: the mask of `state` does not allow the token.
        """
        if 0 <= token < len(self._rank_of_token):
            number = self._class_of_rank[self._rank_of_token[token]]
            if number == NEVER and token in self.vocabulary.eos_ids:
                number = END
            target = self.transitions.target(state, number)
            if target >= 0:
                return target
        raise TokenNotAllowed(self._refusal(state, token))

    # Masks

    def _words(self, state: int) -> npt.NDArray[np.int32]:
        words = self._masks.get(state)
        if words is None:
            words = self._masks.keep(state, self._words_of(self.transitions.row(state)))
        return words

    def _words_within(self, state: int, remaining: int) -> npt.NDArray[np.int32]:
        levels = self._levels.get(state)
        if levels is None:
            levels = self._levels.keep(state, np.unique(self._behind(state)).tolist())
        number = bisect_left(levels, remaining)
        if number == len(levels):
            return self._words(state)
        words = self._masks.get((state, number))
        if words is None:
            fits = self._behind(state) < remaining
            words = self._masks.keep((state, number), self._words_of(self.transitions.row(state)[fits]))
        return words

    def _behind(self, state: int) -> Ints:
        """The least number of tokens to the end behind each class that a state allows, `[n]`."""
        return self.min_tokens_by_state[self.transitions.reached(state)]

    def _words_of(self, allowed: Ints) -> npt.NDArray[np.int32]:
        """The mask of the tokens of some classes, ascending."""
        words = mask_words(allowed, *self._grouped, self.vocabulary.token_of_rank, self.vocabulary.all_words)
        if END in allowed:
            words |= self.vocabulary.eos_words
        words.setflags(write=False)
        return words

    @cached_property
    def _class_of_rank(self) -> memoryview:
        """The class of every rank; the entry behind the last is for tokens that have no rank."""
        width = np.min_scalar_type(self.num_classes)  # narrow: filling fresh memory is what this costs
        class_of_rank = np.empty(len(self.vocabulary.token_of_rank) + 1, width)
        expand_runs(self.run_end, self.run_class, class_of_rank)
        return class_of_rank.data

    @cached_property
    def _grouped(self) -> ClassRuns:
        return group_runs(self.run_end, self.run_class, self.num_classes)

    # Whole tables

    @cached_property
    def token_class(self) -> Ints:
        """The class of every token, `[V]` int32."""
        classes = np.asarray(self._class_of_rank)[self.vocabulary.rank_of_token].astype(np.int32)
        classes[list(self.vocabulary.eos_ids)] = END
        classes.setflags(write=False)
        return classes

    @cached_property
    def min_tokens_by_state(self) -> Ints:
        """The least number of tokens from every state to the end of the text, `[Q]` int32."""
        source, _, target = self.transitions.edges()
        ends = np.zeros(self.num_states, np.bool_)
        ends[self.end_state] = True
        # Without end tokens a text is complete where it may end.
        result = distances(source, target, ends if self.vocabulary.eos_ids else self.final)
        result.setflags(write=False)
        return result

    def min_tokens(self, state: int) -> int:
        """The least number of tokens from a state to the end of the text, the end token counted."""
        return int(self.min_tokens_by_state[state])

    # Files

    def save(self, path: str | Path) -> None:
        """Writes the automaton as a safetensors file that names its format version and vocabulary digest."""
        from tokenfst.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, vocabulary: Vocabulary) -> TokenAutomaton:
        """Reads an automaton that was saved for the same vocabulary.

        Raises:
            AutomatonFileError: a damaged file, another format version, another vocabulary, or an automaton with a
                stack (`PushdownTokenAutomaton.load`).
        """
        from tokenfst.storage import load

        automaton = load(path, vocabulary)
        if not isinstance(automaton, TokenAutomaton):
            raise AutomatonFileError(
                f"{path} holds an automaton with a stack: load it with PushdownTokenAutomaton.load"
            )
        return automaton
