"""Constraints of every kind, each with one of its texts, for `paired.py`, which times their first masks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import constraints
from constraints.paper import PATTERNS, SAMPLES

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


def cases() -> dict[str, tuple[Callable[[], Any], bytes]]:
    """Return, by name, a function that makes the constraint, and a text that the constraint allows."""
    found: dict[str, tuple[Callable[[], Any], bytes]] = {}
    for name, pattern in PATTERNS.items():
        found[name] = partial(str, pattern), SAMPLES[name].encode()
    names = constraints.choice(
        f"{first}{rest} {last}{number}"
        for first in "abcdefghij"
        for rest in ("onathan", "eter", "mily", "ucas")
        for last in ("Smith", "Jones", "Hall", "Ray")
        for number in range(20)
    )
    return found | {
        "JSON": (constraints.json, b'{"name": "Ada", "age": 36, "friends": [{"name": "Mary", "age": 71.5e3}]}'),
        "3,200 names": (lambda: names, b"eucas Hall7"),
        "JSON Schema": (lambda: constraints.json_schema(SCHEMA), b'{"name": "Ada", "age": 36, "tags": ["a", "b c"]}'),
        "at most 1,000 characters": (lambda: '"[^"]{0,1000}"', b'"Hello, world! How are you?"'),
    }


def longest_first(vocabulary: Any, text: bytes) -> list[int]:
    """Return the tokens of a text, at each position the longest of at most 24 bytes."""
    known = {token: number for number, token in enumerate(vocabulary.tokens) if token}
    found, place = [], 0
    while place < len(text):
        end = next(end for end in range(min(len(text), place + 24), place, -1) if text[place:end] in known)
        found.append(known[text[place:end]])
        place = end
    return found
