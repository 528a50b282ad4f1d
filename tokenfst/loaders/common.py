"""What all loaders end with: tokens put in their places, and compared with the decoder they were read from.

The comparison is what makes a loader exact rather than plausible. Reading a decoder's definition gives the
bytes of every token; then each token is decoded once, after an ordinary token, by the decoder itself. A
rule that was misunderstood, or that another version of the library applies differently, is found here and
refused.

Exact means: if the bytes that tokens write are valid UTF-8, they are the text. Where they are not, the
libraries show replacement characters, each in its own way, and there is no text to be exact about.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.bpe import BPE, NotBPE
from tokenfst.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Far above any vocabulary in use. One damaged id must not become a list of a billion empty tokens.
MAX_TOKENS = 1 << 24


def assemble(
    written: Mapping[int, bytes],
    silent: Mapping[str, int],
    eos_ids: Iterable[int],
    source: str,
    *,
    bpe: BPE | NotBPE = NotBPE("it is no byte-level BPE"),  # noqa: B008 (immutable)
) -> Vocabulary:
    """The vocabulary in which token `i` writes `written[i]`, and every other id writes nothing.

    Tokens in `silent` or `eos_ids` write nothing, even if they have bytes in `written`.

    Raises:
        VocabularyError: there is no token, or an id is negative or larger than any vocabulary's.
    """
    eos = tuple(eos_ids)
    ids = {*written, *silent.values(), *eos}
    if not written:
        raise VocabularyError(f"{source}: no token writes any text")
    if min(ids) < 0 or max(ids) >= MAX_TOKENS:
        wrong = min(ids) if min(ids) < 0 else max(ids)
        raise VocabularyError(f"{source}: {wrong} is not a token id (from 0 to {MAX_TOKENS - 1})")
    return Vocabulary([written.get(i, b"") for i in range(max(ids) + 1)], eos, special_tokens=silent, bpe=bpe)


def ranked(ranks: Iterable[int], eos_ids: Iterable[int], pattern: str) -> BPE | NotBPE:
    """The encoder of tiktoken, whose ranks are token ids."""
    ends = set(eos_ids) & set(ranks)
    if ends:
        return NotBPE(f"token {min(ends)} ends a sequence, and the encoder writes it in texts as well")
    return BPE(None, pattern, whole_pieces=True)


def require_agreement(
    written: Mapping[int, bytes],
    is_byte: Callable[[int], bool],
    decode: Callable[[list[int]], str],
    source: str,
) -> None:
    """Decode every token after an ordinary token, and refuse the tokenizer if one does not write its bytes.

    Half a character decodes to U+FFFD on both sides.

    Args:
        written: the bytes that each token should write.
        is_byte: whether a token is a byte piece, which is decoded together with its neighbours.
        decode: from token ids to text.
        source: what the tokenizer is called in messages.

    Raises:
        UnsupportedTokenizer: with the first token that differs.
    """
    ordinary = (t for t, piece in written.items() if not is_byte(t) and _is_text_without_space(piece))
    anchor = next(ordinary, None)
    if anchor is None:
        raise UnsupportedTokenizer(f"{source}: no token is ordinary text, to compare the others after")
    before = decode([anchor])
    for token, piece in written.items():
        text = decode([anchor, token])
        if text != before + piece.decode("utf-8", "replace"):
            raise UnsupportedTokenizer(
                f"{source}: after {before!r}, token {token} should write {piece!r}, but decodes to {text!r}"
            )


def _is_text_without_space(piece: bytes) -> bool:
    text = piece.decode("utf-8", "replace")
    return text.strip() == text != "" and "\ufffd" not in text


def base64_bytes(text: str | bytes) -> bytes:
    """The bytes that strict base64 text stands for.

    Raises:
        ValueError: `text` is not base64, or stands for no bytes.
    """
    try:
        piece = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text!r} is not base64 ({error})") from error
    if not piece:
        raise ValueError("a token without bytes")
    return piece
