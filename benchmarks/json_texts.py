"""JSON texts and mutants of a schema's values, which `exactness.py` tries on engines (`hostile.py` uses `spellings`).

    spellings      the texts of one value: variations of whitespace, order of members, escapes, and `1.0` or `1`
    mutants        values one change away from a given value; changes include the schema's own constants and bounds

An engine may fix the whitespace or the order of members, so it may refuse other spellings. A value therefore counts as
refused only if all its spellings are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

# The number of random orders of members that are tried in addition to the given one and the schema's.
SHUFFLES = 12
_MAX_SCHEMAS = 200
_BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)
_SIMPLE: tuple[Any, ...] = (None, True, False, 0, 1, -1, 1.5, 10**6, "", "x", [], {})


def spellings(value: Any, schema: Any, random: Random) -> Iterator[bytes]:
    """Yield the texts of a value, each once, beginning with those that engines most often allow."""
    seen: set[bytes] = set()
    ordered = in_order(value, [schema], schema)
    orders = [value, ordered, _whole(ordered)]
    if _has_order(value):
        orders += [shuffled(value, random) for _ in range(SHUFFLES)]
    for each in orders:
        for separators in ((", ", ": "), (",", ":")):
            for ascii_only in (False, True):
                text = json.dumps(each, ensure_ascii=ascii_only, separators=separators).encode(errors="surrogatepass")
                if text not in seen:
                    seen.add(text)
                    yield text


def _whole(value: Any) -> Any:
    """Return a value with floats that are whole numbers as integers, so that `1.0` is written as `1`."""
    if isinstance(value, dict):
        return {name: _whole(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _has_order(value: Any) -> bool:
    if isinstance(value, dict):
        return len(value) > 1 or any(map(_has_order, value.values()))
    return isinstance(value, list) and any(map(_has_order, value))


def shuffled(value: Any, random: Random) -> Any:
    """Return a value with the members of its objects in a random order."""
    if isinstance(value, dict):
        return {name: shuffled(value[name], random) for name in random.sample(list(value), len(value))}
    return [shuffled(part, random) for part in value] if isinstance(value, list) else value


def in_order(value: Any, schemas: list[Any], root: Any) -> Any:
    """Return a value with its members in the order of the schemas: `properties`, then `required`, then the rest."""
    known = _beside(schemas, root)
    if isinstance(value, list):
        return [in_order(part, _of_item(known, place), root) for place, part in enumerate(value)]
    if not isinstance(value, dict):
        return value
    listed = [name for schema in known for name in _names(schema.get("properties"))]
    listed += [name for schema in known for name in _names(schema.get("required"))]
    names = [name for name in dict.fromkeys(listed) if name in value]
    return {name: in_order(value[name], _of_member(known, name), root) for name in dict.fromkeys([*names, *value])}


def _names(part: Any) -> list[str]:
    return [name for name in part if isinstance(name, str)] if isinstance(part, dict | list) else []


def _beside(schemas: list[Any], root: Any) -> list[dict[str, Any]]:
    """Return the schemas and the subschemas that they apply to the same value, in the order of the text."""
    found: list[dict[str, Any]] = []
    waiting = list(schemas)
    while waiting and len(found) < _MAX_SCHEMAS:
        schema = waiting.pop(0)
        if not isinstance(schema, dict) or any(schema is each for each in found):
            continue
        found.append(schema)
        parts = []
        for keyword, part in schema.items():
            if keyword == "$ref":
                parts.append(_pointed(part, root))
            elif keyword in ("allOf", "anyOf", "oneOf") and isinstance(part, list):
                parts += part
            elif keyword in ("if", "then", "else"):
                parts.append(part)
        waiting = parts + waiting
    return found


def _pointed(reference: Any, root: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    for name in reference[1:].split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")
        root = root.get(name) if isinstance(root, dict) else None
    return root


def _of_item(schemas: list[dict[str, Any]], place: int) -> list[Any]:
    found = []
    for schema in schemas:
        for keyword in ("prefixItems", "items", "additionalItems"):
            part = schema.get(keyword)
            if isinstance(part, list):
                found += part[place : place + 1]
            else:
                found.append(part)
    return found


def _of_member(schemas: list[dict[str, Any]], name: str) -> list[Any]:
    found = []
    for schema in schemas:
        members, patterns = schema.get("properties"), schema.get("patternProperties")
        if isinstance(members, dict) and name in members:
            found.append(members[name])
        found += list(patterns.values()) if isinstance(patterns, dict) else []
        found.append(schema.get("additionalProperties"))
    return found


# Changes


def mutants(value: Any, schema: Any, count: int, random: Random) -> list[Any]:
    """Return `count` values that are each one change away from a value."""
    pool = list(_constants(schema))
    found = []
    for _ in range(count):
        places = list(_places(value, ()))
        place = random.choice(places)
        found.append(_put(value, place, _changed(_at(value, place), pool, random)))
    return found


def _constants(schema: Any) -> Iterator[Any]:
    """Yield the constants of a schema, and numbers at its bounds and one off."""
    if isinstance(schema, list):
        for part in schema:
            yield from _constants(part)
    elif isinstance(schema, dict):
        for keyword, part in schema.items():
            if keyword == "enum" and isinstance(part, list):
                yield from part[:20]
            elif keyword == "const":
                yield part
            elif keyword in _BOUNDS and isinstance(part, int | float) and not isinstance(part, bool):
                yield from (part, part - 1, part + 1)
            else:
                yield from _constants(part)


def _places(value: Any, here: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield here
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from _places(part, (*here, name))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for name in place:
        value = value[name]
    return value


def _put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    name, *rest = place
    if isinstance(value, dict):
        return {key: _put(part, tuple(rest), new) if key == name else part for key, part in value.items()}
    return [_put(part, tuple(rest), new) if at == name else part for at, part in enumerate(value)]


def _changed(old: Any, pool: list[Any], random: Random) -> Any:
    """Return a value to put in place of `old`; now and then it is equal to it."""
    if random.random() < 0.25:
        return random.choice([*_SIMPLE, *pool])
    if isinstance(old, str):
        size = random.choice([len(old) + 1, 30, 300])
        return random.choice(
            [old + "a", old[:-1], "", old + " ", "é" + old, (old or "x").ljust(size, "x"), old.upper()]
        )
    if isinstance(old, bool) or old is None:
        return random.choice([not old, "true", 0])
    if isinstance(old, int | float):
        return random.choice([old + 1, old - 1, -old, old * 10, old + 0.5, str(old), *_numbers(pool)])
    if isinstance(old, list):
        return random.choice([old[:-1], [*old, *old[-1:]], [*old, random.choice(_SIMPLE)], [], old * 2])
    return _changed_object(old, pool, random)


def _numbers(pool: list[Any]) -> list[Any]:
    return [each for each in pool if isinstance(each, int | float) and not isinstance(each, bool)]


def _changed_object(old: dict[str, Any], pool: list[Any], random: Random) -> dict[str, Any]:
    without = dict(old)
    if old:
        del without[random.choice(list(old))]
    added = {**old, random.choice(["extra", "a b", "é"]): random.choice([*_SIMPLE, *pool])}
    renamed = {name + "x" if at == 0 else name: part for at, (name, part) in enumerate(old.items())}
    return random.choice([without, without, added, renamed])
