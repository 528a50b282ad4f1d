"""The dialect of ECMA-262, with the meaning of its flag u, as in JSON Schema's `pattern`.

Some syntax is an error with the flag u but has one plain meaning without it (annex B), and is read with that meaning. A
punctuation mark after a backslash stands for itself, and so do braces and brackets that open or close nothing.
Everything else that is an error with the flag u is an error here.

If case is ignored, a set is folded as a whole, including classes in it (ECMA-262, CharacterSetMatcher).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from automata.expressions import TEXT_END, Expr
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.pattern import characters
from automata.pattern.character_reader import Flags
from automata.pattern.extension_groups import EXTENSION_GROUPS
from automata.pattern.parser import Parser

_GROUP_NAME = re.compile(r"\(\?<(?![=!])([^>]*)>")
_EXTENSION = re.compile(r"\(\?P<([^>]*)>")
_TRAILING_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_SPACE: Ranges = (
    *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)


class EcmaParser(Parser):
    """The parser of ECMA-262: what it reads differently from Python's dialect."""

    line_ends = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
    controls: Mapping[str, int] = {"n": 0x0A, "t": 0x09, "r": 0x0D, "f": 0x0C, "v": 0x0B}
    hex_escapes: Mapping[str, re.Pattern[str]] = {name: Parser.hex_escapes[name] for name in "xu"}
    property_escape = re.compile(r"\\[pP]\{([^}]*)\}")
    flag_fields: Mapping[str, str] = {"i": "ignore_case", "m": "multiline", "s": "dot_all"}
    refused_flags: Mapping[str, str] = {}
    sets_can_be_empty = True
    posix_classes = False
    octal_in_sets = False
    hyphen_follows_classes = True
    folds_complements = True
    repeats_look_around = False
    global_flags = False
    flags = re.compile(r"\(\?(?!-:)([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
    flags_recur = False
    names_recur = True

    def text_end(self) -> Expr:
        return TEXT_END

    def has_bounds(self, match: re.Match[str]) -> bool:
        return bool(match[1])

    def read_special_group(self, flags: Flags) -> bool:
        extension = _EXTENSION.match(self.pattern, self.position)
        if extension and extension[1] in EXTENSION_GROUPS:
            self.open_extension(extension, flags)
            return True
        name = _GROUP_NAME.match(self.pattern, self.position)
        if not name:
            return False
        if not name[1].replace("$", "_").isidentifier():
            raise self.error("a group's name must be an identifier", name.start(1))
        self.open_named(name, flags)
        return True

    def read_dialect_escape(self, letter: str, flags: Flags) -> bool:
        if letter and letter in "k123456789":
            raise self.irregular("a back-reference is not regular")
        return False

    def dialect_character(self, letter: str) -> int | None:
        if letter != "0" or re.match("[0-9]", self.pattern[self.position + 2 : self.position + 3]):
            return None
        self.position += 2
        return 0

    def scalar(self, code: int, position: int) -> int:
        """Return the code point of an escape; two escapes that form a surrogate pair are one character."""
        trailing = _TRAILING_SURROGATE.match(self.pattern, self.position)
        if 0xD800 <= code <= 0xDBFF and trailing:
            self.position = trailing.end()
            return 0x10000 + ((code - 0xD800) << 10) + int(trailing[1], 16) - 0xDC00
        return super().scalar(code, position)

    def class_ranges(self, letter: str, flags: Flags) -> Ranges:
        name = letter.lower()
        ranges = _SPACE if name == "s" else self.other_cases(characters.ASCII_CLASSES[name], flags)
        return ranges if letter.islower() else rg.subtract(ALL_CHARACTERS, ranges)

    def other_cases(self, ranges: Ranges, flags: Flags) -> Ranges:
        if not flags.ignore_case or flags.raw_bytes:
            return ranges
        return characters.ignore_case(ranges, characters.SIMPLE_CASE)
