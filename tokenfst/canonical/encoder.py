"""The encoder of a vocabulary, or an error if it is unknown."""

from __future__ import annotations

from automata.errors import UnsupportedTokenizer
from tokenfst.vocabulary import BPE, NotBPE, Vocabulary


def encoder_of(vocabulary: Vocabulary) -> BPE:
    """Return the encoder of a vocabulary.

    Raises:
        UnsupportedTokenizer: it is unknown or not modelled; the message has the reason.
    """
    if isinstance(vocabulary.bpe, NotBPE):
        raise UnsupportedTokenizer(
            f"canonical tokenization needs the encoder of the vocabulary: {vocabulary.bpe.reason}"
        )
    return vocabulary.bpe


def encoder_digest(vocabulary: Vocabulary) -> str:
    """Return the digest of a vocabulary's encoder (SHA-256, hexadecimal).

    Raises:
        UnsupportedTokenizer: as for `encoder_of`.
    """
    return encoder_of(vocabulary).digest
