"""CountedTokenAutomaton: an automaton over tokens whose states hold a count, for repetitions with large bounds.

    state = register x Q + place         (`tokenfst.finite.transitions`)

Whoever uses it sees a token automaton with very many states; what there is of it are Q places and the guarded edges
between them (`native/tokenfst/counted/counted_classes.h`). At one place the masks change only where a guard begins or
ends, so there is one mask for each such region and not for each count.

The least number of tokens to the end is exact for every place and every count. It is found when first asked for, as
runs of counts that share it (`native/tokenfst/token_distances.h`).

Rejected: states written out and merged afterwards (memory grows with the bound); one mask for the middle of a loop and
a check near the bounds on the host (nothing could stand in a graph on an accelerator).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.counted import CountedByteAutomaton
from automata.errors import EmptyLanguage, LimitExceeded
from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import FiniteCore
from tokenfst.counted.beginning import with_counted_beginning, with_counted_exceptions
from tokenfst.counted.classes import counted_classes
from tokenfst.finite.automaton import MAX_CACHED_MASKS, FiniteTokenAutomaton
from tokenfst.finite.transitions import Counted
from tokenfst.token_automaton import State
from tokenfst.vocabulary import Vocabulary

# Of files.
KIND = "counted"
# The distance where no end can be reached.
NO_END = np.iinfo(np.int32).max


class DistanceRuns(NamedTuple):
    """A distance for every place and count, as it changes from one count to the next.

    Attributes:
        key: `[S]` int64, ascending: place x (R + 1) + the least count of a run; each place begins with 0.
        value: `[S]` int32, the distance of the run, `NO_END` where no end can be reached.
    """

    key: npt.NDArray[np.int64]
    value: IntArray


class CountedTokenAutomaton(FiniteTokenAutomaton):
    """An exact deterministic automaton over tokens with a register in its states.

    Attributes:
        final: `[Q]` bool, the places where the text may end with some count.
    """

    @cached_property
    def transitions(self) -> Counted:
        """Place, count and class to place and count: guarded edges."""
        offsets, edges, max_register = self.core.transitions
        return Counted(max_register, self.num_classes, offsets, *np.ascontiguousarray(edges.T))

    def _header(self) -> dict[str, str]:
        return super()._header() | {"kind": KIND}

    @cached_property
    def min_tokens_runs(self) -> DistanceRuns:
        """The least number of tokens from every place with every count to the end of the text.

        Raises:
            LimitExceeded: they change too often with the count.
        """
        try:
            return DistanceRuns(*self.core.min_tokens_runs)
        except LimitExceeded as error:
            raise error.of("the least numbers of tokens") from None

    @property
    def min_tokens_by_state(self) -> IntArray:
        """The least number of tokens from every state to the end of the text, `[Q x (R + 1)]` int32.

        Raises:
            LimitExceeded: they change too often with the count, or there are too many states to write them out.
        """
        try:
            return self.core.min_tokens_by_state
        except LimitExceeded as error:
            raise error.of("the least numbers of tokens") from None

    def min_tokens(self, state: State) -> int:
        """The least number of tokens from a state to the end of the text, the end token counted.

        Raises:
            LimitExceeded: they change too often with the count.
        """
        try:
            return self.core.min_tokens(state)
        except LimitExceeded as error:
            raise error.of("the least numbers of tokens") from None


def from_counted(
    automaton: CountedByteAutomaton,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    work: Work | None = None,
) -> CountedTokenAutomaton:
    """The token automaton of a counted byte automaton; see `tokenfst.compile`."""
    if automaton.is_empty:
        raise EmptyLanguage("the constraint allows no text at all")
    work = current_work(work)
    rule, language, token_bytes = vocabulary.text_start if at_text_start else None, automaton, vocabulary.is_token_byte
    if rule:
        automaton, token_bytes = with_counted_beginning(automaton, rule), vocabulary.is_first_byte
    classes = counted_classes(automaton, vocabulary, work)
    if rule:
        classes = with_counted_exceptions(classes, language, rule, vocabulary)
    spells_all = _native.spells_all(automaton.tables, token_bytes)
    try:
        core = FiniteCore.from_counted(
            vocabulary.native, automaton.tables, classes, spells_all, MAX_CACHED_MASKS, work.budget
        )
    except LimitExceeded as error:
        raise error.of(f"the edges of {automaton.num_states:,} states that count") from None
    if not len(core.successors(core.start)[0]):
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    return CountedTokenAutomaton(vocabulary, core, at_text_start=at_text_start)
