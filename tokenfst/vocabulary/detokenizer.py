"""The detokenizer as a transducer from tokens to bytes (Koo, Liu & He 2024, Algorithm 1).

Each token is a cycle through the root that writes the token's bytes and reads the token with the last of them, so
a path through the transducer reads a sequence of tokens and writes its text.

    plain       a cycle for each token, as in Algorithm 1
    compact     cycles share their prefixes, as in a trie: the paper's Figures 4 and 9

That is inside a text. At the start of one, some decoders write other bytes (`tokenfst.vocabulary.text_start`): then
there is a state before the root, and what a token writes there is a path from it to the root, or back to itself where
the token is ignored.

It is the definition that composition starts from (`tokenfst.reference`) and the thing to draw. The fast path
(`tokenfst.finite.classes`) walks the same trie without ever building it.
"""

from __future__ import annotations

import numpy as np

from automata.openfst import EPSILON, Fst, to_transducer
from tokenfst.vocabulary.vocabulary import Vocabulary

ROOT = 0


def detokenizer(vocabulary: Vocabulary, *, compact: bool = True, at_text_start: bool = False) -> Fst:
    """The transducer of a vocabulary: input symbols are token ids, output symbols bytes.

    Tokens with equal bytes are parallel arcs; tokens that emit nothing have none.

    Args:
        vocabulary: the tokens.
        compact: whether tokens share the arcs of common prefixes.
        at_text_start: whether the tokens are a text by themselves; False for the continuation of one.
    """
    paths = _Paths(compact)
    for token_id, token in enumerate(vocabulary.tokens):
        if token:
            paths.add(ROOT, token_id, token, ROOT)
    start, rule = ROOT, vocabulary.text_start if at_text_start else None
    if rule:
        start = paths.state("start")
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                target = start if token_id in rule.ignored else ROOT
                paths.add(start, token_id, rule.first(token_id, token), target)
    columns = np.array(list(paths.arcs), np.int32).reshape(-1, 4).T
    final = np.zeros(len(paths.states), np.bool_)
    final[[ROOT, start]] = True
    return to_transducer(start, final, *columns)


class _Paths:
    """States, known by what has been written since which of them, and the arcs between them."""

    def __init__(self, compact: bool) -> None:
        self.compact = compact
        self.states: dict[object, int] = {"root": ROOT}
        self.arcs: dict[tuple[int, int, int, int], None] = {}

    def state(self, name: object) -> int:
        return self.states.setdefault(name, len(self.states))

    def add(self, source: int, token_id: int, text: bytes, target: int) -> None:
        """A path that writes a text and reads the token with its last byte."""
        state = source
        for length, byte in enumerate(text[:-1], 1):
            prefix = text[:length] if self.compact else (token_id, length)
            following = self.state((source, prefix))
            self.arcs[state, EPSILON, byte, following] = None
            state = following
        self.arcs[state, token_id, text[-1] if text else EPSILON, target] = None
