"""How long the longest word of a pattern may be, as far as its form tells."""

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
    """Return a bound on the number of characters, UNBOUNDED where there is none; without recursion."""
    known: dict[Expr, int] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        missing = [part for part in node.operands() if part not in known]
        if missing:
            stack += missing
        else:
            known[stack.pop()] = min(_width(node, [known[part] for part in node.operands()]), UNBOUNDED)
    return known[expr]


def _width(node: Expr, operands: list[int]) -> int:
    match node:
        case Literal(value):
            return sum(byte & 0xC0 != 0x80 for byte in value)
        case CharSet():
            return 1
        case Concatenation():
            return sum(operands)
        case Alternation():
            return max(operands, default=0)
        case Repetition(_, _, high):
            return operands[0] * high if high is not None else UNBOUNDED
        case Intersection():
            return min(operands)
        case Difference():
            return operands[0]
        case Strings(values):
            return max(len(value) for value in values)
        case Substring(text):
            return len(text)
        case Complement() | Acceptor() | Transduction():
            return UNBOUNDED
    return 0
