"""Tokens by name in composed constraints: `parse` tells them from free text that holds their names."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from budget_checks import anything, written

import constraints
import tokenfst
from automata import Expr, NondeterministicGrammar
from automata.errors import UnsupportedSchema
from constraints import Marked, Parsed, after, integer, optional, sequence, token, triggered

BYTES = [bytes([byte]) for byte in range(256)]
NAMED = tokenfst.Vocabulary([*BYTES, b"", b"", b""], eos_ids=[256], special_tokens={"<d>": 257, "</d>": 258})
TREE = constraints.json_schema(
    {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}, "additionalProperties": False}
)
OPEN = constraints.json_schema({"type": "object"})
CLOSED = constraints.json_schema(
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
)


@pytest.mark.parametrize("schema", [TREE, OPEN, CLOSED], ids=["recursive", "open", "closed"])
@pytest.mark.parametrize(
    ("made", "text", "value"),
    [
        (lambda schema: triggered({token("<d>"): (schema, token("</d>"))}), "Hi<d>{}</d>", ("Hi", Marked("<d>", {}))),
        (lambda schema: triggered({token("<d>"): (schema, token("</d>"))}), "Hi<d>{", ("Hi<d>{",)),
        (lambda schema: after(token("<d>"), schema), "Hi<d>{}", ("Hi", {})),
        (lambda schema: after(token("<d>"), schema), "<d>{<d>{}", ("<d>{", {})),
        (lambda schema: after(token("<d>"), schema) | "no", "Hi<d>{}", ("Hi", {})),
        (lambda schema: sequence("(?s:.*)", token("<d>"), schema), "<d>{<d>{}", ("<d>{", "<d>", {})),
        (lambda schema: sequence("(?s:.*)", after(token("<d>"), schema), "[!]"), "Hi<d>{}!", ("Hi", ("", {}), "!")),
    ],
)
def test_free_text_may_hold_the_name_of_a_token_before_a_schema(
    made: Callable[[Parsed[Any]], Parsed[Any]], text: str, value: object, schema: Parsed[Any]
) -> None:
    constraint = made(schema)
    tokenfst.compile(constraint, NAMED)
    assert constraint.parse(text) == value


def test_names_of_tokens_are_found_after_a_part_with_many_states() -> None:
    # The automaton of the whole has more states than the limit allows, so its states are made on demand.
    arrays = constraints.json_schema({"type": "array", "items": {"$ref": "#"}})
    made = sequence("(a|b)*a(a|b){30}\n", after(token("<d>"), arrays))
    before = "a" * 31 + "\n"
    assert tokenfst.compile(made, NAMED).accepts([*before.encode(), 257, *b"[]"])
    assert made.parse(before + "<d>[]") == (before, ("", []))
    assert made.parse(before + "<d>[<d>[]") == (before, ("<d>[", []))
    assert not made.allows(before + "<d>[")


def test_the_first_token_is_a_marker_whichever_is_listed_first() -> None:
    markers = {token("<d>"): (integer(1, 9), token("</d>")), token("<n>"): (integer(10, 99), token("</n>"))}
    listed = list(markers.items())
    text = "a<n>50</n> on <d>5</d>"
    for each in (listed, listed[::-1]):
        assert triggered(dict(each)).parse(text) == ("a", Marked("<n>", 50), " on ", Marked("<d>", 5))
    # A text that begins the name of a token is not the marker where the token may be.
    texts: dict[str | Expr, Any] = {"<": integer(1, 9), token("<n>"): integer(10, 99)}
    assert triggered(texts).parse("a<n>50") == ("a", Marked("<n>", 50))
    assert triggered(texts).parse("a<5<n>50") == ("a", Marked("<", 5), Marked("<n>", 50))


def test_large_schemas_beside_tokens_are_read_on_demand() -> None:
    large = constraints.json_schema({"type": "object", "properties": {"a": {"type": "string", "maxLength": 131_072}}})
    for marker in ("<d>", token("<d>")):
        made = after(marker, large)
        assert made.parse('Hi {"<d>{"a": "<"}') == ('Hi {"', {"a": "<"})
        assert not made.allows("Hi <d>{<d>")
    items = constraints.json_schema({"type": "array", "items": {"type": "string"}, "uniqueItems": True})
    with pytest.raises(UnsupportedSchema, match="cannot be combined with named tokens"):
        triggered({token("<d>"): (items, token("</d>"))}).parse("x<d>[")
    with pytest.raises(NondeterministicGrammar, match="two alternatives begin alike"):
        sequence("[^a]*", items).parse('x["b"]')


def test_many_markers_that_are_tokens_take_linear_time() -> None:
    made = triggered({token("<d>"): (integer(1, 9), token("</d>")), token("<n>"): (integer(10, 99), token("</n>"))})
    took = []
    for count in (200, 1600):
        start = time.process_time()
        assert len(made.parse("some text <d>5</d>" * count)) == 2 * count
        took.append(time.process_time() - start)
    assert took[1] < 24 * took[0] + 0.5


def test_parts_that_begin_alike_are_written_within_budgets_without_tables() -> None:
    """The lazy automaton follows both; its numbers of tokens are bounds."""
    one, other = constraints.json_schema({}), constraints.json_schema({})
    for made, texts in (
        (sequence(optional(one), optional(other)), ["", "[1]", "[1][2]", '{"a": []}"b"']),
        (one | sequence(other, "x"), ["[1]", "[[1]]x", '{"a": 1}x']),
    ):
        automaton, dice = tokenfst.compile(made, NAMED), Random(1)
        assert all(automaton.accepts(text) for text in texts)
        with pytest.raises(NondeterministicGrammar, match="begin alike"):
            automaton.complete()
        assert automaton.min_tokens(automaton.start) <= 2
        for budget in (1, 2, 5, 30):
            if automaton.min_tokens(automaton.start) <= budget:
                tokens = written(automaton, budget, anything, dice)
                assert automaton.accepts(tokens)
