"""Assemble a vocabulary, and compare it with the decoder that it was read from.

A loader derives the bytes of every token from the definition of a decoder. The comparison then decodes every token with
the decoder itself, at the start of a text and again after an ordinary token. It refuses tokenizers whose definition was
misunderstood, or is applied differently by the installed version of the library.

The comparison holds where the bytes of tokens are valid UTF-8. Otherwise the libraries insert replacement characters,
each in its own way, and no text is correct.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, TypeAlias

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.arguments import id_tuple
from tokenfst.vocabulary.bpe import BPE, NotBPE
from tokenfst.vocabulary.text_start import TextStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Json: TypeAlias = dict[str, Any]

# Far above the size of any vocabulary in use. Without a limit, one damaged id could make a list of a billion
# tokens, each of which takes time and memory.
MAX_TOKENS = 1 << 21


def assemble(
    written: Mapping[int, bytes],
    silent: Mapping[str, int],
    eos_ids: int | Iterable[int],
    source: str,
    start: TextStart | None = None,
    *,
    bpe: BPE | NotBPE = NotBPE("it is not byte-level BPE"),  # noqa: B008 (immutable)
) -> Vocabulary:
    """Return the vocabulary in which token `i` writes `written[i]`, and every other id writes nothing.

    Args:
        written: the bytes of each token, by id.
        silent: the ids of tokens that write nothing, by name, even if they have bytes in `written`.
        eos_ids: the id or ids that end a sequence; they write nothing.
        source: the name of the tokenizer in messages.
        start: what the decoder does differently at the start of a text.
        bpe: how the encoder cuts a text.

    Raises:
        VocabularyError: no token writes any bytes, or an id is negative or `MAX_TOKENS` or more.
    """
    eos = id_tuple(eos_ids)
    ids = {*written, *silent.values(), *eos}
    if not written:
        raise VocabularyError(f"{source}: no token writes any text")
    if min(ids) < 0 or max(ids) >= MAX_TOKENS:
        wrong = min(ids) if min(ids) < 0 else max(ids)
        raise VocabularyError(f"{source}: {wrong} is not a token id (from 0 to {MAX_TOKENS - 1})")
    tokens = [written.get(i, b"") for i in range(max(ids) + 1)]
    return Vocabulary(tokens, eos, special_tokens=silent, text_start=start, bpe=bpe)


def text_start_rule(
    written: Mapping[int, bytes], first: Mapping[int, bytes], *, prefix: bytes = b"", ignored: Iterable[int] = ()
) -> TextStart:
    """Return the rule, with exceptions, by which token `i` writes `first[i]` at the start of a text.

    Args:
        written: the bytes that each token writes inside a text.
        first: the bytes that each token writes as the first one of a text.
        prefix, ignored: as for `TextStart`.
    """
    rule = TextStart(prefix)
    exceptions = {
        token: first[token] for token, piece in written.items() if piece and first[token] != rule.by_rule(piece)
    }
    return TextStart(prefix, exceptions, frozenset(ignored))


def ranked_bpe(ranks: Iterable[int], eos_ids: Iterable[int], pattern: str) -> BPE | NotBPE:
    """Return the encoder of a vocabulary in which the id of a token is its rank, as in tiktoken and Tekken.

    Args:
        ranks: the ids of the tokens that the encoder merges.
        eos_ids: the ids that end a sequence.
        pattern: the regular expression that matches pieces.
    """
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
    """Decode every token before and after an ordinary token, and raise if one of them does not write its bytes.

    An incomplete character decodes to U+FFFD both in the expected text and in the decoder's.

    Args:
        written: the bytes that each token should write.
        is_byte: whether a token is a byte piece, which is decoded together with its neighbours.
        decode: the function from token ids to text.
        source: the name of the tokenizer in messages.
        start: what the decoder should do differently at the start of a text.

    Raises:
        UnsupportedTokenizer: a token decodes to another text; the message names the first one.
    """
    ordinary = (t for t, piece in written.items() if not is_byte(t) and _is_ordinary(piece))
    anchor = next(ordinary, None)
    if anchor is None:
        raise UnsupportedTokenizer(f"{source}: no token is ordinary text, to compare the others with")
    for token, piece in written.items():
        # A token that writes nothing inside a text is never allowed, so it is never the first one.
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
    """Decode strict base64.

    Raises:
        ValueError: `text` is not base64, or is empty.
    """
    try:
        piece = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text!r} is not base64 ({error})") from error
    if not piece:
        raise ValueError("a token without bytes")
    return piece


def flattened(component: Json | None, parts: str) -> list[Json]:
    """Return the components of a tokenizer's definition in order, with nested sequences flattened.

    Args:
        component: a decoder or a pre-tokenizer, None for none.
        parts: the key under which a sequence lists its parts.
    """
    if component is None:
        return []
    if component["type"] == "Sequence":
        return [stage for inner in component[parts] for stage in flattened(inner, parts)]
    return [component]
