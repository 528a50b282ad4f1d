"""Parse the regular expression of a pre-tokenizer into a program with priorities.

Backtracking engines match these expressions: they try alternatives in order and take the first match found, which is
not always the longest one. A program preserves this order (Thompson 1968; in Pike's form, as in Cox 2009):

    Read     read a character of a set, and continue at one instruction
    Fork     continue at several instructions, in order of preference
    Match    end the piece, if the look-ahead allows the next character or the text ends

The syntax covers the patterns of encoders in use: alternatives, groups (also `(?i:...)`), sets with categories, greedy
and lazy quantifiers, and a look-ahead for one character at the end of an alternative. Anything else is refused.
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
    """Read a character of a set.

    Attributes:
        number: the index of the set in `PatternProgram.sets`.
        then: the address of the next instruction.
    """

    number: int
    then: int


@dataclass
class Fork:
    """Continue at several instructions.

    Attributes:
        targets: their addresses, the preferred one first.
    """

    targets: list[int]


@dataclass(frozen=True)
class Match:
    """End the match.

    Attributes:
        ahead: the index of the set that the next character must not be in, -1 for none.
    """

    ahead: int


Op = Read | Fork | Match
# A parsed part of a pattern: given the address of the instruction after it, it emits its instructions and returns the
# address of the first one.
_Part = Callable[[int], int]


@dataclass
class PatternProgram:
    """The instructions of a pattern.

    Attributes:
        ops: the instructions; an address is an index into this list.
        sets: the sets of characters that instructions refer to.
        start: the address of the first instruction.
        uses_categories: whether the pattern refers to categories of Unicode.
    """

    ops: list[Op] = field(default_factory=list)
    sets: list[Flags] = field(default_factory=list)
    start: int = 0
    uses_categories: bool = False


_QUANTIFIER = re.compile(r"[?*+]|\{(\d+)(,?)(\d*)\}")
_CATEGORY = re.compile(r"\{\^?([A-Za-z]{1,2})\}")
_ESCAPES = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v"}
MAX_REPEATS = 64


def read_pattern(pattern: str | None) -> PatternProgram:
    """Return the program of a pattern; for None, the one that takes a whole text as one piece.

    Raises:
        UnsupportedTokenizer: the pattern is not supported; the message gives the position and the reason.
    """
    reader = _Reader(r"[\s\S]+" if pattern is None else pattern)
    try:
        part, nullable = reader.alternatives(fold=False)
    except RecursionError:
        raise reader.error("groups are nested too deep") from None
    if reader.position < len(reader.pattern):
        raise reader.error("a bracket that nothing opens")
    if nullable:
        raise reader.error("a piece may be empty")
    program = reader.program
    program.start = part(reader.add(Match(-1)))
    return program


class _Reader:
    """A recursive-descent parser; its methods for syntax return a part, and whether the part matches the empty text.

    `fold` says whether case is ignored. Engines agree on this for single characters, but not for categories, nor for
    several letters that match one character, such as ss for ß; patterns with these are refused.

    Attributes:
        pattern: the pattern.
        position: where the parser is in it.
        program: the instructions so far.
        folded: the adjacent characters just read whose case is ignored, case-folded.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern, self.position, self.program = pattern, 0, PatternProgram()
        self.folded = ""

    def error(self, reason: str) -> UnsupportedTokenizer:
        return UnsupportedTokenizer(f"pre-tokenizer pattern, position {self.position} of {self.pattern!r}: {reason}")

    def add(self, op: Op) -> int:
        self.program.ops.append(op)
        return len(self.program.ops) - 1

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def take(self, text: str) -> bool:
        found = self.peek(text)
        self.position += len(text) * found
        return found

    def alternatives(self, *, fold: bool) -> tuple[_Part, bool]:
        options = [self.sequence(fold=fold)]
        while self.take("|"):
            self.folded = ""
            options.append(self.sequence(fold=fold))
        if len(options) == 1:
            return options[0]
        parts = [part for part, _ in options]
        return (lambda then: self.add(Fork([part(then) for part in parts]))), any(empty for _, empty in options)

    def sequence(self, *, fold: bool) -> tuple[_Part, bool]:
        parts: list[_Part] = []
        nullable = True
        while self.position < len(self.pattern) and not self.peek("|") and not self.peek(")"):
            part, empty = self.look_ahead(fold=fold) if self.peek("(?!") else self.quantified(fold=fold)
            parts.append(part)
            nullable &= empty

        def lay(then: int) -> int:
            for part in reversed(parts):
                then = part(then)
            return then

        return lay, nullable

    def look_ahead(self, *, fold: bool) -> tuple[_Part, bool]:
        self.take("(?!")
        number = self.set_number(self.one_set(fold=fold))
        if not self.take(")"):
            raise self.error("a look-ahead for more than one character")

        def lay(then: int) -> int:
            if self.program.ops[then] != Match(-1):
                raise self.error("a look-ahead that is not at the end of an alternative")
            return self.add(Match(number))

        return lay, True

    def quantified(self, *, fold: bool) -> tuple[_Part, bool]:
        part, nullable = self.atom(fold=fold)
        found = _QUANTIFIER.match(self.pattern, self.position)
        if found is None:
            return part, nullable
        low, high = _bounds(found)
        if nullable or max(low, high or 0) > MAX_REPEATS:
            raise self.error(f"a repetition of what may be empty, or of more than {MAX_REPEATS}")
        if high is not None and high < low:
            raise self.error("a repetition of more than its greatest number")
        self.position, self.folded = found.end(), ""
        lazy = self.take("?")
        if lazy and found[0].startswith("{") and not found[2]:
            raise self.error(f"{found[0]}?, which is optional in tokenizers, and in tiktoken is not")
        if self.peek("+"):
            raise self.error("a possessive quantifier")
        return (lambda then: self.repeated(part, low, high, lazy=lazy, then=then)), low == 0

    def repeated(self, part: _Part, low: int, high: int | None, *, lazy: bool, then: int) -> int:
        def fork(more: int, done: int) -> list[int]:
            return [done, more] if lazy else [more, done]

        if high is None:
            loop = Fork([])
            address = self.add(loop)
            loop.targets = fork(part(address), then)
            after = address
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
        """Return the characters that one element of the pattern matches."""
        before, self.folded = self.folded, ""
        if self.take("["):
            return self.bracket(fold=fold)
        if self.take("\\"):
            return self.escape(fold=fold)
        if self.position >= len(self.pattern) or self.pattern[self.position] in ".^$*+?{}])|":
            raise self.error("a character or a set is expected")
        if fold:
            self.folded = before + self.pattern[self.position].casefold()
        return self.one_character(fold=fold)

    def one_character(self, *, fold: bool) -> Flags:
        char = self.pattern[self.position]
        if fold and (chars.has_several_letters(char.casefold()) or chars.has_several_letters(self.folded)):
            raise self.error("a character that stands for several letters where case is ignored")
        self.position += 1
        return chars.either_case(ord(char)) if fold else chars.only(ord(char))

    def bracket(self, *, fold: bool) -> Flags:
        negated = self.take("^")
        if self.peek("]"):
            raise self.error("a set that is empty, or begins with its end")
        found = chars.only()
        while not self.take("]"):
            if self.position >= len(self.pattern):
                raise self.error("a set that nothing closes")
            if any(map(self.peek, ("[", "&&", "~~"))):
                raise self.error("a range or an operation in a set")
            found |= self.escape(fold=fold) if self.take("\\") else self.one_character(fold=fold)
            if self.peek("-") and not self.peek("-]"):
                raise self.error("a range or an operation in a set")
        return ~found if negated else found

    def escape(self, *, fold: bool) -> Flags:
        """Return the characters that an escape matches, after its backslash."""
        letter = self.pattern[self.position : self.position + 1]
        if letter in ("s", "S"):
            self.position += 1
            return chars.white_space() if letter == "s" else ~chars.white_space()
        if letter in ("p", "P"):
            if fold:
                raise self.error("a category where case is ignored")
            return self.category()
        if letter in _ESCAPES:
            self.position += 1
            return chars.only(ord(_ESCAPES[letter]))
        # In tiktoken, \< and \> are the boundaries of a word.
        if not letter or letter.isalnum() or letter in "<>":
            raise self.error("an escape that is not known")
        return self.one_character(fold=fold)

    def category(self) -> Flags:
        found = _CATEGORY.match(self.pattern, self.position + 1)
        if found is None or "^" in found[0] or not chars.category(found[1]).any():
            raise self.error("a property that is not a general category")
        negated = self.pattern[self.position] == "P"
        self.position = found.end()
        self.program.uses_categories = True
        flags = chars.category(found[1])
        return ~flags if negated else flags


def _bounds(found: re.Match[str]) -> tuple[int, int | None]:
    """Return the least and the greatest count of a quantifier, None for no greatest."""
    if found[0] in "?*+":
        return int(found[0] == "+"), 1 if found[0] == "?" else None
    low = int(found[1])
    if not found[2]:
        return low, low
    return low, int(found[3]) if found[3] else None
