"""CanonicalTokenAutomaton: of the texts of a language, the one tokenization that the vocabulary's encoder produces.

The states of a `TokenAutomaton` times the tokens of the vocabulary would be tables of gigabytes. So a state here is a
pair, packed into one integer, and the two parts are kept apart:

    row      the text so far, and where its pieces may end: S of them, the last for the end
    token    the last token, where what may come next depends on it; 0 elsewhere
    mask     the classes that the row allows apart, and of those that it allows besides, what may follow the token

The native core holds the tables and steps through them (`native/tokenfst/canonical/automaton.h`). They never change,
and masks of rows that were asked for are kept in a bounded cache, so automata may be shared by threads.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from automata.arrays import BoolArray, IntArray
from tokenfst import _native
from tokenfst._native import Pairs
from tokenfst.canonical.encoder import encoder_digest
from tokenfst.files import Array
from tokenfst.token_automaton import NativeTokenAutomaton, State
from tokenfst.vocabulary import Vocabulary

# Of files.
KIND = "canonical"
# Pairs of masks kept for rows that have been visited; 32 KiB each with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 1024
# The two targets of an edge: for runs with the boundary of a piece before it, and for all.
APART, ANY = 0, 1
# In place of a number of tokens to go: no end can be reached.
NO_END = np.iinfo(np.int32).max


class TextStates(NamedTuple):
    """States of the text, of which 0 is the start, and their edges.

    Attributes:
        offsets: `[S + 1]`, where the edges of each state begin.
        number: `[E]`, classes, ascending within a state.
        targets: `[2, E]`, the states apart and any, or -1.
        least: `[2, E]`, how many tokens there are to go behind them, at least; `NO_END` where there is no target.
        final: `[S]`, whether the text may end.
    """

    offsets: IntArray
    number: IntArray
    targets: IntArray
    least: IntArray
    final: BoolArray


class CanonicalTokenAutomaton(NativeTokenAutomaton):
    """An exact deterministic automaton over tokens; made by `compile(..., tokenization="canonical")` or `load`.

    Attributes:
        vocabulary: the tokens.
        core: the automaton of the native core.
        start: the state before the first token.
        at_text_start: true; byte-level BPE writes the same inside a text and at its start.
    """

    core: _native.CanonicalCore
    at_text_start = True

    def __init__(self, vocabulary: Vocabulary, core: _native.CanonicalCore) -> None:
        self.vocabulary = vocabulary
        self.core = core
        self.start = 0

    @staticmethod
    def from_text_states(
        vocabulary: Vocabulary, rows: TextStates, class_of: IntArray, pairs: Pairs
    ) -> CanonicalTokenAutomaton:
        """The automaton of some tables; the row for the end of the sequence is the last one, and has no edges.

        Raises:
            TypeError, ValueError: the tables do not fit together.
        """
        edges = np.ascontiguousarray(np.concatenate([rows.number[None], rows.targets, rows.least]).T)
        parts = vocabulary.native, rows.offsets, edges, rows.final, class_of, pairs, MAX_CACHED_MASKS
        return CanonicalTokenAutomaton(vocabulary, _native.CanonicalCore.from_subsets(*parts))

    def __repr__(self) -> str:
        sizes = f"{len(self.core.final):,} rows and {self.num_classes:,} classes, {self.nbytes:,} bytes"
        return f"<CanonicalTokenAutomaton of {sizes}>"

    # Tables

    @cached_property
    def text_states(self) -> TextStates:
        """States of the text, and their edges by class; the row for the end of the sequence has none."""
        columns = np.ascontiguousarray(self.core.edges.T)
        columns.setflags(write=False)
        return TextStates(self.core.offsets, columns[0], columns[1:3], columns[3:], self.core.final)

    @property
    def class_of(self) -> IntArray:
        """`[V]`, the class of each token, -1 for tokens that are never written."""
        return self.core.class_of

    @property
    def pairs(self) -> Pairs:
        """Which tokens may follow each other inside a piece."""
        return self.core.pairs

    @property
    def needs_token(self) -> BoolArray:
        """`[S]`, whether what may come next depends on the last token."""
        return self.core.needs_token

    # Sizes

    @property
    def num_states(self) -> int:
        """Every state is below this; not every number below it is a state."""
        return self.core.num_states

    @property
    def num_classes(self) -> int:
        """K."""
        return self.core.num_classes

    @property
    def end_state(self) -> int:
        """The state after an end token."""
        return self.core.end_state

    # Files

    def arrays(self) -> dict[str, Array]:
        """Return the tables by name; see `TokenAutomaton.arrays`."""
        return self.text_states._asdict() | {
            "final": self.text_states.final.astype(np.uint8),
            "class_of": self.class_of,
        }

    def key(self, state: State) -> tuple[int, ...]:
        """Return numbers for a state; see `TokenAutomaton.key`."""
        return (state,)

    def _header(self) -> dict[str, str]:
        return {"kind": KIND, "encoder": encoder_digest(self.vocabulary)}
