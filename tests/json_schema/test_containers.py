"""Grammars of schemas against validity, on all values of a small universe, and what is written in which order."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from itertools import permutations, product
from random import Random
from typing import Any

import pytest
from container_cases import schema_grammar
from interpreter import accepts
from jsonschema import Draft202012Validator

import tokenfst
from automata import LimitExceeded, compile_expr, equivalent
from automata.byte_automaton import ByteAutomaton
from automata.errors import SchemaError, UnsatisfiableSchema, UnsupportedSchema
from automata.visibly_pushdown.compile import compile_visibly_pushdown
from constraints import grammar, json_schema, json_schema_to_regex, sequence
from tokenfst.vocabulary.all_bytes import ALL_BYTES

SCALARS: list[Any] = [None, True, 0, 1, "a", "b"]


def small_values() -> Iterator[Any]:
    """Scalars, and arrays and objects of up to two of them, or of one that is nested."""
    yield from SCALARS
    inner: list[Any] = [None, 1, "a", [], {}, [1], {"a": 1}]
    for size in range(3):
        for items in product(inner if size < 2 else inner[:4], repeat=size):
            yield list(items)
            for names in permutations(["a", "b", "x"], size):
                yield dict(zip(names, items, strict=True))


UNIVERSE = list(small_values())


class Schemas:
    """Random schemas over the universe."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def schema(self, depth: int) -> Any:
        kinds = [self.scalar, self.array, self.object]
        if depth:
            kinds += [self.combined] * 3
        return self.random.choice(kinds)(depth)

    def scalar(self, depth: int) -> Any:
        random = self.random
        return random.choice(
            [
                True,
                {"type": random.choice(["null", "boolean", "integer", "string", "array", "object"])},
                {"const": random.choice([*SCALARS, [1], {"a": 1}])},
                {"enum": random.sample(SCALARS, 2)},
                {"minimum": 1},
                {"maxLength": 0},
                {"pattern": "a"},
            ]
        )

    def array(self, depth: int) -> Any:
        random, found = self.random, {}
        if random.random() < 0.5:
            found["items"] = self.inner(depth)
        if random.random() < 0.3:
            found["prefixItems"] = [self.inner(depth)]
        if random.random() < 0.4:
            found["contains"] = self.inner(depth)
            if random.random() < 0.5:
                found["minContains"] = random.choice([0, 1, 2])
                found["maxContains"] = random.choice([1, 2])
        if random.random() < 0.3:
            found["minItems"] = random.choice([1, 2])
        if random.random() < 0.3:
            found["maxItems"] = random.choice([0, 1])
        if random.random() < 0.2:
            found |= {"items": {"enum": [None, 1, [1]]}, "uniqueItems": True}
        return found

    def object(self, depth: int) -> Any:
        random, found = self.random, dict[str, Any]()
        if random.random() < 0.7:
            names = random.sample(["a", "b"], random.choice([1, 2]))
            found["properties"] = {name: self.inner(depth) for name in names}
        if random.random() < 0.3:
            found["required"] = random.sample(["a", "b"], random.choice([1, 2]))
        if random.random() < 0.3:
            found["additionalProperties"] = self.inner(depth)
        if random.random() < 0.2:
            found["patternProperties"] = {random.choice(["^[ax]", "x"]): self.inner(depth)}
        if random.random() < 0.2:
            found["propertyNames"] = {"enum": random.sample(["a", "b", "x"], 2)}
        if random.random() < 0.2:
            found["minProperties"] = random.choice([1, 2])
        if random.random() < 0.2:
            found["maxProperties"] = random.choice([0, 1])
        if random.random() < 0.2:
            found["dependentRequired"] = {"a": ["b"]}
        return found

    def inner(self, depth: int) -> Any:
        return self.schema(depth - 1) if depth else self.random.choice([True, self.scalar(0), {"not": self.scalar(0)}])

    def combined(self, depth: int) -> Any:
        random = self.random
        kind = random.choice(["anyOf", "oneOf", "allOf", "not", "if"])
        if kind == "not":
            return {"not": self.schema(depth - 1)}
        if kind == "if":
            return {word: self.schema(depth - 1) for word in ("if", "then", "else")}
        return {kind: [self.schema(depth - 1) for _ in range(random.choice([2, 3]))]}


def orders(value: Any) -> Iterator[Any]:
    """The value with its members, and those of its items and members, in every order."""
    if isinstance(value, list):
        yield from (list(items) for items in product(*map(orders, value)))
    elif isinstance(value, dict):
        for names in permutations(value):
            for items in product(*(orders(value[name]) for name in names)):
                yield dict(zip(names, items, strict=True))
    else:
        yield value


