"""Random schemas and values to hold against them.

Everything comes from small universes, so that keywords meet: three names, texts over two letters, numbers in halves. A
schema is a list of keywords put together, with schemas in them down to a small depth, and references to two
definitions, which may be recursive. It is a plain dict; taking a keyword away is what shrinks it.

Values are of three sorts: made along the schema, so that many are valid; made so and then changed in one place; and
any.

    schemas     of a draft, keywords and shapes as that draft spells them
    values      for a schema
    PATTERNS    each pattern as ECMA-262 writes it and what it is in Python, for any string
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

Json: TypeAlias = Any
Strategy: TypeAlias = st.SearchStrategy[Any]
Keyword: TypeAlias = st.SearchStrategy[dict[str, Any]]

NAMES: Final = ("a", "b", "ab")
TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
_ANY: Final = r"[^\n\r\u2028\u2029]"
PATTERNS: Final = {
    "a": "a",
    "^a": "^a",
    "b$": r"b\Z",
    "^[ab]*$": r"^[ab]*\Z",
    "^.{2}$": rf"^{_ANY}{{2}}\Z",
    "^(?:ab)+$": r"^(?:ab)+\Z",
    "^$": r"^\Z",
    "[^a]": "[^a]",
}
OLDER: Final = ("draft4", "draft6", "draft7")
NUMBERS: Final = st.one_of(st.integers(-2, 5), st.sampled_from([-0.5, 0.5, 1.5, 2.0, 10.0, 100]))
TEXTS: Final = st.text("ab", max_size=3)
SCALARS: Final = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
COUNTS: Final = st.integers(0, 3)
VALUES: Final = st.recursive(
    SCALARS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3), st.dictionaries(st.sampled_from((*NAMES, "c")), parts, max_size=3)
    ),
    max_leaves=5,
)


def _one(name: str, value: Strategy) -> Keyword:
    return value.map(lambda drawn: {name: drawn})


def _different(values: Strategy) -> Strategy:
    """One to three values, no two of which are equal."""
    return st.lists(values, min_size=1, max_size=3, unique_by=_key)


def _key(value: Json) -> Hashable:
    """A key that just the values equal to a value have."""
    if isinstance(value, list):
        return list, *map(_key, value)
    if isinstance(value, dict):
        return dict, *((name, _key(part)) for name, part in sorted(value.items()))
    return isinstance(value, bool), value


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for part in parts:
        whole |= part
    return whole


def _scalar_keywords(draft: str) -> list[Keyword]:
    positive = st.sampled_from([1, 2, 3, 0.5, 1.5])
    exclusive = (
        [_one("exclusiveMinimum", NUMBERS), _one("exclusiveMaximum", NUMBERS)]
        if draft != "draft4"
        else [
            NUMBERS.map(lambda bound: {"minimum": bound, "exclusiveMinimum": True}),
            NUMBERS.map(lambda bound: {"maximum": bound, "exclusiveMaximum": True}),
        ]
    )
    return [
        _one("type", st.sampled_from(TYPES)),
        _one("type", st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)),
        _one("enum", _different(VALUES)),
        *([_one("const", VALUES)] if draft != "draft4" else []),
        _one("minimum", NUMBERS),
        _one("maximum", NUMBERS),
        *exclusive,
        _one("multipleOf", positive),
        _one("minLength", COUNTS),
        _one("maxLength", COUNTS),
        _one("pattern", st.sampled_from(sorted(PATTERNS))),
        _one("items", _different(SCALARS).map(lambda parts: {"enum": parts})).map(
            lambda parts: {"uniqueItems": True, **parts}
        ),
        _one("minItems", COUNTS),
        _one("maxItems", COUNTS),
        _one("minProperties", COUNTS),
        _one("maxProperties", COUNTS),
        _one("required", st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)),
    ]


def _keywords_with(schema: Strategy, draft: str) -> list[Keyword]:
    several = st.lists(schema, min_size=1, max_size=3)
    by_name = st.dictionaries(st.sampled_from(NAMES), schema, min_size=1, max_size=3)
    by_pattern = st.dictionaries(st.sampled_from(sorted(PATTERNS)), schema, min_size=1, max_size=2)
    names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)
    found = [
        _one("properties", by_name),
        _one("patternProperties", by_pattern),
        _one("additionalProperties", schema),
        _one("allOf", several),
        _one("anyOf", several),
        _one("oneOf", several),
        _one("not", schema),
        _one("items", schema),
    ]
    if draft != "draft4":
        found += [_one("propertyNames", schema), _one("contains", schema)]
    if draft not in ("draft4", "draft6"):
        found.append(st.fixed_dictionaries({"if": schema}, optional={"then": schema, "else": schema}))
    if draft in OLDER:
        by_either = st.dictionaries(st.sampled_from(NAMES), st.one_of(schema, names), min_size=1, max_size=2)
        found.append(_one("dependencies", by_either))
    else:
        found += [
            _one("dependentSchemas", by_name),
            _one("dependentRequired", st.dictionaries(st.sampled_from(NAMES), names, min_size=1, max_size=2)),
            st.fixed_dictionaries({"contains": schema}, optional={"minContains": COUNTS, "maxContains": COUNTS}),
            _one("unevaluatedProperties", schema),
        ]
    if draft == "draft2020-12":
        # In 2019-09 the oracle lets `contains` evaluate items, as it does since.
        found.append(_one("unevaluatedItems", schema))
        found.append(st.fixed_dictionaries({"prefixItems": several}, optional={"items": schema}))
    else:
        found.append(st.fixed_dictionaries({"items": several}, optional={"additionalItems": schema}))
    return found


def schemas(draft: str = "draft2020-12") -> Strategy:
    """Schemas of a draft, with definitions "x" and "y" where they refer to them."""
    definitions = "definitions" if draft in OLDER else "$defs"
    references = st.sampled_from([{"$ref": f"#/{definitions}/x"}, {"$ref": f"#/{definitions}/y"}])
    trivial = [] if draft == "draft4" else [st.booleans()]
    scalars = st.lists(st.one_of(_scalar_keywords(draft)), max_size=3).map(_merged)
    # additionalProperties is a boolean in draft 4 too, but as a schema inside others it must be an object there.
    inner = st.recursive(
        st.one_of(scalars, *trivial, references),
        lambda parts: st.lists(
            st.one_of(st.one_of(_scalar_keywords(draft)), st.one_of(_keywords_with(parts, draft))),
            min_size=1,
            max_size=4,
        ).map(_merged),
        max_leaves=6,
    )

    def whole(root: Json, x: Json, y: Json) -> Json:
        used = str(root) + str(x) + str(y)
        defined = {name: part for name, part in (("x", x), ("y", y)) if f"#/{definitions}/{name}" in used}
        if not defined or not isinstance(root, dict):
            return root
        if draft in OLDER and "$ref" in root:  # what stands beside a reference counts for nothing there
            root = {"allOf": [root]}
        return {definitions: defined, **root}

    return st.builds(whole, inner, inner, inner).filter(is_well_founded)


def is_well_founded(schema: Json) -> bool:
    """Whether no reference leads to itself about the very same value, which says nothing."""
    if not isinstance(schema, dict):
        return True
    defined: Json = schema.get("$defs", schema.get("definitions", {}))
    leads = {name: set(_references(part)) for name, part in defined.items()}
    for _ in defined:
        leads = {name: there.union(*(leads[other] for other in there)) for name, there in leads.items()}
    return all(name not in there for name, there in leads.items())


def _references(schema: Json) -> Iterator[str]:
    """The definitions that a schema asks about the very same value."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for name in ("not", "if", "then", "else"):
            yield from _references(schema.get(name))
        for name in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(name, ()):
                yield from _references(part)
        for name in ("dependentSchemas", "dependencies"):
            for part in schema.get(name, {}).values():
                yield from _references(part)


