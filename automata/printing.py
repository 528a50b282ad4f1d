"""An expression printed as a regular expression that `automata.pattern` reads back as the same language.

Where an expression uses only what Python's syntax has, so does the pattern. The rest is written with the named
operations of the front end: AND, MINUS, NOT and BYTES.
"""

from __future__ import annotations

from automata.expr import (
    Alternation,
    ByteSet,
    CharSet,
    Complement,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Label,
    Literal,
    Repetition,
)
from automata.ranges import ALL_CHARACTERS, Ranges, subtract

_SPECIAL = frozenset(r".^$*+?{}[]|()\#")
_SPECIAL_IN_SET = frozenset(r"]\^-[&~|")
_NAMED_ESCAPE = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
_NAMED_SETS = {((0x30, 0x39),): r"\d", ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)): r"\w"}
# The empty language: a set that holds nothing.
_NOTHING = r"[^\x00-\U0010ffff]"


def to_pattern(expr: Expr) -> str:
    """The pattern of an expression."""
    if isinstance(expr, Alternation):
        return "|".join(map(_branch, expr.parts)) if expr.parts else _NOTHING
    return _branch(expr)


def _branch(expr: Expr) -> str:
    """A pattern that can stand between two bars."""
    if isinstance(expr, Concatenation):
        return "".join(map(_piece, expr.parts))
    return _piece(expr)


def _piece(expr: Expr) -> str:
    """A pattern that can stand beside others."""
    if isinstance(expr, Literal):
        return _text(expr.value)
    if isinstance(expr, Repetition):
        return _atom(expr.inner) + _quantifier(expr.low, expr.high)
    return _atom(expr)


def _atom(expr: Expr) -> str:
    """A pattern that a quantifier can follow."""
    if isinstance(expr, Literal) and len(expr.value) == 1 and expr.value.isascii():
        return _text(expr.value)
    if isinstance(expr, CharSet):
        return _set(expr.ranges, ALL_CHARACTERS)
    if isinstance(expr, ByteSet):
        return f"(?P<BYTES>{_set(expr.ranges, ((0, 0xFF),))})"
    if isinstance(expr, Label):
        return f"(?P<TOKEN>{''.join(_character(char, _SPECIAL) for char in expr.name)})"
    if isinstance(expr, Intersection):
        return f"(?P<AND>(?:{to_pattern(expr.left)})(?:{to_pattern(expr.right)}))"
    if isinstance(expr, Difference):
        return f"(?P<MINUS>(?:{to_pattern(expr.left)})(?:{to_pattern(expr.right)}))"
    if isinstance(expr, Complement):
        return f"(?P<NOT>{to_pattern(expr.inner)})"
    return f"(?:{to_pattern(expr)})"


def _quantifier(low: int, high: int | None) -> str:
    if high is None:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    if (low, high) == (0, 1):
        return "?"
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _text(value: bytes) -> str:
    try:
        return "".join(_character(char, _SPECIAL) for char in value.decode())
    except UnicodeDecodeError:
        return f"(?P<BYTES>{''.join(f'{chr(92)}x{byte:02x}' for byte in value)})"


def _character(char: str, special: frozenset[str]) -> str:
    if char in special:
        return "\\" + char
    if char in _NAMED_ESCAPE:
        return _NAMED_ESCAPE[char]
    code = ord(char)
    if char.isprintable():
        return char
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _set(ranges: Ranges, universe: Ranges) -> str:
    if ranges in _NAMED_SETS:
        return _NAMED_SETS[ranges]
    rest = subtract(universe, ranges)
    if not rest:
        return r"[\x00-\xff]" if universe == ((0, 0xFF),) else r"[\x00-\U0010ffff]"
    negated = len(rest) < len(ranges) or ranges[-1][1] == universe[-1][1]
    return f"[{'^' if negated else ''}{''.join(_range(*pair) for pair in (rest if negated else ranges))}]"


def _range(low: int, high: int) -> str:
    first, last = _character(chr(low), _SPECIAL_IN_SET), _character(chr(high), _SPECIAL_IN_SET)
    if low == high:
        return first
    return first + last if high == low + 1 else f"{first}-{last}"
