"""Expr: an immutable, hashable expression of a language of bytes.

An expression says what a language is; `automata.compile` says how to recognize it. The kinds of node, from the
simplest up:

    Literal(value)                   exactly these bytes
    CharSet(ranges)                  one character of a set of code points, in UTF-8
    ByteSet(ranges)                  one raw byte of a set, for languages that are not text
    Strings(values)                  any one of a list of byte strings, however many
    Substring(text, words)           any substring of a text, or any that cuts no word
    Label(name)                      one symbol that is no byte: a place where a named set of tokens is written
    Concatenation(parts)             one after the other
    Alternation(parts)               any one of them; none at all is the empty language
    Repetition(inner, low, high)     between `low` and `high` times; `high` None is no bound
    Intersection(left, right)        in both
    Difference(left, right)          in the left one and not in the right one
    Complement(inner)                every text (sequence of UTF-8 characters) that is not in it
    Lookahead(inner, negated)        nothing, where `inner` matches (or not) what comes next in the text
    Lookbehind(inner, negated)       nothing, where `inner` matches (or not) what came last in the text

Nodes are made by the functions below, which keep a light normal form (flat concatenations and alternations, merged
literals, no neutral elements), so that expressions written in different ways are often equal, and equal ones compile
once. Sizes count the leaves after expanding repetitions, as a measure of the work of compiling.

The last two are assertions: what they allow depends on what stands around them, so an expression that holds one is a
language only as a whole. The whole ends at the operands of intersection, difference and complement, which are texts of
their own; `whole` makes one of any expression. `automata.assertions` says how they are resolved.

Complement is relative to text and not to all byte strings because constraints are about text: `~a` must not let a
model write half a character. `ANY_BYTES - a` is the other one.

Rejected: nodes that hold automata (expressions could not be printed, compared or hashed); simplification beyond the
normal form (determinization does it exactly).
"""

from __future__ import annotations

from collections.abc import Iterable

from automata import ranges as rg
from automata.ranges import ALL_CHARACTERS, Ranges

_set = object.__setattr__


