"""Bounds on the lengths of the shortest and the longest word of a pattern, from the form of the pattern."""

from __future__ import annotations

from automata.expressions import (
    Acceptor,
    Alternation,
    CharSet,
    Complement,
    Concatenation,
    Difference,
    Expr,
    Intersection,
    Literal,
    Repetition,
    Strings,
    Substring,
    Transduction,
)

UNBOUNDED = 2**31


def max_width(expr: Expr) -> int:
    """Return an upper bound on the number of characters, `UNBOUNDED` if there is none."""
    return widths(expr)[1]


def widths(expr: Expr) -> tuple[int, int]:
    """Return bounds on the number of characters, the upper one `UNBOUNDED` if there is none; without recursion."""
    known: dict[Expr, tuple[int, int]] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        missing = [part for part in node.operands() if part not in known]
        if missing:
            stack += missing
            continue
        low, high = _widths(node, [known[part] for part in node.operands()])
        known[stack.pop()] = min(low, UNBOUNDED), min(high, UNBOUNDED)
    return known[expr]


def _widths(node: Expr, operands: list[tuple[int, int]]) -> tuple[int, int]:
    lows, highs = [low for low, _ in operands], [high for _, high in operands]
    match node:
        case Literal(value):
            return (_num_characters(value),) * 2
        case CharSet():
            return 1, 1
        case Concatenation():
            return sum(lows), sum(highs)
        case Alternation():
            return min(lows, default=0), max(highs, default=0)
        case Repetition(_, low, high):
            return lows[0] * low, highs[0] * high if high is not None else UNBOUNDED
        case Intersection():
            return max(lows), min(highs)
        case Difference():
            return operands[0]
        case Strings(values):
            lengths = [_num_characters(value) for value in values]
            return min(lengths), max(lengths)
        case Substring(text):
            return 0, len(text)
        case Complement() | Acceptor() | Transduction():
            return 0, UNBOUNDED
    return 0, 0


def _num_characters(text: bytes) -> int:
    return sum(byte & 0xC0 != 0x80 for byte in text)
