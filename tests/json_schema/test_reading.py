"""Reading: what schemas of each draft say, held against `jsonschema` and against the specifications' own examples."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from evaluation import holds
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
from reading_cases import VALUES, schemas
from schemas_read import text, valid

from automata.errors import SchemaError, UnsupportedSchema
from constraints import json_schema
from constraints.json_schema.formulas.connectives import FALSE, TRUE, And, Formula, Not, Or, conjunction, disjunction
from constraints.json_schema.formulas.outlines import Outlines
from constraints.json_schema.formulas.restriction import Restriction
from constraints.json_schema.formulas.statements import (
    IsInteger,
    ItemAt,
    ItemCount,
    Kind,
    Members,
    Minimum,
    NumberIn,
    OfKind,
    Pattern,
    StringIn,
    TextLength,
    UniqueItems,
)
from constraints.json_schema.reading import read_schema
from constraints.json_schema.reading.document import Draft
from constraints.json_schema.reading.site import shown

VALIDATORS: dict[Draft, Any] = {
    "draft4": Draft4Validator,
    "draft6": Draft6Validator,
    "draft7": Draft7Validator,
    "draft2019-09": Draft201909Validator,
    "draft2020-12": Draft202012Validator,
}


@pytest.mark.parametrize("draft", VALIDATORS)
def test_formulas_hold_for_what_is_valid(draft: Draft) -> None:
    seen: Counter[bool] = Counter()

    @given(schemas(draft), st.lists(VALUES, min_size=1, max_size=12))
    @settings(max_examples=40, deadline=None)
    def check(schema: Any, values: list[Any]) -> None:
        document, validator = read_schema(schema, draft=draft), VALIDATORS[draft](schema)
        for value in values:
            valid = validator.is_valid(value)
            seen[valid] += 1
            assert holds(document, value) == valid

    check()
    assert min(seen[True], seen[False]) > 20


@settings(max_examples=40, deadline=None)
@given(schemas("draft2020-12"), schemas("draft2020-12"), st.lists(VALUES, min_size=1, max_size=10))
def test_what_excludes_each_other_never_holds_together(one: Any, other: Any, values: list[Any]) -> None:
    parts = [read_schema(one), read_schema(other)]
    if not any(part.definitions for part in parts) and Outlines(Restriction({})).exclude(parts[0].root, parts[1].root):
        assert not any(holds(parts[0], value) and holds(parts[1], value) for value in values)


def needed(name: str) -> Formula:
    return Not(Members(text(name), FALSE))


class TestFormulas:
    def test_members_come_in_the_order_of_the_schema_and_what_is_left_over_behind(self) -> None:
        schema = {
            "additionalProperties": False,
            "required": ["z", "b"],
            "type": "object",
            "properties": {"b": True, "a": {"type": "null"}},
        }
        root = read_schema(schema).root
        assert isinstance(root, And)
        assert root.parts[0] == OfKind(Kind.OBJECT)
        assert root.parts[1:3] == (Members(text("b"), TRUE), Members(text("a"), OfKind(Kind.NULL)))
        others = Members(Not(StringIn(frozenset("ab"))), FALSE)
        assert set(root.parts[3:]) == {needed("z"), needed("b"), others}

    def test_required_says_nothing_of_what_is_no_object(self) -> None:
        assert read_schema({"required": ["a"]}).root == Or(Not(OfKind(Kind.OBJECT)), needed("a"))

    def test_an_enum_is_grouped_by_kinds_and_numbers_are_exact(self) -> None:
        root = read_schema({"enum": ["a", 0.1, 1, 1.0, "b", True, None]}).root
        assert isinstance(root, Or)
        strings, numbers = root.parts[0], root.parts[1]
        assert strings == And(OfKind(Kind.STRING), StringIn(frozenset("ab")))
        assert isinstance(numbers, And)
        (values,) = (part.values for part in numbers.parts if isinstance(part, NumberIn))
        assert sorted(map(str, values)) == ["1", "1/10"]

    def test_constants_of_arrays_and_objects_fall_apart(self) -> None:
        zero = conjunction((OfKind(Kind.NUMBER), NumberIn(frozenset([Fraction(0)]))))
        assert read_schema({"const": [0]}).root == And(OfKind(Kind.ARRAY), ItemCount(1, 1), ItemAt(0, zero))
        others = Members(Not(StringIn(frozenset("a"))), FALSE)
        assert read_schema({"const": {"a": 0}}).root == And(
            OfKind(Kind.OBJECT), Members(text("a"), zero), needed("a"), others
        )

    def test_a_tagged_union_is_a_plain_disjunction(self) -> None:
        tags = [
            {"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]}
            for kind in ("a", "b", "c")
        ]
        document = read_schema(
            {"oneOf": [*tags, {"type": "string"}, {"$ref": "#/$defs/n"}], "$defs": {"n": {"const": 1}}}
        )
        assert isinstance(document.root, Or)
        assert not any(isinstance(part, Not) for inner in document.root.parts[:3] for part in inner.fields[3:])
        assert len(document.root.parts) == 5
        assert document.root == read_schema({"anyOf": [*tags, {"type": "string"}, {"const": 1}]}).root

    def test_only_what_may_hold_together_is_excluded(self) -> None:
        root = read_schema({"oneOf": [{"type": "string"}, {"type": "integer"}, {"minimum": 3}]}).root
        string, integer, least = OfKind(Kind.STRING), read_schema({"type": "integer"}).root, Minimum(Fraction(3))
        assert root == disjunction(
            (
                conjunction((string, Not(least))),
                conjunction((integer, Not(least))),
                conjunction((least, Not(string), Not(integer))),
            )
        )

    def test_integers_of_draft_4_are_written_plainly(self) -> None:
        for uri, plain in (
            ("http://json-schema.org/draft-04/schema#", True),
            ("http://json-schema.org/draft-06/schema#", False),
        ):
            root = read_schema({"$schema": uri, "type": "integer"}).root
            assert root == And(OfKind(Kind.NUMBER), IsInteger(plain))


MALFORMED: list[tuple[dict[str, Any], str, str]] = [
    ({"minLength": "3"}, "/minLength", "minLength"),
    ({"maxItems": 1.5}, "/maxItems", "maxItems"),
    ({"maxProperties": -1}, "/maxProperties", "maxProperties"),
    ({"minimum": None}, "/minimum", "minimum"),
    ({"multipleOf": 0}, "/multipleOf", "multipleOf"),
    ({"maximum": True}, "/maximum", "maximum"),
    ({"type": "text"}, "/type", "type"),
    ({"type": {"a": 1}}, "/type", "type"),
    ({"enum": "a"}, "/enum", "enum"),
    ({"pattern": 1}, "/pattern", "pattern"),
    ({"format": {}}, "/format", "format"),
    ({"required": "a"}, "/required", "required"),
    ({"required": [1]}, "/required", "required"),
    ({"uniqueItems": "yes"}, "/uniqueItems", "uniqueItems"),
    ({"properties": []}, "/properties", "properties"),
    ({"dependentRequired": {"a": "b"}}, "/dependentRequired/a", "dependentRequired"),
    ({"anyOf": {}}, "/anyOf", "anyOf"),
    ({"prefixItems": {}}, "/prefixItems", "prefixItems"),
    ({"contains": True, "minContains": "1"}, "/minContains", "minContains"),
    ({"contains": True, "maxContains": None}, "/maxContains", "maxContains"),
    ({"contains": True, "maxContains": -1}, "/maxContains", "maxContains"),
    ({"maxItems": Decimal(-1)}, "/maxItems", "maxItems"),
    ({"maxLength": -(10**5000)}, "/maxLength", "maxLength"),
    ({"pattern": 10**5000}, "/pattern", "pattern"),
    ({"minimum": Decimal("Infinity")}, "/minimum", "minimum"),
    ({"properties": {1: {}}}, "/properties", "properties"),
    ({"properties": {("a",): {}}}, "/properties", "properties"),
    ({"patternProperties": {None: {}}, "unevaluatedProperties": False}, "/patternProperties", "patternProperties"),
    ({"dependentSchemas": {1: {}}}, "/dependentSchemas", "dependentSchemas"),
    ({"const": {1: 2}}, "/const", "const"),
    ({"enum": [1, [{None: 2}]]}, "/enum", "enum"),
    ({"unevaluatedProperties": False, "dependencies": None}, "/dependencies", "dependencies"),
    ({"unevaluatedProperties": False, "dependentSchemas": [1]}, "/dependentSchemas", "dependentSchemas"),
    ({"unevaluatedItems": False, "dependencies": {1: {}}}, "/dependencies", "dependencies"),
    (
        {"anyOf": [{"unevaluatedItems": False, "dependentSchemas": None}]},
        "/anyOf/0/dependentSchemas",
        "dependentSchemas",
    ),
    ({"$ref": 1}, "/$ref", "$ref"),
    ({"$schema": 1}, "/$schema", "$schema"),
]


@pytest.mark.parametrize(("schema", "pointer", "keyword"), MALFORMED, ids=shown)
def test_a_malformed_keyword_is_an_error_at_its_place(schema: dict[str, Any], pointer: str, keyword: str) -> None:
    if "$schema" not in schema:
        schema, pointer = {"properties": {"a/b": {"items": schema}}}, "/properties/a~1b/items" + pointer
    with pytest.raises(SchemaError) as caught:
        read_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)


class Unspeakable:
    """What has no text."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [({"type": Unspeakable()}, "type"), ({"type": [Unspeakable()]}, "type"), ({"const": Unspeakable()}, "const")],
)
def test_what_has_no_text_is_an_error_at_its_place(schema: Any, keyword: str) -> None:
    with pytest.raises(SchemaError, match="Unspeakable") as caught:
        read_schema(schema)
    assert caught.value.keyword == keyword


