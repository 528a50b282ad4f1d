"""Canonical automata as arrays of a file, which also names the encoder that they were made for.

A file holds the rows and the class of each token; the pairs are the vocabulary's.
"""

from __future__ import annotations

from automata.errors import AutomatonFileError
from tokenfst.canonical.automaton import KIND as KIND
from tokenfst.canonical.automaton import CanonicalTokenAutomaton, TextStates
from tokenfst.canonical.encoder import encoder_digest
from tokenfst.canonical.prepared import prepare
from tokenfst.files import Saved
from tokenfst.vocabulary import Vocabulary


def from_saved(saved: Saved, vocabulary: Vocabulary) -> CanonicalTokenAutomaton:
    """Return the automaton that a file holds.

    Raises:
        AutomatonFileError: the tables do not fit together, or were made for another encoder.
        UnsupportedTokenizer: the vocabulary's encoder is not known.
    """
    if saved.header.get("encoder") != encoder_digest(vocabulary):
        raise AutomatonFileError("the automaton was made for another encoder")
    columns = {name: saved.array(name) for name in TextStates._fields if name != "final"}
    rows = TextStates(**columns, final=saved.flags("final"))
    try:
        return CanonicalTokenAutomaton.from_text_states(
            vocabulary, rows, saved.array("class_of"), prepare(vocabulary).pairs
        )
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
