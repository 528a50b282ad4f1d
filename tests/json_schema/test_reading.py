"""Reading: what schemas of each draft say, held against `jsonschema` and against the specifications' own examples."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from evaluation import holds
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
from reading_cases import VALUES, schemas

from automata.errors import SchemaError, UnsupportedSchema
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
    Reference,
    StringIn,
    UniqueItems,
)
from constraints.json_schema.reading import read_schema
from constraints.json_schema.reading.document import Draft

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
    @settings(max_examples=60, deadline=None)
    def check(schema: Any, values: list[Any]) -> None:
        document, validator = read_schema(schema, draft=draft), VALIDATORS[draft](schema)
        for value in values:
            valid = validator.is_valid(value)
            seen[valid] += 1
            assert holds(document, value) == valid

    check()
    assert min(seen[True], seen[False]) > 20


@settings(max_examples=60, deadline=None)
@given(schemas("draft2020-12"), schemas("draft2020-12"), st.lists(VALUES, min_size=1, max_size=10))
def test_what_excludes_each_other_never_holds_together(one: Any, other: Any, values: list[Any]) -> None:
    parts = [read_schema(one), read_schema(other)]
    if not any(part.definitions for part in parts) and Outlines(Restriction({})).exclude(parts[0].root, parts[1].root):
        assert not any(holds(parts[0], value) and holds(parts[1], value) for value in values)


def text(value: str) -> StringIn:
    return StringIn(frozenset([value]))


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


class TestDefinitions:
    def test_a_recursive_one_is_read_once(self) -> None:
        document = read_schema({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/a"}}})
        assert document.root == Reference("")
        assert document.definitions[""] == And(Members(text("a"), Reference("")), Members(text("b"), Reference("")))
        assert holds(document, {"a": {"b": {}}})

    def test_a_small_one_stands_in_place_of_its_references(self) -> None:
        schema = {"items": {"$ref": "#/definitions/s"}, "definitions": {"s": {"type": "string"}, "unused": {"type": 3}}}
        document = read_schema(schema)
        assert not document.definitions
        assert document.root == read_schema({"items": {"type": "string"}}).root

    def test_a_large_one_is_kept(self) -> None:
        big = {"type": "object", "properties": {name: {} for name in "abcdef"}}
        document = read_schema(
            {"items": {"$ref": "#/$defs/big"}, "contains": {"$ref": "#/$defs/big"}, "$defs": {"big": big}}
        )
        assert list(document.definitions) == ["/$defs/big"]

    def test_a_definition_is_read_once_for_each_scope_that_matters(self) -> None:
        lists = {
            "$id": "list",
            "items": {"$dynamicRef": "#item"},
            "$defs": {"item": {"$dynamicAnchor": "item"}},
        }
        schema = {
            "$id": "https://example.org/root",
            "properties": {
                "numbers": {
                    "$id": "numbers",
                    "$ref": "list",
                    "$defs": {"n": {"$dynamicAnchor": "item", "type": "number"}},
                },
                "anything": {"$ref": "list"},
                "more": {"$ref": "list"},
            },
            "$defs": {"list": lists},
        }
        document = read_schema(schema)
        assert holds(document, {"numbers": [1], "anything": ["a"], "more": [None]})
        assert not holds(document, {"numbers": ["a"]})


def valid(schema: Any, *values: Any, draft: Any = "auto", resolver: Any = None) -> list[bool]:
    document = read_schema(schema, draft=draft, resolver=resolver)
    return [holds(document, value) for value in values]


class TestReferences:
    def test_pointers_are_escaped_and_percent_encoded_once(self) -> None:
        definitions = {"a/b": {"const": 1}, "c~d": {"const": 2}, "e%25f": {"const": 3}, "g h": {"const": 4}}
        fragments = ["a~1b", "c~0d", "e%2525f", "g%20h"]
        for number, fragment in enumerate(fragments, 1):
            assert valid({"$ref": f"#/$defs/{fragment}", "$defs": definitions}, number, 0) == [True, False]

    def test_they_lead_below_unknown_keywords_and_into_arrays(self) -> None:
        assert valid({"allOf": [{"$ref": "#/x/y"}], "x": {"y": {"type": "null"}}}, None, 1) == [True, False]
        assert valid({"items": {"$ref": "#/anyOf/1"}, "anyOf": [True, {"type": "null"}]}, [None], [1]) == [True, False]

    @pytest.mark.parametrize(
        "pointer", ["#/anyOf/01", "#/anyOf/2", "#/anyOf/-1", "#/nowhere", "#anchor", "#/anyOf/0/x"]
    )
    def test_what_leads_nowhere_is_an_error(self, pointer: str) -> None:
        with pytest.raises(SchemaError, match="leads to nothing") as caught:
            read_schema({"items": {"$ref": pointer}, "anyOf": [True, True]})
        assert caught.value.pointer == "/items/$ref"

    def test_up_to_draft_7_nothing_beside_them_counts(self) -> None:
        schema = {
            "$ref": "#/definitions/a",
            "type": "null",
            "$id": "http://elsewhere/",
            "definitions": {"a": {"minimum": 1}},
        }
        assert valid(schema, 1, 0, "a", draft="draft7") == [True, False, True]
        schema["$id"] = "http://localhost/"
        assert valid(schema, 1, None, "a", draft="draft2019-09") == [False, True, False]

    def test_identifiers_are_bases(self) -> None:
        schema = {
            "$id": "http://example.org/root.json",
            "properties": {"a": {"$ref": "inner/item.json"}, "b": {"$ref": "/other.json#here"}},
            "$defs": {
                "x": {"$id": "inner/", "$defs": {"y": {"$id": "item.json", "type": "null"}}},
                "z": {"$id": "http://example.org/other.json", "$defs": {"w": {"$anchor": "here", "type": "string"}}},
            },
        }
        assert valid(schema, {"a": None, "b": "t"}, {"a": 1}, {"b": None}) == [True, False, False]

    @pytest.mark.parametrize(("draft", "keyword"), [("draft4", "id"), ("draft6", "$id"), ("draft7", "$id")])
    def test_a_fragment_was_a_name(self, draft: str, keyword: str) -> None:
        schema = {"items": {"$ref": "#n"}, "definitions": {"x": {keyword: "#n", "type": "null"}}}
        assert valid(schema, [None], [1], draft=draft) == [True, False]
        assert valid(schema, [None], [1]) == [True, False]

    def test_a_pointer_that_an_inner_identifier_leads_astray_is_followed_from_the_root(self) -> None:
        schema = {
            "items": {"id": "/items", "allOf": [{"$ref": "#/definitions/a"}]},
            "definitions": {"a": {"type": "null"}},
        }
        assert valid(schema, [None], [1], draft="draft4") == [True, False]

    def test_names_in_constants_and_unknown_keywords_are_none(self) -> None:
        for holder in ({"const": {"$anchor": "n"}}, {"unknown": {"$anchor": "n"}}, {"enum": [{"$anchor": "n"}]}):
            with pytest.raises(SchemaError, match="leads to nothing"):
                read_schema({"items": {"$ref": "#n"}, "$defs": {"a": holder}})

    def test_the_metaschemas_need_no_resolver(self) -> None:
        for uri in ("http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft-07/schema#"):
            assert valid({"$ref": uri}, {"minLength": 1}, {"minLength": -1}, {"type": 3}) == [True, False, False]
        for year in ("2019-09", "2020-12"):
            schema = {"$ref": f"https://json-schema.org/draft/{year}/schema"}
            values = {"$defs": {"a": {"type": 3}}}, {"properties": {"a": {"minLength": "1"}}}, {"minLength": 1}
            assert valid(schema, *values) == [False, False, True]

    def test_remote_documents_come_from_the_resolver(self) -> None:
        remote = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "type": "null"}
        documents = {"http://example.org/x/b.json": remote | {"definitions": {"a": {"$ref": "c.json"}}}}
        documents["http://example.org/x/c.json"] = {"type": "string", "uniqueItems": True}
        schema = {"$id": "http://example.org/x/a.json", "items": {"$ref": "b.json"}}
        assert valid(schema, ["t"], [None], resolver=documents.__getitem__) == [True, False]
        document = read_schema(schema, resolver=documents.__getitem__)
        assert UniqueItems("http://example.org/x/c.json#/uniqueItems") in document.places
        with pytest.raises(SchemaError, match=r"'http://example.org/x/b.json', and there is no resolver") as caught:
            read_schema(schema)
        assert caught.value.pointer == "/items/$ref"
        del documents["http://example.org/x/c.json"]
        with pytest.raises(SchemaError, match="does not know") as caught:
            read_schema(schema, resolver=documents.__getitem__)
        assert caught.value.pointer == "http://example.org/x/b.json#/definitions/a/$ref"

    def test_recursive_references_lead_to_the_outermost_resource(self) -> None:
        tree = {"$id": "tree", "$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}}}
        strict = {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$id": "https://example.org/strict",
            "$recursiveAnchor": True,
            "$ref": "tree",
            "required": ["a"],
            "$defs": {"tree": tree},
        }
        assert valid(strict, {"a": 1}, {"a": {"a": 1}}, {"a": {}}) == [True, True, False]
        assert valid(strict | {"$recursiveAnchor": False}, {"a": {}}) == [True]


class TestDialects:
    def test_schema_says_the_draft(self) -> None:
        for uri, draft in (
            ("http://json-schema.org/draft-04/schema#", "draft4"),
            ("http://json-schema.org/draft-06/schema", "draft6"),
            ("https://json-schema.org/draft-07/schema#", "draft7"),
            ("https://json-schema.org/draft/2019-09/schema", "draft2019-09"),
            ("https://json-schema.org/draft/2020-12/schema#", "draft2020-12"),
        ):
            document = read_schema({"$schema": uri})
            assert (document.draft, document.notes) == (draft, ())

    def test_one_that_nobody_knows_is_noted(self) -> None:
        document = read_schema({"$schema": "http://example.org/mine", "const": 1})
        assert document.draft == "draft2020-12"
        assert [(note.pointer, note.keyword) for note in document.notes] == [("/$schema", "$schema")]
        assert [holds(document, 1), holds(document, 2)] == [True, False]

    def test_one_of_a_resource_that_nobody_knows_is_noted_at_its_place(self) -> None:
        inner = {"$id": "http://example.org/a", "$schema": "http://example.org/mine", "const": 1}
        document = read_schema({"items": inner, "properties": {"a": {"$schema": "http://example.org/no-resource"}}})
        assert [note.pointer for note in document.notes] == ["/items/$schema"]
        assert [holds(document, [1]), holds(document, [2])] == [True, False]

    def test_without_one_older_spellings_are_read(self) -> None:
        for schema, good, bad in (
            ({"dependencies": {"a": ["b"], "c": {"minProperties": 2}}}, {"c": 1, "b": 2}, {"a": 1}),
            ({"items": [{"type": "null"}], "additionalItems": False}, [None], [None, 1]),
            ({"minimum": 1, "exclusiveMinimum": True}, 2, 1),
            ({"maximum": 1, "exclusiveMaximum": True}, 0, 1),
            ({"prefixItems": [{"type": "null"}], "items": False}, [None], [None, 1]),
            ({"properties": {"a": {"required": True}}}, {"a": 1}, {}),
        ):
            assert valid(schema, good, bad) == [True, False], schema

    def test_a_draft_knows_only_its_keywords(self) -> None:
        schema = {"const": 1, "if": True, "then": False, "contains": False, "dependentRequired": {"a": ["b"]}}
        assert valid(schema, 2, [1], {"a": 1}, draft="draft4") == [True, True, True]
        assert valid(schema, 1, 2, draft="draft7") == [False, False]
        assert valid({"contains": True, "minContains": 2}, [1], draft="draft7") == [True]
        assert valid({"contains": True, "minContains": 2}, [1], draft="draft2019-09") == [False]

    def test_a_resource_may_be_of_another_draft(self) -> None:
        inner = {"$id": "http://example.org/4", "$schema": "http://json-schema.org/draft-04/schema#"}
        schema = {"$id": "http://example.org/", "$defs": {"a": inner | {"const": 1}}, "items": {"$ref": "4"}}
        assert valid(schema, [2]) == [True] == valid(schema | {"items": {"$ref": "4#"}}, [2])

    def test_a_metaschema_may_leave_out_vocabularies(self) -> None:
        core = "https://json-schema.org/draft/2020-12/"
        used = {f"{core}vocab/{name}": True for name in ("core", "applicator")}
        mine: dict[str, Any] = {"$schema": core + "schema", "$vocabulary": used | {"http://example.org/x": False}}
        schema = {"$schema": "http://example.org/mine", "properties": {"a": False, "b": {"minimum": 3}}}
        assert valid(schema, {"b": 1}, {"a": 1}, resolver={"http://example.org/mine": mine}.__getitem__) == [
            True,
            False,
        ]
        mine["$vocabulary"]["http://example.org/x"] = True
        with pytest.raises(UnsupportedSchema, match=r"http://example\.org/x"):
            read_schema(schema, resolver=lambda uri: mine)


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
    ({"$ref": 1}, "/$ref", "$ref"),
    ({"$schema": 1}, "/$schema", "$schema"),
]


@pytest.mark.parametrize(("schema", "pointer", "keyword"), MALFORMED, ids=lambda value: str(value))
def test_a_malformed_keyword_is_an_error_at_its_place(schema: dict[str, Any], pointer: str, keyword: str) -> None:
    if "$schema" not in schema:
        schema, pointer = {"properties": {"a/b": {"items": schema}}}, "/properties/a~1b/items" + pointer
    with pytest.raises(SchemaError) as caught:
        read_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)


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


def test_what_is_skipped_is_noted_and_says_nothing() -> None:
    schema = {"items": {"uniqueItems": True, "minItems": 1}, "uniqueItems": True}
    document = read_schema(schema, skip=frozenset(["/items/uniqueItems"]))
    assert [(note.pointer, note.keyword) for note in document.notes] == [("/items/uniqueItems", "uniqueItems")]
    assert [holds(document, value) for value in ([[1, 1]], [[]], [[1], [1]])] == [True, False, False]


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
