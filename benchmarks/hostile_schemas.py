"""Hostile schemas: see `hostile_inputs`."""

from __future__ import annotations

from functools import partial
from typing import Any

from hostile_input import Hostile, Inputs, just
from hostile_patterns import PRIMES

OBJECTS = {"type": "object", "properties": {"a": {"type": "string"}}}

# Values that are not schemas, and schemas with a keyword whose value is malformed or has no target.
_MISTAKES: tuple[Any, ...] = (
    *(3, "string", [], None, 1.5, [{"type": "string"}], {"type": 5}, {"type": "foo"}, {"type": []}, {"type": {}}),
    *(
        {"properties": []},
        {"properties": {"a": 3}},
        {"items": 3},
        {"items": "a"},
        {"minLength": "a"},
        {"minLength": -1},
    ),
    *({"maxLength": 1.5}, {"maxLength": float("inf")}, {"minimum": float("nan")}, {"maximum": "9"}, {"multipleOf": 0}),
    *({"multipleOf": -1}, {"pattern": 3}, {"pattern": "("}, {"pattern": "\ud800"}, {"$ref": 3}, {"$ref": "#/nope"}),
    *({"$ref": "other.json"}, {"$ref": "#/$defs/%zz"}, {"enum": {}}, {"enum": []}, {"enum": 3}, {"required": "a"}),
    *({"required": [1]}, {"allOf": []}, {"allOf": {}}, {"anyOf": [3]}, {"not": 3}, {"additionalProperties": 3}),
    *({"patternProperties": {"(": {}}}, {"dependentRequired": {"a": "b"}}, {"prefixItems": {}}, {"minItems": True}),
    *({"const": float("nan")}, {"enum": [float("inf"), 1]}, {"format": 3}, {"$schema": "nope"}, {"$schema": 3}),
    *({"uniqueItems": "yes"}, {"if": 3}, {"propertyNames": 3}, {"$defs": 3}, {"$id": 3}, {"contains": 3}),
)


def add(inputs: Inputs) -> None:
    """Add all hostile schemas to the inputs."""
    for number, schema in enumerate(_MISTAKES):
        name = f"schema, a mistake: {number} {schema!r}"
        inputs.add(name.encode(errors="replace").decode(), Hostile("schema", just(schema)))
    _bounds(inputs)
    _numbers(inputs)
    _lists(inputs)
    _objects(inputs)
    _combinations(inputs)
    _references(inputs)
    _depths(inputs)
    _strange(inputs)


def _one(inputs: Inputs, name: str, schema: Any, valid: tuple[Any, ...] = (), invalid: tuple[Any, ...] = ()) -> None:
    inputs.add(f"schema: {name}", Hostile("schema", just(schema), valid, invalid))


def _bounds(inputs: Inputs) -> None:
    for bound in (100, 10_000, 10**6, 10**9, 10**30):
        up_to = {"type": "array", "maxItems": bound, "items": OBJECTS}
        _one(inputs, f"an array of up to {bound:,} objects", up_to, ([], [{"a": "b"}]), ({}, [{"a": 1}]))
    for bound in (10, 1000, 10**5, 10**9):
        _one(inputs, f"an array of {bound:,} objects and more", {"minItems": bound, "items": OBJECTS}, (), ([], [1]))
    for depth in (2, 3, 4):
        arrays: Any = {"type": "integer"}
        for _ in range(depth):
            arrays = {"type": "array", "maxItems": 100, "items": arrays}
        _one(inputs, f"arrays of up to 100 items, {depth} deep", arrays, ([],), ([1], ["a"]))
    for least, most in ((10, 20), (1000, 2000), (10**5, 2 * 10**5)):
        among = {"type": "array", "contains": {"type": "integer"}, "minContains": least, "maxContains": most}
        _one(inputs, f"{least:,} to {most:,} integers among the items", among, ([1] * 10,)[: least == 10], ([], ["a"]))
    for count in (10, 1000, 10_000):
        items = {"type": "array", "prefixItems": [{"const": at} for at in range(count)], "minItems": count}
        _one(inputs, f"{count:,} items, one by one", items, (list(range(count)),)[: count == 10], ([], [1]))
    for bound in (10, 1000, 10**5, 10**6, 10**9):
        _one(inputs, f"a string of up to {bound:,}", {"type": "string", "maxLength": bound}, ("", "é"), (1,))
    for bound in (1000, 10**5, 10**9):
        _one(inputs, f"a string of {bound:,} and more", {"type": "string", "minLength": bound}, (), ("", "a" * 99))
    for name, pattern in {
        "the letter 60 from the end": "^(a|b)*a(a|b){60}$",
        "fifty words": "^(?:\\S+\\s+){0,49}\\S+$",
        "options": "^(a?){60}a{60}$",
        "searched for": "a.{40}b",
        "looks ahead": "^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?=.*[!?.]).{8,64}$",
    }.items():
        schema = {"type": "string", "pattern": pattern, "minLength": 8, "maxLength": 500}
        _one(inputs, f"a pattern and lengths, {name}", schema, (), ("a", 1))
    mails = {"type": "array", "items": {"type": "string", "format": "email", "maxLength": 254}, "maxItems": 1000}
    _one(inputs, "a thousand addresses", mails, ([], ["a@b.de"]), ([1],))
    idn = {"type": "string", "format": "idn-email", "minLength": 200, "maxLength": 300}
    _one(inputs, "a long address of any script", idn, (), ("a", 1))


