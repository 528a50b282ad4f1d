"""Random schemas and values for reading: few names, small numbers, so that keywords meet in the same values.

No schema leads to itself about the same value, which nobody could read. What `jsonschema` reads wrongly is left out:
`additionalItems` where `items` is not an array, and all of `unevaluated...` in 2019-09, where it takes the schema of
`additionalProperties` for a table of names and `items` for an array.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from constraints.json_schema.reading.document import Draft

NAMES = st.sampled_from(["a", "b", "ab", "c"])
PATTERNS = st.sampled_from(["a", "^b", "b$", "^.$"])
NUMBERS = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2, 2.5, 3])
COUNTS = st.integers(0, 3)

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.sampled_from(["", "a", "b", "ab", "ba"])),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=8,
)

_ORDER: tuple[Draft, ...] = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")
_TYPES = st.sampled_from(["null", "boolean", "number", "integer", "string", "array", "object"])


def schemas(draft: Draft) -> st.SearchStrategy[Any]:
    """Schemas of a draft with two definitions, which they refer to; references to what is above go down by a level."""
    age = _ORDER.index(draft)
    definitions = "definitions" if age < 3 else "$defs"
    pointers = st.sampled_from([f"#/{definitions}/p", f"#/{definitions}/q"])
    below = st.one_of(pointers, st.just("#")).map(lambda pointer: {"$ref": pointer})
    inner = _bodies(age, below)
    root = st.tuples(inner, inner, inner, st.none() | pointers)

    def joined(parts: tuple[Any, Any, Any, str | None]) -> Any:
        body, p, q, pointer = parts
        if not isinstance(body, dict):
            return body
        reference = {"$ref": pointer} if pointer else {}
        return {**body, **reference, definitions: {"p": p, "q": q}}

    return root.map(joined)


def _bodies(age: int, below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas in which `below` stands only where a schema is about an item or a member."""
    constants = st.booleans() if age >= 1 else st.sampled_from([{}, {"not": {}}])
    plain = st.one_of(constants, _assertions(age), st.builds(lambda name: {"type": name}, _TYPES))
    return st.recursive(plain, lambda inner: _combined(age, inner, st.one_of(inner, inner, below)), max_leaves=6)


def _assertions(age: int) -> st.SearchStrategy[dict[str, Any]]:
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(_TYPES, st.lists(_TYPES, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.5, 1.5]),
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "pattern": PATTERNS,
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "uniqueItems": st.booleans(),
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
        "exclusiveMinimum": NUMBERS if age else st.booleans(),
        "exclusiveMaximum": NUMBERS if age else st.booleans(),
        "const": VALUES,
    }
    if age >= 3:
        keywords["dependentRequired"] = st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2)
    exclusive = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}

    def complete(schema: dict[str, Any]) -> dict[str, Any]:
        """Draft 4's boolean forms need the bound that they are about."""
        return schema if age else {k: v for k, v in schema.items() if exclusive.get(k, k) in schema}

    return _some(keywords, 3).map(complete)


def _combined(age: int, inner: st.SearchStrategy[Any], below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    members = st.dictionaries(NAMES, below, min_size=1, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "properties": members,
        "patternProperties": st.dictionaries(PATTERNS, below, min_size=1, max_size=2),
        "additionalProperties": below,
        "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
        "items": below if age == 4 else st.one_of(below, st.lists(below, min_size=1, max_size=2)),
        "additionalItems": below,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
    }
    if age < 3:
        keywords["dependencies"] = st.dictionaries(
            NAMES, st.one_of(inner, st.just(["a"]), st.just(["b", "c"])), max_size=2
        )
    if age >= 1:
        keywords |= {"contains": below, "propertyNames": _assertions(age)}
    if age >= 2:
        keywords |= {"if": inner, "then": inner, "else": inner}
    if age >= 3:
        keywords |= {
            "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2),
            "minContains": COUNTS,
            "maxContains": COUNTS,
        }
    if age == 4:
        keywords |= {"prefixItems": st.lists(below, min_size=1, max_size=2)}
        keywords |= {"unevaluatedProperties": below, "unevaluatedItems": below}

    def readable(schema: dict[str, Any]) -> dict[str, Any]:
        return (
            schema
            if isinstance(schema.get("items"), list)
            else {k: v for k, v in schema.items() if k != "additionalItems"}
        )

    return _some(keywords, 4).map(readable)


def _some(keywords: dict[str, st.SearchStrategy[Any]], most: int) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with a few of these members, in any order."""
    chosen = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=most, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))
