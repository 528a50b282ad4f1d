"""The functions that make expressions.

They keep expressions in a light normal form (flat concatenations and alternations, merged literals, no neutral
elements). So expressions written in different ways are often equal, and equal ones are compiled once.

In all of these functions a string is literal text; only `automata.pattern.parse` reads patterns.

Rejected: simplification beyond the normal form (determinization does it exactly).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from operator import index
from typing import SupportsIndex

from automata.acceptor_tables import AcceptorTables, Semiring
from automata.errors import ExpressionError, wrong_type
from automata.expressions import ranges as rg
from automata.expressions.base import Expr
from automata.expressions.nodes import (
    Acceptor,
    Alternation,
    ByteSet,
    Call,
    CharSet,
    Complement,
    Concatenation,
    Difference,
    Intersection,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
    Strings,
    Transduction,
    Weighted,
    has_assertions,
    has_weights,
)
from automata.expressions.operators import Operations
from automata.expressions.ranges import ALL_CHARACTERS, Ranges
from automata.texts import text_bytes
from automata.transducer_tables import TransducerTables

EMPTY: Expr = Alternation(())
EPSILON: Expr = Literal(b"")


def is_epsilon(expr: Expr) -> bool:
    """Return whether the expression is the node for the empty string (not whether its language is {""})."""
    return type(expr) is Literal and not expr.value


def is_empty(expr: Expr) -> bool:
    """Return whether the expression is the node for the empty language (not whether its language has no texts)."""
    return type(expr) is Alternation and not expr.parts


def literal(value: str | bytes) -> Expr:
    """Return the language of exactly this text (in UTF-8) or these bytes.

    Raises:
        TypeError: the argument is neither text nor bytes.
        UnicodeEncodeError: the text has a lone surrogate, which UTF-8 cannot encode.
    """
    text = text_bytes(value)
    return _OF_BYTE[text[0]] if len(text) == 1 else Literal(text)


# Most parts of a long pattern are single letters. Equal ones are one object, so that comparing them takes no time.
_OF_BYTE = tuple([Literal(bytes([byte])) for byte in range(256)])


def strings(values: Iterable[str | bytes]) -> Expr:
    """Return the language of the given strings; text is encoded in UTF-8. Without strings it is the empty language.

    Raises:
        TypeError: the argument is a single string, or has a value that is neither text nor bytes.
        UnicodeEncodeError: a text has a lone surrogate, which UTF-8 cannot encode.
    """
    if isinstance(values, str | bytes):
        raise TypeError("expected several strings, not one: literal(...) makes a text of it")
    kept = tuple(sorted(set(map(text_bytes, values))))
    if len(kept) > 1:
        return Strings(kept)
    return Literal(kept[0]) if kept else EMPTY


def _expr(value: Expr | str | bytes) -> Expr:
    """Return an operand as an expression; a string is literal text."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, str | bytes):
        return literal(value)
    raise wrong_type("an expression, text or bytes", value)


_METACHARACTERS = frozenset("\\.^$*+?{}[]|()")


def _compared(value: Expr | str | bytes) -> Expr:
    """Return an operand of an operation on whole languages as an expression.

    A string is literal text here too. But whoever writes `a & "[a-z]+"` means a pattern, and as literal text it would
    usually give the empty language; so a string that looks like a pattern is refused.

    Raises:
        ExpressionError: a string looks like a pattern.
    """
    if isinstance(value, str) and not _METACHARACTERS.isdisjoint(value):
        raise ExpressionError(
            f"a string in an intersection, a difference or a complement is literal text, and {value!r} looks like a "
            "pattern: write parse(...) for the pattern, or literal(...) for the text"
        )
    return _expr(value)


def char_set(*items: str | tuple[int, int], negated: bool = False) -> Expr:
    """Return the language of any one character of a set. Surrogates are not characters and are left out.

    Args:
        items: strings of characters, and ranges of code points, both ends included.
        negated: whether the set contains all other characters instead.

    Raises:
        TypeError: an item is neither a string nor a pair of code points.
        ValueError: the ends of a range are not code points, or are in the wrong order.
    """
    pairs: list[tuple[int, int]] = []
    for item in items:
        pairs.extend([(ord(c), ord(c)) for c in item] if isinstance(item, str) else [_code_points(item)])
    ranges = rg.normalize(pairs)
    return char_ranges(rg.subtract(ALL_CHARACTERS, ranges) if negated else rg.intersect(ranges, ALL_CHARACTERS))


def _code_points(item: tuple[int, int]) -> tuple[int, int]:
    if not (isinstance(item, tuple) and len(item) == 2 and all(isinstance(end, int) for end in item)):
        raise TypeError(f"an item of a set is a string or a range such as (0x61, 0x7a), not {item!r}")
    if not 0 <= item[0] <= item[1] <= 0x10FFFF:
        raise ValueError(f"a range is of code points from 0 to 0x10ffff, the lower end first, not {item!r}")
    return item


