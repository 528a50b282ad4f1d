"""Which tokens may stand next to each other in what an encoder makes of one piece of text.

What must not follow a token is a few intervals of positions in a depth-first order of the tokens by their left halves
(`native/tokenfst/canonical/pairs.h`):

    position    `[V]`, the place of each token in that order
    token_at    `[V]`, the token at each position
    offsets     `[V + 1]`, where the intervals of each token begin
    intervals   `[N, 2]`, first positions and those past the last, disjoint and ascending for each token
"""

from __future__ import annotations

from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import Derivations, Pairs


def neighbor_pairs(derivations: Derivations, work: Work | None = None) -> Pairs:
    """The relation of an encoder's tokens.

    Raises:
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    return _native.pairs(derivations, current_work(work).budget)
