"""Compile a byte automaton to its canonical token automaton.

product        the product of the byte automaton and the automaton of pieces       native/tokenfst/canonical/product.h
edges          the transitions of the product by tokens                            edges.h
live edges     the edges from which an end can be reached, and the distances       liveness.h
text states    subsets of product states, with two targets for each class          rows.h
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.errors import EmptyLanguage, LimitExceeded, VocabularyError
from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst.canonical.automaton import MAX_CACHED_MASKS, CanonicalTokenAutomaton
from tokenfst.canonical.prepared import Prepared, prepare
from tokenfst.finite.terminals import Terminals, token_set
from tokenfst.vocabulary import Vocabulary


def canonical_from_bytes(
    automaton: ByteAutomaton,
    vocabulary: Vocabulary,
    *,
    terminals: Terminals | None = None,
    work: Work | None = None,
) -> CanonicalTokenAutomaton:
    """Return the canonical token automaton of a byte automaton.

    Args:
        automaton: the automaton over bytes.
        vocabulary: the tokens, with an encoder.
        terminals: the token ids of labels, by name.
        work: the compilation that this is part of, None for a new one.

    Raises:
        EmptyLanguage: the constraint allows no text, or none that is valid input for the encoder.
        LimitExceeded: the compilation exceeds a limit; the message names it.
        Cancelled: another thread cancelled the compilation.
        UnknownTerminal, VocabularyError: a label is unknown, or stands for tokens that write text.
        UnsupportedTokenizer: the encoder of the vocabulary is unknown or not modelled.
    """
    if automaton.is_empty:
        raise EmptyLanguage("the constraint allows no text at all")
    work = current_work(work)
    prepared = prepare(vocabulary, work)
    labelled = labelled_tokens(automaton.labels, vocabulary, terminals or {})
    product = _product(automaton, prepared, work)
    live = _live_edges(product, vocabulary, prepared, labelled, work)
    sizes = work.limits.states, MAX_CACHED_MASKS
    try:
        core = _native.CanonicalCore.from_live(vocabulary.native, live, product, prepared.pairs, *sizes, work.budget)
    except LimitExceeded as error:
        raise error.of("the canonical automaton") from None
    return CanonicalTokenAutomaton(vocabulary, core)


def _product(automaton: ByteAutomaton, prepared: Prepared, work: Work) -> _native.CanonicalProduct:
    """Return the product of a byte automaton and the automaton of pieces."""
    tables, max_states = (automaton.tables, prepared.pieces, prepared.words), work.limits.states
    try:
        product = _native.canonical_product(*tables, max_states, work.budget)
    except LimitExceeded as error:
        raise error.of("the product of the constraint and the pre-tokenizer") from None
    if product.is_empty:
        raise EmptyLanguage("the constraint allows no text that the tokenizer's encoder could be given")
    return product


_Labelled = list[tuple[IntArray, IntArray]]


def _live_edges(
    product: _native.CanonicalProduct, vocabulary: Vocabulary, prepared: Prepared, labelled: _Labelled, work: Work
) -> _native.LiveEdges:
    """Return the edges of the product from which an end can be reached."""
    parts = prepared.pairs, prepared.words, prepared.never
    try:
        edges = _native.canonical_edges(product, vocabulary.native, *parts, labelled, work.budget)
        live = _native.live_edges(edges, product, prepared.pairs, int(bool(vocabulary.eos_ids)), work.budget)
    except LimitExceeded as error:
        raise error.of("the effect of tokens on the constraint") from None
    if not live.has_text:
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    return live


def labelled_tokens(labels: Sequence[str], vocabulary: Vocabulary, terminals: Terminals) -> _Labelled:
    """Return the tokens that labels stand for, grouped by their sets of labels.

    Returns:
        For each group its token ids and the indices of its labels, int32 each.

    Raises:
        UnknownTerminal, VocabularyError: as for `token_set`; or a label stands for a token that writes text.
    """
    sets: dict[int, list[int]] = {}
    for label, name in enumerate(labels):
        for token in token_set(name, vocabulary, terminals).tolist():
            if vocabulary.tokens[token]:
                raise VocabularyError(
                    f"terminal {name!r}: token {token} writes {vocabulary.tokens[token]!r}; with canonical "
                    "tokenization a terminal writes nothing, since the encoder says which tokens a text is written in"
                )
            sets.setdefault(token, []).append(label)
    groups: dict[tuple[int, ...], list[int]] = {}
    for token, own in sets.items():
        groups.setdefault(tuple(own), []).append(token)
    return [(np.array(tokens, np.int32), np.array(own, np.int32)) for own, tokens in groups.items()]
