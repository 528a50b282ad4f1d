"""TokenAutomaton: an exact deterministic automaton over the tokens of a vocabulary.

It accepts every tokenization of every text of its language and nothing else, and every state that it can be in leads on
to an end, so a mask never forbids what could still be completed and never leads into a dead end.

    state 0 .. Q - 2     where a text can stand between two tokens
    state Q - 1          the end of the sequence, after an end token
    class 0, NEVER       tokens that no state allows
    class 1, END         the end tokens
    class 2 ..           tokens that no state tells apart (`tokenfst.token_classes`)

The native core holds the tables and steps through them (`native/tokenfst/finite_automaton.h`). They never change, and
masks that were asked for are kept in a bounded cache, so automata may be shared by threads.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from automata.arrays import BoolArray, IntArray
from automata.errors import AutomatonFileError
from automata.limits import DEFAULT_LIMITS, Work
from tokenfst._native import FiniteCore, TokenClasses
from tokenfst.native_automaton import NativeAutomaton
from tokenfst.transitions import DENSE_BYTES, Csr, Dense, Transitions
from tokenfst.vocabulary import Vocabulary

# Masks kept for states that have been visited; 16 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 4096


class TokenAutomaton(NativeAutomaton[int]):
    """An exact deterministic automaton over tokens; made by `tokenfst.compile` or `TokenAutomaton.load`.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
        core: the automaton of the native core.
    """

    core: FiniteCore

    def __init__(self, vocabulary: Vocabulary, core: FiniteCore, *, at_text_start: bool = False) -> None:
        self.vocabulary = vocabulary
        self.core = core
        self.start = core.start
        self.at_text_start = at_text_start

    @classmethod
    def from_classes(
        cls,
        vocabulary: Vocabulary,
        start: int,
        final: BoolArray,
        classes: TokenClasses,
        work: Work,
        *,
        at_text_start: bool = False,
    ) -> TokenAutomaton:
        """The automaton of the classes of a vocabulary, with one more state after the end.

        Args:
            vocabulary: the tokens.
            start: the state before the first token.
            final: `[Q - 1]`, where the text may end.
            classes: what the tokens do; each state reaches an end.
            work: the compilation that it is part of.
            at_text_start: as of the class.

        Raises:
            LimitExceeded: the tables take too much memory.
        """
        room = DENSE_BYTES, MAX_CACHED_MASKS, work.budget
        core = FiniteCore.from_classes(vocabulary.native, start, final, classes, *room)
        return cls(vocabulary, core, at_text_start=at_text_start)

    @classmethod
    def from_transitions(
        cls,
        vocabulary: Vocabulary,
        start: int,
        final: BoolArray,
        transitions: Transitions,
        run_end: IntArray,
        run_class: IntArray,
        *,
        at_text_start: bool = False,
    ) -> TokenAutomaton:
        """The automaton of some tables.

        Args:
            vocabulary: the tokens.
            start: the state before the first token.
            final: `[Q]`, where the text may end; the last state, after the end, is final too.
            transitions: state and class to state.
            run_end, run_class: `[R]` each, one past the last rank of each run and its class; runs cover all ranks in
                order.
            at_text_start: as of the class.

        Raises:
            TypeError, ValueError: the tables do not fit together.
        """
        runs = np.stack([run_end, run_class], axis=1)
        common, room = (vocabulary.native, start, final, runs), (MAX_CACHED_MASKS, DEFAULT_LIMITS.memory)
        if isinstance(transitions, Dense):
            core = FiniteCore.dense(*common, transitions.next, *room)
        elif isinstance(transitions, Csr):
            edges = np.stack([transitions.edge_class, transitions.edge_target], axis=1)
            core = FiniteCore.sparse(*common, transitions.num_classes, transitions.row_offsets, edges, *room)
        else:
            columns = (transitions.edge_class, transitions.low, transitions.high, transitions.edge_target)
            edges = np.stack([*columns, transitions.action], axis=1)
            sizes = transitions.num_classes, transitions.max_register
            core = FiniteCore.guarded(*common, *sizes, transitions.row_offsets, edges, *room)
        return cls(vocabulary, core, at_text_start=at_text_start)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"<{name} of {self.num_states:,} states and {self.num_classes:,} classes, {self.nbytes:,} bytes>"

    # Sizes

    @property
    def num_states(self) -> int:
        """Q, the state after the end included."""
        return self.core.num_states

    @property
    def num_classes(self) -> int:
        """K, NEVER and END included."""
        return self.core.num_classes

    @property
    def end_state(self) -> int:
        """Q - 1, the state after an end token."""
        return self.core.num_states - 1

    # Classes

    def moves(self, state: int) -> tuple[IntArray, npt.NDArray[np.int64]]:
        """The classes that a state allows, ascending, and the states that they lead to, `[n]` each."""
        return self.core.successors(state)

    def alike(self, state: int) -> int:
        """One state for all that have the same mask for the same reason: the same place, and the same edges open."""
        return self.core.alike(state)

    # Whole tables

    @property
    def final(self) -> BoolArray:
        """`[Q]`, where the text may end; the last state, after the end, is final too."""
        return self.core.final

    @cached_property
    def transitions(self) -> Transitions:
        """State and class to state."""
        arrays = self.core.transitions
        if len(arrays) == 1:
            return Dense(*arrays)
        offsets, edges = arrays
        edge_class, edge_target = np.ascontiguousarray(edges.T)
        return Csr(offsets, edge_class, edge_target, self.num_classes)

    @cached_property
    def run_end(self) -> IntArray:
        """`[R]`, one past the last rank of each run of ranks that share a class; runs cover all ranks in order."""
        return np.ascontiguousarray(self.core.runs[:, 0])

    @cached_property
    def run_class(self) -> IntArray:
        """`[R]`, the class of each run."""
        return np.ascontiguousarray(self.core.runs[:, 1])

    @cached_property
    def token_class(self) -> IntArray:
        """The class of every token, `[V]` int32."""
        return self.core.token_class

    @property
    def min_tokens_by_state(self) -> IntArray:
        """The least number of tokens from every state to the end of the text, `[Q]` int32."""
        return self.core.min_tokens_by_state

    # Files

    def save(self, path: str | Path) -> None:
        """Write the automaton as a safetensors file that names its format version and vocabulary digest."""
        from tokenfst.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, vocabulary: Vocabulary) -> TokenAutomaton:
        """Read an automaton that was saved for the same vocabulary.

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
