"""The derivation of each token: the two tokens that its last merge joins, and the rank of this merge.

Derivations are found by running the encoder once over the bytes of each token
(`native/tokenfst/canonical/derivations.h`). They determine how the encoder tokenizes any text.
"""

from __future__ import annotations

import numpy as np

from automata.errors import UnsupportedTokenizer, VocabularyError
from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import Derivations
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.bpe import BPE


def derive_tokens(vocabulary: Vocabulary, bpe: BPE, work: Work | None = None) -> Derivations:
    """Return the derivations of all tokens, found by applying the encoder's merges to the bytes of each.

    Raises:
        UnsupportedTokenizer: the list of merges names a token that writes nothing, or one that does not write the bytes
            of the two that it is made of.
        VocabularyError: it names a token that the vocabulary does not have.
        LimitExceeded: the derivations exceed a limit.
        Cancelled: another thread cancelled the compilation.
    """
    budget = current_work(work).budget
    if bpe.merges is None:
        return _native.derivations(vocabulary.native, None, budget)
    merges = np.array(bpe.merges, np.int32).reshape(-1, 3)
    wrong = np.flatnonzero(((merges < 0) | (merges >= len(vocabulary))).any(axis=1))
    if len(wrong):
        given = bpe.merges[wrong[0]]
        raise VocabularyError(f"merge {wrong[0]} is of tokens {given}, and there are {len(vocabulary)} tokens")
    number = _native.first_wrong_merge(vocabulary.native, merges)
    if number < len(merges):
        left, right, result = bpe.merges[number]
        tokens = vocabulary.tokens
        writes_all = all(tokens[token] for token in bpe.merges[number])
        reason = "it does not write their bytes" if writes_all else "one of them writes nothing"
        raise UnsupportedTokenizer(
            f"merge {number} makes token {result} ({tokens[result]!r}) of token {left} ({tokens[left]!r}) and token "
            f"{right} ({tokens[right]!r}); {reason}, so the encoder's tokens are unknown"
        )
    return _native.derivations(vocabulary.native, merges, budget)
