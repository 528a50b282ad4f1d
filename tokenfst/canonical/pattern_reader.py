"""Reads the regular expression of a pre-tokenizer into a program with priorities.

These expressions are matched by engines that try alternatives in order and go back: the first way to a match is the
match, not the longest. A program keeps that order (Thompson 1968; Pike's form, as in Cox 2009):

    Read     reads a character of a set and goes on
    Fork     goes on in several places, the first of them first
    Match    the piece ends here, if the next character is one of those that the look-ahead allows, or there is none

What encoders in use have is read: alternatives, groups (also `(?i:...)`), sets with categories, greedy and lazy
quantifiers, and a look-ahead for one character at the end of an alternative. All else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from automata.errors import UnsupportedTokenizer
from tokenfst.canonical import characters as chars
from tokenfst.canonical.characters import Flags


@dataclass(frozen=True)
class Read:
    """Reads a character of `sets[number]`."""

    number: int
    then: int


@dataclass
class Fork:
    """Goes on at each of some places, the most preferred first."""

    ways: list[int]


@dataclass(frozen=True)
class Match:
    """The end of a match.

    Attributes:
        ahead: the set of which the next character must not be one, -1 for none.
    """

    ahead: int


Op = Read | Fork | Match
# Lays a part out before the instruction whose place is given, and says where the part begins.
_Part = Callable[[int], int]


@dataclass
class PatternProgram:
    """Instructions, and the sets of characters that they name."""

    ops: list[Op] = field(default_factory=list)
    sets: list[Flags] = field(default_factory=list)
    start: int = 0
    uses_categories: bool = False


_QUANTIFIER = re.compile(r"[?*+]|\{(\d+)(,?)(\d*)\}")
_CATEGORY = re.compile(r"\{\^?([A-Za-z]{1,2})\}")
_ESCAPES = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v"}
MAX_REPEATS = 64


def read_pattern(pattern: str | None) -> PatternProgram:
    """The program of a pattern; without one, a text is one piece.

    Raises:
        UnsupportedTokenizer: with the place and the reason.
    """
    reader = _Reader(r"[\s\S]+" if pattern is None else pattern)
    part, nullable = reader.alternatives(fold=False)
    if reader.place < len(reader.pattern):
        raise reader.error("a bracket that nothing opens")
    if nullable:
        raise reader.error("a piece may be empty")
    program = reader.program
    program.start = part(reader.add(Match(-1)))
    return program


class _Reader:
    """Reads by recursive descent; every method gives a part and whether it may be empty."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.place, self.program = pattern, 0, PatternProgram()

    def error(self, reason: str) -> UnsupportedTokenizer:
        return UnsupportedTokenizer(f"pre-tokenizer pattern, position {self.place} of {self.pattern!r}: {reason}")

    def add(self, op: Op) -> int:
        self.program.ops.append(op)
        return len(self.program.ops) - 1

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.place)

    def take(self, text: str) -> bool:
        found = self.peek(text)
        self.place += len(text) * found
        return found

    def alternatives(self, *, fold: bool) -> tuple[_Part, bool]:
        options = [self.sequence(fold=fold)]
        while self.take("|"):
            options.append(self.sequence(fold=fold))
        if len(options) == 1:
            return options[0]
        parts = [part for part, _ in options]
        return (lambda then: self.add(Fork([part(then) for part in parts]))), any(empty for _, empty in options)

    def sequence(self, *, fold: bool) -> tuple[_Part, bool]:
        parts: list[_Part] = []
        nullable = True
        while self.place < len(self.pattern) and not self.peek("|") and not self.peek(")"):
            part, empty = self.look_ahead() if self.peek("(?!") else self.quantified(fold=fold)
            parts.append(part)
            nullable &= empty

        def lay(then: int) -> int:
            for part in reversed(parts):
                then = part(then)
            return then

        return lay, nullable

    def look_ahead(self) -> tuple[_Part, bool]:
        self.take("(?!")
        number = self.set_number(self.one_set(fold=False))
        if not self.take(")"):
            raise self.error("a look-ahead for more than one character")

        def lay(then: int) -> int:
            if self.program.ops[then] != Match(-1):
                raise self.error("a look-ahead that is not at the end of an alternative")
            return self.add(Match(number))

        return lay, True

    def quantified(self, *, fold: bool) -> tuple[_Part, bool]:
        part, nullable = self.atom(fold=fold)
        found = _QUANTIFIER.match(self.pattern, self.place)
        if found is None:
            return part, nullable
        low, high = _bounds(found)
        if nullable or max(low, high or 0) > MAX_REPEATS:
            raise self.error(f"a repetition of what may be empty, or of more than {MAX_REPEATS}")
        self.place = found.end()
        lazy = self.take("?")
        if self.peek("+"):
            raise self.error("a possessive quantifier")
        return (lambda then: self.repeated(part, low, high, lazy=lazy, then=then)), low == 0

    def repeated(self, part: _Part, low: int, high: int | None, *, lazy: bool, then: int) -> int:
        def fork(more: int, done: int) -> list[int]:
            return [done, more] if lazy else [more, done]

        if high is None:
            loop = Fork([])
            place = self.add(loop)
            loop.ways = fork(part(place), then)
            after = place
        else:
            after = then
            for _ in range(high - low):
                after = self.add(Fork(fork(part(after), then)))
        for _ in range(low):
            after = part(after)
        return after

    def atom(self, *, fold: bool) -> tuple[_Part, bool]:
        for opening, folds in (("(?i:", True), ("(?:", fold), ("(", fold)):
            if self.take(opening):
                if self.peek("?"):
                    raise self.error("an extension group of this kind")
                inner = self.alternatives(fold=folds)
                if not self.take(")"):
                    raise self.error("a group that nothing closes")
                return inner
        number = self.set_number(self.one_set(fold=fold))
        return (lambda then: self.add(Read(number, then))), False

    def set_number(self, flags: Flags) -> int:
        for number, known in enumerate(self.program.sets):
            if (known == flags).all():
                return number
        self.program.sets.append(flags)
        return len(self.program.sets) - 1

    def one_set(self, *, fold: bool) -> Flags:
        """The characters that one element of the pattern stands for."""
        if self.take("["):
            return self.bracket(fold=fold)
        if self.take("\\"):
            return self.escape(fold=fold)
        if self.place >= len(self.pattern) or self.pattern[self.place] in ".^$*+?{}])|":
            raise self.error("a character or a set is expected")
        return self.one_character(fold=fold)

    def one_character(self, *, fold: bool) -> Flags:
        code = ord(self.pattern[self.place])
        self.place += 1
        return chars.either_case(code) if fold else chars.only(code)

    def bracket(self, *, fold: bool) -> Flags:
        negated = self.take("^")
        found = chars.only()
        while not self.take("]"):
            if self.place >= len(self.pattern):
                raise self.error("a set that nothing closes")
            if self.peek("[") or self.peek("&&") or self.pattern[self.place + 1 : self.place + 2] == "-":
                raise self.error("a range or an operation in a set")
            found |= self.escape(fold=fold) if self.take("\\") else self.one_character(fold=fold)
        return ~found if negated else found

    def escape(self, *, fold: bool) -> Flags:
        """The set behind a backslash."""
        letter = self.pattern[self.place : self.place + 1]
        if letter in ("s", "S"):
            self.place += 1
            return chars.white_space() if letter == "s" else ~chars.white_space()
        if letter in ("p", "P"):
            return self.category()
        if letter in _ESCAPES:
            self.place += 1
            return chars.only(ord(_ESCAPES[letter]))
        if not letter or letter.isalnum():
            raise self.error("an escape that is not known")
        return self.one_character(fold=fold)

    def category(self) -> Flags:
        found = _CATEGORY.match(self.pattern, self.place + 1)
        if found is None or "^" in found[0] or not chars.category(found[1]).any():
            raise self.error("a property that is not a general category")
        negated = self.pattern[self.place] == "P"
        self.place = found.end()
        self.program.uses_categories = True
        flags = chars.category(found[1])
        return ~flags if negated else flags


def _bounds(found: re.Match[str]) -> tuple[int, int | None]:
    """The least and the greatest count of a quantifier, None for any."""
    if found[0] in "?*+":
        return int(found[0] == "+"), 1 if found[0] == "?" else None
    low = int(found[1])
    if not found[2]:
        return low, low
    return low, int(found[3]) if found[3] else None
