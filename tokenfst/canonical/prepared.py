"""The tables of a vocabulary's encoder for canonical tokenization, built once and shared by all constraints."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from automata.arrays import IntArray
from automata.errors import UnsupportedTokenizer
from automata.limits import Work, current_work
from tokenfst import _native
from tokenfst._native import Pairs, WholePieces
from tokenfst.canonical.derivations import derive_tokens
from tokenfst.canonical.encoder import encoder_of
from tokenfst.canonical.pairs import neighbour_pairs
from tokenfst.canonical.piece_bytes import spell_pieces
from tokenfst.canonical.pieces import build_pieces
from tokenfst.vocabulary import Vocabulary

# Nodes of every trie: OUT where no whole piece has this prefix, ROOT for the empty prefix, at a boundary.
OUT, ROOT = 0, 1


class Prepared(NamedTuple):
    """The tables of an encoder.

    Attributes:
        pairs: which tokens may be neighbours inside a piece.
        pieces: the automaton of pieces over bytes.
        words: the tokens that the encoder produces only for a whole piece.
        never: `[N]` int32, the tokens that the encoder never produces.
    """

    pairs: Pairs
    pieces: _native.PieceAutomaton
    words: WholePieces
    never: IntArray


_prepared: WeakKeyDictionary[Vocabulary, Prepared] = WeakKeyDictionary()
# The automata of the patterns used last.
_pieces: dict[str | None, _native.PieceAutomaton] = {}
_MAX_PATTERNS = 16


def prepare(vocabulary: Vocabulary, work: Work | None = None) -> Prepared:
    """Return the tables of a vocabulary's encoder; they are built once and kept as long as the vocabulary.

    Args:
        vocabulary: the tokens.
        work: the compilation that this is part of, None for a new one.

    Raises:
        UnsupportedTokenizer: the encoder is unknown or not modelled.
        LimitExceeded: the tables exceed a limit.
        Cancelled: another thread cancelled the compilation.
    """
    found = _prepared.get(vocabulary)
    if found is None:
        found = _prepared[vocabulary] = _prepare(vocabulary, current_work(work))
    return found


def _prepare(vocabulary: Vocabulary, work: Work) -> Prepared:
    bpe = encoder_of(vocabulary)
    if vocabulary.text_start is not None:
        raise UnsupportedTokenizer("byte-level BPE writes the same at the start of a text; this vocabulary does not")
    made = derive_tokens(vocabulary, bpe, work)
    # Of two tokens with equal bytes, an encoder looks up the one that merges also produce.
    others = [t for t in np.flatnonzero(~made.made).tolist() if vocabulary.tokens[t]]
    spelled = {vocabulary.tokens[t] for t in np.flatnonzero(made.made).tolist()}
    words: dict[bytes, int] = {}
    if bpe.whole_pieces:
        for token in others:
            if vocabulary.tokens[token] not in spelled:
                words.setdefault(vocabulary.tokens[token], token)
    never = np.array(sorted(set(others) - set(words.values())), np.int32)
    return Prepared(neighbour_pairs(made, work), _pieces_of(bpe.pattern, work), _trie(words), never)


def _pieces_of(pattern: str | None, work: Work) -> _native.PieceAutomaton:
    """Return the automaton of pieces of a pre-tokenizer's pattern, from the cache if possible."""
    found = _pieces.get(pattern)
    if found is None:
        found = _native.PieceAutomaton(*spell_pieces(build_pieces(pattern, work)))
        while len(_pieces) >= _MAX_PATTERNS:
            _pieces.pop(next(iter(_pieces)), None)
        _pieces[pattern] = found
    return found


def _trie(words: dict[bytes, int]) -> WholePieces:
    """Return the trie of the tokens that are produced only for a whole piece.

    Args:
        words: the ids of these tokens by their bytes.
    """
    if not words:
        no_bytes = np.zeros(256, np.uint8)
        return WholePieces(no_bytes, np.zeros((1, 1), np.int32), np.zeros(1, np.bool_), np.zeros(0, np.int32))
    nodes: dict[bytes, int] = {b"": ROOT}
    for word in words:
        for length in range(1, len(word) + 1):
            nodes.setdefault(word[:length], len(nodes) + 1)
    # Bytes that occur in no word share the first column; without such bytes there is no such column.
    used = sorted({byte for word in words for byte in word})
    first = int(len(used) < 256)
    byte_class = np.zeros(256, np.uint8)
    byte_class[used] = np.arange(first, first + len(used))
    table = np.full((len(nodes) + 1, first + len(used)), OUT, np.int32)
    spells = np.zeros(len(nodes) + 1, np.bool_)
    for prefix, node in nodes.items():
        if prefix:
            table[nodes[prefix[:-1]], byte_class[prefix[-1]]] = node
        spells[node] = prefix in words
    return WholePieces(byte_class, table, spells, np.array(sorted(words.values()), np.int32))
