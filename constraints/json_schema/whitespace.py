"""Whitespace: where a JSON text may have blanks, and which.

    "compact"       none, as JSON.stringify writes (also "javascript")
    "python"        one space behind commas and colons, as json.dumps writes
    "default"       both, and indented texts of either
    "flexible"      up to `MOST` blanks of any kind wherever JSON allows them
    Whitespace(...) any choice of one's own

All are bounded, so that no model fills a page with blanks. Nothing stands before the text or behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from automata import expr as ex
from automata.expr import EPSILON, Expr

Habit: TypeAlias = Literal["default", "compact", "python", "javascript", "flexible"]

# Of an indented line, as deep as texts go that people read: eight levels of four spaces.
MAX_SPACES, MAX_TABS = 32, 8
# Of "flexible", at each place.
MOST = 8


@dataclass(frozen=True, slots=True)
class Whitespace:
    """What may stand between the marks of a JSON text; each holds the empty string or not, as it says.

    Attributes:
        opened: behind `{` and `[`, before the first member or item.
        closing: before `}` and `]`, behind the last member or item.
        empty: between the two brackets where there is nothing else.
        before_comma, after_comma, before_colon, after_colon: around commas and colons.
    """

    opened: Expr = EPSILON
    closing: Expr = EPSILON
    empty: Expr = EPSILON
    before_comma: Expr = EPSILON
    after_comma: Expr = EPSILON
    before_colon: Expr = EPSILON
    after_colon: Expr = EPSILON


_LINE: Final = "\n" + (ex.repeat(" ", 0, MAX_SPACES) | ex.repeat("\t", 1, MAX_TABS))
_BLANKS: Final = ex.repeat(ex.char_set(" \t\n\r"), 0, MOST)

COMPACT: Final = Whitespace()
PYTHON: Final = Whitespace(after_comma=ex.literal(" "), after_colon=ex.literal(" "))
DEFAULT: Final = Whitespace(
    opened=ex.repeat(_LINE, 0, 1),
    closing=ex.repeat(_LINE, 0, 1),
    after_comma=ex.repeat(ex.alternation(" ", _LINE), 0, 1),
    after_colon=ex.repeat(" ", 0, 1),
)
FLEXIBLE: Final = Whitespace(_BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS, _BLANKS)

_HABITS: Final[dict[str, Whitespace]] = {
    "default": DEFAULT,
    "compact": COMPACT,
    "javascript": COMPACT,
    "python": PYTHON,
    "flexible": FLEXIBLE,
}


def whitespace_of(habit: Habit | Whitespace) -> Whitespace:
    """The whitespace of a habit, or what was given.

    Raises:
        ValueError: no habit has this name.
    """
    if isinstance(habit, Whitespace):
        return habit
    if habit not in _HABITS:
        raise ValueError(f"whitespace is one of {', '.join(map(repr, _HABITS))} or a Whitespace, not {habit!r}")
    return _HABITS[habit]
