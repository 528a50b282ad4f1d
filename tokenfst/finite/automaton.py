"""FiniteTokenAutomaton: an automaton over tokens as tables over states.

    state 0 .. Q - 2     states between two tokens of a text
    state Q - 1          the end of the sequence, after an end token
    class 0, NEVER       tokens that no state allows
    class 1, END         the end tokens
    class 2 ..           tokens with equal transitions in every state (`tokenfst.finite.classes`)

The native core holds the tables and steps through them (`native/tokenfst/finite_automaton.h`). The tables are
immutable, and masks are kept in a bounded cache, so threads may share an automaton.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from automata.arrays import BoolArray, IntArray
from automata.drawing import Drawing
from automata.limits import DEFAULT_LIMITS, Work
from automata.openfst import Fst
from automata.view import View, first_look
from tokenfst._native import FiniteCore, TokenClasses
from tokenfst.drawing import ClassNames, PictureCosts, draw_transitions
from tokenfst.files import Array
from tokenfst.finite.to_fst import to_fst
from tokenfst.finite.transitions import DENSE_BYTES, Csr, Dense, Transitions
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.read_only import read_only
from tokenfst.token_automaton import State
from tokenfst.vocabulary import Vocabulary

# The kind of automaton in the header of a file.
KIND = "finite"
# The number of cached masks; 16 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 4096


class FiniteTokenAutomaton(NativeTokenAutomaton):
    """An automaton over tokens without a stack, with complete tables.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        at_text_start: whether the tokens begin a text; False if they continue one (`tokenfst.compile`).
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
    ) -> FiniteTokenAutomaton:
        """Build the automaton from token classes, adding the state after the end.

        Args:
            vocabulary: the tokens.
            start: the state before the first token.
            final: `[Q - 1]` bool, whether the text may end in each state.
            classes: the classes of the tokens and their transitions; an end can be reached from every state.
            work: the compilation that this is part of.
            at_text_start: as for the class.

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
    ) -> FiniteTokenAutomaton:
        """Build the automaton from its tables.

        Args:
            vocabulary: the tokens.
            start: the state before the first token.
            final: `[Q]` bool, whether the text may end in each state; the last one, after the end, is final too.
            transitions: the transitions by state and class.
            run_end, run_class: `[R]` int32 each, one past the last rank of each run and its class; runs cover all ranks
                in order.
            at_text_start: as for the class.

        Raises:
            TypeError, ValueError: the tables are inconsistent.
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
        sizes = f"{self.num_states:,} states and {self.num_classes:,} classes, {self.nbytes:,} bytes"
        return f"<{type(self).__name__} of {sizes}>"

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: Iterable[int] | None = None,
        costs: PictureCosts | None = None,
    ) -> Drawing:
        """Return a picture; see `TokenAutomaton.draw`.

        Args:
            title, around, radius, path: as for `TokenAutomaton.draw`.
            costs: the costs of tokens; None if they have none.
        """
        view = View(around, radius, () if path is None else tuple(self.states_along(path)))
        final, names = self.final.tolist(), ClassNames(self.vocabulary, self.token_class)
        return draw_transitions(self.start, final, self.transitions.edges(), names, costs, title=title, view=view)

    def _picture(self) -> Drawing | None:
        source, _, target = self.transitions.edges()
        around, radius = first_look(self.start, self.num_states, source, target)
        return self.draw(around=around, radius=radius)

    def fst(self) -> Fst:
        """Return the acceptor over tokens; see `TokenAutomaton.fst`."""
        parts = self.start, self.end_state, self.is_final, self.transitions, self.token_class
        return to_fst(self.vocabulary, *parts)

    def arrays(self) -> dict[str, Array]:
        """Return the tables by name; see `TokenAutomaton.arrays`."""
        start, final = np.array([self.start], np.int32), self.final.astype(np.uint8)
        runs = {"run_end": self.run_end, "run_class": self.run_class}
        return {"start": start, "final": final, **runs, **self.transitions.arrays()}

    def key(self, state: State) -> tuple[int, ...]:
        """Return the key of a state; see `TokenAutomaton.key`."""
        return (self.alike(state),)

    def _header(self) -> dict[str, str]:
        return {"kind": KIND, "at_text_start": str(self.at_text_start)}

    # Sizes

    @property
    def num_states(self) -> int:
        """Q, the number of states, including the one after the end."""
        return self.core.num_states

    @property
    def num_classes(self) -> int:
        """K, the number of classes, including NEVER and END."""
        return self.core.num_classes

    @property
    def end_state(self) -> int:
        """Q - 1, the state after an end token."""
        return self.core.num_states - 1

    # Classes

    def moves(self, state: int) -> tuple[IntArray, npt.NDArray[np.int64]]:
        """Return the classes that a state allows, ascending, and the states that they lead to, `[n]` each."""
        return self.core.successors(state)

    def alike(self, state: int) -> int:
        """Return the representative of the states with the same control state and the same open guards.

        These states have equal masks. Without a register, every state represents itself.
        """
        return self.core.alike(state)

    # Whole tables

    @property
    def final(self) -> BoolArray:
        """Whether the text may end in each state, `[Q]` bool; the last state, after the end, is final too."""
        return self.core.final

    @cached_property
    def transitions(self) -> Transitions:
        """The transitions by state and class."""
        arrays = self.core.transitions
        if len(arrays) == 1:
            return Dense(*arrays)
        offsets, edges = arrays
        edge_class, edge_target = read_only(np.ascontiguousarray(edges.T))
        return Csr(offsets, edge_class, edge_target, self.num_classes)

    @cached_property
    def run_end(self) -> IntArray:
        """One past the last rank of each run of ranks with one class, `[R]` int32; runs cover all ranks in order."""
        return read_only(np.ascontiguousarray(self.core.runs[:, 0]))

    @cached_property
    def run_class(self) -> IntArray:
        """The class of each run, `[R]` int32."""
        return read_only(np.ascontiguousarray(self.core.runs[:, 1]))

    @cached_property
    def token_class(self) -> IntArray:
        """The class of every token, `[V]` int32."""
        return self.core.token_class

    @property
    def min_tokens_by_state(self) -> IntArray:
        """The least number of tokens from every state to the end of the text, `[Q]` int32."""
        return self.core.min_tokens_by_state
