"""Load canonical automata from the arrays of a file.

A file holds the text states, the class of each token and the digest of the encoder. The pairs come from the vocabulary.
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
    """Return the automaton in a file.

    Raises:
        AutomatonFileError: the tables are inconsistent, or were made for another encoder.
        UnsupportedTokenizer: the encoder of the vocabulary is unknown.
    """
    if saved.header.get("encoder") != encoder_digest(vocabulary):
        raise AutomatonFileError("the automaton was made for another encoder")
    columns = {name: saved.array(name) for name in TextStates._fields if name != "final"}
    states = TextStates(**columns, final=saved.flags("final"))
    try:
        return CanonicalTokenAutomaton.from_text_states(
            vocabulary, states, saved.array("class_of"), prepare(vocabulary).pairs
        )
    except (TypeError, ValueError) as error:
        raise AutomatonFileError(f"the tables of the automaton do not fit together: {error}") from None
