"""The grammar of JSON: what `json.loads` reads, as writers write it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from grammar_syntax_cases import JSON, all_texts
from hypothesis import given, settings
from hypothesis import strategies as st

import constraints
from automata import (
    parse,
)
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from constraints import grammar
from constraints.json_schema import Whitespace


def is_json(text: str) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not valid JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """JSON, and what almost is."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:\r")]))
    text = json.dumps(
        draw(VALUES), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])), separators=separators
    )
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        kept = draw(st.integers(0, 1))
        text = (
            text[:place] + draw(st.sampled_from(["", *'{}[]",:\\ u0-1.eE+\t\n\x0b\x1f\xa0é/tn'])) + text[place + kept :]
        )
    return text.encode("utf-8", "replace").decode()


ANYWHERE = Whitespace(*[parse(r"[ \t\n\r]*")] * 7)


BLANKS = " \t\n\r"


@cache
def json_automaton() -> PushdownAutomaton:
    """Any JSON value, with whitespace wherever RFC 8259 has it within the value."""
    return compile_grammar(constraints.json(whitespace=ANYWHERE))


@settings(max_examples=100, deadline=None)
@given(document=documents())
def test_json_is_what_json_reads(document: str) -> None:
    assert json_automaton().accepts(document.encode()) == (is_json(document) and document == document.strip(BLANKS))


@settings(max_examples=100, deadline=None)
@given(
    value=VALUES,
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    separators=st.sampled_from([None, (",", ":"), (",", ": ")]),
    place=st.integers(0),
    blank=st.sampled_from([" ", "\n", "\t", "\r", "\n" + 33 * " ", "\n" + 9 * "\t"]),
)
def test_json_has_the_white_space_that_writers_write(
    value: Any, indent: int | str | None, separators: tuple[str, str] | None, place: int, blank: str
) -> None:
    automaton = compiled_json()
    text = json.dumps(value, indent=indent, separators=separators)
    assert automaton.accepts(text.encode())
    for outside in (text + blank, blank + text):
        assert not automaton.accepts(outside.encode())
    # More than a writer writes is either within a string or not allowed.
    spread = re.sub(r'("(?:[^"\\]|\\.)*")|([,:\[{])', lambda found: found[1] or found[2] + 34 * " ", text)
    assert automaton.accepts(spread.encode()) == (spread == text)
    at = place % (len(text) + 1)
    other = text[:at] + blank + text[at:]
    if automaton.accepts(other.encode()):
        assert is_json(other)


@cache
def compiled_json() -> PushdownAutomaton:
    return compile_grammar(constraints.json())


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ('{"a": [1, 2]}', True),
        ('{"a":[1,2]}', True),
        ("[\n" + " " * 32 + "1,\n\t\t2\n]", True),
        ("[\n" + " " * 33 + "1]", False),
        ("[\n\t\t\t\t\t\t\t\t1\n]", True),
        ("[\n\t\t\t\t\t\t\t\t\t1\n]", False),
        ("[ 1]", False),
        ("[1 ,2]", False),
        ("[1,  2]", False),
        ("[1,\n\n2]", False),
        ("[\n]", False),
        ("1 ", False),
        (" 1", False),
        ("1\n", False),
    ],
)
def test_json_has_bounded_white_space(text: str, allowed: bool) -> None:
    assert compiled_json().accepts(text.encode()) == allowed


def test_json_to_any_depth() -> None:
    deep = '[{"a":' * 2_000 + "[1, 2]" + "}]" * 2_000
    for automaton in (json_automaton(), compiled_json()):
        assert automaton.accepts(deep.encode())
        assert not automaton.accepts(deep[:-1].encode())
        assert not automaton.accepts((deep + "]").encode())


@pytest.mark.parametrize(
    "document",
    [
        " \t\n\r1 \t\n\r",
        '{"":{"a":[]},"":[{}]}',
        "[ ]",
        "{ }",
        '"\\ud800\\u0000\\"\\\\\\/\\b\\f\\n\\r\\t"',
        '"\u2028\x7f\U0010ffff"',
        "-0.0e-00",
        "1E400",
        "[1,[2,[3,[4]]]]",
        "",
        " ",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "0x1",
        "NaN",
        "-Infinity",
        "True",
        "[1,]",
        "[,1]",
        "{1:2}",
        '{"a"}',
        '{"a":1,}',
        "[1 2]",
        "1 2",
        "[",
        "]",
        '"',
        '"\t"',
        '"\x00"',
        '"\\x"',
        '"\\u12"',
        '"\\U0041"',
        "'a'",
        "\ufeff1",
        "\xa01",
        "1\x0c",
        "/**/1",
    ],
)
def test_json_where_readers_go_wrong(document: str) -> None:
    assert json_automaton().accepts(document.encode()) == (is_json(document) and document == document.strip(BLANKS))


def test_json_is_small_and_deterministic() -> None:
    made = constraints.json()
    assert made == constraints.json()
    assert list(made.rules) == ["json", "value"]
    assert made.start == "json"
    assert json_automaton().max_configurations == 1
    assert json_automaton().num_states < 64
    assert compiled_json().max_configurations == 1
    assert compiled_json().num_states < 256
    whitespace: Any = "much"
    with pytest.raises(ValueError, match=r"whitespace is one of 'default', .* not 'much'"):
        constraints.json(whitespace=whitespace)


def test_json_as_it_is_written_in_gbnf() -> None:
    """Two grammars of one language, on every text of a few characters."""
    theirs = compile_grammar(grammar(JSON))
    for document in all_texts('[]{}":,1-', 4):
        text = document.encode()
        assert json_automaton().accepts(text) == theirs.accepts(text) == is_json(document), document
