"""Derivatives: the texts that may follow a prefix in a language (Brzozowski, "Derivatives of regular expressions",
Journal of the ACM 11, 1964).

    derivative(language, prefix)     the texts t for which `prefix + t` is in the language

The derivative of an automaton is the automaton with another start. The derivative of an expression is an expression, by
Brzozowski's rules for one byte at a time, so that it can be printed and combined. The normal form of expressions keeps
the number of different derivatives small. After part of a character, a set of characters becomes a set of continuation
bytes.

A complement is the set of all other texts, and after half a character, a text begins with the other half. So `~a` is
read as `ANY_TEXT - a`, and becomes `~` again where a character ends.

Rejected: the derivative of every expression through its automaton (a short expression need not stay short, and large
bounds would be written out). This is the fallback for expressions with a node without a rule, with deep nesting, or
whose derivatives become large.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TypeVar

from automata.algebra import operations as algebra
from automata.algebra.elimination import MAX_LEAVES, to_expr
from automata.assertions import matches_empty
from automata.byte_automaton import ByteAutomaton
from automata.errors import wrong_type
from automata.expressions import (
    ANY_TEXT,
    EMPTY,
    EPSILON,
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
    Strings,
    alternation,
    byte_ranges,
    complement,
    concat,
    difference,
    intersection,
    repeat,
    strings,
)
from automata.expressions.utf8 import character_arcs
from automata.limits import current_work
from automata.texts import text_bytes

# A level of nesting takes three calls.
_MAX_DEPTH = 100
# The factor by which a derivative may be larger than the expression, roughly.
_MAX_GROWTH = 4

L = TypeVar("L", ByteAutomaton, Expr, ByteAutomaton | Expr)


def derivative(language: L, prefix: str | bytes) -> L:
    """Return what may follow a prefix: the texts t for which `prefix + t` is in the language. The result is the empty
    language if there are none.

    Args:
        language: an automaton or an expression; the result is of the same kind.
        prefix: text (encoded in UTF-8) or bytes; bytes may end inside a character.

    Raises:
        Cancelled, LimitExceeded: the compilation has to stop, or the result would be too large.
        TypeError: `language` is neither an automaton nor an expression.
    """
    value = text_bytes(prefix)
    if isinstance(language, ByteAutomaton):
        return algebra.rest(language, value)
    if not isinstance(language, Expr):
        raise wrong_type("an automaton or an expression", language)
    if not _has_rules(language):
        return to_expr(algebra.rest(algebra.automaton_of(language), value))
    work, left, most = current_work(), language, MAX_LEAVES + _MAX_GROWTH * language.size
    for place, byte in enumerate(value):
        work.check()
        if left.size > most:
            return to_expr(algebra.rest(algebra.automaton_of(left), value[place:]))
        left = _after(left, byte)
    return left


def _has_rules(expr: Expr) -> bool:
    """Return whether Brzozowski's rules apply: there is a rule for every node, and nodes are not nested too deeply.

    A single node of another kind, wherever it stands, rules them out: what it allows may depend on the text before it,
    which a derivative forgets.
    """
    waiting = [(expr, 0)]
    while waiting:
        node, depth = waiting.pop()
        if type(node) not in _after.registry or depth > _MAX_DEPTH:
            return False
        waiting += [(part, depth + 1) for part in node.operands()]
    return True


@singledispatch
def _after(expr: Expr, byte: int) -> Expr:
    """Return the derivative by one byte, by Brzozowski's rule for each kind of node."""
    raise TypeError(f"there is no rule for {type(expr).__name__}")


@_after.register
def _(expr: Label, byte: int) -> Expr:
    return EMPTY


@_after.register
def _(expr: Literal, byte: int) -> Expr:
    return Literal(expr.value[1:]) if expr.value[:1] == bytes([byte]) else EMPTY


@_after.register
def _(expr: Strings, byte: int) -> Expr:
    return strings([value[1:] for value in expr.values if value[:1] == bytes([byte])])


@_after.register
def _(expr: ByteSet, byte: int) -> Expr:
    return EPSILON if any(low <= byte <= high for low, high in expr.ranges) else EMPTY


@_after.register
def _(expr: CharSet, byte: int) -> Expr:
    _, arcs = character_arcs(expr.ranges)

    def continuations(state: int) -> Expr:
        """Return the bytes that lead from a state of the character's automaton to its end, state 1."""
        if state == 1:
            return EPSILON
        leads: dict[int, list[tuple[int, int]]] = {}
        for arc in arcs:
            if arc.source == state:
                leads.setdefault(arc.target, []).append((arc.low, arc.high))
        return alternation(
            *(concat(byte_ranges(tuple(ranges)), continuations(target)) for target, ranges in leads.items())
        )

    return next((continuations(arc.target) for arc in arcs if arc.source == 0 and arc.low <= byte <= arc.high), EMPTY)


@_after.register
def _(expr: Concatenation, byte: int) -> Expr:
    # The byte is read by the first part, or by a later one if all parts before it may be empty.
    ways = []
    for place, part in enumerate(expr.parts):
        ways.append(concat(_after(part, byte), *expr.parts[place + 1 :]))
        if not matches_empty(part):
            break
    return alternation(*ways)


@_after.register
def _(expr: Alternation, byte: int) -> Expr:
    return alternation(*(_after(part, byte) for part in expr.parts))


@_after.register
def _(expr: Repetition, byte: int) -> Expr:
    # This also holds if `inner` may be empty: rounds that read nothing can be counted among those that are left.
    high = None if expr.high is None else expr.high - 1
    return concat(_after(expr.inner, byte), repeat(expr.inner, max(expr.low - 1, 0), high))


@_after.register
def _(expr: Intersection, byte: int) -> Expr:
    return intersection(_after(expr.left, byte), _after(expr.right, byte))


@_after.register
def _(expr: Difference, byte: int) -> Expr:
    left, right = _after(expr.left, byte), _after(expr.right, byte)
    return complement(right) if left == ANY_TEXT else difference(left, right)


@_after.register
def _(expr: Complement, byte: int) -> Expr:
    left, right = _after(ANY_TEXT, byte), _after(expr.inner, byte)
    return complement(right) if left == ANY_TEXT else difference(left, right)
