"""Bytes and texts in words.

quoted         a text in quotes, shortened if it is long
bytes_in_words a set of bytes, such as "a digit, ',' or '}'"
symbols_in_words the same with the names of tokens, and the end
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from automata.expressions import ranges as rg

_DIGITS, _LOWER, _UPPER = (frozenset(range(ord(first), ord(last) + 1)) for first, last in ("09", "az", "AZ"))
_CLASSES = ((_DIGITS, "a digit"), (_LOWER, "a letter from a to z"), (_UPPER, "a letter from A to Z"))
_PRINTABLE = frozenset(range(0x20, 0x7F))
_CONTROLS = frozenset(range(0x20)) | {0x7F}
# The bytes that begin a character beyond ASCII (RFC 3629), and those that continue with one.
_LEADS, _TRAILS = frozenset(range(0xC2, 0xF5)), frozenset(range(0x80, 0xC0))
# If a set has more printable characters than this, the missing ones are named instead.
_MANY = 60
# The greatest number of characters of a text that is shown.
_MAX_SHOWN = 60
# The greatest number of items that are named.
_MAX_ITEMS = 12
# Characters that are shown by name.
_NAMES = {" ": "a space", "\n": "a line break", "\t": "a tab", "\r": "a carriage return"}


def quoted(text: bytes, most: int = _MAX_SHOWN) -> str:
    r"""Return a text as a string literal; of a long text, only the end.

    >>> quoted(b"it's"), quoted("é".encode()), quoted(b"\xc3")
    ('"it\'s"', "'é'", "'\\xc3'")
    """
    shown = text[-most:]
    while len(shown) < len(text) and shown and 0x80 <= shown[0] < 0xC0:
        shown = shown[1:]
    try:
        plain = repr(shown.decode())
    except UnicodeDecodeError:
        plain = repr(shown)[1:]
    return plain if len(shown) == len(text) else f"...{plain}"


def bytes_in_words(values: Iterable[int]) -> str:
    """Return a set of bytes in words.

    >>> bytes_in_words(b"0123456789,}")
    "a digit, ',' or '}'"
    >>> bytes_in_words(set(range(256)) - set(b'"'))
    'any byte but \\'"\\''
    """
    found = frozenset(values)
    if len(found) > 0x80 and found >= _TRAILS | _LEADS:
        missing = frozenset(range(256)) - found
        return f"any byte but {listed(_items(missing))}" if missing else "any byte"
    if len(found & _PRINTABLE) > _MANY:
        return _any_character(found)
    return listed(_items(found)) if found else "nothing"


def symbols_in_words(values: frozenset[int], labels: Sequence[str], may_end: bool) -> str:
    """Return in words what may come: bytes, tokens by their names, and whether the text may end."""
    words = [bytes_in_words(values)] if values else []
    words += [f"the token {name}" for name in labels]
    words += ["the end of the text"] if may_end else []
    return ", or ".join(words) if words else "nothing"


def _any_character(found: frozenset[int]) -> str:
    """Describe a set of most characters by the ones that are missing from it."""
    has_others = found >= _LEADS
    missing = _items(_PRINTABLE - found)
    if not found >= _CONTROLS:
        kept = _items(found & _CONTROLS)
        missing.append(f"control characters{f' other than {listed(kept)}' if kept else ''}")
    whole = "any character" if has_others else "any ASCII character"
    return f"{whole} but {listed(missing, last='and')}" if missing else whole


def _items(found: frozenset[int]) -> list[str]:
    """Return a name for each part of a set of bytes."""
    items = []
    for members, name in _CLASSES:
        if members <= found:
            items.append(name)
            found -= members
    for low, high in rg.from_sorted(sorted(byte for byte in found if byte < 0x80)):
        items += [f"{_one(low)} to {_one(high)}"] if high - low > 1 else map(_one, range(low, high + 1))
    others = frozenset(byte for byte in found if byte >= 0x80)
    if others >= _LEADS:
        items.append("a character beyond ASCII")
    elif others and others <= _TRAILS:
        items.append("the rest of a character")
    elif others:
        items.append("the beginning of some characters beyond ASCII")
    return items


def _one(byte: int) -> str:
    return _NAMES.get(chr(byte)) or repr(chr(byte))


def listed(items: Sequence[str], last: str = "or") -> str:
    """Join items with commas and a last word; of many items, join only the first ones."""
    if len(items) > _MAX_ITEMS:
        return f"{', '.join(items[:_MAX_ITEMS])}, ... ({len(items)} in all)"
    return f"{', '.join(items[:-1])} {last} {items[-1]}" if len(items) > 1 else items[0]
