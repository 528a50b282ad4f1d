"""Load vocabularies from tiktoken: from a file of `base64 rank` lines, or from a `tiktoken.Encoding`.

The format is byte-level BPE: the id of a token is its rank, and its bytes are given. Every valid source can be modelled
exactly. A file has no special tokens; their ids usually follow the ranks, and the caller gives them as `special_tokens`
or `eos_ids`. Reading a file does not need the tiktoken package.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from automata.errors import UnsupportedTokenizer, VocabularyError
from tokenfst.loaders.common import assemble, base64_bytes, ranked_bpe
from tokenfst.vocabulary.arguments import id_tuple, special_ids
from tokenfst.vocabulary.bpe import NotBPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import tiktoken

    from tokenfst.vocabulary import Vocabulary


def from_tiktoken(
    source: str | os.PathLike[str] | tiktoken.Encoding,
    *,
    eos_ids: int | Iterable[int] | None = None,
    special_tokens: Mapping[str, int] | None = None,
    pattern: str | None = None,
) -> Vocabulary:
    """Return the vocabulary of a `.tiktoken` file or of a `tiktoken.Encoding`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.tiktoken")
    ...     _ = path.write_text("YQ== 0\\nYg== 1\\nYWI= 2\\n")
    ...     vocabulary = from_tiktoken(path, special_tokens={"<|endoftext|>": 3})
    >>> vocabulary.tokens, vocabulary.eos_ids
    ((b'a', b'b', b'ab', b''), (3,))

    Args:
        source: the path of the file, or the encoding.
        eos_ids: the id or ids that end a sequence; by default that of the special token `<|endoftext|>`. Pass `()` for
            a vocabulary in which no token ends a sequence.
        special_tokens: ids of tokens that write nothing, by name; an encoding has its own, and these are added.
        pattern: the regular expression that cuts a text into pieces, which canonical tokenization needs. A file does
            not have one; an encoding has its own.

    Raises:
        VocabularyError: no token ends a sequence, and `eos_ids` is not given; a line of the file is not `base64 rank`,
            or repeats a token or a rank (the message has the line number); the id of a special token is the rank of
            another token; or an id is not a token id.
        UnsupportedTokenizer: `source` is neither a path nor an encoding.
        TypeError: `eos_ids` or `special_tokens` has the wrong type.
        ValueError: a pattern is given for an encoding.
        OSError: the file cannot be read.
    """
    special = special_ids(special_tokens)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        name, ranks = str(path), _ranks(path)
    elif not hasattr(source, "decode_single_token_bytes"):
        raise UnsupportedTokenizer(f"{type(source).__name__}: neither the path of a .tiktoken file nor an Encoding")
    elif pattern is not None:
        raise ValueError("an encoding has a pattern of its own")
    else:
        # The public methods look up a name or an id among ranks and special tokens together, so they do not show an id
        # that both have; and they count up to the greatest id.
        name, pattern = repr(source), source._pat_str
        special = {**source._special_tokens, **special}
        ranks = {rank: piece for piece, rank in source._mergeable_ranks.items()}
    _check_special(special, ranks, name)
    ends = _end_ids(special, name) if eos_ids is None else id_tuple(eos_ids)
    missing = NotBPE("a .tiktoken file does not say how texts are cut into pieces; pass `pattern` to from_tiktoken")
    bpe = missing if pattern is None else ranked_bpe(ranks, ends, pattern)
    return assemble(ranks, special, ends, name, bpe=bpe)


def _check_special(special: Mapping[str, int], ranks: Mapping[int, bytes], source: str) -> None:
    for name, token in special.items():
        if token in ranks:
            raise VocabularyError(
                f"{source}: the special token {name!r} has the id {token} of the token {ranks[token]!r}"
            )


def _end_ids(special: Mapping[str, int], source: str) -> tuple[int, ...]:
    """Return the id that ends a sequence by convention."""
    if "<|endoftext|>" not in special:
        raise VocabularyError(
            f"{source}: no special token is named <|endoftext|>, so it is not known which token ends a sequence; give "
            "eos_ids, or eos_ids=() if none does"
        )
    return (special["<|endoftext|>"],)


def _ranks(path: Path) -> dict[int, bytes]:
    """Return the bytes of each token in a file."""
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
            raise VocabularyError(f"{path}, line {number}: rank {rank} or its token {piece!r} occurs twice")
        ranks[rank] = piece
        seen.add(piece)
    return ranks


def _rank_and_piece(line: bytes) -> tuple[int, bytes]:
    """Return the id and the bytes in a line of a file."""
    fields = line.split()
    if len(fields) != 2 or not fields[1].isdigit():
        raise ValueError(f"{line!r} is not a token in base64 and its rank")
    return int(fields[1]), base64_bytes(fields[0])
