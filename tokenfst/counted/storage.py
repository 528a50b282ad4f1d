"""Load counted automata over tokens from the arrays of a file."""

from __future__ import annotations

from tokenfst.counted.automaton import KIND as KIND
from tokenfst.counted.automaton import CountedTokenAutomaton
from tokenfst.files import Saved
from tokenfst.finite.automaton import FiniteTokenAutomaton
from tokenfst.finite.storage import with_transitions
from tokenfst.finite.transitions import COUNTED_COLUMNS, Counted
from tokenfst.vocabulary import Vocabulary


def from_saved(saved: Saved, vocabulary: Vocabulary) -> FiniteTokenAutomaton:
    """Return the automaton in a file.

    Raises:
        AutomatonFileError: the tables are inconsistent.
    """
    numbers = saved.number("max_register"), saved.number("num_classes")
    transitions = Counted(*numbers, *map(saved.array, COUNTED_COLUMNS))
    return with_transitions(CountedTokenAutomaton, transitions, saved, vocabulary)
