"""Load finite automata over tokens from the arrays of a file."""

from __future__ import annotations

import numpy as np

from automata.errors import AutomatonFileError
from tokenfst.files import Saved
from tokenfst.finite.automaton import KIND as KIND
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.classes import END
from tokenfst.finite.transitions import Counted, Csr, Dense, Transitions
from tokenfst.vocabulary import Vocabulary


def from_saved(saved: Saved, vocabulary: Vocabulary) -> FiniteTokenAutomaton:
    """Return the automaton in a file.

    Raises:
        AutomatonFileError: the tables are inconsistent.
    """
    if "next" in saved.arrays:
        return with_transitions(FiniteTokenAutomaton, Dense(saved.array("next")), saved, vocabulary)
    columns = saved.array("row_offsets"), saved.array("edge_class"), saved.array("edge_target")
    return with_transitions(FiniteTokenAutomaton, Csr(*columns, saved.number("num_classes")), saved, vocabulary)


def with_transitions(
    kind: type[FiniteTokenAutomaton], transitions: Transitions, saved: Saved, vocabulary: Vocabulary
) -> FiniteTokenAutomaton:
    """Return the automaton with given transitions and the other tables of a file.

    Raises:
        AutomatonFileError: the tables are inconsistent.
    """
    start, final, runs = saved.number("start"), saved.flags("final"), (saved.array("run_end"), saved.array("run_class"))
    is_text = saved.at_text_start
    try:
        made = kind.from_transitions(vocabulary, start, final, transitions, *runs, at_text_start=is_text)
        _check_states(start, len(final), transitions)
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
    return made


def _check_states(start: int, num_states: int, transitions: Transitions) -> None:
    """Check that a text begins before the last state, with a count of 0 if there are counts, and that the end tokens
    alone lead to the last state.

    Raises:
        ValueError: it does not, or they do not.
    """
    if start >= num_states - 1:
        raise ValueError("a text begins before the last state, and with a count of 0")
    if isinstance(transitions, Dense):
        _, classes, targets = transitions.edges()
    else:
        classes, targets = transitions.edge_class, transitions.edge_target
    is_end = classes == END
    if not np.array_equal(is_end, targets == num_states - 1):
        raise ValueError("the end tokens, and no others, lead to the last state")
    if isinstance(transitions, Counted) and (transitions.action[is_end] != ~transitions.max_register).any():
        raise ValueError("the last state has the greatest count")
