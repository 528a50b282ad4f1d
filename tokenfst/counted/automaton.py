"""CountedTokenAutomaton: an automaton over tokens whose states hold a count, for repetitions with large bounds.

    state = register x Q + control state         (`tokenfst.finite.transitions`)

It behaves like a token automaton with very many states, but stores only Q control states and the guarded edges between
them (`native/tokenfst/counted/counted_classes.h`). The mask of a control state changes only where the interval of a
guard begins or ends, so there is one mask for each region between such counts, not one for each count.

The least number of tokens to the end is exact for every control state and count. It is computed on first use, as runs
of counts with equal distances (`native/tokenfst/token_distances.h`).

Rejected: expanding the states and merging them afterwards (memory grows with the bound); one mask for the middle of a
loop with a check near the bounds on the host (not possible inside a graph on an accelerator).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.counted import CountedByteAutomaton
from automata.drawing import Drawing
from automata.errors import EmptyLanguage, LimitExceeded
from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import FiniteCore
from tokenfst.counted.beginning import with_counted_beginning, with_counted_exceptions
from tokenfst.counted.classes import counted_classes
from tokenfst.drawing import MAX_STATES, PictureCosts
from tokenfst.finite.automaton import MAX_CACHED_MASKS, FiniteTokenAutomaton
from tokenfst.finite.transitions import Counted
from tokenfst.read_only import read_only
from tokenfst.token_automaton import State
from tokenfst.vocabulary import Vocabulary

# The kind of automaton in the header of a file.
KIND = "counted"


class DistanceRuns(NamedTuple):
    """The distance of every control state and count, as N runs of counts with equal distances.

    Attributes:
        key: `[N]` int64, ascending: control state x (R + 1) + the least count of the run. The first run of each control
            state begins with count 0.
        value: `[N]` int32, the distance of the run; the largest int32 if no end can be reached.
    """

    key: npt.NDArray[np.int64]
    value: IntArray


class CountedTokenAutomaton(FiniteTokenAutomaton):
    """A deterministic automaton over tokens with a register in its states.

    Attributes:
        final: `[Q]` bool, the control states in which the text may end with some count.
    """

    @cached_property
    def transitions(self) -> Counted:
        """The guarded edges between control states."""
        offsets, edges, max_register = self.core.transitions
        return Counted(max_register, self.num_classes, offsets, *read_only(np.ascontiguousarray(edges.T)))

    def draw(
        self,
        *,
        title: str | None = None,
        around: int | None = None,
        radius: int = 2,
        path: Iterable[int] | None = None,
        costs: PictureCosts | None = None,
    ) -> Drawing:
        """Raise an error: the states with their counts are too many for a picture.

        Raises:
            LimitExceeded: always.
        """
        raise LimitExceeded(
            f"a picture of {self.num_states:,} states, which hold counts, is refused: the limit is {MAX_STATES:,}"
        )

    def _picture(self) -> Drawing | None:
        return None

    def _header(self) -> dict[str, str]:
        return super()._header() | {"kind": KIND}

    @cached_property
    def min_tokens_runs(self) -> DistanceRuns:
        """The least number of tokens from every control state and count to the end of the text.

        Raises:
            LimitExceeded: the distances change with the count so often that there are too many runs.
        """
        try:
            return DistanceRuns(*self.core.min_tokens_runs)
        except LimitExceeded as error:
            raise error.of("the least numbers of tokens") from None

    @property
    def min_tokens_by_state(self) -> IntArray:
        """The least number of tokens from every state to the end of the text, `[Q x (R + 1)]` int32.

        Raises:
            LimitExceeded: there are too many runs of distances, or too many states.
        """
        try:
            return self.core.min_tokens_by_state
        except LimitExceeded as error:
            raise error.of("the least numbers of tokens") from None

    def min_tokens(self, state: State) -> int:
        """Return the least number of tokens from a state to the end of the text, including the end token.

        Raises:
            LimitExceeded: there are too many runs of distances.
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
    """Return the token automaton of a counted byte automaton; see `tokenfst.compile`."""
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
        raise error.of(f"the table of {automaton.num_states:,} states with a register") from None
    if not len(core.successors(core.start)[0]):
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    return CountedTokenAutomaton(vocabulary, core, at_text_start=at_text_start)