def char_ranges(ranges: Ranges) -> Expr:
    """Return the language of any one character of a set of code points, which is normalized and has no surrogates."""
    if not ranges:
        return EMPTY
    low, high = ranges[0]
    if len(ranges) == 1 and low == high:
        return Literal(chr(low).encode())
    return CharSet(ranges)


def byte_set(values: Iterable[int]) -> Expr:
    """Return the language of any one raw byte of a set.

    Raises:
        ValueError: a value is not between 0 and 255.
        TypeError: a value is not an integer.
    """
    values = list(values)
    if not all(isinstance(value, int) for value in values):
        raise TypeError(f"bytes are integers from 0 to 255, not {next(v for v in values if not isinstance(v, int))!r}")
    ranges = rg.from_sorted(sorted(set(values)))
    if ranges and (ranges[0][0] < 0 or ranges[-1][1] > 255):
        raise ValueError("a byte lies between 0 and 255")
    return byte_ranges(ranges)


def byte_ranges(ranges: Ranges) -> Expr:
    """Return the language of any one raw byte of a set, which is normalized."""
    if not ranges:
        return EMPTY
    return Literal(bytes([ranges[0][0]])) if ranges[0][0] == ranges[-1][1] else ByteSet(ranges)


def concat(*parts: Expr | str | bytes) -> Expr:
    """Concatenate the parts in order; without parts the result is the empty string."""
    flat: list[Expr] = []
    before = b""  # the literal at the end of `flat`
    for part in parts:
        expr = part if isinstance(part, Expr) else _expr(part)
        piece, others = (expr.parts[0], expr.parts[1:]) if type(expr) is Concatenation else (expr, ())
        if type(piece) is not Literal:
            if is_empty(piece):
                return EMPTY
            flat.append(piece)
            before = b""
        elif before:
            before += piece.value
            flat[-1] = Literal(before)
        elif piece.value:
            flat.append(piece)
            before = piece.value
        if others:  # only the first part of a concatenation may merge with the literal before it
            flat += others
            before = others[-1].value if isinstance(others[-1], Literal) else b""
    if len(flat) == 1:
        return flat[0]
    return Concatenation(tuple(flat)) if flat else EPSILON


# An alternation within an alternation is merged into it up to this size, so that joining one part after the other takes
# time proportional to their number.
_MAX_MERGED = 256


def alternation(*parts: Expr | str | bytes) -> Expr:
    """Return the union of the parts; without parts the result is the empty language."""
    if len(parts) == 1:
        return _expr(parts[0])
    flat: list[Expr] = []
    for part in parts:
        expr = _expr(part)
        merged = isinstance(expr, Alternation) and len(expr.parts) <= _MAX_MERGED
        flat.extend(expr.operands() if merged else (expr,))
    if len({(type(each), each.size) for each in flat}) < len(flat):  # some may be equal
        # Equal parts with weights are all kept, because in the log semiring each of them counts.
        first = {each: at for at, each in reversed(list(enumerate(flat)))}
        flat = [each for at, each in enumerate(flat) if first[each] == at or has_weights(each)]
    return Alternation(tuple(flat)) if len(flat) != 1 else flat[0]


# A repetition of a repetition becomes one repetition up to this count, so that its bounds can be printed.
_MAX_REPEATED = 1 << 63


def repeat(inner: Expr | str | bytes, low: int, high: int | None = None) -> Expr:
    """Repeat `inner` between `low` and `high` times; None for `high` means no upper bound.

    Raises:
        TypeError: a bound is not an integer.
        ValueError: a bound is negative, or the upper bound is below the lower one.
    """
    expr = _expr(inner)
    if not (type(low) is int and (high is None or type(high) is int)):
        low, high = _count(low), None if high is None else _count(high)
    if low < 0 or (high is not None and high < low):
        raise ValueError(f"no number of repetitions lies between {low} and {high}")
    if type(expr) is CharSet and high != 0 and not low == high == 1:  # as most are
        return Repetition(expr, low, high)
    if high == 0 or is_epsilon(expr):
        return EPSILON
    if is_empty(expr):
        return EPSILON if low == 0 else EMPTY
    if low == high == 1:
        return expr
    if isinstance(expr, Lookahead | Lookbehind):  # an assertion that holds once holds any number of times
        return expr if low else EPSILON
    if isinstance(expr, Repetition) and _are_one(expr, low, high) and not has_weights(expr.inner):
        least, most = low * expr.low, None if high is None or expr.high is None else high * expr.high
        if max(least, most or 0) <= _MAX_REPEATED:
            return Repetition(expr.inner, least, most)
    return Repetition(expr, low, high)