def written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_small_universe_is_divided_as_it_should_be(seed: int, order: str) -> None:
    schemas = Schemas(seed)
    compared = 0
    for _ in range(12):
        schema = schemas.schema(2)
        try:
            grammar = schema_grammar(schema, property_order=order)
        except (UnsupportedSchema, LimitExceeded):
            continue
        valid = Draft202012Validator(schema).is_valid
        for value in UNIVERSE:
            texts = [grammar is not None and accepts(grammar, written(variant)) for variant in orders(value)]
            right = all if order == "any" or not valid(value) else any
            assert right(text == valid(value) for text in texts), (schema, value)
            compared += 1
    assert compared > 500


# All that hold for other values than those of one statement.
NEGATIONS: list[Any] = [
    {"not": {"type": "string"}},
    {"not": {"const": 1}},
    {"allOf": [{"not": {"required": ["a"]}}]},
    {"if": {"type": "string"}, "then": False},
    {"oneOf": [True, {"type": "string"}]},
    {"not": {"type": ["string", "integer"]}},
    {"not": {"contains": {"not": {"type": "integer"}}}},
]


def applied(schema: Any) -> Iterator[Any]:
    """Every keyword with a schema for the values within a value."""
    yield from ({"items": schema}, {"prefixItems": [schema]}, {"unevaluatedItems": schema})
    for low, high in product([None, 0, 1, 2], [None, 0, 1, 2]):
        bounds = {"minContains": low, "maxContains": high}
        yield {"contains": schema, **{name: bound for name, bound in bounds.items() if bound is not None}}
    yield from ({"additionalProperties": schema}, {"patternProperties": {"[ax]": schema}}, {"propertyNames": schema})
    yield from ({"properties": {"a": schema}, "unevaluatedProperties": schema}, {"dependentSchemas": {"a": schema}})


