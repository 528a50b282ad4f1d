"""The ready-made languages against the definitions of others: json, yaml, str.find, itertools."""

from __future__ import annotations

import json
import re
from itertools import combinations, product

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from automata import PatternError, compile_expr, equivalent, parse
from automata.expressions.extensions import (
    delimited_list,
    delimited_subsequence_of,
    image,
    paragraph_token,
    quoted_text,
    substring_of,
    text_token,
    text_until,
    token,
    unquoted_text,
)
from automata.pattern import Dialect

QUOTED, UNQUOTED = compile_expr(quoted_text()), compile_expr(unquoted_text())


def accepts(pattern: str, *strings: str) -> list[bool]:
    automaton = compile_expr(parse(pattern))
    return [automaton.accepts(string.encode()) for string in strings]


def texts(alphabet: str, length: int) -> list[str]:
    return ["".join(chars) for n in range(length + 1) for chars in product(alphabet, repeat=n)]


def is_json_string(text: str) -> bool:
    try:
        return isinstance(json.loads(text), str) and text == text.strip()
    except json.JSONDecodeError:
        return False


def test_quoted_text_is_a_json_string() -> None:
    for inside in (
        texts('a"\\nu\n', 4) + texts("\\u0aFg", 5) + [f"\\u{a}{b}00" for a, b in product("0dD8cfG", repeat=2)]
    ):
        assert QUOTED.accepts(f'"{inside}"'.encode()) == is_json_string(f'"{inside}"'), inside
    assert not any(QUOTED.accepts(text.encode()) for text in ["", '"', "a", "'a'", '"a" '])


@given(st.text(), st.booleans())
@example("\x7f\u2028", False)
def test_every_text_can_be_quoted(text: str, ascii_only: bool) -> None:
    try:
        written = json.dumps(text, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which is not text
        return
    assert QUOTED.accepts(written)


def is_plain_yaml(text: str) -> bool:
    """Whether a value is read as one plain scalar."""
    try:
        node = yaml.compose(f"key: {text}")
    except yaml.YAMLError:
        return False
    value = node.value[0][1]
    return isinstance(value, yaml.ScalarNode) and value.style is None and value.value == text != ""


@pytest.mark.parametrize("alphabet", ["a:- #", "a?:,[", "a&*!|>", "a'\"%@`", "a{}]é", "-?:#"])
def test_unquoted_text_is_read_back_by_yaml(alphabet: str) -> None:
    differing = {text for text in texts(alphabet, 4) if UNQUOTED.accepts(text.encode()) != is_plain_yaml(text)}
    assert differing == set()


@pytest.mark.parametrize("stop", ["a", "ab", "aa", "aba", "é", "\n\n"])
def test_text_until_ends_with_the_first_occurrence(stop: str) -> None:
    automaton = compile_expr(text_until(stop))
    for text in texts(f"ab{stop[0]}\n", 5):
        ends = text.find(stop)
        assert automaton.accepts(text.encode()) == (ends >= 0 and ends + len(stop) == len(text)), text


def test_text_until_takes_a_pattern_and_stops_where_it_first_could() -> None:
    automaton = compile_expr(text_until(parse("a+b?|c")))
    assert [t for t in texts("abc", 3) if automaton.accepts(t.encode())] == ["a", "c", "ba", "bc", "bba", "bbc"]


def test_delimited_lists() -> None:
    automaton = compile_expr(delimited_list(parse("a|bb"), ", "))
    for text in texts("ab, ", 6):
        assert automaton.accepts(text.encode()) == bool(re.fullmatch("(a|bb)(, (a|bb))*", text))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_subsequences_keep_order_and_are_all_there(size: int) -> None:
    items = [chr(ord("a") + number) * (1 + number % 2) for number in range(size)]
    automaton = compile_expr(delimited_subsequence_of(items, "; "))
    for length in range(1, size + 1):
        for chosen in combinations(items, length):
            assert automaton.accepts("; ".join(chosen).encode())
            swapped = "; ".join(reversed(chosen)).encode()
            assert automaton.accepts(swapped) == (length == 1)
    assert not automaton.accepts(b"")
    assert not automaton.accepts(b"a; a")


def test_a_subsequence_of_many_items_stays_small() -> None:
    items = [f"item {number}" for number in range(200)]
    expr = delimited_subsequence_of(items, ", ")
    assert expr.size < 200 * 9 * 10
    automaton = compile_expr(expr)
    assert automaton.accepts(", ".join(items[::7]).encode())
    with pytest.raises(ValueError, match="at least one item"):
        delimited_subsequence_of([], ", ")


# In patterns

GROUPS = {
    "(?P<QUOTED_TEXT>)": quoted_text(),
    "(?P<UNQUOTED_TEXT>)": unquoted_text(),
    "(?P<TEXT_UNTIL>a+|b)": text_until(parse("a+|b")),
    r"(?P<SUBSTRING_OF>a\.b\n)": substring_of("a.b\n"),
    "(?P<SUBSTRING_OF_WORDS>New York)": substring_of("New York", words=True),
    "(?P<DELIMITED_LIST>(?:a|b), )": delimited_list(parse("a|b"), ", "),
    "(?P<DELIMITED_SUBSEQUENCE_OF>(?:a)(?:b|c)(?:d)(?:; ?))": delimited_subsequence_of(
        [parse("a"), parse("b|c"), parse("d")], parse("; ?")
    ),
    r"(?P<TOKEN><\|call\|>)": token("<|call|>"),
    "(?P<TEXT_TOKEN>)": text_token(),
    "(?P<PARAGRAPH_TOKEN>)": paragraph_token(),
    "(?P<IMAGE>)": image(),
}


@pytest.mark.parametrize("pattern", GROUPS)
@pytest.mark.parametrize("dialect", ["python", "ecma"])
def test_every_extension_is_a_group_and_prints_as_a_pattern(pattern: str, dialect: Dialect) -> None:
    expr = GROUPS[pattern]
    assert parse(pattern, dialect=dialect) == expr
    assert equivalent(parse(str(expr)), expr)


def test_extensions_stand_among_other_things() -> None:
    assert accepts(r"(?:- (?P<TEXT_UNTIL>\n)){2}", "- a\n- b\n", "- a\n", "- a\n- b") == [True, False, False]
    assert accepts("(?i:(?P<DELIMITED_LIST>(?:ab),))!", "AB,ab!", "ab") == [True, False]
    assert accepts("(?P<TEXT_UNTIL>)", "", "a") == [True, False]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("x(?P<QUOTED_TEXT>a)", "QUOTED_TEXT takes nothing between its brackets (at position 1"),
        ("(?P<IMAGE>|)", "IMAGE takes nothing"),
        ("(?P<SUBSTRING_OF>a*)", "SUBSTRING_OF takes plain text"),
        ("(?P<TOKEN>)", "TOKEN takes the name of a token"),
        ("(?P<TOKEN>a|b)", "TOKEN takes plain text"),
        ("(?P<DELIMITED_LIST>(?:a))", "DELIMITED_LIST takes two groups"),
        ("(?P<DELIMITED_SUBSEQUENCE_OF>(?:a)|(?:b))", "takes groups, one for each item and the last for the delimiter"),
    ],
)
def test_what_an_extension_does_not_take_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError, match=re.escape(reason)):
        parse(pattern)
