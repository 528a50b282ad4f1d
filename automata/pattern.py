"""The regular-expression front end: a pattern in Python's syntax becomes an Expr.

A pattern describes a whole text, as `re.fullmatch` does. What is read:

    characters      a  \\n \\t \\r \\f \\v \\a \\0 \\012 \\x41 \\u0041 \\U00000041 \\N{BULLET}, punctuation after a \\
    sets            [a-z] [^"\\\\] . \\d \\D \\w \\W \\s \\S     (\\d \\w \\s are ASCII unless the flag u is set)
    grouping        ( ) (?: ) (?P<name> ) |
    quantifiers     ? * + {m} {m,} {,n} {m,n}, and their lazy forms, which describe the same language
    flags           (?isxau) at the start, (?i-s: ) for a group, (?# comments )
    anchors         ^ and \\A where the text begins, $ and \\Z where it ends
    operations      (?P<AND>(?:a)(?:b))   what matches both;   (?P<MINUS>(?:a)(?:b))   a and not b;
                    (?P<NOT>a)            every text that does not match a
    raw bytes       (?P<BYTES>[\\x80-\\xff])   characters up to U+00FF stand for the bytes of that value

Everything is a language of UTF-8 text, so `.` and `[^"]` take whole characters and never part of one. What is not
regular or not honoured is a PatternError with the position and the reason: look-around, back-references, word
boundaries, conditional, atomic and possessive groups, anchors where something could come before or after them.

The parser keeps its own stack of open groups rather than recursing, so nesting has no limit, and takes runs of plain
characters in one step. Rejected: Python's own `re._parser`, which is private, forgets positions, and is slower.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from automata import characters, expr
from automata import ranges as rg
from automata.errors import PatternError
from automata.expr import Expr
from automata.ranges import ALL_CHARACTERS, Ranges

_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]+")
_PLAIN_VERBOSE = re.compile(r"[^\\.^$*+?{}\[\]|()#\s]+")
_SKIPPED_VERBOSE = re.compile(r"(?:\s|#[^\n]*)*")
_SET = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
# Members of a set that stand for themselves and begin no range.
_MEMBERS = re.compile(r"(?:[^\\\]\-\ud800-\udfff](?!-))+")
_BOUNDS = re.compile(r"\{(\d*)(?:(,)(\d*))?\}")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME = re.compile(r"\(\?P<([^>]*)>")
_HEX_ESCAPE = {
    "x": re.compile(r"[0-9a-fA-F]{2}"),
    "u": re.compile(r"[0-9a-fA-F]{4}"),
    "U": re.compile(r"[0-9a-fA-F]{8}"),
}
_OCTAL = re.compile(r"0[0-7]{0,2}|[0-3][0-7]{2}")
_CHARACTER_NAME = re.compile(r"\\N\{([^}]*)\}")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}

_ALL_BYTES: Ranges = ((0, 0xFF),)
_CLASS_LETTERS = "dDwWsS"
_BOUNDS_OF = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_QUANTIFIERS = (*_BOUNDS_OF, "{")
_OPERATIONS = ("AND", "MINUS", "NOT", "BYTES")

_REFUSED_GROUPS = {
    "(?=": "lookahead is not supported",
    "(?!": "lookahead is not supported",
    "(?<=": "lookbehind is not supported",
    "(?<!": "lookbehind is not supported",
    "(?>": "an atomic group does not describe a language by itself",
    "(?(": "a conditional group is not regular",
    "(?P=": "a back-reference is not regular",
}


class _Flags(NamedTuple):
    ignore_case: bool = False
    dot_all: bool = False
    verbose: bool = False
    unicode: bool = False
    ascii_case: bool = False
    raw_bytes: bool = False


_FLAG_FIELDS = {"i": "ignore_case", "s": "dot_all", "x": "verbose", "u": "unicode", "a": "ascii_case"}
_REFUSED_FLAGS = {
    "m": "the flag m (anchors at lines) is not supported",
    "L": "the flag L (locale) is not supported",
}


@dataclass(slots=True)
class _Group:
    """An open group: what has been read of it, and what is to be done when it closes."""

    position: int
    flags: _Flags
    at_start: bool  # nothing can come before it
    operation: str | None = None
    alternatives: list[Expr] = field(default_factory=list)
    items: list[Expr] = field(default_factory=list)
    end_anchor: int | None = None  # in any alternative of the group
    start_anchor: int | None = None

    def close_alternative(self) -> None:
        self.alternatives.append(expr.concat(*self.items) if len(self.items) != 1 else self.items[0])
        self.items = []


def parse(pattern: str) -> Expr:
    """The language of the texts that match the whole pattern.

    Raises:
        PatternError: something that is not a pattern, is not regular, or is not honoured; with position and reason.
    """
    return _Parser(pattern).parse()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.groups = [_Group(0, _Flags(), at_start=True)]
        self.sets: dict[tuple[str, _Flags], Expr] = {}  # those read so far
        # What the last item was: a quantifier may follow an atom only; anchors inside forbid repetition.
        self.quantifiable = False
        self.item_anchor: int | None = None
        self.item_end_anchor: int | None = None

    def error(self, reason: str, position: int | None = None) -> PatternError:
        return PatternError(reason, self.pattern, self.position if position is None else position)

    def parse(self) -> Expr:
        length = len(self.pattern)
        while self.position < length:
            flags = self.groups[-1].flags
            if flags.verbose and self.skip():
                continue
            read = _READERS.get(self.pattern[self.position], _Parser.read_plain)
            read(self, flags)
        if len(self.groups) > 1:
            raise self.error("a group is opened and never closed", self.groups[-1].position)
        return self.close_group(self.groups[0])

    def skip(self) -> bool:
        """Moves past white space and comments of a verbose pattern; whether there were any."""
        start = self.position
        skipped = _SKIPPED_VERBOSE.match(self.pattern, start)
        self.position = skipped.end() if skipped else start
        return self.position > start

    # Items

    def add(self, item: Expr, anchor: int | None = None, end_anchor: int | None = None) -> None:
        """Appends an item to the open group; the anchors are positions of those that the item holds."""
        group = self.groups[-1]
        if group.end_anchor is not None and self.item_end_anchor is not None and not expr.is_epsilon(item):
            raise self.error("this anchor stands where text can follow it", self.item_end_anchor)
        group.items.append(item)
        self.quantifiable = True
        self.item_anchor = anchor if anchor is not None else end_anchor
        if not expr.is_epsilon(item) or end_anchor is not None:
            self.item_end_anchor = end_anchor
        if end_anchor is not None:
            group.end_anchor = end_anchor
        if anchor is not None:
            group.start_anchor = anchor

    def read_plain(self, flags: _Flags) -> None:
        """A run of plain characters; a quantifier after it belongs to the last one alone."""
        start = self.position
        match = (_PLAIN_VERBOSE if flags.verbose else _PLAIN).match(self.pattern, start)
        end = match.end() if match else start + 1
        if end - start > 1 and self.pattern[end : end + 1] in _QUANTIFIERS:
            self.add(self.text(self.pattern[start : end - 1], flags))
            start = self.position = end - 1
        self.add(self.text(self.pattern[start:end], flags))
        self.position = end

    def read_itself(self, flags: _Flags) -> None:
        """A special character that means itself where it stands."""
        self.add(self.text(self.pattern[self.position], flags))
        self.position += 1

    def text(self, value: str, flags: _Flags) -> Expr:
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
        return expr.concat(*[self.characters(_other_cases(((ord(c), ord(c)),), flags), flags) for c in value])

    def characters(self, ranges: Ranges, flags: _Flags, negated: bool = False) -> Expr:
        """The expression of a set of characters, or of bytes."""
        if not flags.raw_bytes:
            # A range may run across the surrogates, which are no characters.
            members = (rg.subtract if negated else rg.intersect)(ALL_CHARACTERS, ranges)
            return expr.char_ranges(members)
        if ranges and ranges[-1][1] > 0xFF:
            raise self.error("a character above U+00FF is not a byte")
        return expr.byte_ranges(rg.subtract(_ALL_BYTES, ranges) if negated else ranges)

    def read_bar(self, flags: _Flags) -> None:
        self.groups[-1].close_alternative()
        self.position += 1
        self.quantifiable = False
        self.item_end_anchor = None

    def read_dot(self, flags: _Flags) -> None:
        self.position += 1
        self.add(_dot(flags.dot_all, flags.raw_bytes))

    def read_caret(self, flags: _Flags) -> None:
        self.read_anchor(starts=True, length=1)

    def read_dollar(self, flags: _Flags) -> None:
        self.read_anchor(starts=False, length=1)

    def read_anchor(self, *, starts: bool, length: int) -> None:
        group, position = self.groups[-1], self.position
        if starts and not (group.at_start and all(expr.is_epsilon(item) for item in group.items)):
            raise self.error("this anchor stands where text can come before it")
        self.add(expr.EPSILON, anchor=position if starts else None, end_anchor=None if starts else position)
        self.quantifiable = False
        self.position += length

    # Quantifiers

    def read_brace(self, flags: _Flags) -> None:
        """Bounds, or a brace that means itself, as in Python."""
        match = _BOUNDS.match(self.pattern, self.position)
        if match is None or not (match[1] or match[2]):
            self.read_itself(flags)
            return
        low = int(match[1] or 0)
        high = low if not match[2] else int(match[3]) if match[3] else None
        if high is not None and high < low:
            raise self.error("the upper bound lies below the lower one")
        self.quantify(low, high, match.end())

    def read_quantifier(self, flags: _Flags) -> None:
        low, high = _BOUNDS_OF[self.pattern[self.position]]
        self.quantify(low, high, self.position + 1)

    def quantify(self, low: int, high: int | None, end: int) -> None:
        """Repeats the last item; the quantifier stands at this place up to `end`."""
        position, self.position = self.position, end
        if self.pattern.startswith("+", end):
            raise self.error("a possessive quantifier does not describe a language by itself")
        if self.pattern.startswith("?", end):  # lazy: the same language
            self.position += 1
        if not self.quantifiable:
            raise self.error("there is nothing to repeat", position)
        if self.item_anchor is not None and (high is None or high > 1):
            raise self.error("an anchor cannot be repeated", self.item_anchor)
        items = self.groups[-1].items
        items[-1] = expr.repeat(items[-1], low, high)
        self.quantifiable = False

    # Groups

    def read_group(self, flags: _Flags) -> None:
        start, pattern = self.position, self.pattern
        operation = None
        if pattern.startswith("(?:", start):
            self.position += 3
        elif pattern.startswith("(?#", start):
            self.skip_comment()
            return
        elif pattern.startswith("(?", start):
            for prefix, reason in _REFUSED_GROUPS.items():
                if pattern.startswith(prefix, start):
                    raise self.error(reason)
            name = _NAME.match(pattern, start)
            if name:
                operation = self.group_name(name)
                flags = flags._replace(raw_bytes=True) if operation == "BYTES" else flags
                self.position = name.end()
            else:
                read = self.read_flags(flags)
                if read is None:
                    return
                flags = read
        else:
            self.position += 1
        outer = self.groups[-1]
        at_start = outer.at_start and operation is None and all(expr.is_epsilon(item) for item in outer.items)
        self.groups.append(_Group(start, flags, at_start, operation))
        self.quantifiable = False

    def skip_comment(self) -> None:
        end = self.pattern.find(")", self.position)
        if end < 0:
            raise self.error("a comment is opened and never closed")
        self.position = end + 1

    def group_name(self, match: re.Match[str]) -> str | None:
        name = match[1]
        if name in _OPERATIONS:
            return name
        if not name.isidentifier():
            raise self.error("a group's name must be an identifier", match.start(1))
        return None

    def read_flags(self, flags: _Flags) -> _Flags | None:
        """The flags of a group that opens here, or None after global flags, which are set on the way."""
        match = _FLAGS.match(self.pattern, self.position)
        if match is None:
            raise self.error("this kind of group is unknown")
        added, removed, closing = match[1], match[2] or "", match[3]
        if closing == ")" and (self.position != 0 or removed or not added):
            raise self.error("flags for the whole pattern must stand at its start")
        for offset, letter in enumerate(added):
            flags = self.set_flag(flags, letter, True, match.start(1) + offset)
        for offset, letter in enumerate(removed):
            flags = self.set_flag(flags, letter, False, match.start(2) + offset)
        self.position = match.end()
        if closing == ":":
            return flags
        self.groups[-1].flags = flags
        return None

    def set_flag(self, flags: _Flags, letter: str, value: bool, position: int) -> _Flags:
        if letter in _REFUSED_FLAGS:
            raise self.error(_REFUSED_FLAGS[letter], position)
        if letter not in _FLAG_FIELDS:
            raise self.error(f"the flag {letter} is unknown", position)
        return flags._replace(**{_FLAG_FIELDS[letter]: value})

    def read_group_end(self, flags: _Flags) -> None:
        if len(self.groups) == 1:
            raise self.error("a group is closed that was never opened")
        group = self.groups.pop()
        self.item_end_anchor = self.groups[-1].end_anchor if self.groups[-1].items else None
        result = self.close_group(group)
        if group.operation is not None and (group.start_anchor is not None or group.end_anchor is not None):
            raise self.error("an anchor cannot stand inside an operation", group.position)
        self.add(result, group.start_anchor, group.end_anchor)
        self.position += 1

    def close_group(self, group: _Group) -> Expr:
        if group.operation in ("AND", "MINUS"):
            operands = group.items
            if group.alternatives or len(operands) != 2:
                raise self.error(f"{group.operation} takes two groups, one after the other", group.position)
            combine = expr.intersection if group.operation == "AND" else expr.difference
            return combine(*operands)
        group.close_alternative()
        result = expr.alternation(*group.alternatives)
        return expr.complement(result) if group.operation == "NOT" else result

    # Escapes and sets

    def read_escape(self, flags: _Flags) -> None:
        start = self.position
        letter = self.pattern[start + 1 : start + 2]
        if letter in ("A", "Z"):
            self.read_anchor(starts=letter == "A", length=2)
        elif letter in ("b", "B"):
            raise self.error("word boundaries are not supported")
        elif letter in "123456789" and letter and not _OCTAL.match(self.pattern, start + 1):
            raise self.error("a back-reference is not regular")
        elif letter in _CLASS_LETTERS and letter:
            self.position += 2
            self.add(_class(letter, flags.unicode, flags.raw_bytes))
        else:
            code = self.escaped_character()
            end, self.position = self.position, start
            self.add(self.text(chr(code), flags))
            self.position = end

    def escaped_character(self) -> int:
        """The code point of the escape at this place, which it moves past."""
        start = self.position
        letter = self.pattern[start + 1 : start + 2]
        if not letter:
            raise self.error("the pattern ends in a backslash")
        if not (letter.isascii() and letter.isalnum()):
            self.position += 2
            return ord(letter)
        octal = _OCTAL.match(self.pattern, start + 1)
        if octal:
            self.position = octal.end()
            return int(octal.group(), 8)
        if letter in _HEX_ESCAPE:
            digits = _HEX_ESCAPE[letter].match(self.pattern, start + 2)
            if not digits or int(digits.group(), 16) > rg.MAX_CODE_POINT:
                raise self.error(f"the escape \\{letter} is incomplete or no code point")
            self.position = digits.end()
            return self.scalar(int(digits.group(), 16), start)
        if letter == "N":
            return self.named_character()
        if letter in _CONTROL:
            self.position += 2
            return ord(_CONTROL[letter])
        raise self.error(f"the escape \\{letter} is unknown")

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

    def read_set(self, flags: _Flags) -> None:
        start = self.position
        whole = _SET.match(self.pattern, start)
        known = self.sets.get((whole.group(), flags)) if whole else None
        if whole and known:
            self.add(known)
            self.position = whole.end()
            return
        self.position += 1
        negated = self.pattern.startswith("^", self.position)
        self.position += negated
        # Classes are not folded: they hold both cases of whatever they hold.
        folded: list[tuple[int, int]] = []
        classes: list[tuple[int, int]] = []
        first = True
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
            else:
                folded.append((low, self.range_end(low, flags)))
        self.position += 1
        if flags.ignore_case:
            folded = [*_other_cases(rg.normalize(folded), flags)]
        ranges = rg.normalize([*folded, *classes])
        end, self.position = self.position, start
        result = self.characters(ranges, flags, negated)
        self.sets[self.pattern[start:end], flags] = result
        self.add(result)
        self.position = end

    def set_member(self, flags: _Flags) -> int | Ranges:
        """One character's code point, or the ranges of a class."""
        char = self.pattern[self.position]
        if char != "\\":
            self.position += 1
            if "\ud800" <= char <= "\udfff":
                raise self.error("a surrogate is not a character", self.position - 1)
            return ord(char)
        letter = self.pattern[self.position + 1 : self.position + 2]
        if letter and letter in _CLASS_LETTERS:
            self.position += 2
            return _class_ranges(letter, flags.unicode, flags.raw_bytes)
        if letter == "b":
            self.position += 2
            return 0x08
        return self.escaped_character()

    def range_end(self, low: int, flags: _Flags) -> int:
        """The upper end of the range that starts at `low`, which is `low` itself where there is no range."""
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


