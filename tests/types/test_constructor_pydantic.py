"""Constructor calls of Pydantic's dataclasses, against Python's own evaluation of the call."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from itertools import product
from typing import Annotated, Any, ClassVar, Final, Generic, NamedTuple, TypeVar, Unpack

import pydantic
import pytest
from pydantic import AliasChoices, AliasPath, ConfigDict, Field
from pydantic.dataclasses import dataclass as validated

from automata import TextNotAllowed
from automata.errors import UnsupportedSchema
from constraints.types import dataclass


@validated
class Bounded:
    a: int = Field(ge=0)
    b: Annotated[int, Field(ge=-5), Field(multiple_of=2)] = Field(default=4, le=10)
    c: list[int] = Field(default_factory=list, max_length=1)
    d: Final[Annotated[int, Field(ge=3)]] = 3
    kept: ClassVar[int] = 1
    e: int = Field(default=7, init=False)
    f: int = dataclasses.field(init=False, default=8)


@validated
class Aliased:
    a: int = Field(alias="aa")
    b: int = Field(default=1, validation_alias=AliasChoices("not a name", "b1", "b2"))
    c: int = Field(default=2, serialization_alias="cc")
    d: Annotated[int, Field(alias="dd")] = 3


@validated(config=ConfigDict(alias_generator=str.upper))
class Upper:
    a: int
    b: int = 1


@validated(config=ConfigDict(populate_by_name=True))
class ByName:
    a: int = Field(alias="aa")


@validated
class InitOnly:
    a: dataclasses.InitVar[Annotated[int, Field(ge=2)]] = Field(default=4, alias="aa")
    b: int = dataclasses.field(init=False, default=0)

    def __post_init__(self, a: int) -> None:
        self.b = a


@validated
class Recursive:
    a: Annotated[int, Field(ge=0)]
    again: Recursive | None = Field(default=None, alias="next")


@validated
class Ahead:
    a: Annotated[Later, Field()]
    b: Annotated[int, Field(gt=1)] = 2


@validated
class Later:
    a: int = Field(lt=3)


@dataclasses.dataclass
class Standard:
    a: int = Field(ge=0)


@validated
class Below(Standard):
    b: int = Field(default=2, ge=1)


class Undecorated(Bounded):
    pass


class Tupled(NamedTuple):
    a: int = Field(ge=0)


CLASSES = [Bounded, Aliased, Upper, ByName, InitOnly, Recursive, Ahead, Standard, Below, Undecorated, Tupled]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_what_is_allowed_the_constructor_takes(cls: Any) -> None:
    constraint = dataclass(cls)
    names = ["a", "b", "c", "d", "e", "aa", "b1", "b2", "cc", "dd", "A", "B", "next"]
    values = ["-1", "0", "2", "4", "11", "[]", "[1]", "[1, 2]", f"{cls.__name__}(a=1)", "Later(a=2)", "Later(a=5)"]
    arguments = ["", *(f"{name}={value}" for name, value in product(names, values))]
    seen = 0
    for first, second in product(arguments, arguments):
        text = f"{cls.__name__}({', '.join(one for one in (first, second) if one)})"
        if constraint.allows(text):
            seen += 1
            assert constraint.parse(text) == eval(text), text
    assert seen


def test_bounds_and_defaults() -> None:
    allowed = dataclass(Bounded).allows
    assert [allowed(f"Bounded({inside})") for inside in ("", "a=-1", "a=0", "b=4")] == [False, False, True, False]
    for value in range(-8, 14):
        text = f"Bounded(a=1, b={value})"
        try:
            expected = eval(text) is not None
        except pydantic.ValidationError:
            expected = False
        assert allowed(text) == expected, text
    assert [allowed(f"Bounded(a=1, {name}=9)") for name in ("d", "e", "f")] == [True, False, False]


@pytest.mark.parametrize(
    ("cls", "allowed", "refused"),
    [
        (Aliased, "Aliased(aa=1, b1=2, c=3, dd=4)", "Aliased(a=1)"),
        (Upper, "Upper(A=1, B=2)", "Upper(a=1)"),
        (ByName, "ByName(a=1)", "ByName(aa=1)"),
        (InitOnly, "InitOnly(aa=2)", "InitOnly(aa=1)"),
        (Recursive, "Recursive(a=1, next=Recursive(a=0))", "Recursive(a=1, next=Recursive(a=-1))"),
        (Ahead, "Ahead(a=Later(a=2), b=3)", "Ahead(a=Later(a=3))"),
        (Below, "Below(a=0, b=1)", "Below(a=-1)"),
        (Undecorated, "Undecorated(a=0)", "Undecorated(a=-1)"),
        (Tupled, "Tupled(a=0)", "Tupled()"),
        (Standard, "Standard(a=0)", "Standard()"),
    ],
)
def test_aliases_and_other_classes(cls: Any, allowed: str, refused: str) -> None:
    assert dataclass(cls).parse(allowed) == eval(allowed)
    assert not dataclass(cls).allows(refused)
    with pytest.raises(TextNotAllowed):
        dataclass(cls).parse(refused)


T = TypeVar("T")


@validated
class Listed(Generic[T]):
    items: Annotated[list[T], Field(max_length=1)]


def test_generic_ones() -> None:
    assert dataclass(Listed[int]).parse("Listed(items=[1])") == Listed(items=[1])
    assert [dataclass(Listed[int]).allows(text) for text in ("Listed(items=['a'])", "Listed(items=[1, 2])")] == [
        False
    ] * 2


@validated
class Checked:
    a: int

    @pydantic.field_validator("a")
    @classmethod
    def odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("it is even")
        return value


def test_what_validators_refuse() -> None:
    for constraint in (dataclass(Checked), dataclass(list[Checked])):
        text = "[Checked(a=2)]" if constraint.annotation is not Checked else "Checked(a=2)"
        assert constraint.allows(text)
        with pytest.raises(TextNotAllowed, match=r"it is even \(at /a\)"):
            constraint.parse(text)
    assert dataclass(Checked).parse("Checked(a=3)") == Checked(3)


def made(*fields: tuple[str, Any, Any], **config: Unpack[ConfigDict]) -> type:
    """A Pydantic dataclass."""
    standard = type("Made", (), {"__annotations__": {name: hint for name, hint, _ in fields}})
    for name, _, info in fields:
        setattr(standard, name, info)
    return validated(config=ConfigDict(**config))(standard)


REFUSED = [
    (made(("a", int, Field(alias="no name"))), "/Made/a", "no name of an argument"),
    (made(("a", int, Field(alias="class"))), "/Made/a", "no name of an argument"),
    (made(("a", int, Field(alias="\ufb01"))), "/Made/a", "no name of an argument"),
    (made(("a", int, Field(validation_alias=AliasPath("x", 0)))), "/Made/a", "no name of an argument"),
    (made(("a", int, Field(alias="x")), ("b", int, Field(alias="x"))), "/Made/a", "written as 'x' for 'b'"),
    (
        made(("a", int, Field(validation_alias=AliasChoices(AliasPath("b", 0), "x"))), ("b", list[int], Field())),
        "/Made/a",
        "written as 'b' for 'b'",
    ),
    (made(("a", int, Field(default=1, init_var=True))), "/Made/a", "init_var"),
    (made(("a", str, Field(ge=1))), "/Made/a", "bounds are for numbers"),
    (dataclasses.make_dataclass("Made", [("a", int, Field(default=3))]), "/Made/a", "Pydantic's dataclasses only"),
    (dataclasses.make_dataclass("Made", [("a", int, Field(default_factory=int))]), "/Made/a", "dataclasses only"),
    (made(("a", "Nowhere", Field())), "/Made", "cannot be resolved"),
]


@pytest.mark.parametrize(("cls", "pointer", "message"), REFUSED, ids=str)
def test_what_cannot_be_honoured_is_refused(cls: type, pointer: str, message: str) -> None:
    with pytest.raises(UnsupportedSchema, match=message) as caught:
        dataclass(cls)
    assert caught.value.pointer == pointer


class Name(NamedTuple):
    text: str


@validated(config=ConfigDict(str_max_length=3, str_min_length=1, allow_inf_nan=False))
class Configured:
    a: str
    b: dict[str, list[str]]
    c: float
    d: Decimal
    e: Annotated[str, Field(max_length=5)]


GOOD = {"a": "'x'", "b": "{'y': ['z']}", "c": "1.0", "d": "Decimal('1')", "e": "'abcde'"}
OTHERS = [
    *(("a", "''"), ("a", "'xxx'"), ("a", "'xxxx'"), ("b", "{}"), ("b", "{'': []}"), ("b", "{'y': ['']}")),
    *(("c", "inf"), ("c", "-inf"), ("c", "nan"), ("d", "Decimal('NaN')"), ("d", "Decimal('1E+2')")),
    *(("e", "'abcdef'"), ("e", "''")),
]


@pytest.mark.parametrize(("name", "value"), OTHERS)
def test_the_configuration_applies(name: str, value: str) -> None:
    written = ", ".join(f"{field}={text}" for field, text in {**GOOD, name: value}.items())
    names = {"Configured": Configured, "Decimal": Decimal, "inf": float("inf"), "nan": float("nan")}
    try:
        expected = eval(f"Configured({written})", names)  # what the constraint must agree with
    except pydantic.ValidationError:
        assert not dataclass(Configured).allows(f"Configured({written})")
    else:
        assert dataclass(Configured).parse(f"Configured({written})") == expected


def test_decimals_are_finite_unless_the_configuration_says_otherwise() -> None:
    @validated
    class Price:
        value: Decimal

    @validated(config=ConfigDict(allow_inf_nan=True))
    class Any:
        value: Decimal

    assert not dataclass(Price).allows("Price(value=Decimal('NaN'))")
    assert dataclass(Any).parse("Any(value=Decimal('Infinity'))") == Any(Decimal("Infinity"))


def test_configurations_that_are_refused() -> None:
    @validated(config=ConfigDict(str_strip_whitespace=True))
    class Stripped:
        free: str
        value: str = Field(min_length=1)

    @validated(config=ConfigDict(regex_engine="python-re"))
    class Python:
        value: str = Field(pattern="^a")

    @validated(config=ConfigDict(str_max_length=2))
    class Holder:
        value: Name

    refused = ((Stripped, "str_strip_whitespace"), (Python, "regex_engine"), (Holder, "str_max_length"))
    for cls, setting in refused:
        with pytest.raises(UnsupportedSchema, match=setting) as caught:
            dataclass(cls)
        assert caught.value.pointer == f"/{cls.__name__}/value"
