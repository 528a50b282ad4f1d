"""Strings, regular expressions, ranges and lists of substrings: the parts of terminals.

    Terminal     a language of words, with the properties by which Lark orders words
    string, regexp, character_range, substrings     the terminals for literals in a grammar

Escapes in strings are Python's, as Lark reads them; a backslash before another character stays. Two escapes that Lark
and llguidance read differently are refused.

Regular expressions are read by `automata.pattern`, in Python's dialect: without the flag u, `\\d`, `\\w` and `\\s` are
ASCII. Their assertions are not resolved here, so that in a terminal with several parts they see the whole word. Sets
with `&&`, `--` or `~~`, and sets that begin with `[[`, are refused: llguidance reads operators and sets within sets
there, and Python's `re`, which Lark uses, warns that it may do so in the future.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from automata import expressions as ex
from automata.errors import PatternError
from automata.expressions import Expr
from automata.expressions.extensions import substring_of
from automata.pattern.character_reader import Flags
from automata.pattern.ordered import ordered
from automata.pattern.parser import Parser
from constraints.grammars.lark_reader.document import Range

_STRING_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
# The escapes in a regular expression that Lark replaces by one character.
_REPLACED = re.compile(r"""\\(?:x..|u....|U........|[nftr"])""")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "\\": "\\", '"': '"'}
_DIGITS = {"x": 2, "u": 4, "U": 8}
_AMBIGUOUS = {"b": r"\\b or \x08", "/": r"\\/ or /"}
# A member of a set, and the rest of a range that it begins.
_MEMBER = r"\\.|\[:\^?\w*:\]|[^\]\\]"
_TO = r"(?:-(?![-\]])\\?.)?+"
# The places in a set at which Python warns of a set operator or a set within a set; `||` is no operator in llguidance.
_TWO_READINGS = re.compile(
    rf"\[(?:(?P<nested>\[(?!:\^?\w*:\]))|\^?(?:\]|{_MEMBER}){_TO}"
    rf"(?:(?!&&|--|~~)(?:{_MEMBER}){_TO})*+(?P<operator>&&|--|~~))",
    re.DOTALL,
)
# Reading takes about half a millisecond for each chunk.
MAX_CHUNKS = 10_000
# The number of characters that Lark wraps around a pattern for each flag: (?i: ).
_FLAG_LENGTH = 5