def _numbers(inputs: Inputs) -> None:
    for step in (0.01, 1e-10, 7, 97, 10**9 + 7, 10**30, 1e-300, 3.14159265, 1e300):
        _one(inputs, f"a multiple of {step}", {"type": "number", "multipleOf": step}, (0,), ("a",))
    ranges: dict[str, dict[str, Any]] = {
        "a thousand digits": {"minimum": 10**999, "maximum": 10**1000},
        "ten thousand digits": {"exclusiveMinimum": 10**9999},
        "a huge range of multiples": {"minimum": -(10**40), "maximum": 10**40, "multipleOf": 12345},
        "the largest floats": {"minimum": -1.7976931348623157e308, "maximum": 1.7976931348623157e308},
        "the smallest float": {"minimum": 5e-324, "maximum": 1e-323},
        "nothing between": {"exclusiveMinimum": 0, "exclusiveMaximum": 5e-324},
    }
    for name, bounds in ranges.items():
        _one(inputs, f"a number, {name}", {"type": "number", **bounds}, (), ("a",))
        _one(inputs, f"an integer, {name}", {"type": "integer", **bounds}, (), ("a", 0.5))


def _lists(inputs: Inputs) -> None:
    for count in (1000, 10_000, 100_000):
        words = [f"word {at * 7919 % 1_000_003}" for at in range(count)]
        _one(inputs, f"{count:,} strings", {"enum": words}, (words[-1],), ("word", 1))
    _one(inputs, "100,000 integers", {"enum": list(range(0, 700_000, 7))}, (0, 693), (1, "a"))
    _one(inputs, "1,000 objects", {"enum": [{"a": at, "b": [at]} for at in range(1000)]}, ({"a": 1, "b": [1]},), (1,))
    _one(inputs, "a thousand times the same", {"enum": [{"a": 1, "b": 2}] * 1000}, ({"a": 1, "b": 2},), ({"a": 1},))
    _one(inputs, "all but 1,000 strings", {"type": "string", "not": {"enum": [str(at) for at in range(1000)]}}, ("a",))
    many = {"type": "array", "items": {"enum": [f"{at}" for at in range(2000)]}, "maxItems": 2000}
    _one(inputs, "2,000 times one of 2,000", many, (["0", "1999"],), (["a"],))
    large = {"enum": ["x" * 1000 + str(at) for at in range(5000)]}
    _one(inputs, "five megabytes of strings", large, (), ("x",))


