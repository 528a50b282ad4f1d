"""CanonicalTokenAutomaton: for each text of a language, the one tokenization that the vocabulary's encoder produces.

The next token depends on the text so far and on the last token. A table over pairs of these would take gigabytes, so
a state is a pair that is packed into one integer, and the tables keep its parts separate:

    text state    the text so far and where its pieces may end; there are S, the last one for the end of the sequence
    token         the last token if the next one depends on it, otherwise 0
    mask          the classes that may begin a new piece, and those tokens of the other allowed classes that may follow
                  the last token inside a piece

The native core holds the tables and steps through them (`native/tokenfst/canonical/automaton.h`). The tables are
immutable, and masks are kept in a bounded cache, so threads may share an automaton.
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
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.read_only import read_only
from tokenfst.token_automaton import State
from tokenfst.vocabulary import Vocabulary

# The kind of automaton in the header of a file.
KIND = "canonical"
# The number of text states whose masks are cached: two each, 32 KiB with a vocabulary of 128,000 tokens.
MAX_CACHED_MASKS = 1024
# The two targets of an edge: for tokens that begin a new piece, and for all tokens.
APART, ANY = 0, 1


class TextStates(NamedTuple):
    """The S text states, of which 0 is the start, and their E edges.

    Attributes:
        offsets: `[S + 1]` int32, the index of the first edge of each text state.
        number: `[E]` int32, the class of each edge, ascending within a text state.
        targets: `[2, E]` int32, the text states that an edge leads to, by `APART` and `ANY`, or -1.
        least: `[2, E]` int32, the least number of tokens after the edge; the largest int32 where there is no target.
        final: `[S]` bool, whether the text may end.
    """

    offsets: IntArray
    number: IntArray
    targets: IntArray
    least: IntArray
    final: BoolArray


class CanonicalTokenAutomaton(NativeTokenAutomaton):
    """A deterministic automaton over canonical tokenizations.

    `tokenfst.compile(..., tokenization="canonical")` and `tokenfst.load_automaton` make it.

    Attributes:
        vocabulary: the tokens.
        core: the automaton of the native core.
        start: the state before the first token.
        at_text_start: True, because byte-level BPE decodes alike inside a text and at its start.
    """

    core: _native.CanonicalCore
    at_text_start = True
    _no_fst = "has no acceptor over tokens: its states are pairs with the last token; tokenization='any' has one"

    def __init__(self, vocabulary: Vocabulary, core: _native.CanonicalCore) -> None:
        self.vocabulary = vocabulary
        self.core = core
        self.start = 0

    @staticmethod
    def from_text_states(
        vocabulary: Vocabulary, states: TextStates, class_of: IntArray, pairs: Pairs
    ) -> CanonicalTokenAutomaton:
        """Build the automaton from its tables.

        Args:
            vocabulary: the tokens.
            states: the text states; the last one is the end of the sequence and has no edges.
            class_of: `[V]` int32, the class of each token, -1 for tokens that the encoder never produces.
            pairs: which tokens may be neighbours inside a piece.

        Raises:
            TypeError, ValueError: the tables are inconsistent.
        """
        edges = np.ascontiguousarray(np.concatenate([states.number[None], states.targets, states.least]).T)
        parts = vocabulary.native, states.offsets, edges, states.final, class_of, pairs, MAX_CACHED_MASKS
        return CanonicalTokenAutomaton(vocabulary, _native.CanonicalCore.from_subsets(*parts))

    def __repr__(self) -> str:
        sizes = f"{len(self.core.final):,} text states and {self.num_classes:,} classes, {self.nbytes:,} bytes"
        return f"<CanonicalTokenAutomaton of {sizes}>"

    # Tables

    @cached_property
    def text_states(self) -> TextStates:
        """The text states and their edges; the last text state, for the end of the sequence, has none."""
        columns = read_only(np.ascontiguousarray(self.core.edges.T))
        return TextStates(self.core.offsets, columns[0], columns[1:3], columns[3:], self.core.final)

    @property
    def class_of(self) -> IntArray:
        """The class of each token, `[V]` int32; -1 for tokens that are never allowed."""
        return self.core.class_of

    @property
    def pairs(self) -> Pairs:
        """The pairs of tokens that may be neighbours inside a piece."""
        return self.core.pairs

    # Sizes

    @property
    def num_states(self) -> int:
        """An exclusive upper bound of the states; not every number below it is a state."""
        return self.core.num_states

    @property
    def num_classes(self) -> int:
        """The number of classes."""
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
        """Return the key of a state; see `TokenAutomaton.key`."""
        return (state,)

    def _header(self) -> dict[str, str]:
        return {"kind": KIND, "encoder": encoder_digest(self.vocabulary)}
