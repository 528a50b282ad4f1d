"""`parse` of composed constraints divides a text as a host does that reads it from the left."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field
from strategies import strings

import constraints
import tokenfst
from automata import (
    EmptyLanguage,
    Expr,
    LimitExceeded,
    NondeterministicGrammar,
    TextNotAllowed,
    compile_expr,
    literal,
    lookbehind,
    parse,
)
from constraints import Marked, Parsed, after, integer, optional, sequence, token, triggered, typed
from tokenfst.vocabulary.all_bytes import ALL_BYTES

# A grammar with words would lack some texts after a pattern that may end at several places (`docs/limits.md`).
BALANCED = constraints.grammar('root ::= "a" root "b" | "ab"', syntax="gbnf")
ROWS = constraints.json_schema({"type": "array", "items": {"enum": [0, 1]}}, whitespace="compact")
SPELL = tokenfst.Vocabulary([bytes([byte]) for byte in range(256)] + [b""], eos_ids=[256])


class Kind(NamedTuple):
    """A constraint, and Python's way to its values: a pattern of its texts, and what reads one."""

    constraint: Any
    pattern: str
    read: Callable[[str], Any]


KINDS = {
    "digits": Kind("[01]{1,2}", "[01]{1,2}", str),
    "letters": Kind(constraints.choice(["a", "b", "ba"]), "a|b|ba", str),
    "integer": Kind(integer(0, 11), "[0-9]|10|11", int),
    "typed": Kind(typed(Annotated[int, Field(ge=0, le=1)] | bool), "0|1|true|false", json.loads),
    "rows": Kind(ROWS, r"\[([01](,[01])*)?\]", json.loads),
    "grammar": Kind(BALANCED, "ab|aabb", str),
    "maybe": Kind(optional(integer(0, 1)), "[01]?", lambda text: int(text) if text else None),
    "either": Kind(integer(1, 1) | "a", "1|a", lambda text: int(text) if text == "1" else text),
}
kinds = st.lists(st.sampled_from(sorted(KINDS)), max_size=4)


def divisions(text: str, parts: list[Kind]) -> Iterator[tuple[Any, ...]]:
    """The values of all divisions of a text among parts, those with the longest first parts first."""
    if not parts:
        if not text:
            yield ()
        return
    for end in range(len(text), -1, -1):
        if re.fullmatch(parts[0].pattern, text[:end]):
            for rest in divisions(text[end:], parts[1:]):
                yield (parts[0].read(text[:end]), *rest)


@settings(max_examples=75, deadline=None)
@given(kinds, st.data())
def test_a_sequence_gives_the_values_of_its_parts(names: list[str], data: st.DataObject) -> None:
    parts = [KINDS[name] for name in names]
    made = sequence(*[part.constraint for part in parts])
    text = "".join(data.draw(st.from_regex(part.pattern, fullmatch=True)) for part in parts)
    assert made.parse(text) == next(divisions(text, parts))
    other = data.draw(st.text("01ab[],", max_size=5))
    expected = next(divisions(other, parts), None)
    if expected is None:
        with pytest.raises(TextNotAllowed):
            made.parse(other)
    else:
        assert made.parse(other) == expected


def test_every_short_text_is_divided_as_by_hand() -> None:
    parts = [KINDS[name] for name in ("digits", "maybe", "either")]
    made = sequence(*[part.constraint for part in parts])
    for text in (each.decode() for each in strings(b"01a", 5)):
        expected = next(divisions(text, parts), None)
        assert made.allows(text) == (expected is not None)
        if expected is not None:
            assert made.parse(text) == expected


def test_sequences_within_sequences() -> None:
    made = sequence(sequence("a", integer(0, 9)), optional(sequence(",", integer(0, 9))))
    assert made.parse("a1") == (("a", 1), None)
    assert made.parse("a1,2") == (("a", 1), (",", 2))
    assert sequence().parse("") == ()


def test_no_character_is_divided() -> None:
    first, second = (compile_expr(literal(part)) for part in (b"\xc3", b"\xa9"))
    with pytest.raises(TextNotAllowed, match="within a character"):
        sequence(first, second).parse("é")


# Markers

