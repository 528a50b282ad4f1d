"""Read the text of a value by its shape; no code is evaluated.

    text -> syntax tree          `ast.parse`, as an expression, which runs nothing
    syntax tree -> value         `Evaluation.value`, which knows the nodes that each shape accepts

A node that does not fit its shape is a mismatch and is never converted: names, calls and operators other than those
that `constraints.types.calls` writes have no meaning here. Only the constructors of the types themselves are called,
including their `__post_init__`; a value that a Pydantic constructor refuses is a mismatch.

A text is read by the first option of a union that describes it exactly; an int is read as a float only if no option
reads it as an int.
"""

from __future__ import annotations

import ast
import datetime
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from constraints.types import literals
from constraints.types.calls import spelled_name
from constraints.types.reflection import Reflection
from constraints.types.shapes import (
    UNBOUNDED,
    Boolean,
    Bounds,
    Choice,
    Constants,
    Exact,
    Identifier,
    Integer,
    Items,
    Mapping,
    Moment,
    Nothing,
    Real,
    Record,
    Row,
    Shape,
    Text,
    Union,
)

# The maximum number of characters of a text that an error shows.
_SHOWN = 60
# Every bound has fewer digits: `number_language` refuses larger ones.
_FAR = 5000


class Mismatch(ValueError):
    """A text, or a part of one, that is not a value of its shape.

    The message is made only when it is read, because options of unions often mismatch.
    """

    def __init__(self, reason: str, node: ast.expr | None = None, others: Sequence[Mismatch] = ()) -> None:
        super().__init__(reason)
        self._node, self._others = node, others

    def __str__(self) -> str:
        if self._others:
            return "; ".join(dict.fromkeys(map(str, self._others)))
        reason = super().__str__()
        if self._node is None:
            return reason
        try:
            written = ast.unparse(self._node)
        except RecursionError:
            return f"something deep is not {reason}"
        return f"{written if len(written) <= _SHOWN else written[: _SHOWN - 3] + '...'} is not {reason}"


def tree(text: str) -> ast.expr:
    """Return the syntax tree of an expression.

    Raises:
        Mismatch: the text is not an expression, or is nested too deeply for Python's parser.
    """
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise Mismatch(f"Python cannot read it: {error}") from None


