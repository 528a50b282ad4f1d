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
from collections.abc import Callable
from dataclasses import dataclass, field

from automata import expr
from automata.character_reader import CLASS_LETTERS, OCTAL, CharacterReader, Flags, dot, named_class
from automata.expr import Expr

_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]+")
_PLAIN_VERBOSE = re.compile(r"[^\\.^$*+?{}\[\]|()#\s]+")
_SKIPPED_VERBOSE = re.compile(r"(?:\s|#[^\n]*)*")
_BOUNDS = re.compile(r"\{(\d*)(?:(,)(\d*))?\}")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME = re.compile(r"\(\?P<([^>]*)>")
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


_FLAG_FIELDS = {"i": "ignore_case", "s": "dot_all", "x": "verbose", "u": "unicode", "a": "ascii_case"}
_REFUSED_FLAGS = {
    "m": "the flag m (anchors at lines) is not supported",
    "L": "the flag L (locale) is not supported",
}


@dataclass(slots=True)
class _Group:
    """An open group: what has been read of it, and what is to be done when it closes."""

    position: int
    flags: Flags
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


class _Parser(CharacterReader):
    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.groups = [_Group(0, Flags(), at_start=True)]
        # What the last item was: a quantifier may follow an atom only; anchors inside forbid repetition.
        self.quantifiable = False
        self.item_anchor: int | None = None
        self.item_end_anchor: int | None = None

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

    def read_plain(self, flags: Flags) -> None:
        """A run of plain characters; a quantifier after it belongs to the last one alone."""
        start = self.position
        match = (_PLAIN_VERBOSE if flags.verbose else _PLAIN).match(self.pattern, start)
        end = match.end() if match else start + 1
        if end - start > 1 and self.pattern[end : end + 1] in _QUANTIFIERS:
            self.add(self.text(self.pattern[start : end - 1], flags))
            start = self.position = end - 1
        self.add(self.text(self.pattern[start:end], flags))
        self.position = end

    def read_itself(self, flags: Flags) -> None:
        """A special character that means itself where it stands."""
        self.add(self.text(self.pattern[self.position], flags))
        self.position += 1

    def read_bar(self, flags: Flags) -> None:
        self.groups[-1].close_alternative()
        self.position += 1
        self.quantifiable = False
        self.item_end_anchor = None

    def read_dot(self, flags: Flags) -> None:
        self.position += 1
        self.add(dot(flags.dot_all, flags.raw_bytes))

    def read_caret(self, flags: Flags) -> None:
        self.read_anchor(starts=True, length=1)

    def read_dollar(self, flags: Flags) -> None:
        self.read_anchor(starts=False, length=1)

    def read_anchor(self, *, starts: bool, length: int) -> None:
        group, position = self.groups[-1], self.position
        if starts and not (group.at_start and all(expr.is_epsilon(item) for item in group.items)):
            raise self.error("this anchor stands where text can come before it")
        self.add(expr.EPSILON, anchor=position if starts else None, end_anchor=None if starts else position)
        self.quantifiable = False
        self.position += length

    # Quantifiers

    def read_brace(self, flags: Flags) -> None:
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

    def read_quantifier(self, flags: Flags) -> None:
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

    def read_group(self, flags: Flags) -> None:
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

    def read_flags(self, flags: Flags) -> Flags | None:
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

    def set_flag(self, flags: Flags, letter: str, value: bool, position: int) -> Flags:
        if letter in _REFUSED_FLAGS:
            raise self.error(_REFUSED_FLAGS[letter], position)
        if letter not in _FLAG_FIELDS:
            raise self.error(f"the flag {letter} is unknown", position)
        return flags._replace(**{_FLAG_FIELDS[letter]: value})

    def read_group_end(self, flags: Flags) -> None:
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

    # Single characters

    def read_escape(self, flags: Flags) -> None:
        start = self.position
        letter = self.pattern[start + 1 : start + 2]
        if letter in ("A", "Z"):
            self.read_anchor(starts=letter == "A", length=2)
        elif letter in ("b", "B"):
            raise self.error("word boundaries are not supported")
        elif letter in "123456789" and letter and not OCTAL.match(self.pattern, start + 1):
            raise self.error("a back-reference is not regular")
        elif letter in CLASS_LETTERS and letter:
            self.position += 2
            self.add(named_class(letter, flags.unicode, flags.raw_bytes))
        else:
            self.add(self.escaped(flags))

    def read_set(self, flags: Flags) -> None:
        self.add(self.character_set(flags))


# What reads an item that begins with a special character; all others are plain.
_READERS: dict[str, Callable[[_Parser, Flags], None]] = {
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
