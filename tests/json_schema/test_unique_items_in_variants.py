"""Arrays whose items must differ in some variants of an object, or of the array, and not in others: these are read side
by side.

The oracles: jsonschema for values in any order; and all texts of small languages for masks.
"""

from __future__ import annotations

import json
from itertools import permutations, product
from random import Random
from typing import Any, Final

import numpy as np
import pytest
from objects_with_variants import NAMES, Variants, split_objects, texts
from validity import read, validator

import tokenfst
from automata.errors import UnsatisfiableSchema, UnsupportedSchema
from constraints import json_schema
from constraints.json_schema.containers import distinct
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES

WORDS_AND_MARKS = [
    '"',
    '":',
    '","',
    '"],',
    '"]]',
    '"]',
    '"]}',
    '"a"',
    'a"',
    '"a",',
    'a","',
    '["a","a',
    ',"b"',
    '],["',
    '"k":',
    '"}',
]
MORE = ['a"]', '","a"]', 'a","a"]', '"a","a"', '"b","b","', '"],"k":"', '"a"],["a"', 'a"],["a"]']
TOKENS = [b'{"', *(token.encode() for token in WORDS_AND_MARKS + MORE)]
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), *TOKENS, b""], eos_ids=[256 + len(TOKENS)])


@pytest.fixture(autouse=True)
def _remembered_and_split(monkeypatch: pytest.MonkeyPatch) -> None:
    split_objects(monkeypatch)
    monkeypatch.setattr(distinct, "MAX_SETS", 0)


class ArrayVariants(Variants):
    """Variants with arrays, whose items must differ in some."""

    def value(self) -> Any:
        random = self.random
        if random.random() < 0.3:
            return super().value()
        inner = {"type": ["array", "integer"], **({"uniqueItems": True} if random.random() < 0.4 else {})}
        found: dict[str, Any] = {"type": random.choice([["array", "integer"], "array"])}
        if random.random() < 0.6:
            found["uniqueItems"] = True
        if random.random() < 0.6:
            found["items"] = random.choice([inner, inner, {"type": "integer"}, {"type": "object"}])
        if random.random() < 0.2:
            found[random.choice(["minItems", "maxItems"])] = random.choice([1, 2])
        return found

    def schema_of_arrays(self) -> dict[str, Any]:
        """Arrays with variants, at one of several places."""
        random = self.random
        parts = [part for part in (self.value() for _ in range(20)) if isinstance(part, dict) and "type" in part]
        found: dict[str, Any] = {"anyOf": random.sample(parts, random.choice([2, 2, 3]))}
        if random.random() < 0.3:
            found["contains"] = {"const": 1}
        around = [found, {"items": found}, {"properties": {"a": found}}, {"prefixItems": [found, True]}]
        return random.choice(around)

    def array(self) -> list[Any]:
        random = self.random
        item = [1, 1, 1.0, 2, [1], [1, 1], [1.0], [], {"a": 1}, {"a": 1.0}, {"a": [2, 2]}]
        return [random.choice(item[: random.choice([4, 8, 11])]) for _ in range(random.choice([0, 1, 2, 2, 3]))]

    def object(self) -> dict[str, Any]:
        random = self.random
        names = random.sample([*NAMES, "x"], random.choice([1, 2, 3, 3, 4]))
        return {name: self.array() if random.random() < 0.8 else random.choice([1, 2, "s"]) for name in names}


def compiled(schema: dict[str, Any]) -> TokenAutomaton:
    names = {"propertyNames": {"enum": ["k", "a"]}}
    constraint = json_schema(schema | names, property_order="any-if-cheap", whitespace="compact")
    arrays = constraint.unique_arrays()
    assert arrays
    assert arrays.grammar.has_nondeterministic_calls
    return tokenfst.compile(constraint, VOCABULARY)


