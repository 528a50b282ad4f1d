"""CountedAutomaton: a token automaton whose states hold a count, for repetitions with large bounds.

    state = register x Q + place         (`tokenfst.counted.transitions`)

Whoever uses it sees a token automaton with very many states; what there is of it are Q places and the guarded edges
between them. At one place the masks change only where a guard begins or ends, so there is one mask for each such region
and not for each count.

The byte automaton is live with every count that can occur, so over tokens that hold every byte that it reads nothing is
to be done. Otherwise the values from which tokens lead to an end are found as intervals, by the search that also gives
the least numbers of tokens, and edges are cut to those that stay inside: exact, with more edges.

The least number of tokens to the end is exact for every place and every count. It is found when first asked for.

Rejected: states written out and merged afterwards (memory grows with the bound); one mask for the middle of a loop and
a check near the bounds on the host (nothing could stand in a graph on an accelerator).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from automata.arrays import BoolArray, IntArray
from automata.counted import CountedByteAutomaton
from automata.counted.register_distance import LOW, STATE, Steps, joined, live_parts, pieces_by_distance, steps
from automata.errors import EmptyLanguage, LimitExceeded
from automata.limits import Work, under_way
from tokenfst.automaton import TokenAutomaton
from tokenfst.counted.beginning import with_counted_beginning, with_counted_exceptions
from tokenfst.counted.classes import CountedClasses, counted_classes
from tokenfst.token_classes import END
from tokenfst.transitions import Counted
from tokenfst.vocabulary import Vocabulary

# Edges after cutting, at most: 96 MiB.
MAX_EDGES = 1 << 22
# Columns of edges.
_CLASS, _SOURCE, _FROM, _UPTO, _TARGET, _ACTION = range(6)


class CountedAutomaton(TokenAutomaton):
    """An exact deterministic automaton over tokens with a register in its states.

    Attributes:
        final: `[Q]` bool, the places where the text may end with some count.
        transitions: guarded edges.
    """

    @property
    def _guards(self) -> Counted:
        form = self.transitions
        assert isinstance(form, Counted)
        return form

    @cached_property
    def min_tokens_steps(self) -> Steps:
        """The least number of tokens from every place with every count to the end of the text.

        Raises:
            LimitExceeded: they change too often with the count (`automata.counted.register_distance.MAX_PIECES`).
        """
        form = self._guards
        edges = np.stack([form.source().astype(np.int32), form.low, form.high, form.edge_target, form.action], axis=1)
        # Without end tokens a text is complete where it may end.
        is_goal = form.edge_class == END
        if self.vocabulary.eos_ids:
            is_goal &= form.edge_target == form.source()
        size = form.num_places, form.max_register
        return steps(*size, pieces_by_distance(*size, edges[~is_goal], np.ascontiguousarray(edges[is_goal, :3])))

    @cached_property
    def min_tokens_by_state(self) -> IntArray:
        """The least number of tokens from every state to the end of the text, `[Q x (R + 1)]` int32: the steps written
        out."""
        return self._least(np.arange(self.num_states))

    def min_tokens(self, state: int) -> int:
        """The least number of tokens from a state to the end of the text, the end token counted."""
        return int(self._least(np.array([state]))[0])

    def _least(self, states: npt.NDArray[np.int64]) -> IntArray:
        """The least number of tokens to the end from each of some states, `[n]`."""
        register, place = np.divmod(states, self._guards.num_places)
        key = place * (self._guards.max_register + 1) + register
        least: IntArray = self.min_tokens_steps.value[np.searchsorted(self.min_tokens_steps.key, key, side="right") - 1]
        return least


def from_counted(
    automaton: CountedByteAutomaton,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    work: Work | None = None,
) -> CountedAutomaton:
    """The token automaton of a counted byte automaton; see `tokenfst.compile`."""
    if automaton.is_empty:
        raise EmptyLanguage("the constraint allows no text at all")
    rule, language, token_bytes = vocabulary.text_start if at_text_start else None, automaton, vocabulary.is_token_byte
    if rule:
        automaton, token_bytes = with_counted_beginning(automaton, rule), vocabulary.is_first_byte
    classes = counted_classes(automaton, vocabulary, under_way(work))
    if rule:
        classes = with_counted_exceptions(classes, language, rule, vocabulary)
    edges, num_places = _with_end(automaton, classes), automaton.num_states + 1
    if num_places * classes.num_classes * (automaton.max_register + 1) >= 1 << 62:
        raise LimitExceeded(f"{num_places:,} states that count to {automaton.max_register:,} are too many to number")
    if not _spells_all(automaton, token_bytes):
        edges = _live(automaton, edges, num_places)
    edges = edges[np.lexsort((edges[:, _FROM], edges[:, _CLASS], edges[:, _SOURCE]))]
    row_offsets = np.searchsorted(edges[:, _SOURCE], np.arange(num_places + 1))
    columns = [np.ascontiguousarray(edges[:, c]) for c in (_CLASS, _FROM, _UPTO, _TARGET, _ACTION)]
    form = Counted(automaton.max_register, classes.num_classes, row_offsets, *columns)
    final = np.append(automaton.final_from >= 0, True)
    runs = classes.run_end, classes.run_class
    start = automaton.start
    made = CountedAutomaton.from_transitions(vocabulary, start, final, form, *runs, at_text_start=at_text_start)
    assert isinstance(made, CountedAutomaton)
    return made


def _spells_all(automaton: CountedByteAutomaton, is_token_byte: BoolArray) -> bool:
    """Whether every byte that the automaton reads is a token by itself."""
    num_arcs = np.diff(automaton.offsets).reshape(automaton.num_states, automaton.num_classes).sum(axis=0)
    return not num_arcs[automaton.byte_class[~is_token_byte]].any()


def _with_end(automaton: CountedByteAutomaton, classes: CountedClasses) -> IntArray:
    """The edges, with those of the end tokens to the place after the end."""
    top, end = automaton.max_register, automaton.num_states
    ending = np.flatnonzero(automaton.final_from >= 0)
    ends = np.empty((len(ending) + 1, 6), np.int32)
    ends[:, _CLASS], ends[:, _TARGET], ends[:, _ACTION] = END, end, ~top
    ends[:, _SOURCE], ends[:, _FROM], ends[:, _UPTO] = np.append(ending, end), 0, top
    ends[:-1, _FROM] = automaton.final_from[ending]
    return np.concatenate([ends, classes.edges])


def _live(automaton: CountedByteAutomaton, edges: IntArray, num_places: int) -> IntArray:
    """The edges, as far as they lead to where tokens lead on to an end.

    Raises:
        EmptyLanguage: there is no way from the start.
        LimitExceeded: more than `MAX_EDGES` are left.
    """
    is_end = edges[:, _CLASS] == END
    pieces = pieces_by_distance(
        num_places,
        automaton.max_register,
        np.ascontiguousarray(edges[~is_end, 1:]),
        np.ascontiguousarray(edges[is_end, 1:4]),
    )
    live = joined(pieces)
    if not ((live[:, STATE] == automaton.start) & (live[:, LOW] == 0)).any():
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    cut = live_parts(num_places, np.ascontiguousarray(edges[:, 1:]), live, MAX_EDGES)
    if cut is None:
        raise LimitExceeded(f"tokens can spell only some counts, which takes more than {MAX_EDGES:,} edges")
    parts = edges[cut[:, 0]]
    parts[:, _FROM], parts[:, _UPTO] = cut[:, 1], cut[:, 2]
    return parts
