"""Convert a shape to the texts of its values: constructor calls and literals, in Python syntax.

    scalars         as in `repr`, and the other spellings of `constraints.types.literals` and `moments`
    collections     [a, b]  (a, b)  (a,)  ()  {a, b}  set()  frozenset({a, b})  {k: v}, without a trailing comma
    members         Color.RED
    records         Name(field=value, ...), in the order of the fields; those with defaults may be left out.
                    A field that the constructor takes only by an alias is written with the alias

After a comma or a colon there is one space or none. Names are qualified as in `repr` (`Outer.Inner`), without the part
up to the last `<locals>`, which is not valid Python.

A type that is not recursive is one expression, unless this would be too large (`_MAX_LEAVES`). A recursive record is a
rule that calls itself, and the whole is a grammar (`automata.pushdown`), so nesting is unbounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from automata.compile.compiler import compile_expr
from automata.errors import UnsatisfiableSchema, UnsupportedSchema
from automata.expressions import (
    EMPTY,
    EPSILON,
    Expr,
    alternation,
    call,
    char_set,
    concat,
    intersection,
    literal,
    repeat,
    strings,
)
from automata.pushdown.grammar import Grammar
from constraints.types import literals, moments
from constraints.types.acceptors import accepted, numbers
from constraints.types.mistakes import errors_at
from constraints.types.moments import COMMA, DIGIT, SPACE
from constraints.types.reflection import Reflection
from constraints.types.rounding import rounding_into
from constraints.types.shapes import (
    UNBOUNDED,
    Boolean,
    Bounds,
    Choice,
    Constants,
    Exact,
    Field,
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
    Size,
    Text,
    Union,
    parts,
)

# A type whose expression has more leaves than this becomes a grammar, so that no record is written out twice.
_MAX_LEAVES = 20_000
_NATURAL = alternation("0", concat(char_set((0x31, 0x39)), DIGIT.star()))
_INTEGER = concat(repeat("-", 0, 1), _NATURAL)
_EXPONENT = concat(char_set("eE"), repeat(char_set("+-"), 0, 1), DIGIT.plus())
_NUMBER = concat(_INTEGER, repeat(concat(".", DIGIT.plus()), 0, 1), repeat(_EXPONENT, 0, 1))
_FLOAT = alternation(_NUMBER, concat(repeat("-", 0, 1), strings(["inf", "nan"])))
# str(Decimal) in the General Decimal Arithmetic specification's scientific notation; exponents up to 17 digits, since
# some of 18 are out of range. A signaling NaN has no hash and cannot be compared, so it is not written.
_FINITE = concat(
    _INTEGER,
    repeat(concat(".", DIGIT.plus()), 0, 1),
    repeat(concat("E", char_set("+-"), repeat(DIGIT, 1, 17)), 0, 1),
)
_DECIMAL = alternation(_FINITE, concat(repeat("-", 0, 1), strings(["Infinity", "NaN"])))


def spelled_name(cls: type) -> str:
    """Return the name that a constructor call begins with."""
    return cls.__qualname__.rpartition("<locals>.")[2]


class Calls:
    """The texts of shapes. Records in `_rules` are called as rules; all others are written out in place."""

    def __init__(self, reflection: Reflection) -> None:
        self._reflection = reflection
        self._rules: dict[Record, str] = {}
        self._known: dict[Shape, Expr] = {}

    def language(self, shape: Shape) -> Expr | Grammar:
        """Return all texts of a shape.

        Raises:
            UnsupportedSchema: a part of the shape cannot be expressed.
            UnsatisfiableSchema: no value is within the bounds, so the shape has no texts.
        """
        recursive = self._reflection.recursive(shape)
        if not recursive:
            whole = self.expr(shape)
            if whole == EMPTY:
                raise UnsatisfiableSchema("no value is within the bounds", pointer=self._place_of_nothing(shape))
            if whole.size <= _MAX_LEAVES:
                return whole
            recursive = tuple(self._reflection.leads(shape))
        self._known.clear()
        self._rules = {record: f"{spelled_name(record.cls)}#{number}" for number, record in enumerate(recursive)}
        rules = {name: self._record(record) for record, name in self._rules.items()}
        return Grammar({"whole": self.expr(shape), **rules}, start="whole")

    def expr(self, shape: Shape) -> Expr:
        """Return the texts of a shape as an expression, with calls of the rules."""
        if shape not in self._known:
            self._known[shape] = self._expr(shape)
        return self._known[shape]

    def _expr(self, shape: Shape) -> Expr:
        match shape:
            case Nothing():
                return literal("None")
            case Boolean():
                return strings(["True", "False"])
            case Integer(bounds):
                return _INTEGER if bounds == UNBOUNDED else _within(bounds, whole=True)
            case Real(bounds):
                return _FLOAT if bounds == UNBOUNDED else _real(bounds)
            case Exact(bounds, finite):
                unbounded = _FINITE if finite else _DECIMAL
                return moments.decimal(unbounded if bounds == UNBOUNDED else _exact(bounds))
            case Text(size=size) | Items(size=size) | Mapping(size=size) if size.is_empty:
                return EMPTY
            case Text(size, patterns):
                return literals.text(size, patterns)
            case Moment(kind):
                return moments.moment(kind)
            case Identifier():
                return moments.identifier()
            case Constants(values):
                return alternation(*[literals.constant(v) if kind is str else repr(v) for kind, v in values])
            case Choice(enum, names):
                return strings([f"{spelled_name(enum)}.{name}" for name in names])
            case Union(options):
                return alternation(*map(self.expr, options))
            case Items(kind, item, size):
                return _items(kind, self.expr(item), size)
            case Row(items):
                return _row([self.expr(item) for item in items])
            case Mapping(key, value, size):
                member = concat(self.expr(key), ":", SPACE, self.expr(value))
                return concat("{", _listed(member, _distinct(size, "a dict")), "}")
            case Record():
                return call(self._rules[shape]) if shape in self._rules else self._record(shape)

    def _place_of_nothing(self, shape: Shape) -> str:
        """Return the place of a required field without values that leaves a shape without values; "" if there is
        none."""
        if not isinstance(shape, Record):
            return next(filter(None, map(self._place_of_nothing, parts(shape))), "")
        place = f"/{shape.cls.__name__}"
        for field in self._reflection.fields(shape, place):
            if field.required and self.expr(field.shape) == EMPTY:
                return self._place_of_nothing(field.shape) or f"{place}/{field.name}"
        return ""

    def _record(self, record: Record) -> Expr:
        place = f"/{record.cls.__name__}"
        fields = self._reflection.fields(record, place)
        for field in fields:
            with errors_at(f"{place}/{field.name}"):
                self.expr(field.shape)
        return concat(spelled_name(record.cls), "(", arguments(fields, self.expr), ")")


def arguments(fields: Sequence[Field], value: Callable[[Shape], Expr]) -> Expr:
    """Return keyword arguments in order; those that are not required may be left out.

    For n fields, the expression contains O(n log n) arguments.
    """
    written = [concat(field.name, "=", value(field.shape)) for field in fields]
    required = [field.required for field in fields]
    some = _some(written, required)
    return some if any(required) else repeat(some, 0, 1) if fields else EPSILON


def _some(written: Sequence[Expr], required: Sequence[bool]) -> Expr:
    """Return at least one argument: from the first half or, if all of that may be left out, from the second."""
    if not written:
        return EMPTY
    if len(written) == 1:
        return written[0]
    middle = len(written) // 2
    more = [
        repeat(concat(COMMA, one), needed, 1) for one, needed in zip(written[middle:], required[middle:], strict=True)
    ]
    first = concat(_some(written[:middle], required[:middle]), *more)
    return first if any(required[:middle]) else alternation(first, _some(written[middle:], required[middle:]))


def _items(kind: type, item: Expr, size: Size) -> Expr:
    if kind is list:
        return concat("[", _listed(item, size), "]")
    if kind is tuple:
        return _tuple(item, size)
    size = _distinct(size, f"a {kind.__name__}")
    written = concat("{", _listed(item, Size(max(size.low, 1), size.high)), "}") if size.high != 0 else EMPTY
    written = written if kind is set else concat("frozenset(", written, ")")
    return written if size.low else alternation(written, f"{kind.__name__}()")


def _listed(item: Expr, size: Size) -> Expr:
    """Return items with commas between them."""
    if size.high == 0:
        return EPSILON
    if size.high is not None and size.high < size.low:
        return EMPTY
    high = None if size.high is None else size.high - 1
    some = concat(item, repeat(concat(COMMA, item), max(size.low - 1, 0), high))
    return some if size.low else repeat(some, 0, 1)


def _tuple(item: Expr, size: Size) -> Expr:
    """Return a tuple; a comma follows a single item."""
    several = concat("(", _listed(item, Size(max(size.low, 2), size.high)), ")")
    found = [several] if size.high is None or size.high >= 2 else []
    found += [literal("()")] if size.holds(0) else []
    found += [concat("(", item, ",)")] if size.holds(1) else []
    return alternation(*found)


def _row(items: Sequence[Expr]) -> Expr:
    if len(items) == 1:
        return concat("(", items[0], ",)")
    return concat("(", *[concat(COMMA, item) if number else item for number, item in enumerate(items)], ")")


def _distinct(size: Size, what: str) -> Size:
    """Return the size of a collection in which equal items count once."""
    if size.low > 1:
        raise UnsupportedSchema(
            f"{what} with at least {size.low} items: equal ones count once, and an automaton cannot compare them",
            keyword="min_length",
        )
    return size


def _real(bounds: Bounds) -> Expr:
    """Return floats within bounds, and the infinities and NaN that no bound excludes; as in Pydantic, no step does."""
    signs = [""] * (bounds.high is None) + ["-"] * (bounds.low is None)
    names = ["inf", "nan"] if len(signs) == 2 else ["inf"]
    try:
        finite = _within(rounding_into(bounds), whole=False)
    except UnsatisfiableSchema:
        finite = EMPTY
    return alternation(finite, strings([sign + name for sign in signs for name in names]))


def _exact(bounds: Bounds) -> Expr:
    """Return the finite Decimals within bounds."""
    finite = compile_expr(intersection(_within(bounds, whole=False), _FINITE))
    return accepted(finite, has_step=bounds.step is not None)


def _within(bounds: Bounds, *, whole: bool) -> Expr:
    return accepted(numbers(bounds, whole=whole), has_step=bounds.step is not None)
