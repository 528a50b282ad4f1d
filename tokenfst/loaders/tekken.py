"""Load vocabularies from Tekken files, Mistral's byte-level BPE vocabularies in JSON.

The first `default_num_special_tokens` ids are special tokens, which write nothing. The ranks follow, each with its
bytes, up to a total of `default_vocab_size` (a file may contain more). Files of the first versions do not list the
special tokens; they then have the names that Mistral gave them, and the remaining ids are called `<SPECIAL_20>` and so
on.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from automata.errors import VocabularyError
from tokenfst.loaders.common import MAX_TOKENS, Json, assemble, base64_bytes, ranked_bpe
from tokenfst.vocabulary.arguments import id_tuple

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from tokenfst.vocabulary import Vocabulary

_VERSIONS_WITHOUT_LIST = {"v1", "v2", "v3", "v7"}
_UNLISTED = [
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
]


def from_tekken(path: str | os.PathLike[str], *, eos_ids: int | Iterable[int] | None = None) -> Vocabulary:
    """Return the vocabulary of a Tekken file.

    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> config = {"pattern": "[^a]|a+", "default_num_special_tokens": 1, "default_vocab_size": 3}
    >>> ranks = [{"rank": 0, "token_bytes": "YQ=="}, {"rank": 1, "token_bytes": "Yg=="}]
    >>> special = [{"rank": 0, "token_str": "</s>"}]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tekken.json")
    ...     _ = path.write_text(json.dumps({"config": config, "vocab": ranks, "special_tokens": special}))
    ...     vocabulary = from_tekken(path)
    >>> vocabulary.tokens, vocabulary.eos_ids
    ((b'', b'a', b'b'), (0,))

    Args:
        path: the JSON file.
        eos_ids: the id or ids that end a sequence; by default that of `</s>`, if the file has it.

    Raises:
        VocabularyError: the file is not a Tekken vocabulary, or contradicts itself (the message has the entry); or an
            id in `eos_ids` is not a token id.
        OSError: the file cannot be read.
    """
    file = Path(path)
    try:
        data = json.loads(file.read_bytes())
        special_count, size = _counts(data["config"])
        special = _special_tokens(data, special_count)
        written = _written(data["vocab"], special_count, size)
        pattern = _text(data["config"]["pattern"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise VocabularyError(f"{file}: not a Tekken vocabulary ({type(error).__name__}: {error})") from error
    if eos_ids is None:
        eos_ids = [special["</s>"]] if "</s>" in special else []
    ends = id_tuple(eos_ids)
    return assemble(written, special, ends, str(file), bpe=ranked_bpe(written, ends, pattern))


def _counts(config: Json) -> tuple[int, int]:
    """Return the number of special tokens, and of all tokens."""
    special_count, size = config["default_num_special_tokens"], config["default_vocab_size"]
    if type(special_count) is not int or type(size) is not int:
        raise TypeError(f"{special_count!r} special tokens in a vocabulary of {size!r}, which are not both numbers")
    if not 0 <= special_count < size <= MAX_TOKENS:
        raise ValueError(f"{special_count} special tokens in a vocabulary of {size}")
    return special_count, size


def _text(value: object) -> str:
    """Return a value that must be a text.

    Raises:
        TypeError: the value is something else.
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r} in the place of a text")
    return value


def _special_tokens(data: Json, count: int) -> dict[str, int]:
    """Return the ids of the special tokens by name."""
    listed = data.get("special_tokens")
    if listed is None and data["config"].get("version") not in _VERSIONS_WITHOUT_LIST:
        raise ValueError("no special tokens are listed")
    names = _UNLISTED if listed is None else [_text(entry["token_str"]) for entry in listed]
    if listed is not None and [entry["rank"] for entry in listed] != list(range(len(listed))):
        raise ValueError("the ranks of the special tokens are not 0, 1, 2, ...")
    names = [*names, *(f"<SPECIAL_{token}>" for token in range(len(names), count))]
    if len(set(names)) != count:
        raise ValueError(f"{len(set(names))} special tokens where {count} are announced")
    return {name: token for token, name in enumerate(names)}


def _written(entries: list[Json], special_count: int, size: int) -> dict[int, bytes]:
    """Return the bytes of each token that is not special, by id."""
    if not isinstance(entries, list):
        raise TypeError(f"{type(entries).__name__} in the place of a list of tokens")
    used = entries[: size - special_count]
    if len(used) != size - special_count:
        raise ValueError(f"{len(used)} tokens where {size - special_count} are announced")
    written: dict[int, bytes] = {}
    for rank, entry in enumerate(used):
        if entry["rank"] != rank:
            raise ValueError(f"rank {entry['rank']} in the place of rank {rank}")
        written[special_count + rank] = base64_bytes(entry["token_bytes"])
    if len(set(written.values())) < len(written):
        twice = next(token for token, number in Counter(written.values()).items() if number > 1)
        raise ValueError(f"{twice!r} occurs twice")
    return written
