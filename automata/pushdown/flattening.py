"""Rules that are closed under concatenation, rewritten without the recursive calls that make them so.

Two forms have many derivations for every text, but only the texts of a loop:

    A = A A A | A A | R       A = R, then any number of R (R for A A; R R for A A A)
    A = (x A | y)*            A = (x | y)*, since A A = A and A may be empty

For the first: a text of A is one or more texts of R, and their number is one plus a sum of numbers each of which is one
less than a power. `A A` allows any number, so beside it other powers add nothing; it stays as it is, as `A x A` does,
for inlining to turn into a loop. For the second: with L the texts of (x | y)*, L is a solution of the rule as written,
because x L is within L; and each solution is closed under concatenation, holds the empty text, and so holds x and y and
L. R, x and y may call A elsewhere. Both are exact, so the purpose of the rule does not matter.
"""

from __future__ import annotations

from automata.expressions import (
    EPSILON,
    Alternation,
    Call,
    Concatenation,
    Expr,
    Repetition,
    alternation,
    concat,
    repeat,
)


def flattened(name: str, body: Expr) -> Expr:
    """Return an expression with the same least solution for the rule of this name."""
    if isinstance(body, Repetition) and body.low == 0 and body.high is None:
        return repeat(alternation(*(_inner(name, part) for part in _parts(body.inner))), 0)
    return _without_powers(name, body)


def _parts(expr: Expr) -> tuple[Expr, ...]:
    return expr.parts if isinstance(expr, Alternation) else (expr,)


def _inner(name: str, expr: Expr) -> Expr:
    """Return an alternative without the calls of the rule at its ends."""
    parts = list(expr.parts) if isinstance(expr, Concatenation) else [expr]
    first, last = 0, len(parts)
    while first < last and _calls(name, parts[first]):
        first += 1
    while first < last and _calls(name, parts[last - 1]):
        last -= 1
    return expr if (first, last) == (0, len(parts)) else concat(*parts[first:last])


def _calls(name: str, expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.name == name


def _without_powers(name: str, body: Expr) -> Expr:
    """Return a rule's expression without alternatives that are only calls of the rule, one after the other."""
    rest: list[Expr] = []
    found: set[int] = set()
    for part in _parts(body):
        powers = _powers(name, part)
        if powers is None:
            rest.append(part)
        else:
            found |= powers
    if found <= {2} or not rest:
        return body
    base = alternation(*rest, *([EPSILON] if 0 in found else []))
    if 2 in found:
        return alternation(base, concat(Call(name), Call(name)))
    more = [repeat(base, power - 1, power - 1) for power in sorted(found - {0, 1})]
    return concat(base, repeat(alternation(*more), 0)) if more else base


def _powers(name: str, expr: Expr) -> set[int] | None:
    """Return the numbers of calls of the rule, one after the other, that an expression consists of; None for any other
    expression."""
    if _calls(name, expr):
        return {1}
    if isinstance(expr, Concatenation) and all(_calls(name, part) for part in expr.parts):
        return {len(expr.parts)}
    if isinstance(expr, Repetition) and _calls(name, expr.inner):
        if expr.low < 3:
            return {expr.low, 1 if expr.high == 1 else 2}
        # Larger numbers of calls add nothing to these.
        return set(range(expr.low, 2 * expr.low if expr.high is None else min(2 * expr.low, expr.high + 1)))
    return None