# What reads an item that begins with a special character; all others are plain.
_READERS: dict[str, Callable[[_Parser, _Flags], None]] = {
    "[": _Parser.read_set,
    "(": _Parser.read_group,
    ")": _Parser.read_group_end,
    "|": _Parser.read_bar,
    "\\": _Parser.read_escape,
    ".": _Parser.read_dot,
    "^": _Parser.read_caret,
    "$": _Parser.read_dollar,
    "{": _Parser.read_brace,
    "}": _Parser.read_itself,
    "]": _Parser.read_itself,
    **dict.fromkeys(_BOUNDS_OF, _Parser.read_quantifier),
}


def _other_cases(ranges: Ranges, flags: _Flags) -> Ranges:
    if not flags.ignore_case or flags.raw_bytes:
        return ranges
    return characters.ignore_case(ranges, ascii_only=flags.ascii_case)


@cache
def _dot(dot_all: bool, raw_bytes: bool) -> Expr:
    every = _ALL_BYTES if raw_bytes else ALL_CHARACTERS
    ranges = every if dot_all else rg.subtract(every, ((0x0A, 0x0A),))
    return expr.byte_ranges(ranges) if raw_bytes else expr.char_ranges(ranges)


@cache
def _class_ranges(letter: str, unicode: bool, raw_bytes: bool) -> Ranges:
    name = letter.lower()
    ranges = characters.unicode_class(name) if unicode and not raw_bytes else characters.ASCII_CLASSES[name]
    if letter.islower():
        return ranges
    return rg.subtract(_ALL_BYTES if raw_bytes else ALL_CHARACTERS, ranges)


@cache
def _class(letter: str, unicode: bool, raw_bytes: bool) -> Expr:
    ranges = _class_ranges(letter, unicode, raw_bytes)
    return expr.byte_ranges(ranges) if raw_bytes else expr.char_ranges(ranges)
