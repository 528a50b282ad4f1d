"""The interface that MaskBench and `maskbench.py` call, for this project: one schema at a time, a mask for each token.

    engine = Engine(vocab, encoding)
    engine.compile(schema)          raises if the schema is not supported
    engine.reset()
    words = engine.mask()
    engine.advance(token)           whether the token was allowed

A mask is packed: bit `i & 31` of word `i >> 5` is for token i, `engine.eos` included.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import numpy.typing as npt

import constraints
import tokenfst
from automata.errors import TokenNotAllowed
from tokenfst import TokenAutomaton, Vocabulary

# Reading these imports whatever is imported on first use, and prepares what is prepared once for a vocabulary.
_WARMING: list[tuple[Any, bytes]] = [
    ({}, b'{"a": [1, "b", null]}'),
    ({"type": "string", "maxLength": 9}, b'"abc"'),
    (
        {
            "type": "object",
            "properties": {"next": {"$ref": "#"}},
            "additionalProperties": {"type": "integer", "minimum": 1},
        },
        b'{"next": {"next": {}}, "b": 12}',
    ),
    ({"enum": ["a", 1.5, None]}, b"1.5"),
    ({"type": "object", "properties": {"a": {"pattern": "^[a-z]+$"}}, "additionalProperties": False}, b'{"a": "b"}'),
    ({"type": "string", "pattern": "^a|b$", "maxLength": 99}, b'"abc"'),
    ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, b"[1, 2]"),
    ({"patternProperties": {"^x-": {"type": "integer"}}, "maxProperties": 2}, b'{"x-a": 1, "y": "z"}'),
]


class Engine:
    """This project, with masks computed on demand.

    Attributes:
        eos: the id of the token that ends a sequence, which is V, the number of tokens in `vocab`.
    """

    def __init__(self, vocab: list[bytes], encoding: Any = None, *, remaining: int | None = None) -> None:
        """Prepare a vocabulary.

        Args:
            vocab: V tokens.
            encoding: not used, because the bytes of the tokens are enough.
            remaining: a budget that each mask is made for; None for masks without one.
        """
        self.eos, self._remaining = len(vocab), remaining
        self.vocabulary = Vocabulary((*vocab, b""), eos_ids=(self.eos,))
        self._words = np.zeros(-(-len(self.vocabulary) // 32), np.int32)
        self._automaton: TokenAutomaton | None = None
        self._state = -1
        for schema, text in _WARMING:
            self.compile(schema)
            for token in [*(vocab.index(bytes([byte])) for byte in text), self.eos]:
                self.mask()
                assert self.advance(token), (schema, text)
        # Servers do the same after their start: garbage collections then skip the objects that stay for good.
        gc.collect()
        gc.freeze()

    def compile(self, schema: Any) -> None:
        """Compile a schema, as returned by `json.loads`, and begin a text.

        Raises:
            SchemaError, LimitExceeded: the schema is malformed, unsatisfiable or not supported, or takes too much.
        """
        self._automaton = None
        constraint = constraints.json_schema(schema, property_order="any-if-cheap")
        self._automaton = tokenfst.compile(constraint, self.vocabulary)
        self.reset()

    def reset(self) -> None:
        """Begin a new text."""
        assert self._automaton is not None
        self._state = self._automaton.start

    def mask(self) -> npt.NDArray[np.int32]:
        """Return the mask of the tokens that are allowed now, `[ceil((V + 1) / 32)]`; the next call overwrites it."""
        assert self._automaton is not None
        self._automaton.fill_bitmask(self._state, self._words, self._remaining)
        return self._words

    def advance(self, token: int) -> bool:
        """Advance by a token if it is allowed, and return whether it was."""
        assert self._automaton is not None
        try:
            self._state = self._automaton.advance(self._state, token)
        except TokenNotAllowed:
            return False
        return True
