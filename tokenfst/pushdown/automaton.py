"""PushdownTokenAutomaton: an exact automaton over tokens with a stack.

A state of it, to whoever uses it, is opaque: configurations, each of them a state of the tables and a stack, one where
the automaton is deterministic. States are immutable, hashable and cheap to keep, so rewinding and branching are
nothing but going on from an old one.

The native core holds the tables and steps through them (`native/tokenfst/pushdown/automaton.h`). They never change,
and masks that were asked for are kept in a bounded cache, so automata may be shared by threads.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from automata.arrays import IntArray
from automata.drawing import Drawing
from automata.errors import EmptyLanguage, VocabularyError
from automata.limits import DEFAULT_LIMITS
from tokenfst import _native
from tokenfst._native import PushdownState, PushdownTables
from tokenfst.drawing import ClassNames, draw_pushdown
from tokenfst.files import Array
from tokenfst.pushdown.distance import PushdownDistance, distances, stack_distance
from tokenfst.pushdown.tables import SIZES, arrays_of
from tokenfst.token_automaton import NativeTokenAutomaton, State
from tokenfst.vocabulary import Vocabulary

# Of files.
KIND = "pushdown"
# Masks kept for paths that have been visited; 16 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 4096

# In files, and to the native core.
_NO_MAX_DEPTH = -1


class PushdownTokenAutomaton(NativeTokenAutomaton):
    """An automaton over tokens with a stack, with complete tables.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        at_text_start: whether the tokens are a text by themselves, and not the continuation of one (`compile`).
        max_depth: how many symbols the stack may hold, None for any number. What could not be completed within it is
            not allowed.
        lacks_bytes: whether some byte of the grammar's texts is no token by itself. Then how high a stack has to become
            is not known, for that is found byte by byte.
        core: the automaton of the native core.
    """

    core: _native.PushdownCore

    def __init__(
        self,
        vocabulary: Vocabulary,
        core: _native.PushdownCore,
        *,
        at_text_start: bool = False,
        max_depth: int | None = None,
        lacks_bytes: bool = False,
    ) -> None:
        """Put the parts together.

        Args:
            vocabulary: the tokens.
            core: the automaton of the native core, with a stack of any height.
            at_text_start, max_depth, lacks_bytes: as of the class.

        Raises:
            EmptyLanguage: every text needs a higher stack than `max_depth`.
            VocabularyError: `max_depth` for a vocabulary that lacks bytes.
        """
        if lacks_bytes and max_depth is not None:
            raise VocabularyError(
                "the vocabulary lacks bytes that the grammar reads: what can be completed within a depth is not known"
            )
        self.vocabulary = vocabulary
        self.core = core if max_depth is None else core.within(max_depth)
        self.start = core.start
        self.at_text_start = at_text_start
        self.max_depth = max_depth
        self.lacks_bytes = lacks_bytes
        if max_depth is not None and not self.core.allows_any(self.start):
            raise EmptyLanguage(f"every text needs a stack of more than {max_depth} symbols")

    @classmethod
    def from_tables(
        cls,
        vocabulary: Vocabulary,
        tables: PushdownTables,
        run_end: IntArray,
        run_class: IntArray,
        *,
        at_text_start: bool = False,
        max_depth: int | None = None,
        lacks_bytes: bool = False,
        max_bytes: int = DEFAULT_LIMITS.memory,
    ) -> PushdownTokenAutomaton:
        """The automaton of some tables.

        Args:
            vocabulary: the tokens.
            tables: what each class of tokens does.
            run_end, run_class: `[R]` each, the class of every rank as runs (`tokenfst.finite.classes.TokenClasses`).
            at_text_start, max_depth, lacks_bytes: as of the class.
            max_bytes: what distances may take when they are first asked for.

        Raises:
            EmptyLanguage, VocabularyError: as of the class.
            ValueError: the tables do not fit together.
        """
        parts = vocabulary.native, tables, run_end, run_class, stack_distance(tables, max_bytes)
        core = _native.PushdownCore(*parts, _NO_MAX_DEPTH, MAX_CACHED_MASKS)
        return cls(vocabulary, core, at_text_start=at_text_start, max_depth=max_depth, lacks_bytes=lacks_bytes)

    def __repr__(self) -> str:
        sizes = f"{self.num_states:,} states, {self.num_classes:,} classes and {len(self.tables.child):,} nodes"
        return f"<PushdownTokenAutomaton of {sizes}, {self.nbytes:,} bytes>"

    def within(self, max_depth: int | None) -> PushdownTokenAutomaton:
        """The same automaton with a stack of at most so many symbols: exactly the texts that need no more.

        Raises:
            EmptyLanguage: every text needs more.
            VocabularyError: the vocabulary lacks bytes.
        """
        core = self.core if self.max_depth is None else self.core.within(_NO_MAX_DEPTH)
        start = self.at_text_start
        return PushdownTokenAutomaton(
            self.vocabulary, core, at_text_start=start, max_depth=max_depth, lacks_bytes=self.lacks_bytes
        )

    # Sizes

    @property
    def num_states(self) -> int:
        """Q, the states of the tables, the one after the end included; with their stacks there are infinitely many."""
        return self.tables.num_states

    @property
    def num_classes(self) -> int:
        """K, NEVER and END included."""
        return self.tables.num_classes

    @property
    def end_state(self) -> PushdownState:
        """The state after an end token."""
        return self.core.end_state

    # Steps

    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens from a state to the end of the text, the end token included, however high
        the stack may become on the way (`max_depth` is not looked at)."""
        return self.core.min_tokens(state)

    # Whole tables

    @cached_property
    def tables(self) -> PushdownTables:
        """What each class of tokens does."""
        return self.core.tables

    @cached_property
    def run_end(self) -> IntArray:
        """`[R]`, one past the last rank of each run of ranks that share a class; runs cover all ranks in order."""
        return self.core.run_end

    @cached_property
    def run_class(self) -> IntArray:
        """`[R]`, the class of each run."""
        return self.core.run_class

    @cached_property
    def token_class(self) -> IntArray:
        """The class of every token, `[V]` int32."""
        return self.core.token_class

    @cached_property
    def distances(self) -> PushdownDistance:
        """The least numbers of tokens by all contexts that stacks come to, as tensors want them; found once.

        Raises:
            LimitExceeded: as `tokenfst.pushdown.distance.distances`.
        """
        return distances(self.core.distance)

    # Pictures and files

    def draw(self, *, title: str | None = None) -> Drawing:
        """Return a picture; see `TokenAutomaton.draw`."""
        return draw_pushdown(self.tables, ClassNames(self.vocabulary, self.token_class), title=title)

    def arrays(self) -> dict[str, Array]:
        """Return the tables by name; see `TokenAutomaton.arrays`."""
        max_depth = _NO_MAX_DEPTH if self.max_depth is None else self.max_depth
        return {
            **arrays_of(self.tables),
            "sizes": np.array([getattr(self.tables, name) for name in SIZES], np.int32),
            "run_end": self.run_end,
            "run_class": self.run_class,
            "max_depth": np.array([max_depth], np.int32),
            "lacks_bytes": np.array([self.lacks_bytes], np.int32),
        }

    def key(self, state: State) -> tuple[int, ...]:
        """Return numbers for a state; see `TokenAutomaton.key`."""
        return tuple([number for top in state.tops for number in top])

    def _header(self) -> dict[str, str]:
        return {"kind": KIND, "at_text_start": str(self.at_text_start)}
