"""Print an expression as a regular expression that `automata.pattern` reads back as the same language.

The pattern uses only Python's syntax if the expression can be written in it. Other expressions are written with the
named groups of the front end, such as AND, NOT, BYTES and TOKEN. Calls, acceptors, transductions and weights have no
pattern. They are printed for messages, in a form that `automata.pattern` does not read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from automata.expressions.base import Expr
from automata.expressions.constructors import TEXT_END, TEXT_START
from automata.expressions.nodes import (
    Alternation,
    ByteSet,
    Call,
    CharSet,
    Complement,
    Concatenation,
    Difference,
    Intersection,
    Label,
    Literal,
    Lookahead,
    Lookbehind,
    Repetition,
    Strings,
    Substring,
    Transduction,
    Weighted,
)
from automata.expressions.ranges import ALL_CHARACTERS, Ranges, subtract

_SPECIAL = frozenset(r".^$*+?{}[]|()\#")
_SPECIAL_IN_SET = frozenset(r"]\^-[&~|")
_NAMED_ESCAPE = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
_NAMED_SETS = {((0x30, 0x39),): r"\d", ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)): r"\w"}
# The empty language, written as an empty set.
_NOTHING = r"[^\x00-\U0010ffff]"


# A piece still to be printed: text, or an expression and its place. The place says what the pattern of the expression
# must be: a whole pattern, an alternative, a part of a sequence, or an atom, which a quantifier may follow.
_PATTERN, _BRANCH, _PIECE, _ATOM = range(4)
_Item: TypeAlias = "str | tuple[int, Expr]"


def to_pattern(expr: Expr) -> str:
    """Return the pattern of an expression."""
    return "".join(pieces(expr))


def pieces(expr: Expr) -> Iterator[str]:
    """Yield the pattern of an expression piece by piece. A stack holds the pieces still to be printed, so nesting may
    be arbitrarily deep."""
    stack: list[Iterator[_Item]] = [iter([(_PATTERN, expr)])]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, str):
            yield item
        else:
            stack.append(iter(_expanded(*item)))


def _expanded(place: int, expr: Expr) -> Iterable[_Item]:
    """Write the outermost operation of an expression: as texts, and expressions still to be printed."""
    if place == _PATTERN and isinstance(expr, Alternation):
        bars: list[_Item] = ["|"] * (2 * len(expr.parts) - 1)
        bars[::2] = [(_BRANCH, part) for part in expr.parts]
        return bars if expr.parts else [_NOTHING]
    if place == _PATTERN and isinstance(expr, Strings):
        return ["|".join(map(_text, expr.values))]
    if place <= _BRANCH and isinstance(expr, Concatenation):
        return ((_PIECE, part) for part in expr.parts)
    if place <= _PIECE and isinstance(expr, Literal):
        return [_text(expr.value)]
    if place <= _PIECE and isinstance(expr, Repetition):
        return [(_ATOM, expr.inner), _quantifier(expr.low, expr.high)]
    if place <= _PIECE and expr in (TEXT_START, TEXT_END):
        return [r"\A" if expr == TEXT_START else r"\Z"]
    return _atom(expr)


def _atom(expr: Expr) -> list[_Item]:
    """Write the outermost operation of an expression in a form that a quantifier can follow."""
    if isinstance(expr, Literal) and len(expr.value) == 1 and expr.value.isascii():
        return [_text(expr.value)]
    if isinstance(expr, CharSet):
        return [_printed_set(expr.ranges, ALL_CHARACTERS)]
    if isinstance(expr, ByteSet):
        return [f"(?P<BYTES>{_printed_set(expr.ranges, ((0, 0xFF),))})"]
    if isinstance(expr, Substring):
        return [f"(?P<SUBSTRING_OF{'_WORDS' if expr.words else ''}>", _text(expr.text.encode()), ")"]
    if isinstance(expr, Call):
        return [f"(?&{expr.name})"]  # as in Perl; `parse` does not read it, because it has no meaning outside a grammar
    if isinstance(expr, Label):
        return [f"(?P<TOKEN>{''.join(_character(char, _SPECIAL) for char in expr.name)})"]
    if isinstance(expr, Intersection | Difference):
        name = "AND" if isinstance(expr, Intersection) else "MINUS"
        return [f"(?P<{name}>(?:", (_PATTERN, expr.left), ")(?:", (_PATTERN, expr.right), "))"]
    if isinstance(expr, Complement):
        return ["(?P<NOT>", (_PATTERN, expr.inner), ")"]
    if isinstance(expr, Lookahead | Lookbehind):
        direction = "<" if isinstance(expr, Lookbehind) else ""
        return [f"(?{direction}{'!' if expr.negated else '='}", (_PATTERN, expr.inner), ")"]
    if isinstance(expr, Literal | Concatenation | Alternation | Repetition | Strings):
        return ["(?:", (_PATTERN, expr), ")"]
    if isinstance(expr, Transduction):
        return ["<image of ", (_PATTERN, expr.inner), f" by {expr.transducer!r}>"]  # for messages, too
    if isinstance(expr, Weighted):
        return [(_ATOM, expr.inner), f"<cost {expr.cost:g}>"]  # for messages; `parse` does not read it
    # Acceptors, and the nodes that stand for automata in messages about operations on automata.
    return [repr(expr)]


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


def _printed_set(ranges: Ranges, universe: Ranges) -> str:
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
