"""Constructor calls: what repr writes is accepted and read back; what the automaton writes is read."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import re
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, NewType, TypeVar
from uuid import UUID

import annotated_types as at
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_types import Color, Leaf, Pair, Point, Tree, constructor_call, equal, trees, types

import tokenfst
from automata import ByteAutomaton, EmptyLanguage, TextNotAllowed, compile_grammar, random_strings
from automata.errors import UnsupportedSchema
from automata.limits import current_work
from automata.pushdown.automaton import PushdownAutomaton
from constraints.types import ConstructorCalls, dataclass

FEW = settings(max_examples=60, deadline=None)


def automaton_of(constraint: ConstructorCalls[Any]) -> ByteAutomaton | PushdownAutomaton:
    return constraint.to_automaton(current_work())


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


def accepts(annotation: Any, *texts: str) -> list[bool]:
    automaton = automaton_of(dataclass(annotation))
    return [automaton.accepts(text.encode()) for text in texts]


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
    constraint = dataclass(cls)
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


STRINGS = [
    "",
    "a",
    "it's",
    '"',
    "'\"",
    "\\",
    "\n\t\r\x00\x7f",
    "é\u200b\u2028\U0001f600\U0010ffff",
    "\ud800",
    "\x85\xa0",
]


@pytest.mark.parametrize("value", STRINGS)
def test_strings(value: str) -> None:
    constraint = dataclass(str)
    assert constraint.parse(repr(value)) == value
    assert constraint.parse('"' + "".join(f"\\U{ord(each):08X}" for each in value) + '"') == value
    if value and value.isprintable() and not set(value) & set("\\\"'"):
        assert constraint.parse(f'"{value}"') == constraint.parse(f"'{value}'") == value


def test_strings_that_are_none() -> None:
    refused = [
        "'a",
        "'\n'",
        "'''a'''",
        "r'a'",
        "b'a'",
        "'\\q'",
        "'\\U00110000'",
        "'\\x4'",
        "'\x00'",
        "'\\N{BULLET}'",
        "'\\101'",
    ]
    assert not any(accepts(str, *refused))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="\\'\"nxuU0aé\n"))
def test_strings_against_python(inside: str) -> None:
    """Whatever is accepted between quotes, Python reads as one string on one line."""
    text = f"'{inside}'"
    if accepts(str, text)[0]:
        value = eval(text)
        assert isinstance(value, str)
        assert dataclass(str).parse(text) == value


PATTERNS = ["[a-c]{2}", "^x+$", r"^\d+-\w*$", "^(?:é|\\n)", "a.c", "^[^a]*$", "^(?!ab).*$"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    constraint = dataclass(Annotated[str, re.compile(pattern)])
    automaton = automaton_of(constraint)
    candidates = [
        "",
        "ab",
        "xx",
        "12-",
        "12-a",
        "é",
        "\n",
        "abc",
        "a'c",
        'a"c',
        "a\\c",
        "b",
        "x\n",
        "cab",
        "zzbcz",
        "\u200b",
    ]
    for value in candidates:
        expected = re.search(pattern, value) is not None
        if value.endswith("\n") and pattern.endswith("$"):
            continue  # Python's `$` matches before it as well
        for quote in "'\"":
            escaped = "".join(f"\\u{ord(each):04x}" for each in value)
            assert automaton.accepts(f"{quote}{escaped}{quote}".encode()) == expected, value
        assert automaton.accepts(repr(value).encode()) == expected, value


def test_lengths_count_code_points() -> None:
    assert accepts(Annotated[str, at.Len(2, 2)], "'é\\n'", "'\\ud83d\\ude00'", "'😀'", "'abc'") == [
        True,
        True,
        False,
        False,
    ]


def test_floats_are_bounded_after_rounding() -> None:
    below_one = Annotated[float, at.Lt(1)]
    assert accepts(below_one, "0.9999999999999999", "0.99999999999999999999", "1.0") == [True, False, False]
    assert accepts(Annotated[float, at.Ge(0.1)], "0.1", "0.09999999999999999") == [True, False]
    steps = Annotated[float, at.MultipleOf(0.1)]
    assert accepts(steps, "0.3", "0.35", "1e22") == [True, False, True]
    assert dataclass(steps).parse("0.3") == 0.3
    above = dataclass(Annotated[float, at.Gt(0)])
    assert [above.parse(text) for text in ("1e999", "inf")] == [math.inf] * 2
    assert accepts(Annotated[float, at.Gt(0)], "-inf", "nan", "inf") == [False, False, True]
    assert accepts(Annotated[float, at.Gt(0)], "5e-324", "1e-400", "0.0", "1e-05") == [True, False, False, True]


def test_numbers_in_other_spellings() -> None:
    assert accepts(int, "0", "-0", "01", "1_0", "+1", "1.0", "--1") == [True, True, False, False, False, False, False]
    assert (
        accepts(float, "1", "1.5", "1e5", "1.", ".5", "inf", "-inf", "nan", "1e400")
        == [True] * 3 + [False] * 2 + [True] * 4
    )
    assert dataclass(float).parse("3") == 3.0
    assert type(dataclass(float).parse("3")) is float


def test_decimals_far_out() -> None:
    positive = dataclass(Annotated[Decimal, at.Gt(0)])
    for text in ("Decimal('1E-99999999999')", "Decimal('1E+99999999999')"):
        assert positive.parse(text) == eval(text)
    with pytest.raises(TextNotAllowed):
        positive.parse("Decimal('-1E-99999999999')")
    assert dataclass(Annotated[int, at.Ge(0)]).parse("1" + "0" * 400) == 10**400


def test_unions_take_what_is_exact() -> None:
    constraint = dataclass(float | int)
    assert [type(constraint.parse(text)) for text in ("1", "1.0")] == [int, float]
    narrow = dataclass(Annotated[int, at.Ge(0)] | float)
    assert [type(narrow.parse(text)) for text in ("1", "-1")] == [int, float]
    assert dataclass(list[float] | list[int]).parse("[1]") == [1]
    assert type(dataclass(list[float] | list[int]).parse("[1]")[0]) is int


def test_literals_keep_their_types() -> None:
    constraint = dataclass(Literal[1, True, "it's", None, -5])
    for text, value in [
        ("1", 1),
        ("True", True),
        ('"it\'s"', "it's"),
        ("'it\\'s'", "it's"),
        ("None", None),
        ("-5", -5),
    ]:
        assert constraint.parse(text) is value or constraint.parse(text) == value
        assert type(constraint.parse(text)) is type(value)
    with pytest.raises(TextNotAllowed):
        constraint.parse("1.0")


def test_collections() -> None:
    assert accepts(tuple[int, ...], "()", "(1,)", "(1, 2)", "(1)", "(1,2,)") == [True, True, True, False, False]
    assert accepts(Annotated[tuple[int, ...], at.MinLen(1), at.MaxLen(2)], "()", "(1,)", "(1,2)", "(1,2,3)") == [
        False,
        True,
        True,
        False,
    ]
    assert accepts(set[int], "set()", "{1}", "{}", "{1, 2}") == [True, True, False, True]
    assert accepts(Annotated[set[int], at.MaxLen(1)], "set()", "{1}", "{1, 2}") == [True, True, False]
    assert accepts(dict[str, int], "{}", "{'a': 1}", "{'a':1,'b':2}", "{1: 1}") == [True, True, True, False]
    assert accepts(Annotated[list[int], at.MaxLen(0)], "[]", "[1]") == [True, False]
    assert accepts(tuple[()], "()", "(1,)") == [True, False]


DAYS = automaton_of(dataclass(datetime.date))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10000), st.integers(0, 13), st.integers(0, 32))
def test_dates_are_those_that_exist(year: int, month: int, day: int) -> None:
    try:
        datetime.date(year, month, day)
        exists = True
    except ValueError:
        exists = False
    for text in (f"datetime.date({year}, {month}, {day})", f"date({year},{month},{day})"):
        assert DAYS.accepts(text.encode()) == exists


def test_leap_years() -> None:
    for year in range(1, 10000):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        assert DAYS.accepts(f"date({year}, 2, 29)".encode()) == leap


def test_durations_and_zones_at_their_ends() -> None:
    for value in (
        datetime.timedelta.max,
        datetime.timedelta.min,
        datetime.timedelta.resolution,
        -datetime.timedelta.resolution,
    ):
        assert dataclass(datetime.timedelta).parse(repr(value)) == value
    day = datetime.timedelta(days=1, microseconds=-1)
    for offset in (day, -day, datetime.timedelta(microseconds=1)):
        value = datetime.time(1, tzinfo=datetime.timezone(offset, "it's"))
        assert repr(dataclass(datetime.time).parse(repr(value))) == repr(value)
    whole = "datetime.time(0, 0, tzinfo=datetime.timezone(datetime.timedelta(days=-1)))"
    assert accepts(datetime.time, whole) == [False]


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
    (Annotated[float, at.Ge(float("nan"))], "no finite number"),
    (Annotated[str, re.compile(r"(a)\1")], "back-reference"),
    (Literal[b"a"], "cannot be written"),
    (set[list[int]], "not hashable"),
    (dict[tuple[Basic, int], int], "not hashable"),
    (tuple[int, *tuple[str, ...]], "no constructor call"),
]


@pytest.mark.parametrize(("annotation", "message"), REFUSED, ids=str)
def test_what_cannot_be_held_is_refused(annotation: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclass(annotation)


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
    constraint = dataclass(outer)
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