class Evaluation:
    """Values of syntax trees, by shape.

    Args:
        reflection: the fields of records.
        makes_records: whether constructors of records are called; if not, `value` only checks, and returns None in
            place of records.

    """

    def __init__(self, reflection: Reflection, *, makes_records: bool = True) -> None:
        self._reflection = reflection
        self._makes_records = makes_records

    def value(self, node: ast.expr, shape: Shape, *, exactly: bool = False) -> Any:
        """Return the value of a node.

        Args:
            node: the node.
            shape: the shape that it must have.
            exactly: whether to refuse an int in place of a float.

        Raises:
            Mismatch: the node does not have the shape.
        """
        match shape:
            case Nothing() | Boolean():
                return _constant(node, (type(None),) if shape == Nothing() else (bool,))
            case Integer(bounds):
                return _held(_number(node, (int,)), bounds)
            case Real(bounds):
                return _held(_float(_number(node, (float,) if exactly else (float, int))), bounds)
            case Exact(bounds, finite):
                return _held(_decimal(node, finite=finite), bounds)
            case Text(size, patterns):
                text: str = _constant(node, (str,))
                if not size.holds(len(text)) or not all(literals.matches(pattern, text) for pattern in patterns):
                    wanted = "".join(f" that matches {pattern!r}" for pattern in patterns)
                    raise _mismatch(node, f"text of {size.of('characters')}{wanted}")
                return text
            case Moment(kind):
                return _moment(node, kind)
            case Identifier():
                return _identifier(node)
            case Constants(values):
                found = _number(node, (int,)) if isinstance(node, ast.UnaryOp) else _constant(node, _SCALARS)
                if (type(found), found) not in values:
                    raise _mismatch(node, f"one of {[value for _, value in values]}")
                return found
            case Choice(enum, names):
                prefix, _, name = ast.unparse(node).rpartition(".")
                if prefix != spelled_name(enum) or name not in names:
                    raise _mismatch(node, f"one of {names} of {enum}")
                return enum[name]
            case Union(options):
                return self._union(node, options, exactly)
        return self._collection(node, shape, exactly)

    def _union(self, node: ast.expr, options: Iterable[Shape], exactly: bool) -> Any:
        reasons: list[Mismatch] = []
        for strictly in (True,) if exactly else (True, False):
            for option in options:
                try:
                    return self.value(node, option, exactly=strictly)
                except Mismatch as error:
                    reasons.append(error)
        raise Mismatch("no option", others=reasons)

    def _collection(self, node: ast.expr, shape: Shape, exactly: bool) -> Any:
        def values(nodes: Iterable[ast.expr], item: Shape) -> list[Any]:
            return [self.value(each, item, exactly=exactly) for each in nodes]

        match shape:
            case Items(kind, item, size):
                found = values(_elements(node, kind), item)
                if not size.holds(len(found)):
                    raise _mismatch(node, f"a {kind.__name__} of {size.of('items')}")
                return kind(found)
            case Row(items):
                nodes = _elements(node, tuple)
                if len(nodes) != len(items):
                    raise _mismatch(node, f"a tuple of {len(items)}")
                return tuple(self.value(each, item, exactly=exactly) for each, item in zip(nodes, items, strict=True))
            case Mapping(key, value, size):
                if not isinstance(node, ast.Dict) or None in node.keys or not size.holds(len(node.keys)):
                    raise _mismatch(node, f"a dict of {size.of('members')}")
                keys = [each for each in node.keys if each is not None]
                members = values(keys, key), values(node.values, value)
                return dict(zip(*members, strict=True))
            case Record():
                return self._record(node, shape, exactly)
        raise AssertionError(shape)

    def _record(self, node: ast.expr, record: Record, exactly: bool) -> Any:
        if not isinstance(node, ast.Call) or node.args or ast.unparse(node.func) != spelled_name(record.cls):
            raise _mismatch(node, f"a call of {spelled_name(record.cls)} with keyword arguments")
        fields = self._reflection.fields(record, f"/{record.cls.__name__}")
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        names = [field.name for field in fields if field.required or field.name in given]
        if missing := [name for name in names if name not in given]:
            raise _mismatch(node, f"a call with the argument {missing[0]!r}")
        if names != [keyword.arg for keyword in node.keywords]:
            raise _mismatch(node, f"the arguments {names} in this order")
        found = {f.name: self.value(given[f.name], f.shape, exactly=exactly) for f in fields if f.name in given}
        return _constructed(record.cls, found) if self._makes_records else None


def _constructed(cls: type, arguments: dict[str, Any]) -> Any:
    """Return an instance.

    Raises:
        Mismatch: Pydantic refuses the arguments, as validators in the class may.
        Exception: any other error of the constructor.
    """
    try:
        return cls(**arguments)
    except ValueError as error:
        from pydantic_core import ValidationError

        if not isinstance(error, ValidationError):
            raise
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = "".join(f"/{step}" for step in first["loc"])
        raise Mismatch(f"{first['msg']} (at {place or 'the root'})") from None


_SCALARS = (int, bool, str, type(None))


def _mismatch(node: ast.expr, expected: str) -> Mismatch:
    return Mismatch(expected, node)


def _constant(node: ast.expr, kinds: tuple[type, ...]) -> Any:
    if not isinstance(node, ast.Constant) or type(node.value) not in kinds:
        raise _mismatch(node, " or ".join(kind.__name__ for kind in kinds))
    return node.value


