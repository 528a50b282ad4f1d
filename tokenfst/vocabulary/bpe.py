"""The encoder of a byte-level BPE vocabulary, as its file describes it.

The encoder cuts a text into pieces (`pattern`) and tokenizes each piece separately. It starts with the bytes and merges
neighbours, always the pair with the highest precedence and of these the leftmost, until no merge applies (Sennrich,
Haddow & Birch 2016). Files give the merges in one of two forms:

    a list       pairs of tokens and the token that they form, in order of precedence: `tokenizers`
    ranks        two neighbours merge if together they are a token, the least id first: tiktoken, Tekken

Some encoders first look up the whole piece, and if it is a token, produce this token without merging (`whole_pieces`).
This matters for tokens that merges do not produce.

A vocabulary whose encoder is unknown, or is of another kind, has a `NotBPE` with the reason in place of a `BPE`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import chain

# The pattern of GPT-2, which is built into `ByteLevel` pre-tokenizers.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@dataclass(frozen=True)
class BPE:
    """The encoder of a byte-level BPE vocabulary; immutable.

    Attributes:
        merges: the ids of left, right and merged token of each merge, in order of precedence; None if ids are ranks.
        pattern: the regular expression whose matches are the pieces; None if a text is one piece.
        whole_pieces: whether a piece that is a token is encoded as this token, whatever merges would produce.
    """

    merges: tuple[tuple[int, int, int], ...] | None
    pattern: str | None
    whole_pieces: bool

    def __post_init__(self) -> None:
        if self.pattern is not None and not isinstance(self.pattern, str):
            raise TypeError(f"a pattern of pieces is a text or None, not {self.pattern!r}")
        merges = self.merges or ()
        kinds = set(map(type, chain.from_iterable(merges)))
        if not all(len(merge) == 3 for merge in merges) or not all(hasattr(kind, "__index__") for kind in kinds):
            raise TypeError("a merge is the ids of the left, the right and the merged token")

    def __repr__(self) -> str:
        merges = "ranks as merges" if self.merges is None else f"{len(self.merges):,} merges"
        return f"<BPE of {merges}, pattern {self.pattern!r}, whole_pieces={self.whole_pieces}>"

    @property
    def digest(self) -> str:
        """A fingerprint of the encoder (SHA-256, hexadecimal)."""
        return hashlib.sha256(repr((self.merges, self.pattern, self.whole_pieces)).encode()).hexdigest()


@dataclass(frozen=True)
class NotBPE:
    """The reason why the encoder of a vocabulary is unknown.

    Attributes:
        reason: a clause that completes a message.
    """

    reason: str
