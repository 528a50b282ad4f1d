"""Types with annotations, names and functions of their own: honoured, or refused with the place."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import inspect
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

import annotated_types
import pydantic
import pydantic.dataclasses
import pytest
from pydantic_core import core_schema

from automata.errors import SchemaError, TextNotAllowed, UnsatisfiableSchema, UnsupportedSchema
from constraints.tools import tool_calls
from constraints.types import dataclass, typed

READ_BY_PYDANTIC = [
    pydantic.Json[int],
    pydantic.UUID4,
    pydantic.Base64Str,
    Annotated[datetime.datetime, annotated_types.Timezone(None)],
    Annotated[datetime.datetime, annotated_types.Timezone(datetime.UTC)],
]


@pytest.mark.parametrize("annotation", READ_BY_PYDANTIC, ids=str)
@pytest.mark.parametrize("decorator", [dataclasses.dataclass, pydantic.dataclasses.dataclass])
def test_what_pydantic_reads_in_its_own_way_is_no_constructor_call(
    annotation: Any, decorator: Callable[[type], type]
) -> None:
    cls = decorator(type("Read", (), {"__annotations__": {"x": annotation}, "__module__": __name__}))
    with pytest.raises(UnsupportedSchema, match="/Read/x"):
        dataclass(cls)


def test_annotations_that_change_nothing_are_taken() -> None:
    assert dataclass(Same).parse("Same(a=1, b=2, c=3, d=4, e=5)") == Same(1, 2, 3, 4, 5)


class Plus:
    """Adds 1 to what Pydantic reads."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(lambda value: value + 1, handler(source))


@pytest.mark.parametrize("annotation", [Plus, Plus(), type("Tag", (Plus,), {})()], ids=["class", "instance", "named"])
def test_annotations_of_a_user_by_which_pydantic_reads_are_refused(annotation: Any) -> None:
    made = pydantic.dataclasses.dataclass(type("Read", (), {"__annotations__": {"x": Annotated[int, annotation]}}))
    with pytest.raises(UnsupportedSchema, match="/Read/x"):
        dataclass(made)
    assert dataclass(dataclasses.make_dataclass("Noted", [("x", Annotated[int, Noted()])])).allows("Noted(x=1)")


@pydantic.dataclasses.dataclass
class Same:
    a: Annotated[int, pydantic.Tag("a")]
    b: pydantic.SkipValidation[int]
    c: pydantic.InstanceOf[int]
    d: pydantic.SerializeAsAny[int]
    e: Annotated[int, pydantic.Strict()]


class Noted:
    """An annotation of another library, which Pydantic does not know."""

    tz = "UTC"


def test_two_tags_with_one_text_are_refused() -> None:
    class Number(pydantic.BaseModel):
        k: Literal[1]

    class Text(pydantic.BaseModel):
        k: Literal["1"]

    with pytest.raises(UnsupportedSchema, match="discriminator"):
        typed(Annotated[Number | Text, pydantic.Field(discriminator="k")])
    assert typed(Number | Text).parse('{"k": "1"}') == Text(k="1")


def test_members_are_read_in_every_way_they_are_written() -> None:
    large = enum.Enum("large", {"A": 1e22, "B": 1})
    with pytest.raises(UnsupportedSchema, match="10000000000000000000000"):
        typed(large)
    small = typed(enum.Enum("small", {"A": 1e3, "B": 1}))
    assert small.parse("1000") == small.parse("1000.0")
    opaque = enum.Enum("opaque", {"A": object()})
    for annotation in (opaque, dict[opaque, int]):
        with pytest.raises(UnsupportedSchema, match="Unable to serialize"):
            typed(annotation)


class Failing:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        raise RuntimeError("no schema today")


def test_errors_of_functions_of_a_type_are_refusals() -> None:
    with pytest.raises(UnsupportedSchema, match="RuntimeError: no schema today"):
        typed(Failing)
    with pytest.raises(UnsupportedSchema, match="fail_fast"):
        typed(Annotated[int, pydantic.FailFast()])


def test_constructors_run_only_for_texts_that_are_allowed() -> None:
    made: list[int] = []

    @dataclasses.dataclass(frozen=True)
    class Seen:
        x: int

        def __post_init__(self) -> None:
            made.append(self.x)

    Seen.__annotations__ |= {"x": int}
    constraint = dataclass(set[Seen])
    with pytest.raises(TextNotAllowed, match="as the constraint writes it"):
        constraint.parse("{Seen( x=1)}")
    with pytest.raises(TextNotAllowed, match="a call with the argument 'x'"):
        constraint.parse("{Seen()}")
    assert made == []
    assert constraint.parse("{Seen(x=1), Seen(x=1)}") == {Seen(1)}


def test_a_validator_is_not_heard_on_texts_that_are_not_allowed() -> None:
    class Strict(pydantic.BaseModel):
        x: int

        @pydantic.model_validator(mode="after")
        def check(self) -> Strict:
            raise RuntimeError("refused")

    Strict.model_rebuild()
    with pytest.raises(TextNotAllowed, match="as the constraint writes it"):
        typed(Strict).parse('{"x": 1.0}')
    with pytest.raises(RuntimeError, match="refused"):
        typed(Strict).parse('{"x": 1}')