def _number(node: ast.expr, kinds: tuple[type, ...]) -> Any:
    """Return a number with at most one sign; `inf` and `nan` are floats."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.UnaryOp):
        return -_number(node.operand, kinds)
    if isinstance(node, ast.Name) and node.id in ("inf", "nan") and float in kinds:
        return float(node.id)
    return _constant(node, kinds)


def _float(number: float) -> float:
    """Return a number as a float; an integer beyond the range of floats is infinite, as it is with an exponent."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _held(value: Any, bounds: Bounds) -> Any:
    """Return a number if it is within its bounds.

    Raises:
        Mismatch: it is out of bounds.
    """
    if bounds == UNBOUNDED:
        return value
    expected = bounds
    if not isinstance(value, int):
        # The automaton checks steps, on the written number. A float is rounded when it is read, even to infinity, and
        # `_near` changes large Decimals.
        bounds = replace(bounds, step=None)
    if isinstance(value, float) and math.isnan(value):
        held = bounds == UNBOUNDED
    elif isinstance(value, float) and math.isinf(value):
        held = (bounds.high if value > 0 else bounds.low) is None
    elif isinstance(value, Decimal):
        held = value.is_finite() and bounds.hold(_near(value))
    else:
        held = bounds.hold(Fraction(value))
    if not held:
        raise Mismatch(f"{value} is not {expected}")
    return value


def _near(value: Decimal) -> Fraction:
    """Return a number that is on the same side of every bound as `value`, but whose exponent is not large."""
    if value and abs(value.adjusted()) > _FAR:
        value = Decimal((value.as_tuple().sign, (1,), _FAR if value.adjusted() > 0 else -_FAR))
    return Fraction(value)


def _elements(node: ast.expr, kind: type) -> list[ast.expr]:
    """Return the items written in a collection of this kind."""
    if kind in (list, tuple):
        if not isinstance(node, ast.List if kind is list else ast.Tuple):
            raise _mismatch(node, f"a {kind.__name__}")
        return node.elts
    if isinstance(node, ast.Set) and kind is set:
        return node.elts
    inside = _call(node, None, kind.__name__)
    if not inside.args and not inside.keywords:
        return []
    written = _only(inside)
    if kind is set or not isinstance(written, ast.Set):
        raise _mismatch(node, f"a {kind.__name__}")
    return written.elts


def _call(node: ast.expr, module: str | None, name: str) -> ast.Call:
    names = (name,) if module is None else (name, f"{module}.{name}")
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in names:
        raise _mismatch(node, f"a call of {names[-1]}")
    return node


def _only(node: ast.Call) -> ast.expr:
    if len(node.args) != 1 or node.keywords:
        raise _mismatch(node, "a call with one argument")
    return node.args[0]


def _identifier(node: ast.expr) -> UUID:
    with suppress(ValueError):
        return UUID(_constant(_only(_call(node, "uuid", "UUID")), (str,)))
    raise _mismatch(node, "a UUID")


def _decimal(node: ast.expr, *, finite: bool) -> Decimal:
    with suppress(ArithmeticError):
        found = Decimal(_constant(_only(_call(node, "decimal", "Decimal")), (str,)))
        if found.is_finite() or not (finite or found.is_snan()):
            return found
    raise _mismatch(node, "a finite Decimal" if finite else "a Decimal that can be compared")


def _moment(node: ast.expr, kind: str) -> Any:
    readers: dict[str, Callable[[ast.expr], Any]] = {"tzinfo": _zone}
    made = _call(node, "datetime", kind)
    positional = [_number(each, (int,)) for each in made.args]
    named = {str(each.arg): readers.get(str(each.arg), _whole)(each.value) for each in made.keywords}
    try:
        return getattr(datetime, kind)(*positional, **named)
    except (TypeError, ValueError, OverflowError) as error:
        raise Mismatch(f"{ast.unparse(node)}: {error}") from None


def _whole(node: ast.expr) -> int:
    return int(_number(node, (int,)))


def _zone(node: ast.expr) -> datetime.timezone:
    if ast.unparse(node) in ("timezone.utc", "datetime.timezone.utc"):
        return datetime.UTC
    made = _call(node, "datetime", "timezone")
    if made.keywords or len(made.args) not in (1, 2):
        raise _mismatch(node, "a time zone")
    name = [_constant(each, (str,)) for each in made.args[1:]]
    try:
        return datetime.timezone(_moment(made.args[0], "timedelta"), *name)
    except ValueError as error:
        raise Mismatch(f"{ast.unparse(node)}: {error}") from None
