"""The pairs of tokens that are neighbours in the encoding of some piece of text.

In a depth-first order of the tokens by their left halves, the tokens that must not follow a token form a few intervals
(`native/tokenfst/canonical/pairs.h`):

    position    `[V]`, the position of each token in this order
    token_at    `[V]`, the token at each position
    offsets     `[V + 1]`, the index of the first interval of each token
    intervals   `[N, 2]`, first position and one past the last; disjoint and ascending for each token
"""

from __future__ import annotations

from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import Derivations, Pairs


def neighbour_pairs(derivations: Derivations, work: Work | None = None) -> Pairs:
    """Return which tokens of an encoder may be neighbours inside a piece.

    Raises:
        LimitExceeded: the table exceeds a limit.
        Cancelled: another thread cancelled the compilation.
    """
    return _native.pairs(derivations, current_work(work).budget)
