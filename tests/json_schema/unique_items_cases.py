"""What tests of arrays whose items must differ have in common: schemas, and a vocabulary with tokens around commas."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, Final

from budget_checks import anything, farthest, written
from validity import TooLarge, read, validator

import tokenfst
from constraints import json_schema
from tokenfst import TokenAutomaton, Vocabulary
from tokenfst.unique_items.automaton import UniqueItemsTokenAutomaton

TOKENS: Final = [
    *(b'",', b'","', b"],[", b"1,", b"0,", b"1,1", b"[1", b"[[", b"]]", b'{"a":', b'"a"', b'"a":1', b"},{", b"true,"),
    *(
        b"null",
        b".0",
        b"00",
        b"ab",
        b'a"',
        b"\\u00",
        b"u0061",
        b'["a"',
        b'"]',
        b"[],[",
        b'"a","a"',
        b"{},",
        b"{}",
        b"e0",
    ),
    *(b"1,10", b'",["', b'"b","a', b'""', b'"idx":'),
]
VOCABULARY: Final = Vocabulary([*(bytes([byte]) for byte in range(256)), *TOKENS, b""], eos_ids=[256 + len(TOKENS)])
WORDS: Final = {"type": "string", "pattern": "^[ab]{0,2}$"}
STRINGS: Final = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def unique(items: Any, **others: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": True, **others}


def compiled(schema: Any, vocabulary: Vocabulary = VOCABULARY, **options: Any) -> UniqueItemsTokenAutomaton:
    automaton = tokenfst.compile(json_schema(schema, **options), vocabulary)
    assert isinstance(automaton, UniqueItemsTokenAutomaton)
    return automaton


def without_unique_items(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_unique_items(part) for part in schema]
    if isinstance(schema, dict):
        return {name: without_unique_items(part) for name, part in schema.items() if name != "uniqueItems"}
    return schema


def can_continue(automaton: TokenAutomaton, text: bytes) -> bool:
    state = automaton.start
    for byte in text:
        state = automaton.step(state, byte)
        if state is None:
            return False
    return True


def after(automaton: TokenAutomaton, text: bytes, state: Any = None) -> Any:
    """The state after a text, from a state or from the start."""
    state = automaton.start if state is None else state
    for byte in text:
        state = automaton.advance(state, byte)
    return state


def check_texts_within_budgets(schema: Any, more: tuple[int, ...]) -> None:
    """Checks that texts end in time and are valid, with each of some numbers of tokens beyond the least."""
    automaton, dice, checker = compiled(schema), Random(3), validator(schema, "draft2020-12")
    for writer, beyond in product((farthest, anything), more):
        budget = automaton.min_tokens(automaton.start) + beyond
        tokens = written(automaton, budget, writer, dice)
        assert len(tokens) < budget
        assert automaton.accepts(tokens)
        try:
            value = read(VOCABULARY.text(tokens))
        except TooLarge:
            continue
        assert checker.is_valid(value)
