"""Functions on texts and bytes that all packages use.

text_bytes              a text in UTF-8
readable                bytes as readable text
bytes_after             the number of bytes of a character after its first one
common_prefix_length    the length of the common prefix of two sequences
in_xml                  a text that XML can contain
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def bytes_or_none(text: str | bytes) -> bytes | None:
    """Return a text as bytes, in UTF-8; None for a text with a lone surrogate, which UTF-8 cannot encode, so that no
    language contains the text.

    Raises:
        TypeError: it is neither text nor bytes.
    """
    try:
        return text_bytes(text)
    except UnicodeEncodeError:
        return None


def text_bytes(text: str | bytes) -> bytes:
    """Return a text as bytes, in UTF-8.

    Raises:
        TypeError: it is neither text nor bytes.
        UnicodeEncodeError: the text has a lone surrogate, which UTF-8 cannot encode.
    """
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode()
    raise TypeError(f"expected a text or bytes, not {type(text).__name__}")


def readable(text: bytes) -> str:
    """Return bytes as text; those that are not UTF-8 are written `\\xff`."""
    return text.decode("utf-8", "backslashreplace")


def bytes_after(byte: int) -> int:
    """Return how many bytes of a character follow a first byte in UTF-8 (Unicode, table 3-7); 0 for any other byte."""
    return (0xC2 <= byte <= 0xF4) + (0xE0 <= byte <= 0xF4) + (0xF0 <= byte <= 0xF4)


def common_prefix_length(left: Sequence[T], right: Sequence[T]) -> int:
    """Return the length of the longest common prefix of two sequences of one type."""
    length = min(len(left), len(right))
    if left[:length] == right[:length]:
        return length
    return next(at for at in range(length) if left[at] != right[at])


# Characters that XML 1.0 cannot contain, and what is shown instead: for a control character, its symbol.
_NOT_IN_XML = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"},
    **dict.fromkeys([*range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD),
}


def in_xml(text: str) -> str:
    """Return a text with symbols in place of the characters that XML 1.0 cannot contain (section 2.2)."""
    return text.translate(_NOT_IN_XML)
