"""What is passed to a constraint by mistake is an error that says what was meant."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pydantic
import pytest

import constraints
import tokenfst
from automata import Grammar, GrammarError, SchemaError, UnsupportedSchema, compile_grammar, literal, parse
from constraints import dataclass

# They are given what they do not take.
after: Any = constraints.after
choice: Any = constraints.choice
rules: Any = Grammar
subsequence: Any = constraints.delimited_subsequence_of
substring_of: Any = constraints.substring_of
token: Any = constraints.token
date: Any = constraints.date
decimal: Any = constraints.decimal
free_text: Any = constraints.free_text
grammar: Any = constraints.grammar
integer: Any = constraints.integer
json_schema: Any = constraints.json_schema
optional: Any = constraints.optional
sequence: Any = constraints.sequence
sql_select: Any = constraints.sql_select
tool_calls: Any = constraints.tool_calls
triggered: Any = constraints.triggered
typed: Any = constraints.typed
url: Any = constraints.url

VOCABULARY = tokenfst.Vocabulary([b"a", b""], [1])


@dataclasses.dataclass
class Point:
    x: int


class Order(pydantic.BaseModel):
    number: int


Untyped = collections.namedtuple("Untyped", "p q")


class Color(enum.Enum):
    RED = "red"


def now() -> None: ...


FOREIGN = {"name": "now", "description": "The time.", "input_schema": {"type": "object", "properties": {"zone": {}}}}


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    # Texts
    (lambda: choice("abc"), TypeError, r"choice takes several texts, choice\(\[...\]\), not 'abc'"),
    (lambda: choice(3), TypeError, "choice takes several texts"),
    (lambda: choice(["a", 1]), TypeError, "one of some texts, and 1 is not text"),
    (lambda: choice(Color), TypeError, "<Color.RED: 'red'> is not text"),
    (lambda: choice([None]), TypeError, "None is not text"),
    (lambda: choice([["a"]]), TypeError, r"\['a'\] is not text"),
    (lambda: choice({"a": "x"}), TypeError, "the count of 'a' is 'x'"),
    # Parts of texts
    (lambda: constraints.text_until(integer()), TypeError, "its attribute `expr` is an expression"),
    (lambda: substring_of(["a"]), TypeError, r"substrings are those of a text, not \['a'\]"),
    (lambda: subsequence("abc", ","), TypeError, "one of a list of items, not 'abc'"),
    (lambda: subsequence({"a"}, ","), TypeError, "one of a list of items"),
    (lambda: subsequence([integer()], ","), TypeError, "its attribute `expr` is an expression"),
    (lambda: token(5), TypeError, "a token is given by its name, not 5"),
    (lambda: token(""), ValueError, "the name of a token is not empty"),
    # Grammars
    (lambda: grammar({"type": "object"}), TypeError, r"a JSON Schema is read by json_schema\(...\)"),
    (lambda: grammar('{"type": "object"}'), GrammarError, r"this is JSON, .*: json_schema\(json.loads\(text\)\)"),
    (lambda: grammar(Path("a.lark")), TypeError, r"give what the file holds, grammar\(path.read_text\(\)\)"),
    (lambda: grammar("grammars/calls.lark"), GrammarError, r"is a path, .*: .*Path\('grammars/calls.lark'\)"),
    (lambda: grammar("calls.gbnf"), GrammarError, "is a path"),
    (lambda: grammar(r"C:\grammars\calls"), GrammarError, "is a path"),
    (lambda: grammar(b"start: A"), TypeError, "a grammar is a text, not bytes"),
    (lambda: grammar(constraints.json()), TypeError, "a grammar already"),
    (lambda: rules([("a", literal("x"))], start="a"), TypeError, "`rules` is a dict from names to rules"),
    (lambda: rules({"a": literal("x")}, start="a", lexical=5), TypeError, "`lexical` is a dict"),
    (lambda: rules({"a": literal("x")}, start="a", ignored="a"), TypeError, "`ignored` is a list of names, not 'a'"),
    (lambda: rules({5: literal("x")}, start=5), TypeError, "the name of a rule is a text, not 5"),
    # Schemas
    (lambda: json_schema(Order), SchemaError, r"not <class .*Order'>: constraints.typed\(Order\) makes a constraint"),
    (lambda: json_schema('{"type": "object"}'), SchemaError, r": json.loads\(text\) makes a schema of its text"),
    # Types
    (lambda: typed({"type": "object"}), TypeError, r"a JSON Schema is read by json_schema\(...\)"),
    (lambda: typed(Point(1)), TypeError, r"Point\(x=1\) is a value, .*: write the type, such as Point"),
    (lambda: typed(Order(number=1)), TypeError, r"Order\(number=1\) is a value, .*: write the type, such as Order"),
    (lambda: typed("Point"), TypeError, "'Point' is a value"),
    (lambda: typed([int]), TypeError, "is a value, .*: write the type, such as list"),
    (lambda: typed(Color.RED), TypeError, "write the type, such as Color"),
    (lambda: typed(datetime.date(2024, 2, 29)), TypeError, "write the type, such as date"),
    (lambda: dataclass({"x": int}), TypeError, r"a JSON Schema is read by json_schema\(...\)"),
    (lambda: dataclass(Point(1)), TypeError, "write the type, such as Point"),
    (lambda: typed(int, spellings="x"), ValueError, "spellings is 'plain' or 'all', not 'x'"),
    (lambda: typed(int, whitespace=None), ValueError, "whitespace is one of .*, not None"),
    (lambda: typed(Annotated[str, json_schema({})]), UnsupportedSchema, "in Annotated is not an expression"),
    (lambda: typed(Annotated[int, integer()]), UnsupportedSchema, "is for str only"),
    (lambda: dataclass(Annotated[str, json_schema({})]), UnsupportedSchema, "in Annotated is not an expression"),
    (lambda: dataclass(Untyped), UnsupportedSchema, r"the field has no type \(at /Untyped/p\)"),
    # Calls of tools
    (lambda: tool_calls(now, format="qwen"), TypeError, r"tools are a list, even if there is one: \[tool\]"),
    (lambda: tool_calls("now", format="qwen"), TypeError, "tools are a list"),
    (lambda: tool_calls({"name": "now"}, format="qwen"), TypeError, "tools are a list"),
    (lambda: tool_calls(["now"], format="qwen"), TypeError, "a tool's name is not a tool"),
    (lambda: tool_calls([Order], format="qwen"), TypeError, r"\('order', Order.model_json_schema\(\)\)"),
    (lambda: tool_calls([Point], format="qwen"), TypeError, r"\('point', pydantic.TypeAdapter\(Point\)\."),
    (lambda: tool_calls([("order", dict)], format="qwen"), TypeError, r"not a class: pydantic.TypeAdapter\(dict\)"),
    (lambda: tool_calls([("order", Order)], format="qwen"), TypeError, r"not a class: Order.model_json_schema\(\)"),
    (lambda: tool_calls([FOREIGN], format="qwen"), ValueError, r"named 'input_schema': .*\('now', tool\['input_"),
    (lambda: tool_calls([{"function": "now"}], format="qwen"), TypeError, "the 'function' of a tool is a dict"),
    (lambda: tool_calls([now], format="qwen", parallel=10**7), ValueError, "a number from 1 to 10,000, not 10000000"),
    (lambda: tool_calls([("now",)], format="qwen"), TypeError, "a pair of a name and a JSON Schema"),
    (lambda: tool_calls([lambda x: x], format="qwen"), ValueError, "a tool's name is made of letters"),
    # Values
    (lambda: integer("3"), TypeError, "a bound of integers is an int, not '3'"),
    (lambda: integer(0, 1.5), TypeError, "not 1.5"),
    (lambda: integer(True), TypeError, "not True"),
    (lambda: integer(0, 10**5000), ValueError, "a bound has at most 4,300 digits"),
    (lambda: decimal(Decimal("1e-1000000"), 1), ValueError, "a bound has at most 4,300 digits"),
    (lambda: decimal(0, Decimal("1e10000")), ValueError, "a bound has at most 4,300 digits"),
    (lambda: decimal(-(10**4300)), ValueError, "a bound has at most 4,300 digits"),
    (lambda: decimal("0.1"), TypeError, r"not a str: Decimal\('0.1'\)\?"),
    (lambda: decimal(0.1), TypeError, r"not a float: Decimal\('0.1'\)\?"),
    (lambda: decimal(places="2"), TypeError, "`places` is a number of digits, not '2'"),
    (lambda: date("2024-02-29"), TypeError, r"datetime.date.fromisoformat\('2024-02-29'\)\?"),
    (lambda: date(2024), TypeError, "a bound is a datetime.date, not 2024"),
    (lambda: date(datetime.datetime(2024, 2, 29)), TypeError, r"\.date\(\)\?"),
    (lambda: url("https"), TypeError, r"\['https'\]\?"),
    (lambda: url([5]), ValueError, "5 is not a scheme"),
    (lambda: sql_select({"people": [5]}), TypeError, "5, among the columns of 'people', is not a text"),
    (lambda: sql_select({"people": ["name"]}, depth="1"), TypeError, "`depth` is a number, not '1'"),
    (lambda: sql_select(["people"]), TypeError, "tables are a dict from each table to its columns"),
    (lambda: sql_select({"people": "name"}), TypeError, "the columns of 'people' are a list of names, not 'name'"),
    # Texts to read
    (lambda: integer().parse(["5"]), TypeError, "expected a text, not list: pass one of its texts"),
    (lambda: typed(Order).parse(b"{}"), TypeError, "expected a text, not bytes: decode it"),
    (lambda: json_schema({}).parse(None), TypeError, "expected a text, not NoneType"),
    (lambda: sequence("a").parse(["a"]), TypeError, "pass one of its texts"),
    # Constraints within others
    (lambda: sequence({"type": "object"}), TypeError, r"is not a constraint; .*json_schema\(\.\.\.\)"),
    (lambda: sequence(Order), TypeError, r"the class Order is not a constraint; .*typed\(Order\)"),
    (lambda: sequence(re.compile("a")), TypeError, r"is not a constraint; .*automata\.parse\(pattern\)"),
    (lambda: sequence(b"a"), TypeError, r"is not a constraint; .*decode it"),
    (lambda: sequence(["a", "b"]), TypeError, r"is not a constraint; .*choice\(\.\.\.\)"),
    (lambda: sequence(Path("a.lark")), TypeError, r"is not a constraint; read the file"),
    (lambda: sequence(now), TypeError, r"is not a constraint; .*typed\(\.\.\.\), .*tool_calls\("),
    (lambda: sequence(compile_grammar(constraints.json())), TypeError, "give what it was compiled from"),
    (lambda: sequence(tokenfst.compile("a", VOCABULARY)), TypeError, "give what it was compiled from"),
    (lambda: optional(None), TypeError, r"None \(NoneType\) is not a constraint"),
    (lambda: integer() | {"type": "string"}, TypeError, r"json_schema\(...\)"),
    (lambda: after(3, "a"), TypeError, r"a marker is a text, or a token by its name \(`token\(...\)`\)"),
    (lambda: free_text(["a"]), TypeError, "a marker is a text"),
    (lambda: after(parse("a*"), "b"), ValueError, r"a marker is not the empty text, as a\* may be"),
    (lambda: triggered({"a": ("b", None)}), TypeError, r"after the marker 'a' comes .*, not \('b', None\)"),
    (lambda: triggered({"a": ("b",)}), TypeError, "after the marker 'a' comes a constraint, or a pair"),
    (lambda: triggered({"a": "b"}, at_least=1.5), TypeError, "`at_least` is a number of parts, not 1.5"),
    (lambda: triggered(["<date>"]), TypeError, r"triggers are a dict, \{marker: \(constraint, end\)\}"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG, ids=[message[:40] for _, _, message in WRONG])
def test_it_is_said_what_was_meant(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_types_that_are_no_classes_are_types() -> None:
    assert typed(list[int] | None).parse("[1]") == [1]
    assert typed(None).parse("null") is None
    assert typed(now).parse("{}") == {}
    assert dataclass(int | None).parse("None") is None