class Expr:
    """A language of bytes. Operators take expressions or literal text: `+ | & - ~`, and `repeat`, `star`, ..."""

    __slots__ = ("_hash", "size")
    _hash: int
    size: int

    # The names of a node's parts, in the order of its arguments; patterns of `match` use them too.
    __match_args__: tuple[str, ...] = ()

    def _key(self) -> tuple[object, ...]:
        """The arguments that make an equal node."""
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def operands(self) -> tuple[Expr, ...]:
        """The expressions that this one is made of, in order."""
        return ()

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            pass
        try:
            value = hash((type(self), self._key()))
            _set(self, "_hash", value)
            return value
        except RecursionError:
            return _hashed(self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Expr) and hash(self) == hash(other) and _equal(self, other)

    def __reduce__(self) -> tuple[type[Expr], tuple[object, ...]]:
        return type(self), self._key()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._key()))})"

    def __str__(self) -> str:
        """The expression as a regular expression in the syntax of `automata.pattern`."""
        from automata.printing import to_pattern

        return to_pattern(self)

    def __add__(self, other: Expr | str | bytes) -> Expr:
        return concat(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __radd__(self, other: str | bytes) -> Expr:
        return concat(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __or__(self, other: Expr | str | bytes) -> Expr:
        return alternation(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __ror__(self, other: str | bytes) -> Expr:
        return alternation(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __and__(self, other: Expr | str | bytes) -> Expr:
        return intersection(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rand__(self, other: str | bytes) -> Expr:
        return intersection(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __sub__(self, other: Expr | str | bytes) -> Expr:
        return difference(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rsub__(self, other: str | bytes) -> Expr:
        return difference(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __invert__(self) -> Expr:
        return complement(self)

    def repeat(self, low: int, high: int | None) -> Expr:
        """Between `low` and `high` times; `high` None is no bound."""
        return repeat(self, low, high)

    def star(self) -> Expr:
        """Any number of times, none included."""
        return repeat(self, 0, None)

    def plus(self) -> Expr:
        """At least once."""
        return repeat(self, 1, None)

    def optional(self) -> Expr:
        """Once or not at all."""
        return repeat(self, 0, 1)


def _hashed(expr: Expr) -> int:
    """Hashes an expression after all its parts, without recursion, so that no nesting is too deep."""
    stack = [expr]
    while stack:
        node = stack[-1]
        missing = [part for part in node.operands() if not hasattr(part, "_hash") and not isinstance(part, Literal)]
        if missing:
            stack += missing
        else:
            _set(stack.pop(), "_hash", hash((type(node), node._key())))
    return expr._hash


def _equal(left: Expr, right: Expr) -> bool:
    """Whether two expressions are written alike, without recursion."""
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        mine, others = a.operands(), b.operands()
        if type(a) is not type(b) or len(mine) != len(others) or (not mine and a._key() != b._key()):
            return False
        if isinstance(a, Repetition | Lookahead | Lookbehind) and a._key()[1:] != b._key()[1:]:
            return False
        stack += zip(mine, others, strict=True)
    return True


class Literal(Expr):
    """Exactly these bytes."""

    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: bytes

    def __init__(self, value: bytes) -> None:
        _set(self, "value", value)
        _set(self, "size", len(value))

    def __hash__(self) -> int:
        return hash(self.value)


class CharSet(Expr):
    """One character of a set of code points (`ranges` as `automata.ranges` keeps them), encoded in UTF-8."""

    __slots__ = ("ranges",)
    __match_args__ = ("ranges",)
    ranges: Ranges

    def __init__(self, ranges: Ranges) -> None:
        _set(self, "ranges", ranges)
        _set(self, "size", 1)


class ByteSet(Expr):
    """One raw byte of a set."""

    __slots__ = ("ranges",)
    __match_args__ = ("ranges",)
    ranges: Ranges

    def __init__(self, ranges: Ranges) -> None:
        _set(self, "ranges", ranges)
        _set(self, "size", 1)


class Strings(Expr):
    """Any one of some byte strings, which ascend and differ; made by `strings`.

    Its size is their number: what a list takes once it is an automaton is nearer to that than to its bytes.
    """

    __slots__ = ("values",)
    __match_args__ = ("values",)
    values: tuple[bytes, ...]

    def __init__(self, values: tuple[bytes, ...]) -> None:
        _set(self, "values", values)
        _set(self, "size", len(values))


class Substring(Expr):
    """Any substring of a text, the empty one included; by `words`, any that cuts no word in two. `automata.substring`
    says what a word is."""

    __slots__ = ("text", "words")
    __match_args__ = ("text", "words")
    text: str
    words: bool

    def __init__(self, text: str, words: bool) -> None:
        _set(self, "text", text)
        _set(self, "words", words)
        _set(self, "size", len(text))


class Label(Expr):
    """One symbol beyond the bytes, known by its name; what it stands for is up to who asks for it."""

    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        _set(self, "name", name)
        _set(self, "size", 1)


class Concatenation(Expr):
    """One part after the other."""

    __slots__ = ("parts",)
    __match_args__ = ("parts",)
    parts: tuple[Expr, ...]

    def __init__(self, parts: tuple[Expr, ...]) -> None:
        _set(self, "parts", parts)
        _set(self, "size", sum([part.size for part in parts]))

    def operands(self) -> tuple[Expr, ...]:
        return self.parts


class Alternation(Expr):
    """Any one of the parts."""

    __slots__ = ("parts",)
    __match_args__ = ("parts",)
    parts: tuple[Expr, ...]

    def __init__(self, parts: tuple[Expr, ...]) -> None:
        _set(self, "parts", parts)
        _set(self, "size", sum([part.size for part in parts]))

    def operands(self) -> tuple[Expr, ...]:
        return self.parts


class Repetition(Expr):
    """`inner` between `low` and `high` times; `high` None is no bound."""

    __slots__ = ("high", "inner", "low")
    __match_args__ = ("inner", "low", "high")
    inner: Expr
    low: int
    high: int | None

    def __init__(self, inner: Expr, low: int, high: int | None) -> None:
        _set(self, "inner", inner)
        _set(self, "low", low)
        _set(self, "high", high)
        _set(self, "size", inner.size * max(low if high is None else high, 1))

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


class Intersection(Expr):
    """What is in both."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    left: Expr
    right: Expr

    def __init__(self, left: Expr, right: Expr) -> None:
        _set(self, "left", left)
        _set(self, "right", right)
        _set(self, "size", left.size + right.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.left, self.right)


class Difference(Expr):
    """What is in `left` and not in `right`."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    left: Expr
    right: Expr

    def __init__(self, left: Expr, right: Expr) -> None:
        _set(self, "left", left)
        _set(self, "right", right)
        _set(self, "size", left.size + right.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.left, self.right)


class Complement(Expr):
    """Every text that is not in `inner`."""

    __slots__ = ("inner",)
    __match_args__ = ("inner",)
    inner: Expr

    def __init__(self, inner: Expr) -> None:
        _set(self, "inner", inner)
        _set(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


class Lookahead(Expr):
    """The empty string, where what follows in the text begins with `inner`, or where it does not."""

    __slots__ = ("inner", "negated")
    __match_args__ = ("inner", "negated")
    inner: Expr
    negated: bool

    def __init__(self, inner: Expr, negated: bool) -> None:
        _set(self, "inner", inner)
        _set(self, "negated", negated)
        _set(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


class Lookbehind(Expr):
    """The empty string, where what precedes in the text ends with `inner`, or where it does not."""

    __slots__ = ("inner", "negated")
    __match_args__ = ("inner", "negated")
    inner: Expr
    negated: bool

    def __init__(self, inner: Expr, negated: bool) -> None:
        _set(self, "inner", inner)
        _set(self, "negated", negated)
        _set(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


# What the operators take; others, such as automata, may know what to do with an expression.
_OPERAND = (Expr, str, bytes)

EMPTY: Expr = Alternation(())
EPSILON: Expr = Literal(b"")


def is_epsilon(expr: Expr) -> bool:
    """Whether the expression is written as the empty string."""
    return type(expr) is Literal and not expr.value


def is_empty(expr: Expr) -> bool:
    """Whether the expression is written as the empty language."""
    return type(expr) is Alternation and not expr.parts


def literal(value: str | bytes) -> Expr:
    """Exactly this text (in UTF-8) or these bytes.

    Raises:
        UnicodeEncodeError: text with a lone surrogate, which UTF-8 cannot write.
    """
    return Literal(value.encode() if isinstance(value, str) else bytes(value))


def strings(values: Iterable[str | bytes]) -> Expr:
    """Any one of some strings, in UTF-8 where they are text; none at all is the empty language.

    Raises:
        UnicodeEncodeError: text with a lone surrogate, which UTF-8 cannot write.
    """
    kept = tuple(sorted({value.encode() if isinstance(value, str) else bytes(value) for value in values}))
    if len(kept) > 1:
        return Strings(kept)
    return Literal(kept[0]) if kept else EMPTY


def _expr(value: Expr | str | bytes) -> Expr:
    return value if isinstance(value, Expr) else literal(value)


def char_set(*items: str | tuple[int, int], negated: bool = False) -> Expr:
    """One character of a set: each item is a string of characters or a range of code points, both ends included.

    Code points that are surrogates are no characters and are left out.
    """
    pairs: list[tuple[int, int]] = []
    for item in items:
        pairs.extend([(ord(c), ord(c)) for c in item] if isinstance(item, str) else [item])
    ranges = rg.normalize(pairs)
    return char_ranges(rg.subtract(ALL_CHARACTERS, ranges) if negated else rg.intersect(ranges, ALL_CHARACTERS))


def char_ranges(ranges: Ranges) -> Expr:
    """One character of a set of code points in normal form that holds no surrogate."""
    if not ranges:
        return EMPTY
    low, high = ranges[0]
    if len(ranges) == 1 and low == high:
        return Literal(chr(low).encode())
    return CharSet(ranges)


def byte_set(values: Iterable[int]) -> Expr:
    """One raw byte of a set.

    Raises:
        ValueError: a value outside 0..255.
    """
    ranges = rg.from_sorted(sorted(set(values)))
    if ranges and (ranges[0][0] < 0 or ranges[-1][1] > 255):
        raise ValueError("a byte lies between 0 and 255")
    return byte_ranges(ranges)


def byte_ranges(ranges: Ranges) -> Expr:
    """One raw byte of a set in normal form."""
    if not ranges:
        return EMPTY
    return Literal(bytes([ranges[0][0]])) if ranges[0][0] == ranges[-1][1] else ByteSet(ranges)


def concat(*parts: Expr | str | bytes) -> Expr:
    """One part after the other; nothing at all is the empty string."""
    flat: list[Expr] = []
    before = b""  # the literal at the end of `flat`
    for part in parts:
        expr = part if isinstance(part, Expr) else literal(part)
        for piece in expr.parts if isinstance(expr, Concatenation) else (expr,):
            if not isinstance(piece, Literal):
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
    if len(flat) == 1:
        return flat[0]
    return Concatenation(tuple(flat)) if flat else EPSILON


def alternation(*parts: Expr | str | bytes) -> Expr:
    """Any one of the parts; nothing at all is the empty language."""
    if len(parts) == 1:
        return _expr(parts[0])
    flat: dict[Expr, None] = {}
    for part in parts:
        expr = _expr(part)
        flat.update(dict.fromkeys(expr.parts if isinstance(expr, Alternation) else (expr,)))
    return Alternation(tuple(flat)) if len(flat) != 1 else next(iter(flat))


def repeat(inner: Expr | str | bytes, low: int, high: int | None = None) -> Expr:
    """`inner` between `low` and `high` times; `high` None is no bound.

    Raises:
        ValueError: a negative bound, or an upper bound below the lower one.
    """
    expr = _expr(inner)
    if low < 0 or (high is not None and high < low):
        raise ValueError(f"no number of repetitions lies between {low} and {high}")
    if high == 0 or is_epsilon(expr):
        return EPSILON
    if is_empty(expr):
        return EPSILON if low == 0 else EMPTY
    if low == high == 1:
        return expr
    if isinstance(expr, Lookahead | Lookbehind):  # twice is as good as once
        return expr if low else EPSILON
    if isinstance(expr, Repetition) and expr.high is None and expr.low <= 1 and low <= 1:
        # (a*)+, (a+)*, (a+)? and the like are one loop.
        return Repetition(expr.inner, min(expr.low, low), None)
    return Repetition(expr, low, high)


def intersection(left: Expr | str | bytes, right: Expr | str | bytes) -> Expr:
    """What is in both."""
    a, b = _expr(left), _expr(right)
    if is_empty(a) or is_empty(b):
        return EMPTY
    if isinstance(a, CharSet) and isinstance(b, CharSet):
        return char_ranges(rg.intersect(a.ranges, b.ranges))
    return a if a == b else Intersection(a, b)


def difference(left: Expr | str | bytes, right: Expr | str | bytes) -> Expr:
    """What is in `left` and not in `right`."""
    a, b = _expr(left), _expr(right)
    if is_empty(a) or a == b:
        return EMPTY
    if isinstance(a, CharSet) and isinstance(b, CharSet):
        return char_ranges(rg.subtract(a.ranges, b.ranges))
    return a if is_empty(b) else Difference(a, b)


def complement(inner: Expr | str | bytes) -> Expr:
    """Every text (sequence of UTF-8 characters) that is not in `inner`; twice is what it was, as far as it was text."""
    return Complement(_expr(inner))


def lookahead(inner: Expr | str | bytes, *, negated: bool = False) -> Expr:
    """The empty string, where `inner` matches what comes next, however much of it (or, negated, where it does not)."""
    return _assertion(Lookahead, _expr(inner), negated)


def lookbehind(inner: Expr | str | bytes, *, negated: bool = False) -> Expr:
    """The empty string, where `inner` matches what came last, however much of it (or, negated, where it does not)."""
    return _assertion(Lookbehind, _expr(inner), negated)


def _assertion(kind: type[Lookahead] | type[Lookbehind], inner: Expr, negated: bool) -> Expr:
    if is_epsilon(inner) or is_empty(inner):
        return EPSILON if is_epsilon(inner) != negated else EMPTY
    if isinstance(inner, Lookahead | Lookbehind):  # it stands where the outer one stands
        return type(inner)(inner.inner, inner.negated != negated)
    return kind(inner, negated)


def whole(inner: Expr | str | bytes) -> Expr:
    """The same as a text of its own: assertions in it see what it matches and nothing around it."""
    return Difference(_expr(inner), EMPTY)


ANY_CHAR: Expr = CharSet(ALL_CHARACTERS)
ANY_TEXT: Expr = repeat(ANY_CHAR, 0)
ANY_BYTES: Expr = repeat(ByteSet(((0, 255),)), 0)

TEXT_START: Expr = Lookbehind(ANY_CHAR, True)
TEXT_END: Expr = Lookahead(ANY_CHAR, True)