@pytest.mark.parametrize("seed", range(8))
def test_texts_are_those_of_valid_values(seed: int) -> None:
    random, variants, num_read, num_told = Random(seed), ArrayVariants(seed), 0, 0
    while num_read < 25:
        schema = variants.schema()
        try:
            constraint = json_schema(schema, property_order="any-if-cheap")
        except (UnsatisfiableSchema, UnsupportedSchema):  # the arrays at one place of one variant differ
            continue
        arrays = constraint.unique_arrays()
        if not arrays or not arrays.others:
            continue
        automaton, num_read = tokenfst.compile(constraint, ALL_BYTES), num_read + 1
        checker, lax = validator(schema, "draft2020-12"), validator(without(schema), "draft2020-12")
        for _ in range(25):
            value = variants.object()
            exact = read(json.dumps(value).encode())
            is_valid = checker.is_valid(exact)
            num_told += is_valid != lax.is_valid(exact)
            for text in texts(value, random)[:6]:
                assert automaton.accepts(text) == is_valid, (schema, text)
    assert num_told > 2


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("seed", range(6))
def test_texts_of_arrays_with_variants_are_those_of_valid_values(seed: int, order: Any) -> None:
    variants, num_read, num_told = ArrayVariants(seed), 0, 0
    while num_read < 25:
        schema = variants.schema_of_arrays()
        try:
            constraint = json_schema(schema, property_order=order)
        except (UnsatisfiableSchema, UnsupportedSchema):  # two items of some variant must be equal
            continue
        arrays = constraint.unique_arrays()
        if not arrays or not arrays.others or not arrays.grammar.has_nondeterministic_calls:
            continue
        automaton, num_read = tokenfst.compile(constraint, ALL_BYTES), num_read + 1
        checker, lax = validator(schema, "draft2020-12"), validator(without(schema), "draft2020-12")
        for _ in range(60):
            inner = variants.array()
            value = variants.random.choice([inner, inner, [inner], [inner, variants.array()], {"a": inner}])
            text = json.dumps(value).encode()
            is_valid = checker.is_valid(read(text))
            num_told += is_valid != lax.is_valid(read(text))
            assert automaton.accepts(text) == is_valid, (schema, text)
    assert num_told > 2


def without(schema: Any) -> Any:
    """A schema without `uniqueItems`."""
    if isinstance(schema, dict):
        return {key: without(value) for key, value in schema.items() if key != "uniqueItems"}
    return [without(value) for value in schema] if isinstance(schema, list) else schema


def tagged(*arrays: Any) -> dict[str, Any]:
    """Objects with an array of a kind for each tag."""
    variants = [{"properties": {"k": {"const": tag}, "a": array}} for tag, array in zip("pq", arrays, strict=True)]
    return {"type": "object", "anyOf": variants, "required": ["k", "a"], "maxProperties": 2}


FLAT: Final = [list(items) for size in range(4) for items in product("ab", repeat=size)]
INNER: Final = [[], ["a"], ["a", "a"], ["a", "b"]]
NESTED: Final = [list(items) for size in range(3) for items in product(INNER, repeat=size)]
WORDS: Final[dict[str, Any]] = {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}
LISTS: Final[dict[str, Any]] = {"type": "array", "items": {"enum": INNER}, "maxItems": 2}
DIFFERENT: Final = {"uniqueItems": True}
SMALL: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "some differ": (tagged({**WORDS, **DIFFERENT}, WORDS), FLAT),
    "all differ": (tagged({**WORDS, **DIFFERENT}, {**WORDS, **DIFFERENT, "minItems": 1}), FLAT),
    "one that is required": (tagged({**WORDS, **DIFFERENT, "minItems": 1}, {**WORDS, "maxItems": 1}), FLAT),
    "three that are alike": (tagged({**WORDS, **DIFFERENT}, {**WORDS, "items": {"const": "a"}, "minItems": 3}), FLAT),
    "arrays outside": (tagged({**LISTS, **DIFFERENT}, LISTS), NESTED),
    "arrays inside": (tagged({**LISTS, "items": {**LISTS["items"], **DIFFERENT}}, LISTS), NESTED),
    "one outside, one inside": (
        tagged({**LISTS, **DIFFERENT}, {**LISTS, "items": {**LISTS["items"], **DIFFERENT}}),
        NESTED,
    ),
}


def either(*arrays: Any) -> dict[str, Any]:
    return {"type": "array", "anyOf": list(arrays)}


SMALL |= {
    "short ones need not": (either({**WORDS, **DIFFERENT}, {**WORDS, "maxItems": 2}), FLAT),
    "those of one word need not": (either({**WORDS, **DIFFERENT}, {**WORDS, "items": {"const": "b"}}), FLAT),
    "those of three need not": (either({**WORDS, **DIFFERENT}, {**WORDS, "minItems": 3}), FLAT),
    "the inner ones of some": (
        either({**LISTS, **DIFFERENT}, {**LISTS, "items": {**LISTS["items"], **DIFFERENT}}),
        NESTED,
    ),
}

