"""The characters of a pattern: literal text, escapes and sets, as expressions.

    Flags               the flags of a pattern that apply at some position
    CharacterReader     a position in a pattern, and methods that read characters from there, as Python's `re` does

Under the flag `raw_bytes` (the operation BYTES), characters up to U+00FF stand for the bytes with the same values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from automata import expressions as expr
from automata.errors import IrregularPattern, PatternError
from automata.expressions import Expr
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.pattern import characters, unicode_properties

_SET = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
# Members of a set that stand for themselves and begin no range.
_MEMBERS = re.compile(r"(?:(?:[^\\\]\-\[\ud800-\udfff]|\[(?!:))(?!-))+")
_RANGE = re.compile(r"-(?!\])")
_POSIX = re.compile(r"\[:(\^?)(\w*):\]")
_CODE_POINT = re.compile(r"\\u\{([0-9a-fA-F]+)\}")
OCTAL = re.compile(r"0[0-7]{0,2}|[0-3][0-7]{2}")
# In a set, digits after a backslash are always an octal escape, because there are no back-references.
_OCTAL_IN_SET = re.compile(r"[0-7]{1,3}")
_CHARACTER_NAME = re.compile(r"\\N\{([^}]*)\}")

CLASS_LETTERS = "dDwWsS"
_ALL_BYTES: Ranges = ((0, 0xFF),)


class Flags(NamedTuple):
    """The flags in force: those of Python's `re`, and whether characters stand for bytes."""

    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    verbose: bool = False
    unicode: bool = False
    ascii_case: bool = False
    raw_bytes: bool = False


