"""Load a vocabulary from a file of any supported format.

The format is recognized by the content of the file, and by its name only where the content is not enough: a
`tokenizer.model` may be a file of SentencePiece or of tiktoken. Other files are refused with a list of the formats.

A `vocab.txt` has one WordPiece per line and nothing else. It is read as BERT's tokenizer reads it: with the special
tokens of that tokenizer, and with its decoder, which joins pieces marked with ## and removes spaces before punctuation.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automata.errors import VocabularyError
from tokenfst.loaders.common import MAX_TOKENS, Json
from tokenfst.loaders.huggingface import from_transformers
from tokenfst.loaders.sentencepiece import from_sentencepiece
from tokenfst.loaders.tekken import from_tekken
from tokenfst.loaders.tiktoken import from_tiktoken

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from tokenizers import Tokenizer

    from tokenfst.vocabulary import Vocabulary

_IN_DIRECTORY = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.txt")
_READS = (
    "a Hugging Face tokenizer.json or a directory with one, a .tiktoken file (lines of base64 and rank), "
    "a Tekken .json, a SentencePiece .model, BERT's vocab.txt"
)
_RANK_LINE = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]+(\s|$)")
_BERT_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_SENTENCEPIECE_NAME = re.compile(r"\.model(\.|$)")
# Usual names of tokens that end a text or a turn. If a vocabulary has two of them, it is unclear which one is meant.
_COMMON_EOS = (
    "</s>",
    "<eos>",
    "[EOS]",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<｜end▁of▁sentence｜>",
    "<|eot_id|>",
    "<|im_end|>",
    "<end_of_turn>",
)


def load_vocabulary(path: str | os.PathLike[str], *, eos_ids: int | Iterable[int] | None = None) -> Vocabulary:
    """Return the vocabulary in a file, or in a directory that contains one.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.tiktoken")
    ...     _ = path.write_text("YQ== 0\\nYg== 1\\nYWI= 2\\n")
    ...     vocabulary = load_vocabulary(path, eos_ids=3)
    >>> vocabulary.tokens
    (b'a', b'b', b'ab', b'')

    Args:
        path: a Hugging Face `tokenizer.json`, a `.tiktoken` file, a Tekken `.json`, a SentencePiece `.model`, BERT's
            `vocab.txt`, or a directory with one of them.
        eos_ids: the id or ids that end a sequence. By default they are those of the source: for a `tokenizer.json` or
            a `vocab.txt`, those that `generation_config.json` or `tokenizer_config.json` in the same directory names,
            or else the one special token with a usual name such as `</s>`.

    Raises:
        VocabularyError: the file has no known format (the message lists the formats), or is damaged; or it is a
            `.tiktoken` file, and `eos_ids` is not given; or `path` contains characters that are not allowed in a path.
        UnsupportedTokenizer: the tokenizer cannot be modelled exactly.
        ImportError: the file is a SentencePiece model, and the sentencepiece package is missing.
        OSError: the file cannot be read.
    """
    file = _in_directory(Path(path))
    try:
        with file.open("rb") as stream:
            head = stream.read(4096)
    except ValueError as error:  # a null byte or a lone surrogate
        raise VocabularyError(f"{str(path)!r} is not a path: {error}") from None
    if head.lstrip().startswith(b"{"):
        return _load_json(file, eos_ids)
    if _RANK_LINE.match(head) or file.suffix == ".tiktoken":
        return from_tiktoken(file, eos_ids=eos_ids)
    if _SENTENCEPIECE_NAME.search(file.name):
        return from_sentencepiece(file, eos_ids=eos_ids)
    if file.name.endswith("vocab.txt"):
        return _load_word_pieces(file, eos_ids)
    raise VocabularyError(f"{file}: not a vocabulary file; these are read: {_READS}")


def _in_directory(path: Path) -> Path:
    """Return the vocabulary file in a directory, or the path itself if it is not a directory."""
    if not path.is_dir():
        return path
    for name in _IN_DIRECTORY:
        if (path / name).is_file():
            return path / name
    raise VocabularyError(f"{path}: a directory without any of {', '.join(_IN_DIRECTORY)}")


def _load_json(file: Path, eos_ids: int | Iterable[int] | None) -> Vocabulary:
    data = _read_json(file)
    if "config" in data and "vocab" in data:
        return from_tekken(file, eos_ids=eos_ids)
    if "model" not in data:
        raise VocabularyError(f"{file}: JSON, but not of a vocabulary; these are read: {_READS}")
    _check_ids(file, data["model"])
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
    except BaseException as error:
        # tokenizers raises bare Exception, and for some files its Rust code panics, which is not even that.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise VocabularyError(f"{file}: not a tokenizer.json ({error})") from error
    return from_transformers(tokenizer, eos_ids=_eos_beside(file, tokenizer) if eos_ids is None else eos_ids)


def _check_ids(file: Path, model: Any) -> None:
    """Raise if two pieces have the same id, of which `tokenizers` keeps one at random, or if an id is so large that
    `tokenizers` would take very long."""
    vocab = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(vocab, dict):
        return
    pieces: dict[Any, str] = {}
    for piece, token in vocab.items():
        other = pieces.setdefault(repr(token), piece)
        if other != piece:
            raise VocabularyError(f"{file}: {other!r} and {piece!r} have the same id, {token}")
        if isinstance(token, int) and token >= MAX_TOKENS:
            raise VocabularyError(f"{file}: {token} is not a token id (from 0 to {MAX_TOKENS - 1})")


def _load_word_pieces(file: Path, eos_ids: int | Iterable[int] | None) -> Vocabulary:
    from tokenizers import Tokenizer, decoders, models

    try:
        tokenizer = Tokenizer(models.WordPiece.from_file(str(file), unk_token="[UNK]"))
    except Exception as error:  # tokenizers raises bare Exception
        raise VocabularyError(f"{file}: not a list of WordPieces ({error})") from error
    if tokenizer.token_to_id("[UNK]") is None:
        raise VocabularyError(f"{file}: not a list of WordPieces (none of them is [UNK])")
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([name for name in _BERT_SPECIAL if tokenizer.token_to_id(name) is not None])
    return from_transformers(tokenizer, eos_ids=_eos_beside(file, tokenizer) if eos_ids is None else eos_ids)


def _eos_beside(file: Path, tokenizer: Tokenizer) -> list[int]:
    """Return the end-of-sequence ids that the configuration files next to a tokenizer's file name.

    If they name none, return the id of the one special token with a usual name; if there is not exactly one, no id.
    """
    ids = _read_json(file.with_name("generation_config.json"), missing={}).get("eos_token_id")
    if ids is not None:
        listed = ids if isinstance(ids, list) else [ids]
        if not all(type(token) is int for token in listed):
            raise VocabularyError(f"{file.with_name('generation_config.json')}: eos_token_id {ids!r} is not an id")
        return listed
    named = _read_json(file.with_name("tokenizer_config.json"), missing={}).get("eos_token")
    name = named.get("content") if isinstance(named, dict) else named
    if named is not None:
        # JSON can spell half a character, which no text contains.
        if not isinstance(name, str) or any("\ud800" <= char <= "\udfff" for char in name):
            raise VocabularyError(f"{file.with_name('tokenizer_config.json')}: eos_token {named!r} is not a text")
        token = tokenizer.token_to_id(name)
        if token is None:
            where = file.with_name("tokenizer_config.json")
            raise VocabularyError(f"{where}: eos_token {name!r} is not in the tokenizer's vocabulary; pass eos_ids")
        return [token]
    special = {added.content: i for i, added in tokenizer.get_added_tokens_decoder().items() if added.special}
    common = [special[name] for name in _COMMON_EOS if name in special]
    return common if len(common) == 1 else []


def _read_json(file: Path, missing: Json | None = None) -> Json:
    """Return the object in a JSON file. If there is no file, return `missing` if given."""
    if missing is not None and not file.is_file():
        return missing
    try:
        data = json.loads(file.read_bytes())
    except ValueError as error:
        raise VocabularyError(f"{file}: not JSON ({error})") from error
    except RecursionError:
        raise VocabularyError(f"{file}: nested too deeply") from None
    if not isinstance(data, dict):
        raise VocabularyError(f"{file}: JSON, but not an object")
    return data
