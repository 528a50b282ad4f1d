"""What all loaders end with: tokens put in their places, and compared with the decoder they were read from.

The comparison is what makes a loader exact rather than plausible. Reading a decoder's definition gives the
bytes of every token; then each token is decoded by the decoder itself, at the start of a text and again
after an ordinary token. A rule that was misunderstood, or that another version of the library applies
differently, is found here and refused.

Exact means: if the bytes that tokens write are valid UTF-8, they are the text. Where they are not, the
libraries show replacement characters, each in its own way, and there is no text to be exact about.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.bpe import BPE, NotBPE
from tokenfst.vocabulary.text_start import TextStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Far above any vocabulary in use. One damaged id must not become a list of a billion empty tokens.
MAX_TOKENS = 1 << 24


def assemble(
    written: Mapping[int, bytes],
    silent: Mapping[str, int],
    eos_ids: Iterable[int],
    source: str,
    start: TextStart | None = None,
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
    tokens = [written.get(i, b"") for i in range(max(ids) + 1)]
    return Vocabulary(tokens, eos, special_tokens=silent, text_start=start, bpe=bpe)


def text_start(
    written: Mapping[int, bytes], first: Mapping[int, bytes], *, prefix: bytes = b"", ignored: Iterable[int] = ()
) -> TextStart:
    """The rule with a prefix under which every token writes `first[i]` at the start of a text.

    Args:
        written: the bytes that each token writes inside a text.
        first: the bytes that it writes as the first of a text.
        prefix, ignored: as in `TextStart`.
    """
    rule = TextStart(prefix)
    exceptions = {
        token: first[token] for token, piece in written.items() if piece and first[token] != rule.by_rule(piece)
    }
    return TextStart(prefix, exceptions, frozenset(ignored))


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
    start: TextStart | None = None,
) -> None:
    """Decode every token before and after an ordinary token, and refuse the tokenizer if one does not write its bytes.

    Half a character decodes to U+FFFD on both sides.

    Args:
        written: the bytes that each token should write.
        is_byte: whether a token is a byte piece, which is decoded together with its neighbours.
        decode: from token ids to text.
        source: what the tokenizer is called in messages.
        start: what should be different at the start of a text.

    Raises:
        UnsupportedTokenizer: with the first token that differs.
    """
    ordinary = (t for t, piece in written.items() if not is_byte(t) and _is_ordinary(piece))
    anchor = next(ordinary, None)
    if anchor is None:
        raise UnsupportedTokenizer(f"{source}: no token is ordinary text, to compare the others with")
    for token, piece in written.items():
        # One that writes nothing inside a text is never allowed, and so is never the first.
        ids = [token, anchor, token] if piece else [anchor, token]
        expected = start.detokenize(ids, written) if start else b"".join(written[i] for i in ids)
        text = decode(ids)
        if text != expected.decode("utf-8", "replace"):
            raise UnsupportedTokenizer(
                f"{source}: token {token} should write {piece!r}, and {ids} {expected!r}, but they decode to {text!r}"
            )


def _is_ordinary(piece: bytes) -> bool:
    text = piece.decode("utf-8", "replace")
    return text.strip() != "" and "\ufffd" not in text


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