def test_keywords_are_strings() -> None:
    for name in (1, None, b"a", ("a",)):
        with pytest.raises(SchemaError, match="a name must be a string") as caught:
            read_schema({"not": {name: {}}})
        assert caught.value.pointer == "/not"


def test_what_an_outer_schema_evaluates_is_checked_before_it_is_read() -> None:
    inner = {"unevaluatedProperties": False, "allOf": [{"$ref": "#"}]}
    for keyword in ("anyOf", "dependentSchemas"):
        with pytest.raises(SchemaError) as caught:
            read_schema({"$ref": "#/$defs/a", keyword: None, "$defs": {"a": inner}})
        assert caught.value.pointer == f"/{keyword}"


class Celsius(float):
    """A number that is shown as something else, as NumPy's are."""

    def __repr__(self) -> str:
        return f"{float(self)} degrees"


def test_floats_of_any_class_are_numbers() -> None:
    assert valid({"minimum": Celsius(1.5)}, 1.5, 1.25) == [True, False]
    assert valid({"maxLength": Celsius(2)}, "ab", "abc") == [True, False]
    assert valid({"const": Celsius(0.1)}, 0.1, 0.2) == [True, False]


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("multipleOf", Decimal("1E-99999999")),
        ("minimum", Decimal("-1E+99999999")),
        ("maximum", Decimal("1." + "0" * 1_000_000)),
        ("minProperties", Decimal("1E+99999999")),
        ("maxLength", Decimal("1E+99999999")),
        ("const", {"a": [Decimal("1E+99999999")]}),
        ("enum", [1, Decimal("1E-99999999")]),
    ],
    ids=shown,
)
def test_a_decimal_of_very_many_digits_is_refused_unwritten(keyword: str, value: Any) -> None:
    with pytest.raises(UnsupportedSchema, match="more than 10,000 digits") as caught:
        read_schema({"items": {keyword: value}})
    assert (caught.value.pointer, caught.value.keyword) == (f"/items/{keyword}", keyword)


