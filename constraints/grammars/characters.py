"""The meaning of strings and sets of characters: escapes, ranges and negation.

Every method takes a symbol's text as it is written, including quotes and brackets; errors have an offset into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from automata.errors import TokenfstError
from automata.expressions import ANY_CHAR, Expr, char_ranges, literal
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, MAX_CODE_POINT
from constraints.grammars.dialects import BnfDialect


class CharacterMistake(TokenfstError):
    """A mistake in a string or a set, with its offset; the reader of the rule turns it into a `GrammarError`."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


class CharacterReader:
    """Reads the strings and sets of one dialect; equal sets are read once."""

    def __init__(self, dialect: BnfDialect) -> None:
        self.dialect = dialect
        digits = "|".join(f"{letter}([0-9A-Fa-f]{count})" for letter, count in dialect.hex_escapes.items())
        w3c = "|#x([0-9A-Fa-f]+)" if dialect.w3c_characters else ""
        self.escape = re.compile(rf"\\(?:{digits}|(?s:(.)))")
        self.member = re.compile(rf"\\(?:{digits}|(?s:(.))){w3c}|(?s:.)")
        self.sets: dict[str, Expr] = {}

    def read(self, kind: str, text: str) -> Expr:
        """Return the language of a string, a set or W3C's `#x41`.

        Raises:
            CharacterMistake: the text has a mistake, such as an unknown escape or an empty set.
        """
        if kind == "string":
            return self.string(text)
        return self.set(text) if kind == "set" else self.w3c_character(text)

    def string(self, text: str) -> Expr:
        """Return the language of the string between two quotes."""
        if "\\" not in text and text.isascii():
            return literal(text[1:-1])
        pieces: list[str] = []
        position, end = 1, len(text) - 1
        while position < end:
            backslash = text.find("\\", position, end)
            plain = text[position : end if backslash < 0 else backslash]
            pieces.append(plain)
            position += len(plain)
            if backslash >= 0:
                match = self.escape.match(text, position)
                assert match is not None  # a string never ends in the middle of an escape
                pieces.append(chr(self.code_point(match)))
                position = match.end()
        value = "".join(pieces)
        if not value.isascii():
            self.refuse_surrogates(text)
        return literal(value)

    def refuse_surrogates(self, text: str) -> None:
        """Raise an error if a string contains a surrogate."""
        position = 1
        while position < len(text) - 1:
            match = self.escape.match(text, position)
            code = self.code_point(match) if match else ord(text[position])
            if 0xD800 <= code <= 0xDFFF:
                raise CharacterMistake("a surrogate is not a character", position)
            position = match.end() if match else position + 1

    def set(self, text: str) -> Expr:
        """Return the language of one character of the set between two brackets."""
        known = self.sets.get(text)
        if known is None:
            known = self.sets[text] = self.read_set(text)
        return known

    def read_set(self, text: str) -> Expr:
        negated = text.startswith("[^")
        ranges = rg.normalize(self.members(text, 2 if negated else 1))
        if not ranges:
            if negated and self.dialect.empty_set_is_any:
                return ANY_CHAR
            raise CharacterMistake("the set of characters is empty", 0)
        kept = rg.subtract(ALL_CHARACTERS, ranges) if negated else rg.intersect(ALL_CHARACTERS, ranges)
        if not kept:
            raise CharacterMistake("no character is left in the set", 0)
        return char_ranges(kept)

    def members(self, text: str, position: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of a set as they are written; single characters are ranges too."""
        end = len(text) - 1
        while position < end:
            start = position
            low, position = self.one(text, position)
            high = low
            # A dash that is the last member stands for itself; any other dash after a member makes a range.
            if text[position] == "-" and position + 1 < end:
                high, position = self.one(text, position + 1)
            if high < low:
                raise CharacterMistake("a range ends before it begins", start)
            yield low, high

    def one(self, text: str, position: int) -> tuple[int, int]:
        """Return the code point of the member at a place, and the place of the next one."""
        match = self.member.match(text, position)
        assert match is not None
        return self.code_point(match), match.end()

    def code_point(self, match: re.Match[str]) -> int:
        """Return the code point of a plain character, an escape or W3C's `#x41`."""
        if match.lastindex is None:
            return ord(match[0])
        value = match[match.lastindex]
        if match[0].startswith("\\") and match.lastindex == len(self.dialect.hex_escapes) + 1:
            if value not in self.dialect.escapes:
                raise CharacterMistake(
                    f"{match[0]} has too few hexadecimal digits after it"
                    if value in self.dialect.hex_escapes
                    else f"{self.dialect.title} has no escape {match[0]}",
                    match.start(),
                )
            return self.dialect.escapes[value]
        if len(value.lstrip("0")) > 6 or int(value, 16) > MAX_CODE_POINT:
            raise CharacterMistake(f"no character has the number {value}", match.start())
        return int(value, 16)

    def w3c_character(self, text: str) -> Expr:
        """Return the language of the character that `#x41` stands for."""
        code, _ = self.one(text, 0)
        if 0xD800 <= code <= 0xDFFF:
            raise CharacterMistake("a surrogate is not a character", 0)
        return literal(chr(code))
