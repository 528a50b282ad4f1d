"""How merges make each token: the tree of its two halves, and when its last merge comes.

What an encoder does is known when it has been run once over each token (`native/tokenfst/canonical/derivations.h`).
"""

from __future__ import annotations

import numpy as np

from automata.errors import UnsupportedTokenizer
from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import Derivations
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.bpe import BPE


def derive_tokens(vocabulary: Vocabulary, bpe: BPE, work: Work | None = None) -> Derivations:
    """Run the encoder's merges over every token.

    Raises:
        UnsupportedTokenizer: the list of merges names a token that emits nothing.
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    budget = current_work(work).budget
    if bpe.merges is None:
        return _native.derivations(vocabulary.native, None, budget)
    merges = np.array(bpe.merges, np.int32).reshape(-1, 3)
    place = _native.first_wrong_merge(vocabulary.native, merges)
    if place < len(merges):
        left, right, result = bpe.merges[place]
        tokens = vocabulary.tokens
        raise UnsupportedTokenizer(
            f"merge {place} makes token {result} ({tokens[result]!r}) of token {left} ({tokens[left]!r}) and token "
            f"{right} ({tokens[right]!r}); where one of them emits nothing, texts cannot be cut as the encoder does"
        )
    return _native.derivations(vocabulary.native, merges, budget)
