"""Constructor calls: what repr writes is accepted and read back; what the automaton writes is read."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
from collections.abc import Callable
from decimal import Decimal
from types import GenericAlias
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, NewType, TypeVar
from uuid import UUID

import annotated_types as at
import pydantic
import pytest
from constructor_cases import accepts, automaton_of
from hypothesis import given, settings
from hypothesis import strategies as st
from python_types import Color, Leaf, Pair, Point, Tree, constructor_call, equal, trees, types

import tokenfst
from automata import ByteAutomaton, EmptyLanguage, TextNotAllowed, compile_grammar, random_strings
from automata.errors import UnsupportedSchema
from automata.pushdown.automaton import PushdownAutomaton
from constraints.types import ConstructorCalls, dataclass

FEW = settings(max_examples=40, deadline=None)


def sampled(constraint: ConstructorCalls[Any], count: int, seed: int, depth: int = 3) -> list[str]:
    """Texts of the constraint."""
    automaton = automaton_of(constraint)
    flat = automaton if isinstance(automaton, ByteAutomaton) else automaton.expand(depth)
    return [text.decode() for text in random_strings(flat, count, seed=seed, max_length=60)]


@dataclasses.dataclass
class Basic:
    x: int
    name: str = "a"
    ratio: float = 1.0


@FEW
@given(types(), st.data())
def test_what_repr_writes_is_accepted_and_read_back(pair: Pair, data: st.DataObject) -> None:
    annotation, values = pair
    constraint = dataclass(annotation)
    automaton = automaton_of(constraint)
    for _ in range(3):
        value = data.draw(values)
        text = constructor_call(value)
        assert automaton.accepts(text.encode()), text
        assert equal(constraint.parse(text), value), text


@FEW
@given(types(), st.integers(0, 1000))
def test_what_the_automaton_writes_is_read(pair: Pair, seed: int) -> None:
    constraint = dataclass(pair[0])
    for text in sampled(constraint, 5, seed):
        value = constraint.parse(text)
        # What is read can be written again: it is a value of the type.
        if "nan" not in text.lower() and "inf" not in text.lower():
            assert constraint.parse(constructor_call(value)) == value


@settings(max_examples=30, deadline=None)
@given(trees)
def test_recursive_types(tree: Tree) -> None:
    assert dataclass(Tree).parse(repr(tree)) == tree


def test_recursion_has_no_bound() -> None:
    automaton = automaton_of(dataclass(Tree))
    deep = "Tree(label=3, other=" * 500 + "None" + ")" * 500
    assert automaton.accepts(deep.encode())
    assert not automaton.accepts(deep[:-1].encode())
    with pytest.raises(TextNotAllowed, match=r"cannot read it|too deeply"):
        dataclass(Tree).parse(deep)


def test_defaults_may_be_left_out_in_order() -> None:
    texts = ["Basic(x=1)", "Basic(x=1, ratio=2.0)", "Basic(x=1,name='b')", 'Basic(x=-7, name="", ratio=1e-7)']
    assert accepts(Basic, *texts) == [True] * 4
    assert dataclass(Basic).parse("Basic(x=1, ratio=2.0)") == Basic(1, ratio=2.0)
    refused = ["Basic()", "Basic(1)", "Basic(ratio=2.0, x=1)", "Basic(x=1, x=1)", "Basic(x=1,)", "Basic(x=1, y=2)"]
    assert accepts(Basic, *refused) == [False] * 6
    for text in refused:
        with pytest.raises(TextNotAllowed):
            dataclass(Basic).parse(text)


def test_all_fields_may_have_defaults() -> None:
    cls = dataclasses.make_dataclass("All", [(name, bool, dataclasses.field(default=True)) for name in "abcde"])
    constraint: ConstructorCalls[Any] = dataclass(cls)
    expected = set()
    for written in range(32):
        names = [name for bit, name in enumerate("abcde") if written >> bit & 1]
        for values in range(2 ** len(names)):
            inside = [f"{name}={bool(values >> at & 1)}" for at, name in enumerate(names)]
            expected.add(f"All({','.join(inside)})")
    automaton = automaton_of(constraint)
    assert isinstance(automaton, ByteAutomaton)
    from automata import enumerate as texts

    assert {text.decode() for text in texts(automaton) if b" " not in text} == expected


def test_errors_say_what_is_wrong() -> None:
    messages = {
        "Basic(x='a')": "'a' is not int",
        "Other(x=1)": "a call of Basic",
        "Basic(x=1": "Python cannot read it",
        "Basic(x=1, ratio=None)": "None is not float or int",
    }
    for text, message in messages.items():
        with pytest.raises(TextNotAllowed, match=message):
            dataclass(Basic).parse(text)
    for annotation, text in [
        (UUID, "UUID('x')"),
        (Decimal, "Decimal('x')"),
        (datetime.date, "datetime.date(2023, 2, 29)"),
    ]:
        with pytest.raises(TextNotAllowed, match=r"is not|day is out of range"):
            dataclass(annotation | None).parse(text)


def test_nothing_is_evaluated() -> None:
    for text in (
        "Basic(x=__import__('os').getpid())",
        "Basic(x=1 + 1)",
        "Basic(x=[y for y in (1,)][0])",
        "Basic(**{'x': 1})",
    ):
        with pytest.raises(TextNotAllowed):
            dataclass(Basic).parse(text)


def test_only_its_own_spellings_are_read() -> None:
    for text in (
        "Basic( x=1)",
        "Basic(x=0x10)",
        "Basic(x=1) # done",
        "Basic(x=1, name=u'a')",
        "Basic(x=1, name='a' 'b')",
    ):
        with pytest.raises(TextNotAllowed, match="not written as the constraint writes it"):
            dataclass(Basic).parse(text)


Money = NewType("Money", Decimal)


ONE = Money(Decimal(1))


X = TypeVar("X")


@dataclasses.dataclass
class Box(Generic[X]):
    item: X
    others: list[X] = dataclasses.field(default_factory=list)
    kind: ClassVar[str] = "box"


class Outer:
    @dataclasses.dataclass
    class Inner:
        x: int


@dataclasses.dataclass
class Unusual:
    seed: dataclasses.InitVar[int]
    hidden: int = dataclasses.field(init=False)
    money: Money = ONE

    def __post_init__(self, seed: int) -> None:
        if seed < 0:
            raise ValueError("negative")
        self.hidden = seed


def test_generic_nested_and_unusual_classes() -> None:
    assert dataclass(Box[int]).parse("Box(item=1, others=[2])") == Box(1, [2])
    assert accepts(Box[str], "Box(item=1)", "Box(item='1')") == [False, True]
    assert dataclass(Outer.Inner).parse(repr(Outer.Inner(1))) == Outer.Inner(1)
    made = dataclass(Unusual).parse("Unusual(seed=5, money=Decimal('2.50'))")
    assert (made.hidden, made.money) == (5, Decimal("2.50"))
    with pytest.raises(ValueError, match="negative"):
        dataclass(Unusual).parse("Unusual(seed=-1)")


def test_local_classes_have_the_end_of_their_names() -> None:
    @dataclasses.dataclass
    class Local:
        x: int

    assert dataclass(Local).parse("Local(x=1)") == Local(1)

    @dataclasses.dataclass
    class Again:
        again: Again | None = None

    assert dataclass(Again).parse("Again(again=Again())") == Again(Again())


class Sign(enum.Enum):
    PLUS = 1
    POSITIVE = PLUS
    MINUS = -1


def test_enums_by_name() -> None:
    assert dataclass(Sign).parse("Sign.POSITIVE") is Sign.PLUS
    assert accepts(Literal[Sign.PLUS], "Sign.PLUS", "Sign.MINUS") == [True, False]
    assert accepts(Color, "Color.RED", "RED", "Color(1)", "Color.PINK") == [True, False, False, False]


def test_pydantic_annotations_are_known() -> None:
    short = Annotated[str, pydantic.Field(min_length=1, max_length=2, pattern="^a")]
    assert accepts(short, "'a'", "'ab'", "''", "'b'", "'abc'") == [True, True, False, False, False]
    assert accepts(Annotated[int, pydantic.Field(ge=1, le=3)], "0", "1", "3", "4") == [False, True, True, False]


class Endless(NamedTuple):
    again: Endless


REFUSED = [
    (Any, "no constructor call"),
    (complex, "no constructor call"),
    (Annotated[int, at.Predicate(bool)], "cannot be held"),
    (Annotated[str, at.Ge(1)], "bounds are for numbers"),
    (Annotated[set[int], at.MinLen(2)], "equal ones count once"),
    (Annotated[int, at.MinLen(2)], "only text and collections have a length"),
    (Annotated[datetime.date, at.Ge(datetime.date(2000, 1, 1))], "bounds are for numbers"),
    (Annotated[float, at.Ge(float("nan"))], "not a finite number"),
    (Annotated[str, re.compile(r"(a)\1")], "back-reference"),
    (Literal[b"a"], "cannot be written"),
    (set[list[int]], "not hashable"),
    (dict[tuple[Basic, int], int], "not hashable"),
    (tuple[int, *tuple[str, ...]], "no constructor call"),
    (Callable[[int], int], r"Callable\[\[int\], int\] has no constructor call"),
    (list[Callable[..., int]], r"Callable\[\.\.\., int\] has no constructor call"),
    (Callable, "no constructor call"),
    (GenericAlias(list, [1]), r"\[1\] is not a type"),
    (Box[Annotated[int, []]], "has no hash"),
]


@pytest.mark.parametrize(("annotation", "message"), REFUSED, ids=str)
def test_what_cannot_be_held_is_refused(annotation: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclass(annotation)


def test_comments_need_no_hash() -> None:
    for comment in (pydantic.FailFast(), {"unit": "m"}, ["a"]):
        assert dataclass(Annotated[list[int], comment]).parse("[1]") == [1]


def test_errors_name_the_field() -> None:
    cls = dataclasses.make_dataclass("Holder", [("good", int), ("bad", list[complex])])
    with pytest.raises(UnsupportedSchema) as caught:
        dataclass(cls)
    assert caught.value.pointer == "/Holder/bad"


def test_a_type_without_values() -> None:
    with pytest.raises(EmptyLanguage):
        automaton_of(dataclass(Endless))


def test_as_expression_and_grammar() -> None:
    assert re.fullmatch(str(dataclass(Leaf).to_expr()), repr(Leaf(1, "a")))
    assert compile_grammar(dataclass(Leaf).to_grammar()).accepts(repr(Leaf(1, "a")).encode())
    with pytest.raises(ValueError, match="recursive"):
        dataclass(Tree).to_expr()


def test_large_types_are_grammars() -> None:
    inner = dataclasses.make_dataclass("Wide", [(f"f{n}", datetime.datetime) for n in range(12)])
    outer = dataclasses.make_dataclass("Wider", [(f"g{n}", inner) for n in range(12)])
    constraint: ConstructorCalls[Any] = dataclass(outer)
    moment = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)
    value = outer(*[inner(*[moment] * 12)] * 12)
    assert isinstance(automaton_of(constraint), PushdownAutomaton)
    assert constraint.parse(repr(value)) == value


def test_over_tokens() -> None:
    vocabulary = tokenfst.Vocabulary([b"Point(", b"x=", b"1", b", y=", b"0.5", b")", b"Leaf(", b""], [7])
    automaton = tokenfst.compile(dataclass(Point), vocabulary)
    assert automaton.accepts([0, 1, 2, 3, 4, 5])
    assert automaton.accepts([0, 1, 2, 5])
    assert not automaton.accepts([6, 5])
    assert dataclass(Point).parse("Point(x=1, y=0.5)") == Point(1, 0.5)


class Two(NamedTuple):
    first: int
    second: int = 2


class OtherTwo(Two):
    """A class below a NamedTuple, which has its fields."""


def test_fields_of_a_named_tuple_are_inherited() -> None:
    assert dataclass(OtherTwo).parse("OtherTwo(first=1)") == OtherTwo(1)
    assert not dataclass(OtherTwo).allows("OtherTwo(second=1)")
