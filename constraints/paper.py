"""The constraints that Koo, Liu & He 2024 measure (Appendix C.4), and two with more free text.

Patterns are kept as text, so that other engines can read them too. For quoted text the paper uses its own extension;
the pattern here is a JSON string with the short escapes. For the JSON object the paper gives a schema; the pattern here
describes the objects of that schema, with the same strings, integers, and at most one space around punctuation.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_STRING = r'"(?:[^"\\\x00-\x1f\x7f]|\\["\\/bfnrt])*"'
_INTEGER = r"-?(?:0|[1-9][0-9]*)"
_SPACE = "[ ]?"


def _object(*members: tuple[str, str]) -> str:
    """Return a JSON object with these keys in this order, each with the pattern of its value."""
    pairs = [f'"{key}"{_SPACE}:{_SPACE}{value}' for key, value in members]
    return rf"\{{{_SPACE}{f'{_SPACE},{_SPACE}'.join(pairs)}{_SPACE}\}}"


def _array(item: str) -> str:
    return rf"\[{_SPACE}(?:{item}(?:{_SPACE},{_SPACE}{item})*)?{_SPACE}\]"


_ITEM = _object(("name", _STRING), ("durability", _INTEGER), ("quality", '(?:"Normal"|"Magic"|"Unique")'))

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "multiple choice": "Red|Orange|Yellow|Green|Blue|Indigo|Violet",
        "ISO date-time": r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d([+][0-2]\d:[0-5]\d|Z)",
        "IPv4": r"((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)",
        "quoted text": _STRING,
        "JSON object": _object(
            ("name", _STRING),
            ("class", '(?:"Warrior"|"Rogue"|"Sorceror")'),
            ("life", _INTEGER),
            ("mana", _INTEGER),
            ("equipment", _array(_ITEM)),
        ),
        "e-mail": r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}",
        "anything": r"(.|\n)*",
    }
)

SAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "multiple choice": "Indigo",
        "ISO date-time": "2024-06-12T23:59:01+02:00",
        "IPv4": "192.168.100.254",
        "quoted text": r'"Hello, world! How are you \"today\"? Größe 你好"',
        "JSON object": (
            '{"name": "Aria Stormwind","class": "Rogue","life": 120,"mana": 45,"equipment": '
            '[{"name": "Dagger of Dawn","durability": 80,"quality": "Magic"},'
            '{"name": "Cloak","durability": 30,"quality": "Normal"}]}'
        ),
        "e-mail": "john.smith+test@mail.example.com",
        "anything": "The quick brown fox\njumps over 13 lazy dogs.\n",
    }
)
