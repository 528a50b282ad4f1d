"""What the stand-ins of other packages are compared on: vocabularies, patterns, schemas, and masks as sets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from automata.errors import NotOffered
from tokenfst import Vocabulary

_WORDS: Final = [
    b"ab",
    b"abc",
    b"bc",
    b"cab",
    b'{"',
    b'": ',
    b'", "',
    b"12",
    b"-1",
    b"true",
    b"null",
    b"\xc3\xa9",
    b"aa",
]
# All bytes, some words, an end token, and one that writes nothing.
VOCABULARY: Final = Vocabulary([*(bytes([byte]) for byte in range(256)), *_WORDS, b"", b""], 256 + len(_WORDS))
END: Final = VOCABULARY.eos_ids[0]

PATTERNS: Final = ["ab*c", "(abc|bca|cab){1,3}", "[0-9]{2}-[0-9]{2}", "a?b?c?", "(true|null|-?12)", "abcabcab", "é+a"]

# Schemas that all packages read alike: without strings, whose spellings differ, and with numbers as integers.
SCHEMAS: Final[list[Any]] = [
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"], "additionalProperties": False},
    {
        "type": "object",
        "properties": {"ab": {"enum": ["abc", "cab"]}, "b": {"type": "null"}},
        "required": ["ab"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "boolean"}},
    {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "null"}, {"const": "aa"}]},
            "c": {"type": "array", "items": {"enum": [True, "b"]}},
        },
        "required": ["a", "c"],
        "additionalProperties": False,
    },
    {"enum": [True, None, "abc"]},
]


def allowed(words: Any, size: int = len(VOCABULARY)) -> set[int]:
    """The tokens of a packed mask."""
    array = np.ascontiguousarray(np.asarray(words).reshape(-1))
    return set(np.flatnonzero(np.unpackbits(array.view(np.uint8), count=size, bitorder="little")).tolist())


def unknown(theirs: Any, ours: Any) -> list[str]:
    """The classes and functions of another package that its stand-in neither has nor names as not offered."""
    return [
        name
        for name, value in vars(theirs).items()
        if not name.startswith("_") and callable(value) and not _is_known(ours, name)
    ]


def _is_known(ours: Any, name: str) -> bool:
    try:
        getattr(ours, name)
    except NotOffered:
        return True
    except AttributeError:
        return False
    return True


def text_of(tokens: Iterable[int]) -> bytes:
    """What tokens write."""
    return VOCABULARY.detokenize(tokens)