PARTS: dict[str, tuple[Any, str, Callable[[str], Any], str]] = {
    "<d>": (constraints.date(), r"\d{4}-\d\d-\d\d", datetime.date.fromisoformat, "</d>"),
    "n=": (integer(), r"-?\d+", int, ""),
    "[": ("[a-c]*", "[a-c]*", str, "]"),
}
REPORT = triggered({marker: (part, end) if end else part for marker, (part, _, _, end) in PARTS.items()})


def watched(text: str) -> tuple[Any, ...] | None:
    """What a host finds that reads a text from left to right; None if it is not allowed."""
    begins = [(at, marker) for marker in PARTS if (at := text.find(marker)) >= 0]
    if not begins:
        return (text,) if text else ()
    at, marker = min(begins)
    _, pattern, read, end = PARTS[marker]
    found = re.compile(f"({pattern}){re.escape(end)}").match(text, at + len(marker))
    rest = watched(text[found.end() :]) if found else None
    if found is None or rest is None:
        return None
    return (*([text[:at]] if at else []), Marked(marker, read(found[1])), *rest)


pieces = st.lists(
    st.sampled_from(["On ", "é<d", "<d>2024-02-29</d>", "n=-12", " ", "n=0", "[abc]", "[]", "]", "</d>", "<d>2024-"]),
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(pieces)
def test_triggered_text_is_read_as_a_host_reads_it(parts: list[str]) -> None:
    text = "".join(parts)
    expected = watched(text)
    if expected is None:
        with pytest.raises(TextNotAllowed):
            REPORT.parse(text)
    else:
        assert REPORT.parse(text) == expected


def test_the_first_end_counts() -> None:
    made = triggered({"<": ("(.|\n)*", ">")}, at_most=2)
    assert made.parse("a<b>c<d>>e") == ("a", Marked("<", "b"), "c", Marked("<", "d"), ">e")


def test_bounds_of_parts() -> None:
    for low, high in ((0, 1), (1, 2), (2, None)):
        made = triggered({"n=": integer(0, 9)}, at_least=low, at_most=high)
        for count in range(4):
            text = "x".join(["n=1"] * count)
            if low <= count and (high is None or count <= high):
                assert [piece for piece in made.parse(text) if piece != "x"] == [Marked("n=", 1)] * count
            else:
                with pytest.raises(TextNotAllowed):
                    made.parse(text)


def test_after_a_marker() -> None:
    made = after("</think>", integer())
    assert made.parse("I think.</think>-3") == ("I think.", -3)
    assert made.parse("</think>4") == ("", 4)
    assert after("aba", "b*").parse("ababb") == ("", "bb")
    with pytest.raises(TextNotAllowed):
        made.parse("</think></think>4")


def test_tokens_are_read_as_their_names() -> None:
    on, off = token("<on>"), token("<off>")
    triggers: dict[str | Expr, Any] = {on: (integer(), off), "n=": integer()}
    made = triggered(triggers)
    assert made.parse("a<on>12<off>b n=3") == ("a", Marked("<on>", 12), "b ", Marked("n=", 3))
    # A name that other tokens spell is free text.
    assert made.parse("<on> is a name") == ("<on> is a name",)
    vocabulary = tokenfst.Vocabulary([b"1", b"<on>", b"", b"", b""], [4], special_tokens={"<on>": 2, "<off>": 3})
    automaton = tokenfst.compile(made, vocabulary)
    assert automaton.accepts([2, 0, 3, 1, 0])
    assert not automaton.accepts([2, 1, 3])


def test_a_grammar_within_text() -> None:
    made = triggered({"<": (BALANCED, ">")})
    assert made.parse("x<aabb>y") == ("x", Marked("<", "aabb"), "y")
    with pytest.raises(TextNotAllowed):
        made.parse("x<aab>y")


def test_words_end_before_the_name_of_a_token() -> None:
    call = constraints.grammar('start: NAME "(" start? ")"\nNAME: /[a-z<>\\/]+/\n%ignore " "')
    after_thoughts = after(token("</t>"), call)
    assert after_thoughts.parse("so</t>f(g ( ))") == ("so", "f(g ( ))")
    assert after_thoughts.parse("f()</t></t>f()") == ("f()", "</t>f()")
    calls = triggered({token("<c>"): (call, token("</c>"))})
    assert calls.parse("a<c>f() </c>b<c>g(</c>())</c>") == ("a", Marked("<c>", "f() "), "b", Marked("<c>", "g(</c>())"))
    for text in ("f()", "so</t>", "so</t>f(", "so</t>f()f()"):
        assert not after_thoughts.allows(text)
    nested = sequence(optional(token("<c>")), sequence(call, token("</c>")), "[a-z]")
    assert nested.parse("<c>f()</c>x") == ("<c>", ("f()", "</c>"), "x")


def test_a_token_whose_name_begins_with_a_marker_is_a_token() -> None:
    on, off = token("<on>"), token("<off>")
    orders: list[dict[str | Expr, Any]] = [
        {"<": ("[a-z]*>[0-9]*", ""), on: (integer(), off)},
        {on: (integer(), off), "<": ("[a-z]*>[0-9]*", "")},
    ]
    for triggers in orders:
        made = triggered(triggers)
        assert made.parse("x<on>1<off>") == ("x", Marked("<on>", 1))
        assert made.parse("x<on>1") == ("x", Marked("<", "on>1"))


def test_parts_that_no_deterministic_automaton_reads_alone() -> None:
    """They are read side by side, as within a whole that does so or is deterministic all the same."""
    rules = r"""
        root ::= x | y
        x ::= "a" x "b" | "ab"
        y ::= "a" y "bb" | "abb"
    """
    ambiguous = constraints.grammar(rules, syntax="gbnf")
    parallel = dataclasses.replace(ambiguous, ambiguity="parallel")
    with pytest.raises(NondeterministicGrammar):
        sequence(ambiguous).to_automaton()
    assert sequence(ambiguous).parse("aabbbb") == ("aabbbb",)
    made = sequence(parallel, ";", optional(ambiguous), ";", ambiguous | optional("c"))
    assert made.parse("aabb;abb;ab") == ("aabb", ";", "abb", ";", "ab")
    assert made.parse("ab;;c") == ("ab", ";", None, ";", "c")
    with pytest.raises(TextNotAllowed):
        made.parse("ab;;aabbb")
    assert after(">", sequence(parallel, triggered({"!": ambiguous}))).parse(">ab!aabbbb") == (
        "",
        ("ab", (Marked("!", "aabbbb"),)),
    )


def test_assertions_of_parts_see_nothing_around_them() -> None:
    """Neither where a text is written nor where it is read, beside rules that are called or without."""
    made: Parsed[Any]
    for made, text, value in (
        (sequence("b", r"\bend"), "bend", ("b", "end")),
        (sequence("b", r"(?<!b)e(?!n)", "nd"), "bend", ("b", "e", "nd")),
        (sequence("b", r"\bend", ROWS), "bend[]", ("b", "end", [])),
        (sequence("b", r"\bend", BALANCED), "bendab", ("b", "end", "ab")),
        (after(parse(r"\bend"), ".*"), "bend end", ("b", " end")),
        (triggered({"<": (r"a\b", parse(r"\bb"))}), "<abc", (Marked("<", "a"), "c")),
    ):
        assert tokenfst.compile(made, ALL_BYTES).accepts(text.encode())
        assert made.parse(text) == value
    for made in (
        triggered({"<": ("a*", lookbehind("a") + ">")}),
        triggered({lookbehind("a") + "x": "."}),
        sequence("a", lookbehind("a") + "b") | literal("c"),
    ):
        automaton = tokenfst.compile(made, ALL_BYTES)
        for text in ("", "<a>", "axb", "xb", "ab", "c"):
            assert automaton.accepts(text.encode()) == made.allows(text)
            if made.allows(text):
                made.parse(text)


def test_parts_without_a_text() -> None:
    never = sequence("a", "b(?!c)c")
    with pytest.raises(EmptyLanguage):
        never.to_automaton()
    with pytest.raises(TextNotAllowed):
        never.parse("a")
    assert (never | integer()).parse("12") == 12
    assert (integer() | never).parse("12") == 12
    assert sequence(optional(never), "x").parse("x") == (None, "x")
    assert optional(never).parse("") is None
    triggers: dict[str, Any] = {"<": never, ">": "[0-9]"}
    assert triggered(triggers).parse("a>1") == ("a", Marked(">", "1"))


def test_tokens_in_intersections_are_read_as_their_names() -> None:
    on = token("<on>")
    made = sequence((parse("[ab]") + on) & (literal("a") + on), "c")
    vocabulary = tokenfst.Vocabulary([b"a", b"b", b"c", b"", b""], [4], special_tokens={"<on>": 3})
    assert tokenfst.compile(made, vocabulary).accepts([0, 3, 2])
    assert made.parse("a<on>c") == ("a<on>", "c")
    assert not made.allows("b<on>c")


def test_representations_are_short() -> None:
    assert repr(sequence("a+")) == "<Composed of a+>"
    assert repr(sequence("a+", constraints.json_schema({"type": "array"}))).endswith("grammars and automata called: 1>")
    assert repr(integer(1, 3)) == "<Value of 1|2|3>"
    assert len(repr(constraints.sql_select({"t": ["a", "b"]}))) < 250


def test_texts_of_large_constraints_are_read() -> None:
    """All states of their automata would exceed the limits; what reads them makes those that texts reach."""
    words = {"type": "string", "pattern": "^[a-z ]+$", "maxLength": 30_000}
    large = constraints.json_schema(
        {"properties": {"x": {"type": "string", "maxLength": 60_000}, "y": words}, "additionalProperties": False}
    )
    with pytest.raises(LimitExceeded):
        large.to_automaton()
    composed = triggered({"<json>": (large, "</json>")})
    assert composed.parse('a<json>{"y": "b c"}</json>d') == ("a", Marked("<json>", {"y": "b c"}), "d")
    assert sequence("a*", large, ";").parse('aa{"x": "</json>"};') == ("aa", {"x": "</json>"}, ";")
    for text in ('a<json>{"y": "B"}</json>', 'a<json>{"z": 1}</json>', "a<json>{"):
        with pytest.raises(TextNotAllowed):
            composed.parse(text)
    calls = constraints.tool_calls([("f", large.schema)], format="hermes")
    text = '<tool_call>\n{"name": "f", "arguments": {"x": "a"}}\n</tool_call>'
    assert [call.arguments for call in calls.parse(text)] == [{"x": "a"}]


def test_long_texts_with_end_markers_are_divided_in_time_proportional_to_their_length() -> None:
    tagged = triggered({"<a>": (".*", "</a>")})
    took = []
    for number in (500, 4_000):
        began = time.thread_time()
        assert len(tagged.parse("<a>x</a>" * number)) == number
        took.append(time.thread_time() - began)
    assert took[1] < 32 * took[0]  # eight times as long a text; the square would be 64


def test_many_alternatives_joined_one_by_one_are_read() -> None:
    joined: Any = integer()
    for number in range(900):
        joined |= f"x{number}"
    assert [joined.parse(text) for text in ("5", "x0", "x899")] == [5, "x0", "x899"]


def test_texts_of_what_is_composed_too_deeply_are_not_read() -> None:
    deep: Any = integer()
    for _ in range(400):
        deep = sequence(deep, "a?")
    with pytest.raises(LimitExceeded, match="composed too deeply"):
        deep.parse("5aa")


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        ({"at_least": -1}, ValueError, "`at_least` must be at least 0, not -1"),
        ({"at_least": 2, "at_most": 1}, ValueError, "`at_most` is 1, which is less than `at_least`, 2"),
        ({"at_most": "1"}, TypeError, "`at_most` is a number of parts, not '1'"),
    ],
)
def test_bounds_of_parts_are_named(bounds: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        triggered({"<a>": "b"}, **bounds)


def test_parts_that_begin_alike_can_be_read() -> None:
    nested = constraints.json_schema(
        {"anyOf": [{"const": 1}, {"type": "array", "items": {"$ref": "#"}, "maxItems": 1}]}
    )
    constraint = sequence(triggered({"b": nested}), "b+", nested)
    automaton = tokenfst.compile(constraint, ALL_BYTES)
    for text, value in (("b1", ((), "b", 1)), ("b1b[1]", ((Marked("b", 1),), "b", [1]))):
        assert automaton.accepts(text.encode())
        assert constraint.parse(text) == value