def test_decimals_of_many_digits_are_exact() -> None:
    assert read_schema({"minimum": Decimal("1E+9000")}).root == Minimum(Fraction(10**9000))
    assert read_schema({"minimum": Decimal("1E-9000")}).root == Minimum(Fraction(1, 10**9000))
    assert read_schema({"minimum": Decimal("0E+99999999")}).root == Minimum(Fraction(0))


def test_an_error_shows_only_the_beginning_of_a_large_value() -> None:
    with pytest.raises(SchemaError) as caught:
        read_schema({"minimum": {f"name{i}": "x" * 1000 for i in range(1000)}})
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("schema", [1, None, "a", []])
def test_a_schema_is_an_object_or_a_boolean(schema: Any) -> None:
    with pytest.raises(SchemaError, match="must be an object or a boolean") as caught:
        read_schema({"not": schema})
    assert caught.value.pointer == "/not"


def test_what_is_malformed_and_harmless_is_read() -> None:
    assert valid({"minItems": -1, "minLength": 2.0}, "ab", "a", []) == [True, False, True]
    assert valid({"required": []}, {}) == [True]
    assert valid({"enum": []}, 1) == [False]
    assert valid({"then": 3, "minContains": "a", "additionalItems": 5}, 1) == [True]


def test_nesting_is_not_bounded() -> None:
    schema: Any = {"type": "null"}
    for _ in range(5000):
        schema = {"not": schema}
    assert read_schema(schema).root == OfKind(Kind.NULL)


