"""tiktoken: a file of `base64 rank` lines, or a `tiktoken.Encoding`.

Byte-level BPE in its plainest form: a token's id is its rank, and its bytes are given, so nothing is
refused but damage. A file has no special tokens. They follow the ranks, by convention of the model: name
those that end a text in `eos_ids`, and the vocabulary is extended as far. The tiktoken package is not
needed for a file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.loaders.common import assemble, base64_bytes, ranked
from tokenfst.vocabulary.bpe import NotBPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    import tiktoken

    from tokenfst.vocabulary import Vocabulary


def from_tiktoken(
    source: str | os.PathLike[str] | tiktoken.Encoding,
    *,
    eos_ids: Iterable[int] | None = None,
    pattern: str | None = None,
) -> Vocabulary:
    """The vocabulary of a `.tiktoken` file, or of a `tiktoken.Encoding`.

    Without `eos_ids`, an encoding's end is its `<|endoftext|>`, if it has one, and a file has no end. A file does
    not have the pattern that cuts texts into pieces either, which canonical tokenization needs: `pattern` is it, and an
    encoding brings its own.

    Raises:
        VocabularyError: a line is not `base64 rank`, or repeats a token or a rank (with the file and line
            number); an id in `eos_ids` is not a token id.
        UnsupportedTokenizer: `source` is neither a path nor an encoding.
        ValueError: a pattern is given for an encoding.
        OSError: the file cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        ranks, ends = _ranks(path), () if eos_ids is None else tuple(eos_ids)
        missing = NotBPE("a .tiktoken file does not say how texts are cut into pieces; pass `pattern` to from_tiktoken")
        return assemble(ranks, {}, ends, str(path), bpe=missing if pattern is None else ranked(ranks, ends, pattern))
    if not hasattr(source, "decode_single_token_bytes"):
        raise UnsupportedTokenizer(f"{type(source).__name__}: neither the path of a .tiktoken file nor an Encoding")
    if pattern is not None:
        raise ValueError("an encoding has a pattern of its own")
    special = {name: source.encode_single_token(name) for name in sorted(source.special_tokens_set)}
    if eos_ids is None:
        eos_ids = [special["<|endoftext|>"]] if "<|endoftext|>" in special else []
    written, ends = _token_bytes(source), tuple(eos_ids)
    bpe = ranked(written.keys() - special.values(), ends, source._pat_str)
    return assemble(written, special, ends, repr(source), bpe=bpe)


def _token_bytes(encoding: tiktoken.Encoding) -> dict[int, bytes]:
    written: dict[int, bytes] = {}
    for token in range(encoding.n_vocab):
        try:
            written[token] = encoding.decode_single_token_bytes(token)
        except KeyError:  # ids between the last rank and the special tokens may be unused
            continue
    return written


def _ranks(path: Path) -> dict[int, bytes]:
    ranks: dict[int, bytes] = {}
    seen: set[bytes] = set()
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rank, piece = _rank_and_piece(line)
        except ValueError as error:
            raise VocabularyError(f"{path}, line {number}: {error}") from error
        if rank in ranks or piece in seen:
            raise VocabularyError(f"{path}, line {number}: rank {rank} or its token {piece!r} is there twice")
        ranks[rank] = piece
        seen.add(piece)
    return ranks


def _rank_and_piece(line: bytes) -> tuple[int, bytes]:
    fields = line.split()
    if len(fields) != 2 or not fields[1].isdigit():
        raise ValueError(f"{line!r} is not a token in base64 and its rank")
    return int(fields[1]), base64_bytes(fields[0])
