"""The kinds of expressions.

    Literal(value)                   exactly these bytes
    CharSet(ranges)                  one character of a set of code points, in UTF-8
    ByteSet(ranges)                  one raw byte of a set, for languages that are not text
    Strings(values)                  any one of a list of byte strings
    Substring(text, words)           any substring of a text; with `words`, any that does not cut a word in two
    Call(name)                       a text of a rule, within a grammar (`automata.pushdown`)
    Label(name)                      one symbol other than a byte, which stands for a named set of tokens
    Acceptor(tables)                 the texts that a given automaton accepts, possibly with weights
    Concatenation(parts)             the parts in order
    Alternation(parts)               any one of the parts; without parts it is the empty language
    Repetition(inner, low, high)     between `low` and `high` times; None for `high` means no upper bound
    Intersection(left, right)        the texts in both
    Difference(left, right)          the texts in `left` and not in `right`
    Complement(inner)                all texts (sequences of UTF-8 characters) that are not in `inner`
    Transduction(inner, transducer)  the texts that a transducer can write when it reads a text of `inner`
    Weighted(inner, cost, semiring)  `inner`, with each text at an additional cost
    Lookahead(inner, negated)        the empty string, where the rest of the text begins (or not) with `inner`
    Lookbehind(inner, negated)       the empty string, where the text so far ends (or not) with `inner`

Only `automata.expressions.constructors` makes nodes, so all nodes are in normal form.

The last two are assertions. They depend on the text around them, so an expression with assertions describes a language
only as a whole text. The operands of intersection, difference, complement and transduction are whole texts in this
sense: assertions in them see nothing outside. `automata.assertions` resolves assertions.

Complement is relative to text and not to all byte strings, because constraints are about text: `~a` must not let a
model write half a character. `ANY_BYTES - a` is the complement relative to all byte strings.

An automaton or a transducer in an expression is an array of arcs, compared and hashed by its contents
(`automata.acceptor_tables`, `automata.transducer_tables`). These nodes cannot be printed as a pattern. Weights have a
meaning only if the language as a whole is compiled with them (`automata.weighted`); all other constructions refuse
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType

from automata.acceptor_tables import AcceptorTables, Semiring
from automata.expressions.base import Expr
from automata.expressions.ranges import Ranges
from automata.transducer_tables import TransducerTables

_set = object.__setattr__


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


class _OfRanges(Expr):
    __slots__ = ("ranges",)
    __match_args__ = ("ranges",)
    ranges: Ranges
    size = 1

    def __init__(self, ranges: Ranges) -> None:
        _set(self, "ranges", ranges)


class CharSet(_OfRanges):
    """One character of a set of code points (`automata.expressions.ranges`), encoded in UTF-8."""

    __slots__ = ()


class ByteSet(_OfRanges):
    """One raw byte of a set."""

    __slots__ = ()


class Strings(Expr):
    """Any one of some byte strings, which are distinct and in ascending order; made by `strings`.

    Its size is the number of strings, because the automaton of a list is closer in size to that number than to the
    number of bytes.
    """

    __slots__ = ("values",)
    __match_args__ = ("values",)
    values: tuple[bytes, ...]

    def __init__(self, values: tuple[bytes, ...]) -> None:
        _set(self, "values", values)
        _set(self, "size", len(values))


class Substring(Expr):
    """Any substring of a text, including the empty one; with `words`, any that does not cut a word in two
    (`automata.compile.substring` defines words)."""

    __slots__ = ("text", "words")
    __match_args__ = ("text", "words")
    text: str
    words: bool

    def __init__(self, text: str, words: bool) -> None:
        _set(self, "text", text)
        _set(self, "words", words)
        _set(self, "size", len(text))


class Acceptor(Expr):
    """The texts that an automaton accepts, at the costs of its arcs if it has weights."""

    __slots__ = ("tables",)
    __match_args__ = ("tables",)
    tables: AcceptorTables

    def __init__(self, tables: AcceptorTables) -> None:
        _set(self, "tables", tables)
        _set(self, "size", len(tables.arcs) + len(tables.epsilon))


class _OfName(Expr):
    __slots__ = ("name",)
    __match_args__ = ("name",)
    name: str
    size = 1

    def __init__(self, name: str) -> None:
        _set(self, "name", name)


class Label(_OfName):
    """One symbol other than a byte, with a name; over a vocabulary it stands for a set of tokens."""

    __slots__ = ()


class Call(_OfName):
    """A text of the rule with this name; only within a grammar's rules."""

    __slots__ = ()


