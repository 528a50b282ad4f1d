"""Find the part of an expression that is too large: the smallest one that is too large on its own.

    excerpt         the pattern of an expression, cut to a length that fits a message
    largest         the innermost part with more leaves than allowed
    responsible     the innermost part that explodes, found by trying parts one at a time, for half a second at most

The number of states often explodes only in a combination of parts (as in `(a|b)*a(a|b){60}`, where no single part
explodes). So a concatenation is narrowed from both ends as long as the rest explodes.

A trial with the limits of the compilation takes as long as the compilation. So parts are found by trials with small
limits. The innermost of these that exceeds the real limits is named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice
from math import log10

from automata.expressions import Concatenation, Expr, concat
from automata.expressions.printing import pieces

MAX_SECONDS = 0.5
MAX_EXCERPT = 80


def excerpt(expr: Expr) -> str:
    """Return the pattern of an expression, at most `MAX_EXCERPT` characters of it."""
    text = ""
    for piece in islice(pieces(expr), MAX_EXCERPT + 1):
        text += piece
        if len(text) > MAX_EXCERPT:
            return text[:MAX_EXCERPT] + "..."
    return text


def numeral(number: int) -> str:
    """Write a number for a message; round it if it is too long to read."""
    digits = int(number.bit_length() * log10(2))
    return f"{number:,}" if digits < MAX_EXCERPT // 2 else f"about 10^{digits}"


def largest(expr: Expr, leaves: int) -> Expr:
    """Return the innermost part that has more than `leaves` leaves."""
    while True:
        inner = max(expr.operands(), key=lambda part: part.size, default=expr)
        if inner.size <= leaves or inner is expr:
            return expr
        expr = inner


def responsible(
    expr: Expr, explodes: Callable[[Expr], bool], confirmed: Callable[[Expr], bool] = lambda part: True
) -> Expr:
    """Return the innermost part that explodes, as far as trials within `MAX_SECONDS` find it.

    Args:
        expr: an expression that explodes.
        explodes: whether a part seems to explode.
        confirmed: whether a part that seems to explode does.
    """
    until = time.monotonic() + MAX_SECONDS

    def fails(parts: Sequence[Expr]) -> bool:
        return time.monotonic() < until and explodes(concat(*parts))

    found = [expr]
    while True:
        inner = next((part for part in found[-1].operands() if fails([part])), None)
        if inner is None:
            break
        found.append(inner)
    last = found[-1]
    if isinstance(last, Concatenation):
        narrowed = _narrowed(last.parts, fails)
        found += [concat(*narrowed)] if len(narrowed) < len(last.parts) else []
    while len(found) > 1 and not (time.monotonic() < until and confirmed(found[-1])):
        found.pop()
    return found[-1]


def _narrowed(parts: Sequence[Expr], fails: Callable[[Sequence[Expr]], bool]) -> Sequence[Expr]:
    """Drop the parts at both ends without which the rest still explodes, by two binary searches."""
    low, high = 0, len(parts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fails(parts[middle:]) else (low, middle - 1)
    first = low
    low, high = first + 1, len(parts)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(parts[first:middle]) else (middle + 1, high)
    return parts[first:low]
