"""What a byte-pair encoder does with a text, as its file describes it.

An encoder cuts a text into pieces (`pattern`), and each piece by itself into tokens: it begins with the bytes and
merges neighbours, always the pair that comes first in the list of merges and of these the leftmost, until no pair is
in it (Sennrich, Haddow & Birch 2016). Files give the merges in one of two forms:

    a list       pairs of tokens and what they make, first to last: `tokenizers`
    ranks        any two neighbours merge that spell a token, the token with the least id first: tiktoken, Tekken

Some encoders look a piece up before they merge anything, and a piece that is a token is that token (`whole_pieces`).
It matters for tokens that merges do not lead to.

A vocabulary whose encoder is not known, or is of another kind, has a `NotBPE` with the reason in place of a `BPE`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

# The pattern of GPT-2, which `ByteLevel` pre-tokenizers have built in.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@dataclass(frozen=True)
class BPE:
    """How an encoder of byte-level BPE cuts a text into tokens; immutable.

    Attributes:
        merges: left, right and what they make, as token ids, first to last; None where ids are the ranks.
        pattern: the regular expression whose matches are the pieces; None where the text is one piece.
        whole_pieces: whether a piece that is a token is that token, whatever merges would make of it.
    """

    merges: tuple[tuple[int, int, int], ...] | None
    pattern: str | None
    whole_pieces: bool

    @property
    def digest(self) -> str:
        """A fingerprint (SHA-256, hexadecimal)."""
        return hashlib.sha256(repr((self.merges, self.pattern, self.whole_pieces)).encode()).hexdigest()


@dataclass(frozen=True)
class NotBPE:
    """Why it is not known how a vocabulary's encoder cuts a text.

    Attributes:
        reason: a clause for messages.
    """

    reason: str