class LiteralMistake(Exception):
    """A mistake in a literal, with its offset from the beginning."""

    def __init__(self, reason: str, offset: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.offset = reason, offset


class Terminal(NamedTuple):
    """A language of words.

    Attributes:
        expr: the words; assertions in it are unresolved.
        length: the number of characters of the pattern that Lark would have, flags left out.
        key: the kind, text and flags of a literal; two literals with the same key are the same terminal. None for a
            terminal that is composed of others.
        num_flags: the number of flags that Lark would wrap around the pattern.
        escaped: the number of characters that escapes add when the pattern is part of another one.
        lazy: whether it contains a lazy quantifier, so that the end of a word depends on the order of the alternatives.
        ordered: returns the expression with the order in which alternatives are tried, which only lazy terminals need.
    """

    expr: Expr
    length: int
    key: tuple[str, str, str] | None = None
    num_flags: int = 0
    escaped: int = 0
    lazy: bool = False
    ordered: Callable[[], Expr] | None = None

    @property
    def in_order(self) -> Expr:
        """The expression with the order in which alternatives are tried."""
        return self.expr if self.ordered is None else self.ordered()

    @property
    def is_string(self) -> bool:
        """Whether it is a plain string, which Lark prefers to regular expressions."""
        return self.key is not None and self.key[0] == "string"

    @property
    def joined_length(self) -> int:
        """The length of the pattern as a part of another one."""
        return self.length + self.escaped + _FLAG_LENGTH * self.num_flags


def unescaped(written: str) -> str:
    """Return the text of a string, given what stands between its quotes.

    Raises:
        LiteralMistake: an escape is invalid, or Lark and llguidance read it differently.
    """
    if "\\" not in written:
        return written
    text = _STRING_ESCAPE.sub(_character, written)
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise LiteralMistake("half of a surrogate pair is not a character") from None


def _character(escape: re.Match[str]) -> str:
    number = escape[1] or escape[2] or escape[3]
    if number:
        code = int(number, 16)
        if code > 0x10FFFF:
            raise LiteralMistake(f"no character has the number {number}", escape.start() + 1)
        return chr(code)
    letter = escape[4]
    if letter in _AMBIGUOUS:
        raise LiteralMistake(
            f"Lark and llguidance read \\{letter} in a string differently: write {_AMBIGUOUS[letter]}",
            escape.start() + 1,
        )
    if letter in "xuU":
        raise LiteralMistake(f"\\{letter} needs {_DIGITS[letter]} hexadecimal digits", escape.start() + 1)
    return _CONTROL.get(letter, "\\" + letter)


def string(written: str) -> Terminal:
    """Return a string, given with its quotes and the i after them, if any.

    Raises:
        LiteralMistake: it cannot be read.
    """
    flags = "i" if written.endswith("i") else ""
    value = unescaped(written[1 : -1 - len(flags)])
    if not flags:
        expr = ex.literal(value)
    else:
        expr = Parser("(?i)" + "".join([f"\\u{{{ord(char):x}}}" for char in value])).parse()
    return Terminal(expr, len(value), ("string", value, flags), len(flags), len(re.escape(value)) - len(value))


def regexp(written: str) -> Terminal:
    """Return a regular expression, given with its slashes and flags.

    Raises:
        LiteralMistake: it cannot be read, or is not regular.
    """
    end = written.rindex("/")
    pattern, flags = written[1:end], "".join(sorted(set(written[end + 1 :])))
    if "l" in flags:
        raise LiteralMistake("the flag l (locale) is not supported", end)
    if "x" not in flags and "\n" in pattern:
        raise LiteralMistake("a regular expression may contain line ends only with the flag x")
    prefix = f"(?{flags})" if flags else ""
    parser = _LarkParser(prefix + pattern)
    try:
        expr = parser.parse()
    except PatternError as error:
        raise LiteralMistake(error.reason, max(error.position - len(prefix), 0) + 1) from None
    length = len(_REPLACED.sub(".", pattern))
    in_order = partial(ordered, prefix + pattern)
    return Terminal(expr, length, ("regexp", pattern, flags), len(flags), lazy=parser.is_lazy, ordered=in_order)


class _LarkParser(Parser):
    """A parser that refuses sets with two readings.

    Attributes:
        is_lazy: whether the pattern has a lazy quantifier with a choice, which an exact number does not have.
    """

    is_lazy = False

    def repeated(self, item: Expr, low: int, high: int | None, lazy: bool) -> Expr:
        self.is_lazy |= lazy and low != high
        return super().repeated(item, low, high, lazy)

    def character_set(self, flags: Flags) -> Expr:
        doubtful = _TWO_READINGS.match(self.pattern, self.position)
        if doubtful is None:
            return super().character_set(flags)
        kind = doubtful.lastgroup or ""
        written, mark = "[[" if kind == "nested" else doubtful[kind], doubtful[kind][0]
        raise self.error(
            f"Lark and llguidance read {written} differently: in a set, write \\{mark} for {mark}", doubtful.start(kind)
        )


def character_range(ends: Range) -> Terminal:
    """Return the characters from one string of a single character to another.

    Raises:
        LiteralMistake: they are not such strings, or the first comes after the last.
    """
    first = _end_of_range(ends.first)
    try:
        last = _end_of_range(ends.last)
    except LiteralMistake as mistake:
        raise LiteralMistake(mistake.reason, ends.distance + mistake.offset) from None
    if first > last:
        raise LiteralMistake(f"the range from {ends.first} to {ends.last} goes backwards")
    pattern = f"[{ends.first[1:-1]}-{ends.last[1:-1]}]"
    return Terminal(ex.char_set((first, last)), len(pattern), ("regexp", pattern, ""))


def _end_of_range(written: str) -> int:
    if not written.endswith('"') or len(unescaped(written[1:-1])) != 1:
        raise LiteralMistake(f"{written} is not a single character, as the ends of a range must be")
    return ord(unescaped(written[1:-1]))


def substrings(value: Any) -> Terminal:
    """Return the language that %regex describes: substrings of a text, by characters, by words or by given chunks.

    Raises:
        LiteralMistake: the JSON is not one of these, or has too many chunks.
    """
    if not isinstance(value, dict) or len(value) != 1:
        raise LiteralMistake(
            "%regex needs a JSON object with one of substring_chars, substring_words, substring_chunks"
        )
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise LiteralMistake("half of a surrogate pair is not a character") from None
    ((name, content),) = value.items()
    if name in ("substring_chars", "substring_words") and isinstance(content, str):
        expr = substring_of(content, words=name == "substring_words") if content else ex.EPSILON
    elif name == "substring_chunks" and isinstance(content, list) and all(isinstance(c, str) for c in content):
        if len(content) > MAX_CHUNKS:
            raise LiteralMistake(f"substring_chunks has more than {MAX_CHUNKS:,} chunks")
        expr = _runs(content)
    else:
        raise LiteralMistake(f"%regex with {name!r} and a value of this kind is not supported")
    return Terminal(expr, 0, ("substrings", json.dumps(value), ""))


def _runs(chunks: list[str]) -> Expr:
    """Return any run of neighbouring chunks, including the empty run.

    For N chunks, the expression has size O(N log N): a run lies in one half, or consists of an end of the first half
    and a beginning of the second.
    """
    runs: list[Expr] = []
    waiting = [[ex.literal(chunk) for chunk in chunks]]
    while waiting:
        part = waiting.pop()
        middle = len(part) // 2
        if not middle:
            runs.append(ex.repeat(ex.concat(*part), 0, 1))
            continue
        end = beginning = ex.EPSILON
        for chunk in part[:middle]:
            end = ex.repeat(ex.concat(end, chunk), 0, 1)
        for chunk in reversed(part[middle:]):
            beginning = ex.repeat(ex.concat(chunk, beginning), 0, 1)
        runs.append(ex.concat(end, beginning))
        waiting += [part[middle:], part[:middle]]
    return ex.alternation(*runs)
