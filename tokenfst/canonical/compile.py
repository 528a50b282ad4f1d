"""From the bytes of a constraint to its canonical automaton."""

from __future__ import annotations

import numpy as np

from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage
from automata.limits import Work, under_way
from tokenfst.canonical.automaton import CanonicalAutomaton
from tokenfst.canonical.edges import token_edges
from tokenfst.canonical.liveness import NO_END, live_edges
from tokenfst.canonical.prepared import prepare
from tokenfst.canonical.product import product
from tokenfst.canonical.sets import Rows, rows
from tokenfst.terminals import Terminals
from tokenfst.vocabulary import Vocabulary


def canonical_from_bytes(
    automaton: ByteAutomaton,
    vocabulary: Vocabulary,
    *,
    terminals: Terminals | None = None,
    work: Work | None = None,
) -> CanonicalAutomaton:
    """The canonical automaton of a byte automaton.

    Raises:
        EmptyLanguage: the constraint allows no text, or none that the encoder could be given.
        LimitExceeded: a limit was passed; the message names it.
        Cancelled: another thread cancelled the compilation.
        UnknownTerminal, VocabularyError: a label is unknown, or stands for tokens that write text.
        UnsupportedTokenizer: how the vocabulary's encoder cuts texts is not known, or not modelled.
    """
    if automaton.is_empty:
        raise EmptyLanguage("the constraint allows no text at all")
    prepared = prepare(vocabulary)
    with under_way(work) as work:
        both = product(automaton, prepared.pieces, prepared.words, work)
        edges = token_edges(both, vocabulary, prepared, automaton.labels, terminals or {}, work)
        live = live_edges(edges, both, prepared.pairs, int(bool(vocabulary.eos_ids)), work)
        if live.start == NO_END:
            raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
        return CanonicalAutomaton(vocabulary, _with_end(rows(live, both, work)), live.class_of, prepared.pairs)


def _with_end(found: Rows) -> Rows:
    """With a row for the end of the sequence."""
    return found._replace(
        offsets=np.append(found.offsets, found.offsets[-1]).astype(np.int32), final=np.append(found.final, True)
    )
