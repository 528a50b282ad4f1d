"""The detokenizer as a transducer from tokens to bytes (Koo, Liu & He 2024, Algorithm 1).

Each token is a cycle through the root that writes the token's bytes and reads the token with the last of them, so
a path through the transducer reads a sequence of tokens and writes its text.

    plain       a cycle for each token, as in Algorithm 1
    compact     cycles share their prefixes, as in a trie: the paper's Figures 4 and 9

It is the definition that composition starts from (`tokenfst.reference`) and the thing to draw. The fast path
(`tokenfst.token_classes`) walks the same trie without ever building it.
"""

from __future__ import annotations

import numpy as np

from automata.openfst import EPSILON, Fst, to_transducer
from tokenfst.vocabulary import Vocabulary


def detokenizer(vocabulary: Vocabulary, *, compact: bool = True) -> Fst:
    """The transducer of a vocabulary: input symbols are token ids, output symbols bytes.

    Tokens with equal bytes are parallel arcs; tokens that emit nothing have none.

    Args:
        vocabulary: the tokens.
        compact: whether tokens share the arcs of common prefixes.
    """
    states: dict[object, int] = {"root": 0}
    arcs: dict[tuple[int, int, int, int], None] = {}
    for token_id, token in enumerate(vocabulary.tokens):
        state = 0
        for length, byte in enumerate(token, 1):
            if length == len(token):
                arcs[state, token_id, byte, 0] = None
                continue
            prefix = token[:length] if compact else (token_id, length)
            target = states.setdefault(prefix, len(states))
            arcs[state, EPSILON, byte, target] = None
            state = target
    columns = np.array(list(arcs), np.int32).reshape(-1, 4).T
    final = np.zeros(len(states), np.bool_)
    final[0] = True
    return to_transducer(0, final, *columns)
