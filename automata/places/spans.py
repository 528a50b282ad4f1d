"""A pattern as an expression that records where its parts are in the pattern.

    Spanned             an expression, and its place in a pattern
    spanned_pattern     a pattern in Python's dialect -> Expr with `Spanned` parts

Only walks take such expressions. The parser itself makes them, and marks each item as it is added. The content of
look-around and of a group with an operation (`(?P<NOT>...)`) is not marked: such a group is one part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from automata.expressions import Expr
from automata.pattern.character_reader import Flags
from automata.pattern.parser import Parser

_set = object.__setattr__


class Spanned(Expr):
    """An expression that stands in a pattern from character `start` up to `end`."""

    __slots__ = ("end", "inner", "start")
    __match_args__ = ("inner", "start", "end")
    inner: Expr
    start: int
    end: int

    def __init__(self, inner: Expr, start: int, end: int) -> None:
        _set(self, "inner", inner)
        _set(self, "start", start)
        _set(self, "end", end)
        _set(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


def spanned_pattern(pattern: str) -> Expr:
    """Return the expression of a pattern, with the place of each part; assertions in it are unresolved.

    Raises:
        PatternError: it is not a pattern.
    """
    return _SpanningParser(pattern).parse()


class _SpanningParser(Parser):
    """Parses a pattern and marks where its items stand."""

    readers: ClassVar[Mapping[str, Callable[[Parser, Flags], None]]]

    def mark(self, begin: int, end: int, place: int = -1) -> None:
        """Mark an item of the open group, unless an open group has an operation (`(?P<NOT>...)`)."""
        if all(group.build is None for group in self.groups):
            items = self.groups[-1].items
            items[place] = Spanned(items[place], begin, end)

    def read_plain(self, flags: Flags) -> None:
        begin, known = self.position, len(self.groups[-1].items)
        super().read_plain(flags)
        # A quantifier after a run of characters applies only to the last one, which is an item of its own.
        last = self.position - 1 if len(self.groups[-1].items) > known + 1 else begin
        if last > begin:
            self.mark(begin, last, -2)
        self.mark(last, self.position)

    def read_itself(self, flags: Flags) -> None:
        begin = self.position
        super().read_itself(flags)
        self.mark(begin, self.position)

    def read_group_end(self, flags: Flags) -> None:
        begin = self.groups[-1].position
        super().read_group_end(flags)
        self.mark(begin, self.position)

    def quantify(self, low: int, high: int | None, end: int) -> None:
        items = self.groups[-1].items
        before = items[-1] if items else None
        super().quantify(low, high, end)
        if isinstance(before, Spanned):
            self.mark(before.start, self.position)


def _marking(read: Callable[[Parser, Flags], None]) -> Callable[[Parser, Flags], None]:
    """Return a reader that marks the one item that it adds."""

    def reader(parser: Parser, flags: Flags) -> None:
        assert isinstance(parser, _SpanningParser)
        begin = parser.position
        read(parser, flags)
        parser.mark(begin, parser.position)

    return reader


def _read_itself(parser: Parser, flags: Flags) -> None:
    parser.read_itself(flags)


def _read_group_end(parser: Parser, flags: Flags) -> None:
    parser.read_group_end(flags)


_SpanningParser.readers = {
    **Parser.readers,
    **{char: _marking(Parser.readers[char]) for char in "[\\.^$"},
    **dict.fromkeys("]}", _read_itself),
    ")": _read_group_end,
}
