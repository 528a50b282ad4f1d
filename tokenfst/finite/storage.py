"""Load finite automata over tokens from the arrays of a file."""

from __future__ import annotations

from automata.errors import AutomatonFileError
from tokenfst.files import Saved
from tokenfst.finite.automaton import KIND as KIND
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.transitions import Csr, Dense, Transitions
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
        return kind.from_transitions(vocabulary, start, final, transitions, *runs, at_text_start=is_text)
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
