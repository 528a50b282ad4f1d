"""Definitions, references and dialects: which schema a name means, by draft."""

from __future__ import annotations

from typing import Any

import pytest
from evaluation import holds
from jsonschema import Draft202012Validator
from schemas_read import text, valid

import tokenfst
from automata import Limits
from automata.errors import SchemaError, UnsatisfiableSchema, UnsupportedSchema
from constraints import json_schema
from constraints.json_schema.formulas.connectives import And
from constraints.json_schema.formulas.statements import (
    Members,
    Reference,
    UniqueItems,
)
from constraints.json_schema.reading import read_schema
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# What is evaluated depends on conditions that lead back to themselves, one value deeper.
DEEPER: list[Any] = [
    {"contains": {"unevaluatedItems": {"$ref": "#"}, "oneOf": [{"$ref": "#"}]}},
    {"contains": {"unevaluatedItems": {}, "$ref": "#"}},
    {
        "contains": {
            "type": ["array", "null"],
            "unevaluatedItems": {"$ref": "#"},
            "oneOf": [{"$ref": "#"}, {"const": []}],
        }
    },
    {"properties": {"a": {"unevaluatedProperties": {"$ref": "#"}, "oneOf": [{"$ref": "#"}]}}, "required": ["a"]},
    {"properties": {"a": {"unevaluatedProperties": False, "anyOf": [{"$ref": "#"}]}}, "maxProperties": 1},
]
VALUES: list[Any] = [
    1,
    [],
    [1],
    [[]],
    [None],
    [[1]],
    [[], 1],
    [[[]]],
    {},
    {"a": 1},
    {"a": {}},
    {"a": {"a": 1}},
    {"b": 1},
]
# The same about one value.
CIRCLES: list[Any] = [
    {"oneOf": [{"$ref": "#/$defs/x", "unevaluatedItems": {}}]},
    {"anyOf": [{"$ref": "#/$defs/x", "unevaluatedProperties": {}}, {"type": "string"}]},
    {"if": {"$ref": "#/$defs/x"}, "then": {"items": {}}, "unevaluatedItems": False},
]


@pytest.mark.parametrize("schema", DEEPER, ids=str)
def test_what_is_evaluated_may_depend_on_the_schema_itself(schema: Any) -> None:
    right = Draft202012Validator(schema)
    assert valid(schema, *VALUES) == [right.is_valid(value) for value in VALUES]


@pytest.mark.parametrize("schema", CIRCLES, ids=str)
def test_what_is_evaluated_may_not_lead_back_to_itself(schema: Any) -> None:
    with pytest.raises(SchemaError, match="back to itself"):
        json_schema({"$ref": "#/$defs/x", "$defs": {"x": schema}})


@pytest.mark.parametrize("schema", [
    {"type": "string", "allOf": [{"type": "object"}, {"$ref": "#"}]},
    {"type": "string", "const": {}, "$ref": "#"},
], ids=str)  # fmt: skip
def test_a_conflict_beside_a_reference_to_itself_is_named_at_once(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchema, match="a reference to the root"):
        json_schema(schema, limits=Limits(seconds=5))


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("inner", [{"$ref": "#"}, {"allOf": [{"$ref": "#"}, {"type": "array"}]}], ids=str)
def test_arrays_with_themselves_in_them_have_no_value(inner: Any, order: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        json_schema({"type": "array", "contains": inner}, property_order=order)
    assert json_schema({"type": "array", "contains": {"anyOf": [inner, {"const": 1}]}}, property_order=order).allows(
        "[1]"
    )


@pytest.mark.parametrize("names", ["a", "ab", "abcdefghijklmn"])
@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_an_item_that_must_be_two_things_at_once_has_no_value(order: Any, names: str) -> None:
    """What a rule for items cannot find out, no text leads to."""
    items = {"const": dict.fromkeys(names, False)}
    schema = {"contains": {"additionalProperties": {"type": "string"}}, "items": items}
    with pytest.raises(UnsatisfiableSchema):
        json_schema({"type": "array", **schema}, property_order=order)
    automaton = tokenfst.compile(json_schema(schema, property_order=order), ALL_BYTES)
    assert not automaton.mask(automaton.start)[ord("[")]
    assert automaton.mask(automaton.start)[ord("{")]


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
        "pointer",
        ["#/anyOf/01", "#/anyOf/2", "#/anyOf/" + "1" * 5000, "#/anyOf/-1", "#/nowhere", "#anchor", "#/anyOf/0/x"],
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

    def test_one_schema_in_several_places_has_its_names_in_each(self) -> None:
        named = {"$id": "x", "$defs": {"n": {"$anchor": "n", "type": "null"}}, "properties": {"v": {"$ref": "#n"}}}
        around = {"properties": {"in": named}}
        schema = {
            "properties": {"a": named, "b": named, "c": around, "d": around, "e": {"$id": "deep/", **around}},
            "items": {"$ref": "x#n"},
        }
        for value, wrong in (({"v": None}, {"v": 1}), ({"in": {"v": None}}, {"in": {"v": 1}})):
            for name in ("a", "b") if "v" in value else ("c", "d", "e"):
                assert valid(schema, {name: value}, {name: wrong}) == [True, False]
        assert valid(schema, [None], [1]) == [True, False]

    def test_tables_are_looked_through_for_names_that_are_strings(self) -> None:
        with pytest.raises(SchemaError, match="a name must be a string") as caught:
            read_schema({"$ref": "#n", "$defs": {"a": {"properties": {1: {"$anchor": "n"}}}}})
        assert caught.value.pointer == "/$defs/a/properties"

    def test_the_metaschemas_need_no_resolver(self) -> None:
        for uri in ("http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft-07/schema#"):
            assert valid({"$ref": uri}, {"minLength": 1}, {"minLength": -1}, {"type": 3}) == [True, False, False]
        for year in ("2019-09", "2020-12"):
            schema = {"$ref": f"https://json-schema.org/draft/{year}/schema"}
            values = {"$defs": {"a": {"type": 3}}}, {"properties": {"a": {"minLength": "1"}}}, {"minLength": 1}
            assert valid(schema, *values) == [False, False, True]

    def test_remote_documents_come_from_the_resolver(self) -> None:
        remote = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "type": "null"}
        documents: dict[str, Any] = {"http://example.org/x/b.json": remote | {"definitions": {"a": {"$ref": "c.json"}}}}
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
        mine["$vocabulary"] = {1: True}
        with pytest.raises(UnsupportedSchema, match="the vocabulary 1"):
            read_schema(schema, resolver=lambda uri: mine)
