"""The encoder of a vocabulary, for those who cannot do without one."""

from __future__ import annotations

from automata.errors import UnsupportedTokenizer
from tokenfst.vocabulary import BPE, NotBPE, Vocabulary


def encoder_of(vocabulary: Vocabulary) -> BPE:
    """Return how a vocabulary's encoder cuts a text.

    Raises:
        UnsupportedTokenizer: it is not known, or not modelled.
    """
    if isinstance(vocabulary.bpe, NotBPE):
        raise UnsupportedTokenizer(
            f"canonical tokenization needs the encoder of the vocabulary: {vocabulary.bpe.reason}"
        )
    return vocabulary.bpe


def encoder_digest(vocabulary: Vocabulary) -> str:
    """Return the fingerprint of a vocabulary's encoder.

    Raises:
        UnsupportedTokenizer: as `encoder_of`.
    """
    return encoder_of(vocabulary).digest