class OfParts(Expr):
    """A node with any number of parts."""

    __slots__ = ("parts",)
    __match_args__ = ("parts",)
    parts: tuple[Expr, ...]

    def __init__(self, parts: tuple[Expr, ...]) -> None:
        _set(self, "parts", parts)
        _set(self, "size", sum([part.size for part in parts]))

    def operands(self) -> tuple[Expr, ...]:
        return self.parts


class Concatenation(OfParts):
    """One part after the other."""

    __slots__ = ()


class Alternation(OfParts):
    """Any one of the parts."""

    __slots__ = ()


class Repetition(Expr):
    """`inner` between `low` and `high` times; None for `high` means no upper bound."""

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


class _OfTwo(Expr):
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


class Intersection(_OfTwo):
    """The texts that are in both."""

    __slots__ = ()


class Difference(_OfTwo):
    """The texts that are in `left` and not in `right`."""

    __slots__ = ()


class Complement(Expr):
    """All texts that are not in `inner`."""

    __slots__ = ("inner",)
    __match_args__ = ("inner",)
    inner: Expr

    def __init__(self, inner: Expr) -> None:
        _set(self, "inner", inner)
        _set(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


class Transduction(Expr):
    """The texts that a transducer can write when it reads a text of `inner`."""

    __slots__ = ("inner", "transducer")
    __match_args__ = ("inner", "transducer")
    inner: Expr
    transducer: TransducerTables

    def __init__(self, inner: Expr, transducer: TransducerTables) -> None:
        _set(self, "inner", inner)
        _set(self, "transducer", transducer)
        _set(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


class Weighted(Expr):
    """The same texts, each at an additional cost."""

    __slots__ = ("cost", "inner", "semiring")
    __match_args__ = ("inner", "cost", "semiring")
    inner: Expr
    cost: float
    semiring: Semiring

    def __init__(self, inner: Expr, cost: float, semiring: Semiring) -> None:
        _set(self, "inner", inner)
        _set(self, "cost", cost)
        _set(self, "semiring", semiring)
        _set(self, "size", inner.size)

    def operands(self) -> tuple[Expr, ...]:
        return (self.inner,)


class _Assertion(Expr):
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


class Lookahead(_Assertion):
    """The empty string, where the rest of the text begins with `inner` (or, negated, where it does not)."""

    __slots__ = ()


class Lookbehind(_Assertion):
    """The empty string, where the text so far ends with `inner` (or, negated, where it does not)."""

    __slots__ = ()


def is_weighted(expr: Expr) -> bool:
    """Return whether an expression has weights of its own, apart from those of its operands."""
    match expr:
        case Acceptor(automaton) | Transduction(_, automaton):
            return automaton.costs is not None
        case _:
            return isinstance(expr, Weighted)


def has_weights(expr: Expr) -> bool:
    """Return whether some part of an expression has weights."""
    return any(map(is_weighted, _parts(expr)))


def has_assertions(expr: Expr) -> bool:
    """Return whether an expression has assertions that see the text around it. Assertions in operands that are texts of
    their own do not count."""
    texts = Intersection | Difference | Complement | Transduction
    return any(isinstance(part, Lookahead | Lookbehind) for part in _parts(expr, texts))


def _parts(expr: Expr, closed: UnionType | None = None) -> Iterator[Expr]:
    """Yield an expression and all of its parts, each once, without recursion; no parts of nodes of kind `closed`."""
    seen, stack = {id(expr)}, [expr]
    while stack:
        node = stack.pop()
        yield node
        if closed is not None and isinstance(node, closed):
            continue
        for part in node.operands():
            if id(part) not in seen:
                seen.add(id(part))
                stack.append(part)
