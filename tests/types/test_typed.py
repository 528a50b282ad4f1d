"""JSON texts of types: what Pydantic serializes is accepted and read back; what the automaton writes is read."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
from decimal import Decimal
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
    PastDate,
    TypeAdapter,
    field_validator,
)
from python_types import Color, Leaf, Pair, Point, Tree, equal, text, trees, types
from typed_cases import accepts, automaton_of
from typing_extensions import TypedDict

import tokenfst
from automata import ByteAutomaton, TextNotAllowed, random_strings
from automata.errors import UnsatisfiableSchema, UnsupportedSchema
from constraints.types import Typed, typed

FEW = settings(max_examples=60, deadline=None)


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
    name=st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20),
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


@settings(max_examples=40, deadline=None)
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


REFUSED: list[tuple[Any, str]] = [
    (Annotated[set[int], Field(min_length=2)], "equal items count once"),
    (Annotated[dict[str, int], Field(min_length=2)], "equal items count once"),
    (Annotated[datetime.time, Field(ge=datetime.time(12))], "bounds of times"),
    (PastDate, "by the clock"),
    (set[list[int]], "hashable"),
    (set, "hashable"),
    (Literal[Color.RED], "read as something else"),
    (Annotated[int, Field(ge=0.5)], "coercible"),
    (complex, "complex"),
    (type, "no automaton|JSON|schema"),
    (dict[tuple[int, int], int], "which no string parses as"),
    (Annotated[bytes, Field(min_length=1)], "bytes"),
    (Annotated[str, Field(pattern="(?i)a")], "flags"),
]


@pytest.mark.parametrize(("annotation", "message"), REFUSED, ids=str)
def test_what_cannot_be_held_is_refused(annotation: Any, message: str) -> None:
    with pytest.raises(UnsupportedSchema, match=message):
        typed(annotation)


def test_errors_name_the_field() -> None:
    cls = dataclasses.make_dataclass(
        "Holder", [("good", int), ("inner", dataclasses.make_dataclass("In", [("bad", complex)]))]
    )
    with pytest.raises(UnsupportedSchema) as caught:
        typed(cls)
    assert caught.value.pointer == "/inner/bad"
    with pytest.raises(UnsatisfiableSchema):
        typed(Annotated[int, Field(gt=3, lt=4)])


def test_over_tokens() -> None:
    vocabulary = tokenfst.Vocabulary([b'{"', b"x", b'":', b"1", b"}", b',"y":', b"[", b"]", b""], [8])
    automaton = tokenfst.compile(
        typed(dataclasses.make_dataclass("P", [("x", int), ("y", list[int], None)])), vocabulary
    )
    assert automaton.accepts([0, 1, 2, 3, 4])
    assert automaton.accepts([0, 1, 2, 3, 5, 6, 3, 7, 4])
    assert not automaton.accepts([0, 1, 2, 3, 5, 3, 4])


def test_decimals_without_values_are_refused_by_name() -> None:
    with pytest.raises(UnsatisfiableSchema):
        typed(Annotated[Decimal, Field(gt=0, le=-4)])