def test_unknown_formats_are_noted_and_known_ones_asserted() -> None:
    document = read_schema({"properties": {"a": {"format": "color"}, "b": {"format": "date"}}})
    assert [(note.pointer, note.keyword) for note in document.notes] == [("/properties/a/format", "format")]
    assert not holds(document, {"b": "x"}, lambda name, text: name != "date")
    assert holds(document, {"a": "x"}, lambda name, text: False)


@pytest.mark.parametrize(
    ("schema", "place", "words"),
    [
        ({"type": "string", "nullable": True, "title": "x"}, "/nullable", "'nullable' is a keyword of OpenAPI"),
        ({"exclusiveMinimum": True, "maximum": 1}, "/exclusiveMinimum", "the 'minimum' beside it, and there is none"),
        ({"divisibleBy": 2}, "/divisibleBy", "it is one of draft 3"),
        (
            {"items": {"maxlength": 3}},
            "/items/maxlength",
            "draft2020-12 has no keyword 'maxlength'; 'maxLength' is one",
        ),
        ({"not": {"max_items": 3}}, "/not/max_items", "'maxItems' is one"),
        ({"type": "object", "propertys": {}}, "/propertys", "'properties' is one"),
        ({"items": {"enums": ["a"]}}, "/items/enums", "'enum' is one"),
        ({"type": "object", "name": {"type": "string"}}, "/name", "the schema in it says nothing of any value"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}, "/const", "draft4 has no keyword 'const'"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "minimum": 1}
            | {"definitions": {"a": {}}, "description": "b"},
            "/minimum",
            "draft7 ignores what stands beside '$ref'",
        ),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#", "$ref": "#/definitions/a", "const": 1}
            | {"definitions": {"a": {}}, "description": "b", "x-order": 1},
            "/const",
            "draft4 has no keyword 'const'",
        ),
    ],
)
def test_keywords_that_say_nothing_where_they_stand_are_noted(schema: dict[str, Any], place: str, words: str) -> None:
    (note,) = read_schema(schema).notes
    assert note.pointer == place
    assert words in note.reason


@pytest.mark.parametrize("member", ["schema", "parameters", "json_schema", "function", "inputSchema", "input_schema"])
def test_an_object_around_a_schema_is_no_schema(member: str) -> None:
    wrapped = {"name": "a", "strict": True, member: {"type": "object"}}
    for wrapper in (wrapped, {"type": "function", **wrapped}, {"type": "json_schema", **wrapped}):
        with pytest.raises(SchemaError, match=f"one in its member '{member}'"):
            read_schema(wrapper)
    assert read_schema({"type": "object", **wrapped}).notes
    assert not read_schema({"name": "a", member: "b"}).notes


def test_other_keywords_are_annotations() -> None:
    assert (
        read_schema({"title": "a", "nullable": False, "x-max": 1, "then": {}, "deprecated": True, "note": ""}).notes
        == ()
    )