class CharacterReader:
    """A place in a pattern; every method that reads moves past what it has read."""

    line_ends: Ranges = ((0x0A, 0x0A),)  # the characters that end a line; `.` does not match them
    controls: Mapping[str, int] = {"n": 0x0A, "t": 0x09, "r": 0x0D, "f": 0x0C, "v": 0x0B, "a": 0x07}
    hex_escapes: Mapping[str, re.Pattern[str]] = {
        "x": re.compile(r"[0-9a-fA-F]{2}"),
        "u": re.compile(r"[0-9a-fA-F]{4}"),
        "U": re.compile(r"[0-9a-fA-F]{8}"),
    }
    property_escape = re.compile(r"\\[pP](?:\{([^}]*)\}|([A-Z]))")
    sets_can_be_empty = False
    posix_classes = True
    octal_in_sets = True
    # Whether a hyphen after a class, as in [\w-.], stands for itself.
    hyphen_follows_classes = False
    folds_complements = False  # whether other cases are added to \P{...}, or to the property before the complement

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.sets: dict[str, Expr] = {}  # the sets read so far under `sets_flags`, by their text
        self.sets_flags = Flags()
        self.repetitions: dict[tuple[Expr, int, int | None, bool], Expr] = {}  # equal ones are one object

    def error(self, reason: str, position: int | None = None) -> PatternError:
        """Return the error to raise, at the current position by default."""
        return PatternError(reason, self.pattern, self.position if position is None else position)

    def irregular(self, reason: str) -> IrregularPattern:
        """Return the error for syntax that describes no regular language, at the current position."""
        return IrregularPattern(reason, self.pattern, self.position)

    def text(self, value: str, flags: Flags) -> Expr:
        if flags.raw_bytes:
            try:
                return expr.literal(value.encode("latin-1"))
            except UnicodeEncodeError as error:
                raise self.error("a character above U+00FF is not a byte", self.position + error.start) from None
        try:
            plain = expr.literal(value)
        except UnicodeEncodeError as error:
            raise self.error("a surrogate is not a character", self.position + error.start) from None
        if not flags.ignore_case:
            return plain
        cases = {c: self.characters(self.other_cases(((ord(c), ord(c)),), flags), flags) for c in set(value)}
        return expr.concat(*[cases[c] for c in value])

    def characters(self, ranges: Ranges, flags: Flags, negated: bool = False) -> Expr:
        """Return the expression of a set of characters, or of bytes."""
        if not flags.raw_bytes:
            if negated:
                ranges = rg.subtract(ALL_CHARACTERS, ranges)
            elif ranges and ranges[-1][1] >= 0xD800:  # a range may include surrogates, which are not characters
                ranges = rg.intersect(ALL_CHARACTERS, ranges)
            return expr.char_ranges(ranges)
        if ranges and ranges[-1][1] > 0xFF:
            raise self.error("a character above U+00FF is not a byte")
        return expr.byte_ranges(rg.subtract(_ALL_BYTES, ranges) if negated else ranges)

    def escaped(self, flags: Flags) -> Expr:
        """Read an escape as a character."""
        start = self.position
        code = self.escaped_character()
        end, self.position = self.position, start
        result = self.text(chr(code), flags)
        self.position = end
        return result

    def escaped_character(self) -> int:
        """Read an escape as a code point."""
        start = self.position
        letter = self.pattern[start + 1 : start + 2]
        if not letter:
            raise self.error("the pattern ends in a backslash")
        if not (letter.isascii() and letter.isalnum()):
            self.position += 2
            return ord(letter)
        if letter in self.controls:
            self.position += 2
            return self.controls[letter]
        if letter == "c":
            return self.control_character()
        if letter == "u" and self.pattern.startswith("{", start + 2):
            return self.code_point()
        if letter in self.hex_escapes:
            return self.hex_character(letter)
        code = self.dialect_character(letter)
        if code is None:
            raise self.error(f"the escape \\{letter} is unknown")
        return code

    def dialect_character(self, letter: str) -> int | None:
        """Read an escape that only this dialect has, and return its code point; None if the escape is unknown."""
        octal = OCTAL.match(self.pattern, self.position + 1)
        if octal:
            self.position = octal.end()
            return int(octal.group(), 8)
        return self.named_character() if letter == "N" else None

    def control_character(self) -> int:
        letter = self.pattern[self.position + 2 : self.position + 3]
        if not (letter.isascii() and letter.isalpha()):
            raise self.error("the escape \\c needs a letter")
        self.position += 3
        return ord(letter) % 32

    def code_point(self) -> int:
        start = self.position
        match = _CODE_POINT.match(self.pattern, start)
        if not match or int(match[1], 16) > rg.MAX_CODE_POINT:
            raise self.error("the escape \\u is incomplete or no code point")
        self.position = match.end()
        return self.scalar(int(match[1], 16), start)

    def hex_character(self, letter: str) -> int:
        start = self.position
        digits = self.hex_escapes[letter].match(self.pattern, start + 2)
        if not digits or int(digits.group(), 16) > rg.MAX_CODE_POINT:
            raise self.error(f"the escape \\{letter} is incomplete or no code point")
        self.position = digits.end()
        return self.scalar(int(digits.group(), 16), start)

    def scalar(self, code: int, position: int) -> int:
        if 0xD800 <= code <= 0xDFFF:
            raise self.error("a surrogate is not a character", position)
        return code

    def named_character(self) -> int:
        match = _CHARACTER_NAME.match(self.pattern, self.position)
        try:
            code = ord(unicodedata.lookup(match[1] if match else ""))
        except (KeyError, TypeError):
            raise self.error("no character has this name") from None
        self.position = match.end() if match else self.position
        return code

    def character_set(self, flags: Flags) -> Expr:
        """Read a set."""
        start = self.position
        if flags is not self.sets_flags:
            self.sets, self.sets_flags = {}, flags
        elif whole := _SET.match(self.pattern, start):
            known = self.sets.get(whole.group())
            if known is not None:
                self.position = whole.end()
                return known
        self.position += 1
        negated = self.pattern.startswith("^", self.position)
        self.position += negated
        ranges = self.set_members(start, flags)
        end, self.position = self.position, start
        result = self.characters(ranges, flags, negated)
        self.sets[self.pattern[start:end]] = result
        self.position = end
        return result

    def set_members(self, start: int, flags: Flags) -> Ranges:
        """Read the members of the set that begins at `start`, and its bracket."""
        # Classes are not folded: they already contain the other cases of their characters.
        folded: list[tuple[int, int]] = []
        classes: list[tuple[int, int]] = []
        first = not self.sets_can_be_empty
        while first or not self.pattern.startswith("]", self.position):
            first = False
            if self.position >= len(self.pattern):
                raise self.error("a set is opened and never closed", start)
            run = _MEMBERS.match(self.pattern, self.position)
            if run:
                folded.extend([(code, code) for code in map(ord, run.group())])
                self.position = run.end()
                continue
            low = self.set_member(flags)
            if isinstance(low, tuple):
                classes.extend(low)
                if not self.hyphen_follows_classes and _RANGE.match(self.pattern, self.position):
                    raise self.error("a class cannot begin a range; \\- is a hyphen")
            else:
                folded.append((low, self.range_end(low, flags)))
        self.position += 1
        if flags.ignore_case:
            folded = [*self.other_cases(rg.normalize(folded), flags)]
        return rg.normalize([*folded, *classes])

    def set_member(self, flags: Flags) -> int | Ranges:
        """Read a member of a set: one character's code point, or the ranges of a class."""
        char = self.pattern[self.position]
        if char == "[" and self.posix_classes and (match := _POSIX.match(self.pattern, self.position)):
            return self.posix_ranges(match, flags)
        if char != "\\":
            self.position += 1
            if "\ud800" <= char <= "\udfff":
                raise self.error("a surrogate is not a character", self.position - 1)
            return ord(char)
        letter = self.pattern[self.position + 1 : self.position + 2]
        if letter and letter in CLASS_LETTERS:
            self.position += 2
            return self.class_ranges(letter, flags)
        if letter and letter in "pP":
            return self.property_ranges(flags)
        if letter == "b":
            self.position += 2
            return 0x08
        if self.octal_in_sets and (digits := _OCTAL_IN_SET.match(self.pattern, self.position + 1)):
            return self.octal_character(digits)
        return self.escaped_character()

    def octal_character(self, digits: re.Match[str]) -> int:
        code = int(digits.group(), 8)
        if code > 0o377:
            raise self.error("an octal escape ends at \\377")
        self.position = digits.end()
        return code

    def range_end(self, low: int, flags: Flags) -> int:
        """Read the upper end of the range that starts at `low`; return `low` itself where there is no range."""
        pattern, position = self.pattern, self.position
        if not pattern.startswith("-", position) or pattern.startswith("-]", position):
            return low
        if position + 1 >= len(pattern):
            raise self.error("a set is opened and never closed")
        self.position += 1
        high = self.set_member(flags)
        if isinstance(high, tuple):
            raise self.error("a class cannot end a range", position + 1)
        if high < low:
            raise self.error("the range ends before it starts", position)
        return high

    # Classes

    def posix_ranges(self, match: re.Match[str], flags: Flags) -> Ranges:
        """Read a POSIX class."""
        ranges = characters.posix_class(match[2], flags.unicode and not flags.raw_bytes)
        if ranges is None:
            raise self.error("no POSIX class has this name")
        self.position = match.end()
        ranges = self.other_cases(ranges, flags)
        return rg.subtract(_universe(flags), ranges) if match[1] else ranges

    def property_ranges(self, flags: Flags) -> Ranges:
        """Read a property, or its complement."""
        match = self.property_escape.match(self.pattern, self.position)
        ranges = unicode_properties.property_ranges(match[match.lastindex or 0]) if match else None
        if not match or ranges is None:
            raise self.error("no property of characters has this name")
        if flags.raw_bytes:
            raise self.error("a property of characters has no meaning for bytes")
        negated = self.pattern.startswith("P", self.position + 1)
        self.position = match.end()
        if negated and self.folds_complements:
            return self.other_cases(rg.subtract(ALL_CHARACTERS, ranges), flags)
        ranges = self.other_cases(ranges, flags)
        return rg.subtract(ALL_CHARACTERS, ranges) if negated else ranges

    def property(self, flags: Flags) -> Expr:
        """Read a property, and return the set of characters that have it."""
        return expr.char_ranges(self.property_ranges(flags))

    def class_ranges(self, letter: str, flags: Flags) -> Ranges:
        """Return the members of `\\d`, `\\W` and similar classes."""
        return class_ranges(letter, flags.unicode, flags.raw_bytes)

    def named_class(self, letter: str, flags: Flags) -> Expr:
        """Return one character of `\\d`, `\\W` or a similar class."""
        return self.characters(self.class_ranges(letter, flags), flags)

    def dot(self, flags: Flags) -> Expr:
        """Return the language of `.`: any character or, by default, any character that does not end a line."""
        return dot(() if flags.dot_all else self.line_ends, flags.raw_bytes)

    def other_cases(self, ranges: Ranges, flags: Flags) -> Ranges:
        """Return a set, with every character's other cases added if the flags ignore case."""
        if not flags.ignore_case or flags.raw_bytes:
            return ranges
        return characters.ignore_case(ranges, characters.ASCII_CASE if flags.ascii_case else characters.PYTHON_CASE)


def _universe(flags: Flags) -> Ranges:
    return _ALL_BYTES if flags.raw_bytes else ALL_CHARACTERS


@cache
def dot(excepted: Ranges, raw_bytes: bool) -> Expr:
    """Return any one character, or byte, that is not in `excepted`."""
    ranges = rg.subtract(_ALL_BYTES if raw_bytes else ALL_CHARACTERS, excepted)
    return expr.byte_ranges(ranges) if raw_bytes else expr.char_ranges(ranges)


@cache
def class_ranges(letter: str, unicode: bool, raw_bytes: bool) -> Ranges:
    """Return the members of `\\d`, `\\W` and similar classes in Python's dialect."""
    name = letter.lower()
    ranges = characters.unicode_class(name) if unicode and not raw_bytes else characters.ASCII_CLASSES[name]
    if letter.islower():
        return ranges
    return rg.subtract(_ALL_BYTES if raw_bytes else ALL_CHARACTERS, ranges)
