"""PushdownTokenAutomaton: an exact automaton over tokens with a stack.

Its states are opaque: each is a set of configurations, that is, pairs of a state of the tables and a stack; in a
deterministic automaton, the set has one element. States are immutable and hashable, and share their stacks, so keeping
a state is cheap. To rewind or to branch, continue from an earlier state.

The native core holds the tables and steps through them (`native/tokenfst/pushdown/automaton.h`). The tables are
immutable, and masks are kept in a bounded cache, so threads may share an automaton.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from automata.arrays import IntArray
from automata.drawing import Drawing
from automata.errors import EmptyLanguage, VocabularyError
from automata.limits import DEFAULT_LIMITS
from automata.view import MAX_SHOWN, View
from tokenfst import _native
from tokenfst._native import PushdownState, PushdownTables
from tokenfst.drawing import ClassNames, draw_pushdown
from tokenfst.files import Array
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.pushdown.distance import PushdownDistance, distances, stack_distance
from tokenfst.pushdown.tables import SIZES, arrays_of
from tokenfst.read_only import read_only
from tokenfst.token_automaton import State
from tokenfst.vocabulary import Vocabulary

# The kind of automaton in the header of a file.
KIND = "pushdown"
# The number of cached masks; 16 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 4096

# A stack of any height, in files and for the native core.
_NO_MAX_DEPTH = -1


class PushdownTokenAutomaton(NativeTokenAutomaton):
    """An automaton over tokens with a stack and complete tables.

    Attributes:
        vocabulary: the tokens.
        start: the state before the first token.
        at_text_start: whether the tokens begin a text; False if they continue one (`tokenfst.compile`).
        max_depth: the greatest number of symbols on the stack, None for no limit. Tokens after which the text could not
            be completed within it are not allowed; `min_tokens` ignores it.
        lacks_bytes: whether the grammar reads a byte that is not a token by itself. The stack height that a text needs
            is then unknown, because it is determined byte by byte.
        core: the automaton of the native core.
    """

    core: _native.PushdownCore
    _no_fst = (
        "has no acceptor over tokens, because it has a stack: automata.to_pdt(...) writes the grammar as a pushdown "
        "transducer over bytes, and PushdownAutomaton.expand(...) has a stack of bounded height"
    )

    def __init__(
        self,
        vocabulary: Vocabulary,
        core: _native.PushdownCore,
        *,
        at_text_start: bool = False,
        max_depth: int | None = None,
        lacks_bytes: bool = False,
    ) -> None:
        """Initialize the automaton.

        Args:
            vocabulary: the tokens.
            core: the automaton of the native core, with a stack of any height.
            at_text_start, max_depth, lacks_bytes: as for the class.

        Raises:
            EmptyLanguage: every text needs a higher stack than `max_depth`.
            VocabularyError: `max_depth` is given for a vocabulary that lacks bytes.
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
        """Build the automaton from its tables.

        Args:
            vocabulary: the tokens.
            tables: the effect of each class of tokens.
            run_end, run_class: `[R]` int32 each, the class of every rank as runs (`TokenClasses`).
            at_text_start, max_depth, lacks_bytes: as for the class.
            max_bytes: the memory that computing distances may take, in bytes.

        Raises:
            EmptyLanguage, VocabularyError: as for the constructor.
            ValueError: the tables are inconsistent.
        """
        parts = vocabulary.native, tables, run_end, run_class, stack_distance(tables, max_bytes)
        core = _native.PushdownCore(*parts, _NO_MAX_DEPTH, MAX_CACHED_MASKS)
        return cls(vocabulary, core, at_text_start=at_text_start, max_depth=max_depth, lacks_bytes=lacks_bytes)

    def __repr__(self) -> str:
        sizes = f"{self.num_states:,} states, {self.num_classes:,} classes and {self.tables.num_nodes:,} nodes"
        return f"<PushdownTokenAutomaton of {sizes}, {self.nbytes:,} bytes>"

    def within(self, max_depth: int | None) -> PushdownTokenAutomaton:
        """Return the same automaton restricted to texts whose stack has at most `max_depth` symbols after each token.

        In rare grammars, texts that just fit are excluded as well (docs/grammars.md, "Depth").

        Args:
            max_depth: the greatest number of symbols, None for no limit.

        Raises:
            EmptyLanguage: every text needs more symbols.
            ValueError: the number is negative.
            VocabularyError: the vocabulary lacks bytes.
        """
        if max_depth is not None and max_depth < 0:
            raise ValueError(f"a maximum depth is 0 or more, not {max_depth}")
        core = self.core if self.max_depth is None else self.core.within(_NO_MAX_DEPTH)
        start = self.at_text_start
        return PushdownTokenAutomaton(
            self.vocabulary, core, at_text_start=start, max_depth=max_depth, lacks_bytes=self.lacks_bytes
        )

    # Sizes

    @property
    def num_states(self) -> int:
        """Q, the number of states of the tables, including the one after the end; stacks are not counted."""
        return self.tables.num_states

    @property
    def num_classes(self) -> int:
        """K, the number of classes of tokens, including NEVER and END."""
        return self.tables.num_classes

    @property
    def end_state(self) -> PushdownState:
        """The state after an end token."""
        return self.core.end_state

    # Whole tables

    @cached_property
    def tables(self) -> PushdownTables:
        """The effect of each class of tokens."""
        return self.core.tables

    @cached_property
    def run_end(self) -> IntArray:
        """One past the last rank of each run of ranks with one class, `[R]` int32; runs cover all ranks in order."""
        return read_only(self.core.run_end)

    @cached_property
    def run_class(self) -> IntArray:
        """The class of each run, `[R]` int32."""
        return read_only(self.core.run_class)

    @cached_property
    def token_class(self) -> IntArray:
        """The class of every token, `[V]` int32."""
        return self.core.token_class

    @cached_property
    def distances(self) -> PushdownDistance:
        """The least numbers of tokens to the end by all contexts of stacks, computed once.

        Raises:
            LimitExceeded: as for `tokenfst.pushdown.distance.distances`.
        """
        return distances(self.core.distance)

    # Pictures and files

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: Iterable[int] | None = None,
    ) -> Drawing:
        """Return a picture; see `TokenAutomaton.draw`.

        Raises:
            ValueError: as for `TokenAutomaton.draw`; or the tokens of `path` can be read in several ways.
        """
        view = View(around, radius, () if path is None else self._passed(path))
        return draw_pushdown(self.tables, ClassNames(self.vocabulary, self.token_class), title=title, view=view)

    def _passed(self, tokens: Iterable[int]) -> tuple[int, ...]:
        found = [[state for state, _ in each.tops] for each in self.states_along(tokens)]
        if any(len(states) > 1 for states in found):
            raise ValueError("there are several ways to read the tokens; a path needs one way")
        return tuple(states[0] for states in found)

    def _picture(self) -> Drawing | None:
        return self.draw() if self.num_states <= MAX_SHOWN else None

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
        """Return the key of a state; see `TokenAutomaton.key`."""
        self.is_final(state)  # raises for a state of another automaton
        return tuple([number for top in state.tops for number in top])

    def _header(self) -> dict[str, str]:
        return {"kind": KIND, "at_text_start": str(self.at_text_start)}