def test_bounds_of_contains_are_keywords_where_they_are_read() -> None:
    counted = {"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}
    for draft in ("auto", "draft2019-09", "draft2020-12"):
        assert read_schema(counted, draft=draft).notes == ()
    assert [note.reason for note in read_schema(counted, draft="draft7").notes] == [
        "draft7 has no keyword 'minContains'",
        "draft7 has no keyword 'maxContains'",
    ]


def test_what_is_skipped_says_nothing() -> None:
    schema = {"items": {"uniqueItems": True, "minItems": 1}, "uniqueItems": True}
    document = read_schema(schema, skip=frozenset(["/items/uniqueItems"]))
    values: list[Any] = [[[1, 1]], [[]], [[1], [1]]]
    assert [holds(document, value) for value in values] == [True, False, False]


def test_places_say_where_statements_stand() -> None:
    schema = {
        "properties": {"a/b": {"pattern": "x"}},
        "patternProperties": {"^y": {"uniqueItems": True}},
        "items": [{"minItems": 2}],
    }
    places = read_schema(schema).places
    assert places[Pattern("x")] == "/properties/a~1b/pattern"
    assert places[Pattern("^y")] == "/patternProperties/^y"
    assert places[UniqueItems("/patternProperties/^y/uniqueItems")] == "/patternProperties/^y/uniqueItems"
    assert places[Members(text("a/b"), Pattern("x"))] == "/properties/a~1b"
    assert places[ItemAt(0, ItemCount(2, None))] == "/items/0"


class TestUnevaluated:
    def test_each_schema_that_holds_evaluates_its_own(self) -> None:
        schema = {
            "anyOf": [
                {"required": ["a"], "properties": {"a": True, "x": True}},
                {"properties": {"b": {"type": "null"}}},
            ],
            "properties": {"c": True},
            "unevaluatedProperties": False,
        }
        values = {"a": 1, "x": 1, "b": None, "c": 1}, {"x": 1}, {"b": None}, {"a": 1, "b": 1}, {"c": 1}
        assert valid(schema, *values) == [True, False, True, False, True]

    def test_conditional_patterns(self) -> None:
        schema = {
            "if": {"required": ["k"]},
            "then": {"patternProperties": {"^k": True, "^a": {"type": "number"}}},
            "else": {"patternProperties": {"a$": True}},
            "unevaluatedProperties": {"type": "null"},
        }
        values = {"k": 1, "ax": 2, "b": None}, {"k": 1, "b": 1}, {"a": "t", "ax": None}, {"ax": 1}, {"k": 1, "ax": "t"}
        assert valid(schema, *values) == [True, False, True, False, False]

    def test_not_and_cousins_evaluate_nothing(self) -> None:
        assert valid({"not": {"properties": {"a": False}}, "unevaluatedProperties": False}, {"a": 1}) == [False]
        cousin = {"allOf": [{"properties": {"a": True}}, {"unevaluatedProperties": False}]}
        assert valid(cousin, {"a": 1}, {}) == [False, True]

    def test_items_that_contains_holds_for_count_from_2020_12_on(self) -> None:
        schema = {"contains": {"type": "null"}, "unevaluatedItems": {"type": "string"}}
        assert valid(schema, [None, "a"], [None, 1], draft="draft2020-12") == [True, False]
        assert valid(schema, [None, "a"], ["a"], draft="draft2019-09") == [False, False]

    def test_first_items_of_schemas_that_hold(self) -> None:
        two, three = [True, True], [{"const": 1}, True, True]
        schema = {"anyOf": [{"prefixItems": two}, {"prefixItems": three}], "unevaluatedItems": False}
        assert valid(schema, [1, 2, 3], [0, 1], [0, 1, 2], [1, 2, 3, 4]) == [True, True, False, False]

    def test_too_many_cases_are_unsupported(self) -> None:
        parts = [{"required": [f"n{i}"], "patternProperties": {f"^p{i}": True}} for i in range(12)]
        with pytest.raises(UnsupportedSchema) as caught:
            read_schema({"items": {"anyOf": parts, "unevaluatedProperties": False}})
        assert caught.value.pointer == "/items/unevaluatedProperties"
        names = [{"required": [f"n{i}"], "properties": {f"p{i}": True}} for i in range(40)]
        assert valid(
            {"anyOf": names, "properties": {"n3": True}, "unevaluatedProperties": False},
            {"n3": 1, "p3": 2},
            {"n3": 1, "p4": 2},
        ) == [True, False]


def test_equal_formulas_share_their_parts_once_compared() -> None:
    def made(last: int) -> Formula:
        found: Formula = TextLength(0, last)
        for number in range(50):
            found = conjunction([disjunction([found, TextLength(0, 100 + number)]), Pattern(str(number))])
        return found

    one, two, other = made(1), made(1), made(2)
    before = two.fields
    assert one == two
    assert one != other
    assert two.fields is one.fields
    assert two.fields == before
    assert one.fields[0].fields[0].fields is two.fields[0].fields[0].fields


def test_a_notebook_shows_the_beginning_of_what_json_cannot_write() -> None:
    circle: list[Any] = []
    circle.append(circle)
    shared: Any = 1
    for _ in range(40):
        shared = [shared, shared]
    for value in (circle, shared):
        assert json_schema({"$defs": {"a": value}})._repr_html_().endswith("…</pre>")
    assert "&quot;b&quot;: 2" in json_schema({"$defs": {("a",): 1, "b": 2}})._repr_html_()
