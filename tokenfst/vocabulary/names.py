r"""Readable names of tokens, all of them different, for OpenFst's symbol tables.

    a token that writes something     its text, with escapes
    a special token                   its own name, with escapes
    any other token                   \#, and its id

Escapes keep names on one line and without whitespace: a space is written as ␣, other whitespace and nonprinting
characters as `\t`, `\x1b` or `\u200b`, a backslash as two, and a byte that is not part of a UTF-8 character as `\xff`.
If several tokens have the same name, the first keeps it, and `\#` and the id are appended to the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from automata.openfst import EPSILON_NAME

_SPACE = "␣"
_ESCAPES = {" ": _SPACE, _SPACE: "\\u2423", "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def token_names(tokens: Sequence[bytes], special_tokens: Mapping[str, int]) -> tuple[str, ...]:
    """Return the name of each token, as described above.

    >>> token_names([b" a", b"a", b"", b"a", b"", b"\\xff"], {"<|call|>": 2})
    ('␣a', 'a', '<|call|>', 'a\\\\#3', '\\\\#4', '\\\\xff')

    Args:
        tokens: the bytes of each token.
        special_tokens: the ids of tokens that write nothing, by name.
    """
    own = {token: name for name, token in special_tokens.items()}
    taken, names = {EPSILON_NAME}, list[str]()
    for token, text in enumerate(tokens):
        name = escaped(own[token].encode("utf-8", "surrogatepass") if token in own else text)
        if not name or name in taken:
            name = f"{name}\\#{token}"
        taken.add(name)
        names.append(name)
    return tuple(names)


def escaped(text: bytes) -> str:
    """Return bytes as printable text without whitespace, different for different bytes."""
    plain = text.decode("utf-8", "surrogateescape")
    if plain.isprintable() and not any(char in plain for char in _ESCAPES):
        return plain
    return "".join(map(_escaped_character, plain))


def _escaped_character(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0xDC80 <= code < 0xDD00:
        # `surrogateescape` decodes a byte that is not part of a character to such a code.
        return f"\\x{code - 0xDC00:02x}"
    if char.isprintable():
        return char
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