def _count(bound: SupportsIndex) -> int:
    """Return a number of repetitions as an int, from any integer type."""
    try:
        return index(bound)
    except TypeError:
        raise TypeError(f"a number of repetitions is an integer, or None for no upper bound, not {bound!r}") from None


def _are_one(inner: Repetition, low: int, high: int | None) -> bool:
    """Return whether a repetition of a repetition equals one repetition: (a+)? is a*, (a{1,9}){2,5} is a{2,45}.

    `a{m,n}` repeated k times allows every number of copies from km to kn. There is no gap between these numbers and
    those for k + 1 if (k + 1)m <= kn + 1. If this holds for one k, it holds for all larger ones.
    """
    if low == high:
        return True
    if inner.high is None:
        return low > 0 or inner.low <= 1
    return (low + 1) * inner.low <= low * inner.high + 1


def intersection(left: Expr | str | bytes, right: Expr | str | bytes) -> Expr:
    """Return the texts that are in both."""
    a, b = _compared(left), _compared(right)
    if is_empty(a) or is_empty(b):
        return EMPTY
    if isinstance(a, CharSet) and isinstance(b, CharSet):
        return char_ranges(rg.intersect(a.ranges, b.ranges))
    return whole(a) if a == b and not has_weights(a) else Intersection(a, b)


def difference(left: Expr | str | bytes, right: Expr | str | bytes) -> Expr:
    """Return the texts that are in `left` and not in `right`."""
    a, b = _compared(left), _compared(right)
    if is_empty(a) or a == b:
        return EMPTY
    if isinstance(a, CharSet) and isinstance(b, CharSet):
        return char_ranges(rg.subtract(a.ranges, b.ranges))
    return whole(a) if is_empty(b) else Difference(a, b)


def complement(inner: Expr | str | bytes) -> Expr:
    """Return all texts (sequences of UTF-8 characters) that are not in `inner`."""
    return Complement(_compared(inner))


def lookahead(inner: Expr | str | bytes, *, negated: bool = False) -> Expr:
    """Match the empty string where the rest of the text begins with `inner` (or, negated, where it does not)."""
    return _assertion(Lookahead, _expr(inner), negated)


def lookbehind(inner: Expr | str | bytes, *, negated: bool = False) -> Expr:
    """Match the empty string where the text so far ends with `inner` (or, negated, where it does not)."""
    return _assertion(Lookbehind, _expr(inner), negated)


def _assertion(kind: type[Lookahead] | type[Lookbehind], inner: Expr, negated: bool) -> Expr:
    if is_epsilon(inner) or is_empty(inner):
        return EPSILON if is_epsilon(inner) != negated else EMPTY
    if isinstance(inner, Lookahead | Lookbehind):  # both are tested at the same position
        return type(inner)(inner.inner, inner.negated != negated)
    return kind(inner, negated)


def whole(inner: Expr | str | bytes) -> Expr:
    """Return the same language, isolated: assertions in `inner` see only what `inner` matches and nothing around it."""
    expr = _expr(inner)
    return Difference(expr, EMPTY) if has_assertions(expr) else expr


def acceptor(tables: AcceptorTables) -> Expr:
    """Return the language that an automaton accepts."""
    return Acceptor(tables) if len(tables.arcs) or len(tables.epsilon) else EMPTY


def transduction(inner: Expr | str | bytes, transducer: TransducerTables) -> Expr:
    """Return the texts that a transducer can write when it reads a text of `inner`; a string is literal text."""
    expr = _expr(inner)
    return expr if is_empty(expr) else Transduction(expr, transducer)


def weighted(inner: Expr | str | bytes, cost: float, semiring: Semiring = "tropical") -> Expr:
    """Return the same texts, each at an additional cost; see `Expr.weighted`."""
    expr = _expr(inner)
    if semiring not in ("tropical", "log"):
        raise ValueError(f"a semiring is 'tropical' or 'log', not {semiring!r}")
    if not isfinite(cost):
        raise ValueError(f"a cost is finite, not {cost}")
    if is_empty(expr):
        return expr
    if isinstance(expr, Weighted) and expr.semiring == semiring:
        return Weighted(expr.inner, expr.cost + cost, semiring)
    return Weighted(expr, float(cost), semiring)


ANY_CHAR: Expr = CharSet(ALL_CHARACTERS)
ANY_TEXT: Expr = repeat(ANY_CHAR, 0)
ANY_BYTES: Expr = repeat(ByteSet(((0, 255),)), 0)

TEXT_START: Expr = Lookbehind(ANY_CHAR, True)
TEXT_END: Expr = Lookahead(ANY_CHAR, True)


def call(name: str) -> Expr:
    """Return a call of the rule with this name, for use in a grammar (`automata.pushdown.grammar`)."""
    return Call(name)


Expr.operations = Operations((Expr, str, bytes), concat, alternation, intersection, difference, complement, repeat)
