"""The parser of Python's dialect: items, quantifiers and assertions. `automata.pattern` describes the whole syntax.

Runs of plain characters are read in one step; a special character selects its reader (`Parser.readers`). Another
dialect is a subclass that reads some of it differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import ClassVar

from automata import expressions as ex
from automata.expressions import ANY_CHAR, TEXT_END, TEXT_START, Expr
from automata.expressions import ranges as rg
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.limits import spend
from automata.pattern.character_reader import CLASS_LETTERS, OCTAL, Flags
from automata.pattern.group_reader import GroupReader

_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]+")
# Whitespace in a verbose pattern is ASCII. A backslash escapes the character after it, even in a comment.
_PLAIN_VERBOSE = re.compile(r"[^\\.^$*+?{}\[\]|()# \t\n\r\v\f]+")
_SKIPPED_VERBOSE = re.compile(r"(?:[ \t\n\r\v\f]|#(?:\\.|[^\\\n])*)*", re.DOTALL)
_BOUNDS = re.compile(r"\{(\d*)(?:(,)(\d*))?\}")
_BOUNDS_OF = {"*": (0, None), "+": (1, None), "?": (0, 1)}
# A bound with more digits is refused; by default, Python converts at most 4,300 digits to a number.
_MAX_DIGITS = 4_000
# After this many items, the parser accounts for their steps (`limits.spend`), so that a long pattern can be stopped.
_WATCHED_EVERY, _STEPS = 1000, 100
_QUANTIFIERS = (*_BOUNDS_OF, "{")


class Parser(GroupReader):
    """One pattern being read."""

    # The method that reads an item that begins with this special character; all other characters are plain.
    readers: ClassVar[Mapping[str, Callable[[Parser, Flags], None]]]

    def parse(self) -> Expr:
        """Parse the pattern; assertions stay unresolved."""
        length, items, read_plain = len(self.pattern), 0, type(self).read_plain
        while self.position < length:
            items += 1
            if not items % _WATCHED_EVERY:
                spend(_STEPS * _WATCHED_EVERY)
            flags = self.groups[-1].flags
            if flags.verbose and self.skip():
                continue
            read = self.readers.get(self.pattern[self.position], read_plain)
            read(self, flags)
        if len(self.groups) > 1:
            raise self.error("a group is opened and never closed", self.groups[-1].position)
        return self.close_group(self.groups[0])

    def skip(self) -> bool:
        """Move past whitespace and comments of a verbose pattern; return whether there are any."""
        start = self.position
        skipped = _SKIPPED_VERBOSE.match(self.pattern, start)
        self.position = skipped.end() if skipped else start
        return self.position > start

    # Items

    def read_plain(self, flags: Flags) -> None:
        """Read a run of plain characters; a quantifier after it belongs to the last one alone, even after a comment."""
        start = self.position
        match = (_PLAIN_VERBOSE if flags.verbose else _PLAIN).match(self.pattern, start)
        end = match.end() if match else start + 1
        may_be_repeated = flags.verbose or self.pattern.startswith((*_QUANTIFIERS, "(?#"), end)
        if end - start > 1 and may_be_repeated:
            self.add(self.text(self.pattern[start : end - 1], flags))
            start = self.position = end - 1
        self.add(self.text(self.pattern[start:end], flags))
        self.position = end

    def read_itself(self, flags: Flags) -> None:
        """Read a special character that stands for itself here."""
        self.add(self.text(self.pattern[self.position], flags))
        self.position += 1

    def read_bar(self, flags: Flags) -> None:
        self.groups[-1].close_alternative()
        if self.names_recur:
            self.groups[-1].names = set()
        self.position += 1
        self.is_quantifiable = False

    def read_dot(self, flags: Flags) -> None:
        self.position += 1
        self.add(self.dot(flags))

    def read_set(self, flags: Flags) -> None:
        self.add(self.character_set(flags))

    def read_escape(self, flags: Flags) -> None:
        letter = self.pattern[self.position + 1 : self.position + 2]
        if letter and letter in CLASS_LETTERS:
            self.position += 2
            self.add(self.named_class(letter, flags))
        elif letter and letter in "pP":
            self.add(self.property(flags))
        elif letter and letter in "bB":
            self.add_anchor(word_boundary(self.class_ranges("w", flags), letter == "B"), flags, 2)
        elif not self.read_dialect_escape(letter, flags):
            self.add(self.escaped(flags))

    def read_dialect_escape(self, letter: str, flags: Flags) -> bool:
        """Read an escape that is not a character and that only this dialect has; return whether there is one."""
        if letter and letter in "AZ":
            self.add_anchor(TEXT_START if letter == "A" else TEXT_END, flags, 2)
            return True
        if letter and letter in "123456789" and not OCTAL.match(self.pattern, self.position + 1):
            raise self.irregular("a back-reference is not regular")
        return False

    # Anchors

    def read_caret(self, flags: Flags) -> None:
        self.add_anchor(line_start(self.line_ends) if flags.multiline else TEXT_START, flags, 1)

    def read_dollar(self, flags: Flags) -> None:
        self.add_anchor(line_end(self.line_ends) if flags.multiline else self.text_end(), flags, 1)

    def text_end(self) -> Expr:
        """Return the assertion that `$` stands for without the flag m."""
        return before_last_line_feed()

    def add_anchor(self, anchor: Expr, flags: Flags, length: int) -> None:
        self.asserting(flags)
        self.add(anchor)
        self.is_quantifiable = False
        self.position += length

    # Quantifiers

    def read_brace(self, flags: Flags) -> None:
        """Read bounds, or a brace that stands for itself."""
        match = _BOUNDS.match(self.pattern, self.position)
        if match is None or not self.has_bounds(match):
            self.read_itself(flags)
            return
        if max(len(match[1] or ""), len(match[3] or "")) > _MAX_DIGITS:
            raise self.error(f"a bound of more than {_MAX_DIGITS} digits")
        low = int(match[1] or 0)
        high = low if not match[2] else int(match[3]) if match[3] else None
        if high is not None and high < low:
            raise self.error("the upper bound lies below the lower one")
        self.quantify(low, high, match.end())

    def has_bounds(self, match: re.Match[str]) -> bool:
        return bool(match[1] or match[2])

    def read_quantifier(self, flags: Flags) -> None:
        low, high = _BOUNDS_OF[self.pattern[self.position]]
        self.quantify(low, high, self.position + 1)

    def quantify(self, low: int, high: int | None, end: int) -> None:
        """Repeat the last item; the quantifier extends from the current position to `end`, before any `?` or `+`."""
        position, self.position = self.position, end
        if self.pattern.startswith("+", end):
            raise self.irregular("a possessive quantifier does not describe a language by itself")
        lazy = self.pattern.startswith("?", end)
        if lazy:
            self.position += 1
        if not self.is_quantifiable:
            raise self.error("there is nothing to repeat", position)
        items = self.groups[-1].items
        repetition = items[-1], low, high, lazy
        known = self.repetitions.get(repetition)
        if known is None:
            known = self.repetitions[repetition] = self.repeated(*repetition)
        items[-1] = known
        self.is_quantifiable = False

    def repeated(self, item: Expr, low: int, high: int | None, lazy: bool) -> Expr:
        """Return the repetition of an item; a lazy quantifier does not change the language."""
        return ex.repeat(item, low, high)


Parser.readers = {
    "[": Parser.read_set,
    "(": Parser.read_group,
    ")": Parser.read_group_end,
    "|": Parser.read_bar,
    "\\": Parser.read_escape,
    ".": Parser.read_dot,
    "^": Parser.read_caret,
    "$": Parser.read_dollar,
    "{": Parser.read_brace,
    "}": Parser.read_itself,
    "]": Parser.read_itself,
    **dict.fromkeys(_BOUNDS_OF, Parser.read_quantifier),
}


# Assertions, in terms of look-around


@cache
def line_start(line_ends: Ranges) -> Expr:
    """Return an assertion that holds where a line begins: not after a character that does not end a line."""
    return ex.lookbehind(ex.char_ranges(rg.subtract(ALL_CHARACTERS, line_ends)), negated=True)


@cache
def line_end(line_ends: Ranges) -> Expr:
    """Return an assertion that holds where a line ends: not before a character that does not end a line."""
    return ex.lookahead(ex.char_ranges(rg.subtract(ALL_CHARACTERS, line_ends)), negated=True)


@cache
def before_last_line_feed() -> Expr:
    """Return an assertion that holds at the end of the text, or before a line feed that ends it."""
    return ex.lookahead(ex.char_set("\n", negated=True) | ("\n" + ANY_CHAR), negated=True)


@cache
def word_boundary(word: Ranges, negated: bool) -> Expr:
    """Return an assertion that holds where a word begins or ends or, negated, where it does not."""
    char = ex.char_ranges(word)
    behind, ahead = ex.lookbehind(char), ex.lookahead(char)
    not_behind, not_ahead = ex.lookbehind(char, negated=True), ex.lookahead(char, negated=True)
    if negated:
        return behind + ahead | not_behind + not_ahead
    return behind + not_ahead | not_behind + ahead