def _objects(inputs: Inputs) -> None:
    for count in (100, 1000, 3000, 10_000):
        members = {f"p{at}": {"type": "string"} for at in range(count)}
        _one(inputs, f"{count:,} properties", {"type": "object", "properties": members}, ({}, {"p1": ""}), ({"p1": 1},))
        needed = {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
        _one(inputs, f"{count:,} properties, all required", needed, (), ({}, {"p0": ""}))
    for count in (20, 50, 200):
        members = {f"p{at}": {"type": "integer"} for at in range(count)}
        some = {"type": "object", "properties": members, "minProperties": count // 2, "maxProperties": count // 2}
        _one(inputs, f"half of {count} properties", some, (), ({}, {"p0": 1}))
        chain = {"dependentRequired": {f"p{at}": [f"p{at + 1}"] for at in range(count - 1)}}
        schema = {"type": "object", "properties": members, **chain}
        _one(inputs, f"{count} properties, each with the next", schema, ({},), ({"p0": 1},))
        patterns = {f"a.{{{at}}}b": {"minimum": at} for at in range(count)}
        named = {"type": "object", "patternProperties": patterns, "additionalProperties": False}
        _one(inputs, f"{count} patterns of names", named, ({},), ({"x": 1},))
    names = {"type": "object", "propertyNames": {"pattern": "^(a|b)*a(a|b){12}$"}, "maxProperties": 50}
    _one(inputs, "fifty strange names", names, ({},), ({"a": 1},))
    _one(inputs, "nothing but names", {"type": "object", "propertyNames": {"maxLength": 1000}, "minProperties": 100})
    long = {"type": "object", "properties": {"n" * 10**6: {"type": "integer"}}, "additionalProperties": False}
    _one(inputs, "a name of a million letters", long, ({},), ({"n": 1},))


def _combinations(inputs: Inputs) -> None:
    for count in (10, 50, 200):
        every = {"type": "string", "allOf": [{"pattern": f"[a-m]{{{at}}}"} for at in range(1, count)]}
        _one(inputs, f"all of {count} patterns", every, ("a" * count,), ("z",))
    for count in (4, 6, 8, 12):
        primes = {"type": "string", "allOf": [{"pattern": f"^(a{{{prime}}})*$"} for prime in PRIMES[:count]]}
        _one(inputs, f"a multiple of each of {count} primes", primes, ("",), ("a", "aa"))
    for count in (5, 10, 20, 40, 100):
        pairs = [{"anyOf": [{"required": [f"a{at}"]}, {"required": [f"b{at}"]}]} for at in range(count)]
        both = {f"a{at}": at for at in range(count)}
        _one(inputs, f"all of {count} times any of two", {"type": "object", "allOf": pairs}, (both,), ({},))
        variants = [{"properties": {"k": {"type": "integer"}, f"v{at}": {}}, "required": ["k"]} for at in range(count)]
        _one(inputs, f"one of {count} that overlap", {"type": "object", "oneOf": variants}, (), ({"x": 1}, 1))
        lengths = [{"type": "string", "minLength": at} for at in range(count)]
        _one(inputs, f"one of {count} lengths", {"oneOf": lengths}, ("",), ("a",))
    for depth in (10, 100, 1000):
        denied: Any = {"type": "integer"}
        chosen: Any = {"type": "integer"}
        for at in range(depth):
            denied = {"not": denied}
            chosen = {"if": {"const": at}, "then": {"type": "integer"}, "else": chosen}
        _one(inputs, f"not, {depth:,} deep", denied, (1,), ("a",))
        _one(inputs, f"else, {depth:,} deep", chosen, (1,), ("a",))
    for count in (10, 30):
        variants = [{"properties": {f"p{at}": {"type": "integer"}}} for at in range(count)]
        _one(
            inputs, f"what {count} leave over", {"anyOf": variants, "unevaluatedProperties": False}, ({},), ({"q": 1},)
        )
    variants = [
        {"properties": {"kind": {"const": f"k{at}"}, **{f"p{n}": {"type": "string"} for n in range(20)}}}
        for at in range(50)
    ]
    valid = ({"kind": "k1", "p1": ""},)
    _one(inputs, "one of fifty kinds", {"type": "object", "oneOf": variants, "required": ["kind"]}, valid, ({},))
    for name, schema in {
        "the least above the most": {"type": "integer", "minimum": 5, "maximum": 4},
        "a string among integers": {"type": "string", "enum": [1, 2]},
        "required and false": {"properties": {"a": False}, "required": ["a"], "type": "object"},
        "not anything": {"not": {}},
        "false": False,
        "items of nothing": {"type": "array", "items": False, "minItems": 1},
        "within itself for ever": {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        "two constants": {"allOf": [{"const": 1}, {"const": 2}]},
        "all formats": {"allOf": [{"type": "string", "format": name} for name in ("date", "ipv4", "uuid", "email")]},
    }.items():
        _one(inputs, f"nothing: {name}", schema)


def _references(inputs: Inputs) -> None:
    for count in (100, 1000, 10_000):
        chain: dict[str, Any] = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(count)}
        chain[f"d{count}"] = {"type": "integer"}
        _one(inputs, f"{count:,} references in a chain", {"$ref": "#/$defs/d0", "$defs": chain}, (1,), ("a",))
    for count in (10, 30, 100):
        tree: dict[str, Any] = {"d0": {"type": "integer"}}
        both: dict[str, Any] = {"d0": {"type": "integer"}}
        any_of: dict[str, Any] = {"d0": {"type": "integer"}}
        for at in range(1, count):
            before = {"$ref": f"#/$defs/d{at - 1}"}
            tree[f"d{at}"] = {"type": "object", "properties": {"a": before, "b": before}, "additionalProperties": False}
            both[f"d{at}"] = {"allOf": [before, before]}
            any_of[f"d{at}"] = {"anyOf": [before, {"type": "array", "items": before}]}
        last = f"#/$defs/d{count - 1}"
        _one(inputs, f"a tree of references, {count} deep", {"$ref": last, "$defs": tree}, ({},), (1,))
        _one(inputs, f"all of twice the same, {count} deep", {"$ref": last, "$defs": both}, (1,), ("a",))
        _one(inputs, f"any of one and its arrays, {count} deep", {"$ref": last, "$defs": any_of}, (1, [1]), ("a",))
    loop = {"$ref": "#/$defs/x", "$defs": {"x": {"type": "number", "$ref": "#/$defs/x"}}}
    mutual = {"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}}}
    for name, schema in {
        "to itself": {"$ref": "#"},
        "to itself beside a type": loop,
        "to each other": mutual,
        "all of itself": {"allOf": [{"$ref": "#"}]},
        "any of itself": {"anyOf": [{"$ref": "#"}, {"type": "integer"}]},
        "not itself": {"not": {"$ref": "#"}},
        "if itself": {"if": {"$ref": "#"}, "then": {"type": "integer"}, "else": {"type": "string"}},
        "not an item of itself": {"type": "array", "items": {"not": {"$ref": "#"}}},
        "into a keyword": {"$ref": "#/properties/a/type", "properties": {"a": {"type": "integer"}}},
        "over the network": {"$ref": "https://example.com/schema.json"},
        "by a dynamic anchor": {"$dynamicRef": "#node", "$dynamicAnchor": "node"},
        "to the metaschema": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    }.items():
        _one(inputs, f"a reference {name}", schema)


def _depths(inputs: Inputs) -> None:
    for depth in (100, 500, 5000, 20_000):
        inputs.add(f"schema: objects, {depth:,} deep", Hostile("schema", partial(_deep, depth, "properties")))
        inputs.add(f"schema: arrays, {depth:,} deep", Hostile("schema", partial(_deep, depth, "items")))
        inputs.add(f"schema: all of, {depth:,} deep", Hostile("schema", partial(_deep, depth, "allOf")))
        inputs.add(f"schema: a constant, {depth:,} deep", Hostile("schema", partial(_deep, depth, "const")))


def _deep(depth: int, keyword: str) -> Any:
    schema: Any = 1 if keyword == "const" else {"type": "integer"}
    for _ in range(depth):
        if keyword == "const":
            schema = [schema]
        elif keyword == "properties":
            schema = {"type": "object", "properties": {"a": schema}}
        else:
            schema = {"allOf": [schema]} if keyword == "allOf" else {"type": "array", "items": schema}
    return {"const": schema} if keyword == "const" else schema


def _strange(inputs: Inputs) -> None:
    for name, text in {
        "half a surrogate pair": "a\ud800b",
        "a zero": "\x00",
        "a delete": "\x7f",
        "a line separator": "\u2028",
        "quotes and backslashes": '"\\"\\\\"',
        "nothing": "",
        "an emoji": "😀" * 100,
        "a byte order mark": "\ufeff",
    }.items():
        _one(inputs, f"a name with {name}", {"type": "object", "properties": {text: {"type": "integer"}}}, ({},), (1,))
        _one(inputs, f"a constant with {name}", {"enum": [text, text + "x"]}, (), (1,))
    _one(inputs, "a megabyte of description", {"type": "integer", "description": "x" * 2**20}, (1,), ("a",))
    unused = {f"d{at}": {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{at}"}}} for at in range(50_000)}
    _one(inputs, "50,000 definitions", {"type": "integer", "$defs": unused}, (1,), ("a",))
    _one(inputs, "a megabyte of pattern", {"type": "string", "pattern": "^" + "ab?" * 350_000 + "$"}, (), (1,))
    _one(inputs, "keywords of nobody", {"type": "integer", **{f"x{at}": [at] for at in range(50_000)}}, (1,), ("a",))
