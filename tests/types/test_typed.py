"""JSON texts of types: what Pydantic serializes is accepted and read back; what the automaton writes is read."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
from decimal import Decimal
from functools import partial
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import core_schema
from python_types import Color, Leaf, Pair, Point, Tree, equal, text, trees, types
from typed_cases import accepts, automaton_of
from typing_extensions import TypedDict

import tokenfst
from automata import ByteAutomaton, TextNotAllowed, random_strings
from automata.errors import UnsupportedSchema
from constraints import dataclass, date
from constraints.types import Typed, typed

FEW = settings(max_examples=40, deadline=None)


def sampled(constraint: Typed[Any], count: int, seed: int) -> list[str]:
    automaton = automaton_of(constraint)
    flat = automaton if isinstance(automaton, ByteAutomaton) else automaton.expand(4)
    return [text.decode() for text in random_strings(flat, count, seed=seed, max_length=80)]


def is_finite(value: Any) -> bool:
    """Whether there is no infinity in what Pydantic makes of a value; it serializes them as null."""
    return "inf" not in repr(value)


@FEW
@given(types(), st.data())
def test_what_is_serialized_is_accepted_and_read_back(pair: Pair, data: st.DataObject) -> None:
    annotation, values = pair
    constraint = typed(annotation)
    automaton = automaton_of(constraint)
    for _ in range(3):
        value = data.draw(values)
        compact = constraint.adapter.dump_json(value)
        for written in (
            compact,
            json.dumps(json.loads(compact), indent=2).encode(),
            json.dumps(json.loads(compact)).encode(),
        ):
            assert automaton.accepts(written), written
            assert equal(constraint.parse(written.decode()), value), written


@FEW
@given(types(), st.integers(0, 1000))
def test_what_the_automaton_writes_is_read(pair: Pair, seed: int) -> None:
    constraint = typed(pair[0])
    for written in sampled(constraint, 5, seed):
        value = constraint.parse(written)
        if is_finite(value):
            assert equal(constraint.parse(constraint.adapter.dump_json(value).decode()), value)


@settings(max_examples=30, deadline=None)
@given(trees)
def test_recursive_types(tree: Tree) -> None:
    constraint = typed(Tree)
    assert constraint.parse(constraint.adapter.dump_json(tree).decode()) == tree


class Item(BaseModel):
    name: str = Field(min_length=1, max_length=20)
    price: Annotated[Decimal, Field(gt=0, max_digits=6, decimal_places=2)]
    tags: set[str] = set()


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: UUID
    at: AwareDatetime
    items: list[Item] = Field(min_length=1)
    state: Literal["open", "shipped"] = "open"
    replaces: Order | None = None
    notes: dict[int, str] = {}


items = st.builds(
    Item,
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    price=st.decimals("0.01", "9999.99", places=2),
    tags=st.sets(text, max_size=2),
)


orders = st.recursive(
    st.builds(
        Order,
        id=st.uuids(),
        at=st.datetimes(timezones=st.just(datetime.UTC)),
        items=st.lists(items, min_size=1, max_size=2),
        state=st.sampled_from(["open", "shipped"]),
        replaces=st.none(),
        notes=st.dictionaries(st.integers(), text, max_size=2),
    ),
    lambda inner: st.builds(lambda order, older: order.model_copy(update={"replaces": older}), inner, inner),
    max_leaves=3,
)


@settings(max_examples=30, deadline=None)
@given(orders)
def test_models(order: Order) -> None:
    constraint = typed(Order)
    for indent in (None, 2):
        assert constraint.parse(order.model_dump_json(indent=indent)) == order


def test_models_are_written_by_the_automaton() -> None:
    constraint = typed(Item)
    for written in sampled(constraint, 50, 1):
        assert constraint.parse(constraint.parse(written).model_dump_json()) == constraint.parse(written)


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


def test_typed_dict_and_named_tuple() -> None:
    assert typed(Movie).parse('{"title": "M", "year": 1931}') == {"title": "M", "year": 1931}
    assert accepts(Movie, '{"title": "M"}', '{"year": 1931}', '{"title": "M", "by": 1}', "{}") == [
        True,
        False,
        False,
        False,
    ]
    assert typed(Point).parse("[1, 0.5]") == Point(1, 0.5)
    assert accepts(Point, "[1]", "[]", "[1, 2, 3]", "[0.5, 1]") == [True, False, False, False]


@dataclasses.dataclass
class Titled:
    name: str = dataclasses.field(kw_only=True)


@dataclasses.dataclass
class Chapter(Titled):
    number: int
    other: Titled | None = None


def test_keyword_only_fields_come_in_the_order_of_the_class() -> None:
    constraint, value = typed(Chapter), Chapter(1, Titled(name="b"), name="a")
    written = constraint.adapter.dump_json(value).decode()
    assert written == '{"name":"a","number":1,"other":{"name":"b"}}'
    assert constraint.parse(written) == value
    assert accepts(Chapter, '{"number":1,"name":"a"}') == [False]


def test_a_value_in_annotations_is_its_expression() -> None:
    class Day(TypedDict):
        day: Annotated[str, date()]

    assert accepts(Day, '{"day": "2024-02-29"}', '{"day": "2023-02-29"}', '{"day": "x"}') == [True, False, False]
    day = dataclass(Annotated[str, date()])
    assert day.parse("'2024-02-29'") == "2024-02-29"
    with pytest.raises(TextNotAllowed):
        day.parse("'x'")


def search(query: str, *, limit: Annotated[int, Field(ge=1, le=50)] = 10, exact: bool = False) -> list[str]:
    """Only to be described; a call of it would be a mistake."""
    raise AssertionError


def test_functions() -> None:
    constraint = typed(search)
    assert constraint.parse('{"query": "fst"}') == {"query": "fst"}
    assert constraint.parse('{"query": "fst", "limit": 5, "exact": true}') == {
        "query": "fst",
        "limit": 5,
        "exact": True,
    }
    for refused in ("{}", '{"query": 1}', '{"query": "", "limit": 51}', '{"query": "", "other": 1}', '[""]'):
        with pytest.raises(TextNotAllowed):
            constraint.parse(refused)
    assert accepts(search, '{"query": "", "limit": 51}', '{"query": "", "limit": 50}') == [False, True]
    with pytest.raises(UnsupportedSchema, match="by name"):
        typed(lambda *numbers: None)


class Named(enum.Enum):
    ONE = 1
    LETTER = "a"


class Flags(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


def test_enums() -> None:
    assert typed(Color).parse("2.5") is Color.GREEN
    assert typed(Flags).parse("3") == Flags.READ | Flags.WRITE
    assert accepts(Flags, "0", "7", "8") == [True, True, False]
    with pytest.raises(UnsupportedSchema, match="read as something else"):
        typed(dict[Named, int])
    with pytest.raises(UnsupportedSchema, match="read as something else"):
        typed(enum.Enum("Pairs", {"A": (1, 2)}))


def test_sets_merge_what_repeats() -> None:
    assert typed(set[int]).parse("[1, 1, 2]") == {1, 2}
    assert accepts(Annotated[set[int], Field(max_length=2)], "[1, 2]", "[1, 2, 3]") == [True, False]


class Rust(BaseModel):
    value: str = Field(pattern=r"^\w+\s\d.$")


CHARACTERS = ["a", "é", "٣", "\u2028", "\n", "\r", "_", "-", " ", "\u00a0", "7", "\ufeff"]


def test_patterns_mean_what_they_mean_to_pydantic() -> None:
    automaton, adapter = automaton_of(typed(Rust)), TypeAdapter(Rust)
    for first in CHARACTERS:
        for second in CHARACTERS:
            for third in ("7", "٣", "a"):
                for last in CHARACTERS:
                    written = json.dumps({"value": first + second + third + last})
                    try:
                        adapter.validate_json(written)
                        valid = True
                    except ValueError:
                        valid = False
                    assert automaton.accepts(written.encode()) == valid, written


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


def test_tagged_unions() -> None:
    assert typed(Owner).parse('{"pet": {"kind": "dog", "name": "Rex"}}') == Owner(pet=Dog(kind="dog", name="Rex"))
    assert accepts(Owner, '{"pet": {"kind": "dog", "lives": 1}}', '{"pet": {"kind": "cat", "lives": 9}}') == [
        False,
        True,
    ]


class Aliased(BaseModel):
    model_config = ConfigDict(extra="allow")
    class_: str = Field(alias="class")


def test_aliases_and_other_members() -> None:
    made = typed(Aliased).parse('{"class": "a", "more": [1]}')
    assert (made.class_, made.model_extra) == ("a", {"more": [1]})
    assert typed(Aliased).parse(made.model_dump_json(by_alias=True)) == made


class Picky(BaseModel):
    value: int

    @field_validator("value")
    @classmethod
    def even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("odd")
        return value


def raising(a: int, b: str = "x") -> None:
    raise AssertionError("it is called")


@pytest.mark.parametrize(
    ("function", "written", "arguments"),
    [
        (raising, '{"a": 5}', {"a": 5}),
        (partial(raising), '{"a": 5}', {"a": 5}),
        (partial(raising, 1), '{"b": "y"}', {"b": "y"}),
        (partial(raising, b="z"), '{"a": 5}', {"a": 5}),
    ],
)
def test_functions_are_not_called(function: Any, written: str, arguments: dict[str, Any]) -> None:
    assert typed(function).parse(written) == arguments


def test_validators_are_heard_when_a_text_is_read() -> None:
    with pytest.raises(TextNotAllowed, match=r"odd \(at /value\)"):
        typed(Picky).parse('{"value": 3}')
    assert typed(Picky).parse('{"value": 4}') == Picky(value=4)


def test_only_its_own_spellings_are_read() -> None:
    for annotation, written in [
        (bool, '"yes"'),
        (int, '"1"'),
        (datetime.date, "0"),
        (list[int], " [1]"),
        (Leaf, '{"value":1,"x":2}'),
    ]:
        TypeAdapter(annotation).validate_json(written)  # Pydantic takes it
        with pytest.raises(TextNotAllowed, match="not written as the constraint writes it"):
            typed(annotation).parse(written)


class Pen(BaseModel):
    kind: Literal["pen"] = "pen"
    width: int = 9


class Brush(BaseModel):
    kind: Literal["brush", "roller"] = "brush"


class Green(BaseModel):
    kind: Literal["named"] = Field("named", alias="is")


class Yellow(BaseModel):
    kind: Literal["too"] = Field("too", alias="is")


@pytest.mark.parametrize(
    ("annotation", "tag"),
    [
        (Annotated[Pen | Brush, Field(discriminator="kind")], "kind"),
        (Annotated[Green | Yellow, Field(discriminator="kind")], "is"),
        (list[Annotated[Pen | Brush, Field(discriminator="kind")]], "kind"),
    ],
    ids=str,
)
def test_the_tag_of_a_union_is_written_even_if_it_has_a_default(annotation: Any, tag: str) -> None:
    constraint = typed(annotation)
    objects = [
        "{}",
        '{"width": 3}',
        *(f'{{"{tag}": "{kind}"}}' for kind in ("pen", "brush", "roller", "named", "too", "x")),
    ]
    for written in objects + [f"[{each}]" for each in objects]:
        try:
            constraint.adapter.validate_json(written)
        except ValidationError:
            assert not constraint.allows(written), written
        else:
            assert constraint.allows(written), written


class Odd:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema.no_info_plain_validator_function(str)


class Described(BaseModel):
    more: int = Field(1, json_schema_extra={"minimum": 5})
    other: int = Field(1, json_schema_extra={"type": "string"})
    said: Annotated[int, WithJsonSchema({"type": "string"})] = 1
    odd: Annotated[Odd, WithJsonSchema({"type": "string"})] = Odd()


def test_what_is_said_to_readers_of_a_schema_does_not_count() -> None:
    for written in ('{"more": 3}', '{"other": 3}', '{"said": 3}'):
        assert typed(Described).parse(written) == Described.model_validate_json(written)
    assert not typed(Described).allows('{"other": "x"}')
    assert not typed(Described).allows('{"said": "x"}')
    # Pydantic has no other schema for it.
    assert typed(Described).allows('{"odd": "x"}')
    assert not typed(Described).allows('{"odd": 3}')


def test_addresses_are_held_exactly() -> None:
    assert accepts(IPv4Address, '"10.0.0.255"', '"10.0.0.256"', '"10.0.0"') == [True, False, False]


def test_over_tokens() -> None:
    vocabulary = tokenfst.Vocabulary([b'{"', b"x", b'":', b"1", b"}", b',"y":', b"[", b"]", b""], [8])
    automaton = tokenfst.compile(
        typed(dataclasses.make_dataclass("P", [("x", int), ("y", list[int], None)])), vocabulary
    )
    assert automaton.accepts([0, 1, 2, 3, 4])
    assert automaton.accepts([0, 1, 2, 3, 5, 6, 3, 7, 4])
    assert not automaton.accepts([0, 1, 2, 3, 5, 3, 4])