def test_the_type_of_a_result_may_be_unknown() -> None:
    def plot(columns: list[str]) -> Frame:  # type: ignore[name-defined]  # noqa: F821
        raise NotImplementedError

    assert typed(plot).parse('{"columns": ["a"]}') == {"columns": ["a"]}
    assert tool_calls([plot], format="pythonic").allows('[plot(columns=["a"])]')


@dataclasses.dataclass
class Base:
    a: int


@dataclasses.dataclass
class Child(Base):
    b: int


def test_types_of_the_parameters_of_classes_and_wrappers() -> None:
    child = typed(functools.partial(Child, b=1))
    assert child.allows('{"a": 1}')
    assert not child.allows('{"a": "text"}')

    def inner(x: int) -> int:
        return x

    @functools.wraps(inner)
    def outer(x: int, extra: bool) -> int:
        return inner(x) + extra

    outer.__annotations__ = {"x": int, "extra": bool}
    outer.__signature__ = inspect.signature(lambda x, extra: None)  # type: ignore[attr-defined]
    assert typed(outer).allows('{"x": 1, "extra": true}')
    assert not typed(outer).allows('{"x": 1, "extra": 1}')


@dataclasses.dataclass
class Sets:
    few: Annotated[set[int], pydantic.Field(min_length=2)]


@dataclasses.dataclass
class Bounded:
    x: Annotated[int, pydantic.Field(gt=1, lt=2)]


@dataclasses.dataclass
class Around:
    x: Bounded | None
    y: Annotated[int, pydantic.Field(gt=1, lt=2)]


@dataclasses.dataclass
class Dated:
    day: Annotated[datetime.date, pydantic.Field(gt=datetime.date(2024, 1, 2), lt=datetime.date(2024, 1, 3))]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: dataclass(Sets), UnsupportedSchema, "at /Sets/few"),
        (lambda: dataclass(Bounded), UnsatisfiableSchema, "at /Bounded/x"),
        (lambda: dataclass(Around), UnsatisfiableSchema, "at /Around/y"),
        (lambda: typed(Bounded), UnsatisfiableSchema, "/x"),
        (lambda: typed(Dated), UnsatisfiableSchema, r"gt=2024-01-02, lt=2024-01-03 \(at /day"),
    ],
)
def test_errors_name_the_field(make: Callable[[], Any], error: type[SchemaError], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("name", ["a-b", "1a", "class", "-"])
def test_names_that_python_cannot_call(name: str) -> None:
    def tool(x: int) -> None: ...

    tool.__name__ = name
    with pytest.raises(UnsupportedSchema, match=f"{name!r} is not a name"):
        tool_calls([tool], format="pythonic")
    assert tool_calls([tool], format="hermes").tools[0].name == name  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["__slots__", "__doc__", "__dict__", "__dataclass_fields__"])
def test_parameters_with_a_meaning_in_python(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def tool({name}: int): ...", scope)
    with pytest.raises(UnsupportedSchema, match=f"/tool/{name}"):
        tool_calls([scope["tool"]], format="pythonic")


def test_errors_name_the_tool() -> None:
    def first(x: int) -> None: ...

    def second(x: Annotated[set[int], pydantic.Field(min_length=2)]) -> None: ...

    with pytest.raises(UnsupportedSchema, match="at /second/x"):
        tool_calls([first, second], format="hermes")
    broken = {"properties": {"x": {"type": "array", "not": {"uniqueItems": True}}}}
    with pytest.raises(UnsupportedSchema, match="at /second/properties/x"):
        tool_calls([first, ("second", broken)], format="hermes")


@pytest.mark.parametrize(
    ("annotation", "text", "message"),
    [
        (Annotated[int, annotated_types.Ge(1)], "0", "0 is not at least 1"),
        (Annotated[Decimal, annotated_types.Interval(gt=0, lt=2)], "Decimal('2')", "2 is not more than 0 and less"),
        (Annotated[Decimal, annotated_types.MultipleOf(2)], "Decimal('NaN')", r"NaN\'?\)? is not a multiple of 2"),
        (Annotated[Decimal, annotated_types.Ge(0.1)], "Decimal('0.05')", r"0\.05 is not at least 0\.1"),
        (Annotated[float, annotated_types.Gt(Decimal("0.1"))], "0.1", r"0\.1 is not more than 0\.1"),
        (Annotated[list[int], annotated_types.Len(2, 2)], "[]", r"\[\] is not a list of exactly 2 items"),
        (Annotated[list[int], annotated_types.Len(1, 2)], "[]", r"\[\] is not a list of 1 to 2 items"),
        (Annotated[str, annotated_types.MinLen(2)], "'a'", "'a' is not text of 2 or more characters"),
    ],
)
def test_bounds_are_told_in_words(annotation: Any, text: str, message: str) -> None:
    with pytest.raises(TextNotAllowed, match=message):
        dataclass(annotation).parse(text)


def test_what_is_no_type_is_named() -> None:
    with pytest.raises(TypeError, match="'enum' is a module, and not a type"):
        typed(enum)
    with pytest.raises(UnsupportedSchema, match=r"Unable to generate pydantic-core schema for <class '.*Opaque'> \(at"):
        typed(type("Opaque", (), {}))