def values(schema: Json) -> Strategy:
    """Values to hold against a schema: made along it, the same with one change, or any."""
    along = st.composite(_value)(schema, schema, 3)
    return st.one_of(along, st.composite(_changed)(along), VALUES)


def _value(draw: Callable[[Strategy], Json], schema: Json, root: Json, depth: int) -> Json:
    if not isinstance(schema, dict) or depth < 0:
        return draw(VALUES)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    if "$ref" in schema:
        _, folder, name = schema["$ref"].split("/")
        return _value(draw, root[folder][name], root, depth - 1)
    inner = [
        part
        for name in ("allOf", "anyOf", "oneOf", "then", "else", "if")
        for part in (schema.get(name, []) if isinstance(schema.get(name, []), list) else [schema[name]])
        if isinstance(part, dict)
    ]
    if inner and draw(st.booleans()):
        value = _value(draw, draw(st.sampled_from(inner)), root, depth - 1)
        if isinstance(value, dict):
            value |= _members(draw, schema, root, depth)
        return value
    kinds = schema.get("type", _kinds(schema))
    kind = draw(st.sampled_from(kinds)) if isinstance(kinds, list) else kinds
    return _of_kind(draw, kind, schema, root, depth)


def _kinds(schema: dict[str, Json]) -> list[str]:
    """The kinds that keywords of a schema speak about; a value of another kind would tell little."""
    objects = {"properties", "required", "minProperties", "maxProperties", "patternProperties", "propertyNames"}
    objects |= {
        "additionalProperties",
        "dependencies",
        "dependentSchemas",
        "dependentRequired",
        "unevaluatedProperties",
    }
    arrays = {"items", "prefixItems", "contains", "minItems", "maxItems", "additionalItems", "unevaluatedItems"}
    texts, numbers = {"minLength", "maxLength", "pattern"}, {"minimum", "maximum", "multipleOf"}
    numbers |= {"exclusiveMinimum", "exclusiveMaximum"}
    by_kind = (("object", objects), ("array", arrays), ("string", texts), ("number", numbers))
    return [kind for kind, names in by_kind if names & schema.keys()] or list(TYPES)


