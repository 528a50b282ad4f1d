"""Finite and counted automata as arrays of a file."""

from __future__ import annotations

from automata.errors import AutomatonFileError
from tokenfst.counted.automaton import CountedTokenAutomaton
from tokenfst.files import Saved
from tokenfst.finite.automaton import KIND as KIND
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.transitions import COUNTED_COLUMNS, Counted, Csr, Dense, Transitions
from tokenfst.vocabulary import Vocabulary


def from_saved(saved: Saved, vocabulary: Vocabulary) -> FiniteTokenAutomaton:
    """Return the automaton that a file holds.

    Raises:
        AutomatonFileError: the tables do not fit together.
    """
    transitions = _transitions(saved)
    make = CountedTokenAutomaton if isinstance(transitions, Counted) else FiniteTokenAutomaton
    runs = saved.array("run_end"), saved.array("run_class")
    start, final = saved.number("start"), saved.flags("final")
    try:
        return make.from_transitions(vocabulary, start, final, transitions, *runs, at_text_start=saved.at_text_start)
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None


def _transitions(saved: Saved) -> Transitions:
    if "next" in saved.arrays:
        return Dense(saved.array("next"))
    num_classes = saved.number("num_classes")
    if "max_register" in saved.arrays:
        return Counted(saved.number("max_register"), num_classes, *map(saved.array, COUNTED_COLUMNS))
    return Csr(saved.array("row_offsets"), saved.array("edge_class"), saved.array("edge_target"), num_classes)