@pytest.mark.parametrize("inner", NEGATIONS, ids=str)
def test_every_keyword_takes_a_negation(inner: Any) -> None:
    values = [*UNIVERSE, [1, 2, "a"], [None, "a", "b"], [1, 1, 1]]
    for schema in applied(inner):
        for whole in (schema, {"not": schema}, {"items": schema}):
            valid = Draft202012Validator(whole).is_valid
            try:
                allows = json_schema(whole, property_order="any").allows
            except UnsatisfiableSchema:
                assert not any(map(valid, values)), whole
                continue
            for value in values:
                assert allows(written(value).decode()) == valid(value), (whole, value)


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_plain_objects_have_the_grammars_of_the_general_automata(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schemas, found = Schemas(1), 0
    objects = importlib.import_module("constraints.json_schema.containers.objects")
    plain = objects.plain_members
    for number in range(150):
        schema = {"type": "object", "allOf": [schemas.object(1) for _ in range(1 + number % 2)]}
        monkeypatch.setattr(objects, "plain_members", plain)
        try:
            grammar = schema_grammar(schema, property_order=order)
        except (UnsupportedSchema, LimitExceeded):
            continue
        monkeypatch.setattr(objects, "plain_members", lambda formula, restriction: None)
        general = schema_grammar(schema, property_order=order)
        assert (grammar is None) == (general is None), schema
        if grammar is not None and general is not None:
            one, other = compile_visibly_pushdown(grammar), compile_visibly_pushdown(general)
            if isinstance(one, ByteAutomaton) and isinstance(other, ByteAutomaton):
                assert equivalent(one, other), schema
            else:
                assert grammar == general or order != "schema"
            found += 1
    assert found > 75


def test_plain_arrays_have_the_grammars_of_the_general_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bounds up to three, and items of their own at up to two places; states that no text reaches may differ."""
    arrays = importlib.import_module("constraints.json_schema.containers.arrays")
    plain, found = arrays.PlainArray.of, 0
    items: list[Any] = [{"type": "null"}, False, {"type": "integer"}, {"enum": ["a", 1]}]
    for low, high, first, rest in product(range(4), [None, 0, 1, 3], [[], items[1:2], items[2:], items[:2]], items):
        bounds = {"minItems": low} if high is None else {"minItems": low, "maxItems": high}
        schema = {"type": "array", **bounds, "prefixItems": first, "items": rest}
        monkeypatch.setattr(arrays.PlainArray, "of", plain)
        grammar = schema_grammar(schema)
        monkeypatch.setattr(arrays.PlainArray, "of", lambda formula: None)
        general = schema_grammar(schema)
        assert (grammar is None) == (general is None), schema
        if grammar is not None and general is not None:
            one, other = compile_visibly_pushdown(grammar), compile_visibly_pushdown(general)
            assert isinstance(one, ByteAutomaton)
            assert isinstance(other, ByteAutomaton)
            assert equivalent(one, other), schema
            found += grammar == general
    assert found > 100


def test_a_recursive_schema_has_as_many_rules_as_it_has_kinds_of_brackets() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    grammar = schema_grammar({**tree, "additionalProperties": False})
    assert grammar is not None
    assert len(grammar.rules) == 3
    assert accepts(grammar, b'{"children":[{},{"children":[{}]}]}')


def test_an_object_with_many_properties_takes_few_states() -> None:
    grammar = schema_grammar({"type": "object", "properties": {f"name{number}": {} for number in range(500)}})
    assert grammar is not None
    assert sum(rule.num_states for rule in grammar.rules) < 10 * 500


def test_fifty_variants_are_told_apart_by_a_constant() -> None:
    variants = [
        {"properties": {"kind": {"const": f"kind{number}"}, f"of{number}": {"type": "integer"}}, "required": ["kind"]}
        for number in range(50)
    ]
    grammar = schema_grammar({"type": "object", "oneOf": variants})
    assert grammar is not None
    assert accepts(grammar, b'{"kind":"kind7","of7":1}')
    assert not accepts(grammar, b'{"kind":"kind7","of7":"x"}')
    assert accepts(grammar, b'{"kind":"kind7","of8":"x"}')


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"type": "object", "properties": {"x": {"type": "number", "minimum": 5, "maximum": 3}}, "required": ["x"]},
            "required property 'x' allows no value: no value satisfies type number (at /properties/x/type), minimum 5",
        ),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "at least 3 items"),
        ({"type": "array", "minItems": 1, "items": False}, "the array needs an item that allows no value"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "type string (at /allOf/0/type) and"),
        ({"type": "integer", "const": "a"}, "type integer (at /type) and one of 'a' (at /const)"),
        (
            {"$defs": {"a": {"type": "integer"}}, "$ref": "#/$defs/a", "type": "string"},
            "type integer (at /$defs/a/type) and type string (at /type)",
        ),
        ({"type": "string", "const": "ab", "maxLength": 1}, "at most 1 characters (at /maxLength)"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "without end"),
        ({"type": "object", "required": ["b"], "additionalProperties": False}, "required property 'b'"),
        ({"type": "string", "pattern": "^b", "enum": ["a"]}, "pattern '^b'"),
        ({"type": "string", "pattern": "^" + "b" * 500, "enum": ["a"]}, "bb...bb"),
        (
            {"type": "object", "required": ["a"], "properties": {"a": False, "b": True}, "minProperties": 1},
            "'type', 'required' and 'properties' together allow no value (at the root)",
        ),
        (False, "no value satisfies false"),
        (
            {"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]},
            "with an empty list (at /properties/a/enum)",
        ),
        ({"const": "xn--a", "format": "hostname"}, "format 'hostname' (which leaves out some valid texts)"),
    ],
)
def test_the_conflict_of_an_unsatisfiable_schema_is_named(schema: Any, message: str) -> None:
    with pytest.raises(UnsatisfiableSchema) as error:
        json_schema(schema)
    assert message in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}, "/$defs/a"),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "number", "$ref": "#/$defs/x"}}}, "/$defs/x"),
        ({"type": "number", "$ref": "#"}, ""),
        (
            {"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]}}},
            "/$defs/x",
        ),
        (
            {"$dynamicRef": "#m", "$defs": {"x": {"$dynamicAnchor": "m", "type": "null", "$dynamicRef": "#m"}}},
            "/$defs/x",
        ),
        ({"not": {"$ref": "#/$defs/x"}, "$defs": {"x": {"not": {"$ref": "#/$defs/x"}}}}, "/$defs/x"),
    ],
)
@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_a_reference_that_leads_to_itself_is_an_error(schema: Any, place: str, order: Any) -> None:
    with pytest.raises(SchemaError, match="leads back to itself") as error:
        json_schema(schema, property_order=order)
    assert error.value.pointer == place


def test_what_cannot_be_held_is_an_error_or_left_out_and_listed() -> None:
    tags = {"type": "array", "items": {"type": "string"}, "not": {"uniqueItems": True}}
    schema = {"properties": {"tags": tags}}
    with pytest.raises(UnsupportedSchema) as error:
        json_schema(schema)
    place = "/properties/tags/not/uniqueItems"
    assert (error.value.pointer, error.value.keyword) == (place, "uniqueItems")
    made = json_schema(
        {"properties": {"tags": {**tags, "not": {"minItems": 3, "uniqueItems": True}}}}, unsupported="relax"
    )
    assert [(note.pointer, note.keyword) for note in made.dropped] == [
        (place, "uniqueItems"),
        ("/properties/tags/not", "not"),
    ]
    for text in (b'{"tags": ["a", "a"]}', b'{"tags": ["a", "a", "a"]}'):
        assert accepts(made.to_visibly_pushdown(), text)
    assert not accepts(made.to_visibly_pushdown(), b'{"tags": "a"}')


@pytest.mark.parametrize("seed", range(6))
def test_the_regular_expression_has_the_same_texts(seed: int) -> None:
    schemas, compared = Schemas(100 + seed), 0
    for _ in range(12):
        schema = schemas.schema(1)
        try:
            made = json_schema(schema, whitespace="compact").to_automaton()
        except (UnsatisfiableSchema, UnsupportedSchema):
            continue
        if isinstance(made, ByteAutomaton):
            assert equivalent(made, compile_expr(json_schema_to_regex(schema, whitespace="compact"))), schema
            compared += 1
    properties = {"a": {"type": "null"}, "b": {"type": "boolean"}, "c": {"const": 1}}
    schema = {"type": "object", "properties": properties, "required": ["b"], "additionalProperties": False}
    made = json_schema(schema).to_automaton()
    assert isinstance(made, ByteAutomaton)
    assert equivalent(made, compile_expr(json_schema_to_regex(schema)))


def depth(value: Any, kind: type) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, kind) + max((depth(item, kind) for item in inner), default=0)


@pytest.mark.parametrize("objects", [0, 1, 2])
@pytest.mark.parametrize("arrays", [0, 1])
def test_free_json_is_as_deep_as_the_limits_say(objects: int, arrays: int) -> None:
    expr = json_schema_to_regex(True, max_object_depth=objects, max_array_depth=arrays, whitespace="compact")
    automaton = compile_expr(expr)
    deep = [{"a": {"a": {"a": 1}}}, {"a": [{"a": 1}]}, [[{}]], [{"a": {}}], {"a": {"b": [1]}}]
    for value in [*UNIVERSE, *deep]:
        within = depth(value, dict) <= objects and depth(value, list) <= arrays
        assert automaton.accepts(written(value)) == within, value


def test_recursion_without_a_limit_is_no_regular_expression() -> None:
    too_few: list[dict[str, Any]] = [{}, {"max_object_depth": 2}, {"max_array_depth": 2}]
    for limits in too_few:
        with pytest.raises(SchemaError, match="recursive"):
            json_schema_to_regex(True, **limits)


def array_of_few(rng: Random) -> dict[str, Any]:
    """A schema of arrays whose items differ and have few values."""
    values = [None, True, 1, 2, "a", "b", [1], [2, "a"]]
    found: dict[str, Any] = {"type": "array", "uniqueItems": True, "items": {"enum": rng.sample(values, 4)}}
    if rng.random() < 0.4:
        found["prefixItems"] = [{"enum": rng.sample(values, 3)} for _ in range(rng.choice([1, 2]))]
    if rng.random() < 0.4:
        found["allOf"] = [{"items": rng.choice([{"type": "string"}, {"minimum": 2}, {"not": {"const": "a"}}])}]
    if rng.random() < 0.4:
        found["minItems"] = rng.choice([1, 2, 3])
    if rng.random() < 0.4:
        found["maxItems"] = rng.choice([1, 2, 3])
    return found


@pytest.mark.parametrize("seed", range(40))
def test_arrays_of_different_items_of_few_values(seed: int) -> None:
    rng = Random(seed)
    schema = array_of_few(rng)
    valid = Draft202012Validator(schema).is_valid
    values = [None, True, 1, 2, "a", "b", [1], [2, "a"]]
    arrays = [list(items) for size in range(4) for items in product(values, repeat=size)]
    try:
        automaton = json_schema(schema).to_automaton()
    except UnsatisfiableSchema:
        assert not any(map(valid, arrays))
        return
    for array in arrays:
        assert automaton.accepts(json.dumps(array).encode()) == valid(array), (schema, array)


@pytest.mark.parametrize("order", ["schema", "any", "any-if-cheap"])
def test_a_regular_expression_has_the_members_in_each_order(order: Any) -> None:
    """Flags are written out where there are only expressions: in a regular expression, and beside a grammar."""
    members = {"a": {"enum": [1]}, "b": {"enum": [2]}, "c": {"enum": [3]}}
    schema = {"type": "object", "properties": members, "required": ["b"], "additionalProperties": False}
    options = {"property_order": order, "whitespace": "compact"}
    made = json_schema(schema, **options)
    automaton, expression = made.to_automaton(), json_schema_to_regex(schema, **options)
    assert isinstance(automaton, ByteAutomaton)
    assert equivalent(automaton, compile_expr(expression))
    beside = tokenfst.compile(sequence(grammar('root ::= "(" root ")" | "x"'), made), ALL_BYTES)
    number = dict(zip("abc", (1, 2, 3), strict=True))
    for size in range(4):
        for names in permutations("abc", size):
            text = written({name: number[name] for name in names})
            expected = "b" in names and (order != "schema" or list(names) == sorted(names))
            assert beside.accepts(b"(x)" + text) == made.allows(text.decode()) == expected, text