def _of_kind(draw: Callable[[Strategy], Json], kind: str, schema: Json, root: Json, depth: int) -> Json:
    if kind == "object":
        return _members(draw, schema, root, depth)
    if kind == "array":
        return _items(draw, schema, root, depth)
    return draw({"null": st.none(), "boolean": st.booleans(), "string": TEXTS}.get(kind, NUMBERS))


def _members(draw: Callable[[Strategy], Json], schema: Json, root: Json, depth: int) -> Json:
    listed = schema.get("properties", {})
    value = {}
    for name in (*listed, *schema.get("required", ()), *draw(st.lists(st.sampled_from((*NAMES, "c")), max_size=2))):
        if name in value or (name not in schema.get("required", ()) and draw(st.booleans())):
            continue
        value[name] = _value(draw, listed.get(name, schema.get("additionalProperties", True)), root, depth - 1)
    return value


def _items(draw: Callable[[Strategy], Json], schema: Json, root: Json, depth: int) -> Json:
    first = schema.get("prefixItems", schema.get("items", []))
    first = first if isinstance(first, list) else []
    rest = schema.get("additionalItems" if isinstance(schema.get("items"), list) else "items", True)
    some = [schema["contains"]] if "contains" in schema else []
    count = draw(st.integers(0, len(first) + 2))
    parts = [*first, *(draw(st.sampled_from([rest, *some])) for _ in range(max(0, count - len(first))))][:count]
    return [_value(draw, part, root, depth - 1) for part in parts]


def _changed(draw: Callable[[Strategy], Json], along: Strategy) -> Json:
    """A value with a part replaced, added or taken away."""
    value = draw(along)
    if isinstance(value, dict):
        name = draw(st.sampled_from((*NAMES, "c")))
        return {key: part for key, part in value.items() if key != name} | draw(
            st.one_of(st.just({}), VALUES.map(lambda part: {name: part}))
        )
    if isinstance(value, list):
        at = draw(st.integers(0, len(value)))
        return [*value[:at], *draw(st.lists(VALUES, max_size=1)), *value[at + draw(st.integers(0, 1)) :]]
    return draw(SCALARS)
