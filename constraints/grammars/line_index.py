"""Lines and columns of a text, and errors that name them."""

from __future__ import annotations

import re
from bisect import bisect_right

from automata.errors import GrammarError
from automata.pushdown.grammar import Place

_LINE_END = re.compile(r"\r\n?|\n")


class LineIndex:
    """The positions at which the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self.line_starts = [0, *[match.end() for match in _LINE_END.finditer(text)]]

    def place(self, position: int) -> Place:
        """Return line and column of a position."""
        line = bisect_right(self.line_starts, position)
        return Place(line, position - self.line_starts[line - 1] + 1)

    def error(self, reason: str, position: int, rule: str | None) -> GrammarError:
        """Return the error for a position."""
        place = self.place(position)
        return GrammarError(reason, rule=rule, line=place.line, column=place.column)