SHORT: Final = [items for items in FLAT if len(items) <= 2]
EITHER_WITHIN: Final = {**WORDS, "maxItems": 2, "anyOf": [{"const": ["a", "a"]}, DIFFERENT]}
OUTSIDE: Final = {"type": "array", "items": EITHER_WITHIN, "maxItems": 2, **DIFFERENT}
SMALL |= {
    "some within one that must differ": (
        OUTSIDE,
        [list(items) for size in range(3) for items in product(SHORT, repeat=size)],
    ),
    "two of these": (OUTSIDE | {"minItems": 2}, [list(items) for items in product(SHORT, repeat=2)]),
}


def valid_texts(schema: dict[str, Any], arrays: list[Any]) -> set[bytes]:
    checker = validator(schema, "draft2020-12")
    members = [[("k", tag), ("a", array)] for tag in "pq" for array in arrays]
    objects = [dict(order) for pair in members for order in permutations(pair)]
    found: list[Any] = objects if schema["type"] == "object" else arrays
    return {json.dumps(value, separators=(",", ":")).encode() for value in found if checker.is_valid(value)}


@pytest.mark.parametrize("name", SMALL)
def test_masks_are_the_tokens_that_some_valid_text_goes_on_with(name: str) -> None:
    schema, arrays = SMALL[name]
    texts = valid_texts(schema, arrays)
    beginnings = {text[:end] for text in texts for end in range(len(text) + 1)}
    automaton = compiled(schema)
    seen, waiting = {b""}, [(b"", automaton.start)]
    while waiting:
        text, state = waiting.pop()
        mask = automaton.mask(state)
        allowed = {text + VOCABULARY.tokens[token] for token in np.flatnonzero(mask).tolist()}
        possible = {text + token for token in VOCABULARY.tokens if token} & beginnings
        assert allowed - {text} == possible, text
        assert automaton.is_final(state) == (text in texts) == (text in allowed)
        for token, letters in enumerate(VOCABULARY.tokens[:-1]):
            reached = automaton.step(state, token)
            assert (reached is not None) == (text + letters in possible)
            if reached is not None and text + letters not in seen:
                seen.add(text + letters)
                waiting.append((text + letters, reached))
    assert seen == beginnings


@pytest.mark.parametrize("name", SMALL)
def test_texts_end_within_budgets(name: str) -> None:
    schema, arrays = SMALL[name]
    texts, random = valid_texts(schema, arrays), Random(name)
    automaton = compiled(schema)
    for _ in range(60):
        state, text = automaton.start, b""
        remaining = automaton.min_tokens(state) + random.randint(0, 6)
        while state != automaton.end_state:
            mask = automaton.mask(state, remaining)
            assert not (mask & ~automaton.mask(state)).any()
            token = random.choice(np.flatnonzero(mask).tolist())
            state, text, remaining = automaton.advance(state, token), text + VOCABULARY.tokens[token], remaining - 1
        assert text in texts
        assert remaining >= 0


def test_a_token_with_the_byte_of_a_mark_is_never_allowed() -> None:
    schema, _ = SMALL["some differ"]
    automaton = compiled(schema)
    for text in (b'{"a":[', b'{"a":["a"', b'{"a":["a","a",'):
        state = automaton.start
        for byte in text:
            state = automaton.advance(state, byte)
        for mark in (0xFD, 0xFE):
            assert not automaton.mask(state)[mark]
            assert not automaton.mask(state, 50)[mark]
            assert automaton.step(state, mark) is None


def test_variants_of_an_object_told_apart_by_equal_items_are_refused() -> None:
    unique = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    schema = {"anyOf": [{"properties": {"files": unique}}, {"properties": {"exclude": unique}}]}
    with pytest.raises(UnsupportedSchema, match="where it does not hold: under `not`, or to tell variants"):
        json_schema(schema)
    relaxed = json_schema(schema, unsupported="relax")
    assert [note.pointer for note in relaxed.dropped] == ["/anyOf/0/properties/files/uniqueItems"]
    assert relaxed.allows('{"files": ["a", "a"]}')
