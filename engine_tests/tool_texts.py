"""Tools, and random texts of constraints on how they are called."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

import tokenfst
from serving.specifications import constraint_of
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary.all_bytes import ALL_BYTES

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$"},
        "unit": {"enum": ["C", "F"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "share": {"type": "number"},
        "now": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "size": {"type": ["string", "integer"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "name": {"type": "string"}},
            "required": ["x"],
            "additionalProperties": False,
        },
        "either": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "array", "items": {"type": "integer"}}]},
    },
    "required": ["city", "unit"],
    "additionalProperties": False,
}
SCHEMAS = {"weather": WEATHER, "now": {"type": "object", "properties": {}, "additionalProperties": False}}
FUNCTIONS = [{"name": name, "strict": True, "parameters": schema} for name, schema in SCHEMAS.items()]
# Characters that texts are made of more often than of others, because tags and JSON are.
OFTEN = frozenset(b'<>/="[]{}\n0123nulltrue ')


def automaton_of(tag: Any) -> TokenAutomaton:
    """The automaton over bytes of a structural tag."""
    return tokenfst.compile(constraint_of("structural_tag", json.dumps(tag.model_dump())), ALL_BYTES)


def written(automaton: TokenAutomaton, seed: int) -> str:
    """A random text that ends within some hundred bytes."""
    draw, state, text = random.Random(seed), automaton.start, bytearray()
    for remaining in range(draw.choice((500, 700, 900)), -1, -1):
        allowed = np.flatnonzero(automaton.mask(state, remaining)).tolist()
        more = [byte for byte in allowed if byte < 256]
        if len(more) < len(allowed) and (not more or draw.random() < 0.3):
            return text.decode()
        shown = [byte for byte in more if 32 <= byte < 127 or byte == 10] or more
        often = [byte for byte in shown if byte in OFTEN]
        byte = draw.choice(often if often and draw.random() < 0.6 else shown)
        text.append(byte)
        state = automaton.advance(state, byte)
    raise AssertionError("the text does not end within its budget")
