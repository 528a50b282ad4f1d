"""Random Python types, each with a strategy of its values."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Callable
from decimal import Decimal
from types import GenericAlias
from typing import Annotated, Any, Literal, NamedTuple, Optional
from uuid import UUID

import annotated_types as at
from hypothesis import strategies as st

Pair = tuple[Any, st.SearchStrategy[Any]]
Made = st.SearchStrategy[Pair]


class Color(enum.Enum):
    RED = 1
    BLUE = "blue"
    GREEN = 2.5


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Point(NamedTuple):
    x: int
    y: float = 0.0


@dataclasses.dataclass(frozen=True)
class Leaf:
    value: int | None = None
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Tree:
    label: Literal["a", 'it\'s "b"', 3]
    children: tuple[Tree, ...] = ()
    other: Tree | Leaf | None = None


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves = st.builds(Leaf, st.none() | st.integers(), text)
labels = st.sampled_from(["a", 'it\'s "b"', 3])
trees = st.recursive(
    st.builds(Tree, labels),
    lambda inner: st.builds(Tree, labels, st.lists(inner, max_size=3).map(tuple), st.none() | leaves | inner),
    max_leaves=8,
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.decimals(allow_nan=False, allow_infinity=False)
minutes = st.integers(-23 * 60 - 59, 23 * 60 + 59)
zones = st.one_of(
    st.none(),
    st.just(datetime.UTC),
    minutes.map(lambda minute: datetime.timezone(datetime.timedelta(minutes=minute))),
)


def scalars() -> list[Pair]:
    """Types of one value, with their values."""
    return [
        (int, st.integers()),
        (bool, st.booleans()),
        (str, text),
        (float, numbers),
        (Decimal, decimals),
        (None, st.none()),
        (datetime.date, st.dates()),
        (datetime.time, st.times(timezones=zones)),
        (datetime.datetime, st.datetimes(timezones=zones)),
        (datetime.timedelta, st.timedeltas()),
        (UUID, st.uuids()),
        (Color, st.sampled_from(Color)),
        (Level, st.sampled_from(Level)),
        (Literal[1, "x", True, None], st.sampled_from([1, "x", True, None])),
        (Annotated[int, at.Ge(-3), at.Lt(40)], st.integers(-3, 39)),
        (Annotated[int, at.Gt(0), at.MultipleOf(7)], st.integers(1, 1000).map(lambda number: 7 * number)),
        (Annotated[float, at.Ge(0.1), at.Lt(1)], st.floats(0.1, 1, exclude_max=True)),
        (Annotated[float, at.Gt(0)], st.floats(0, exclude_min=True, allow_infinity=False)),
        (
            Annotated[str, at.MinLen(2), at.MaxLen(4)],
            st.text(st.characters(exclude_categories=["Cs"]), min_size=2, max_size=4),
        ),
        (Leaf, leaves),
        (Tree, trees),
        (Point, st.builds(Point, st.integers(), numbers)),
    ]


def is_hashable(value: Any) -> bool:
    """Whether a value can be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def collections(inner: Made) -> Made:
    """Types made of others."""

    def listed(pair: Pair) -> Made:
        annotation, values = pair
        several = st.lists(values, max_size=3)
        keys = values.filter(is_hashable)
        lists = GenericAlias(list, annotation)
        options: list[Pair] = [
            (lists, several),
            (Annotated[lists, at.MinLen(1), at.MaxLen(2)], st.lists(values, min_size=1, max_size=2)),
            (GenericAlias(tuple, (annotation, ...)), several.map(tuple)),
            (Optional[annotation], st.none() | values),  # noqa: UP045
            (GenericAlias(dict, (str, annotation)), st.dictionaries(text, values, max_size=3)),
            (GenericAlias(tuple, (annotation, int)), st.tuples(values, st.integers())),
            (GenericAlias(tuple, annotation), st.tuples(values)),
        ]
        if annotation in (int, str, bool, Color, Level, UUID, datetime.date):
            options += [
                (GenericAlias(set, annotation), st.sets(keys, max_size=3)),
                (GenericAlias(frozenset, annotation), st.frozensets(keys, max_size=3)),
            ]
        return st.sampled_from(options)

    return inner.flatmap(listed)


def records(inner: Made) -> Made:
    """Dataclasses of up to four fields, some with defaults."""

    def made(pairs: list[Pair], num_required: int) -> Pair:
        fields = []
        for number, (annotation, _) in enumerate(pairs):
            default = dataclasses.field() if number < num_required else dataclasses.field(default=None)
            fields.append((f"f{number}", annotation if number < num_required else Optional[annotation], default))  # noqa: UP045
        cls = dataclasses.make_dataclass("Made", fields)
        given = {f"f{n}": values if n < num_required else st.none() | values for n, (_, values) in enumerate(pairs)}
        return cls, st.builds(cls, **given)

    return st.lists(inner, max_size=4).flatmap(
        lambda pairs: st.integers(0, len(pairs)).map(lambda num_required: made(pairs, num_required))
    )


def types() -> Made:
    """All of these, nested a little."""
    return st.recursive(
        st.sampled_from(scalars()), lambda inner: st.one_of(collections(inner), records(inner)), max_leaves=4
    )


def constructor_call(value: Any) -> str:
    """What `repr` writes, but for members of an Enum, which it writes in no Python."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if dataclasses.is_dataclass(value) or isinstance(value, Point):
        names = value._fields if isinstance(value, Point) else [field.name for field in dataclasses.fields(value)]
        inside = [f"{name}={constructor_call(getattr(value, name))}" for name in names]
        return f"{type(value).__name__}({', '.join(inside)})"
    return collection_call(value)


def collection_call(value: Any) -> str:
    """The same of a collection, or a scalar."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{constructor_call(k)}: {constructor_call(v)}" for k, v in value.items()) + "}"
    around: dict[type, Callable[[str], str]] = {
        list: lambda inside: f"[{inside}]",
        tuple: lambda inside: f"({inside},)" if len(value) == 1 else f"({inside})",
        set: lambda inside: f"{{{inside}}}" if value else "set()",
        frozenset: lambda inside: f"frozenset({{{inside}}})" if value else "frozenset()",
    }
    if type(value) in around:
        return around[type(value)](", ".join(map(constructor_call, value)))
    return repr(value)


def kinds(value: Any) -> Any:
    """The types of a value's parts."""
    if dataclasses.is_dataclass(value):
        return type(value), [kinds(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        return dict, [(kinds(key), kinds(inner)) for key, inner in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [kinds(inner) for inner in value]
    return type(value)


def equal(left: Any, right: Any) -> bool:
    """Equal, and of the same types: 1, 1.0 and True are three."""
    return bool(left == right) and kinds(left) == kinds(right)
