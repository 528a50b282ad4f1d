"""What no automaton holds, and what is not a pattern, is refused with the place and the reason."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pattern_cases import compiled, language_by_re
from strategies import accepted

from automata import PatternError, compile_expr, parse

REFUSED = [
    (r"(a)\1", 3, "back-reference"),
    (r"a\9", 1, "back-reference"),
    ("(?P<n>a)(?P=n)", 8, "back-reference"),
    ("a*+", 2, "possessive"),
    ("a++", 2, "possessive"),
    ("a?+", 2, "possessive"),
    ("a{2}+", 4, "possessive"),
    ("(?>ab)", 0, "atomic"),
    ("(a)?(?(1)b|c)", 4, "conditional"),
    ("^*", 1, "nothing to repeat"),
    ("$+", 1, "nothing to repeat"),
    (r"\b*", 2, "nothing to repeat"),
    (r"a\Z?", 3, "nothing to repeat"),
    ("(?=a", 0, "never closed"),
    ("(?<=(?!a)", 0, "never closed"),
    (r"(?=(a)\1)", 6, "back-reference"),
    ("(?<=a*+)", 6, "possessive"),
    ("*a", 0, "nothing to repeat"),
    ("a(?#b", 1, "never closed"),
    (r"a(?#b\)", 1, "never closed"),
    ("(?au)a", 0, "exclude each other"),
    ("b(?ua:a)", 1, "exclude each other"),
    ("(?-u:a)", 3, "turned off"),
    ("(?-a:a)", 3, "turned off"),
    ("a|*", 2, "nothing to repeat"),
    ("(*a)", 1, "nothing to repeat"),
    ("(?:+)", 3, "nothing to repeat"),
    ("a**", 2, "nothing to repeat"),
    ("a*{2}", 2, "nothing to repeat"),
    ("{2}", 0, "nothing to repeat"),
    ("x{2}{3}", 4, "nothing to repeat"),
    ("a{3,2}", 1, "upper bound"),
    (r"\q", 0, "unknown"),
    (r"\y", 0, "unknown"),
    (r"[\q]", 1, "unknown"),
    ("a\\", 1, "backslash"),
    ("[a\\", 2, "backslash"),
    (r"\x4", 0, "incomplete"),
    (r"\xg0", 0, "incomplete"),
    (r"\u12", 0, "incomplete"),
    (r"\U0000", 0, "incomplete"),
    (r"\U00110000", 0, "no code point"),
    (r"\u{110000}", 0, "no code point"),
    (r"\u{}", 0, "incomplete"),
    (r"\u{41", 0, "incomplete"),
    (r"\u{d800}", 0, "surrogate"),
    (r"\c1", 0, "letter"),
    (r"[\c]", 1, "letter"),
    (r"\p{Nope}", 0, "no property"),
    (r"a\p", 1, "no property"),
    (r"[a\P{Script=Latin]", 2, "no property"),
    (r"[\d-b]", 3, "a class cannot begin a range"),
    (r"[^a\W--]", 5, "a class cannot begin a range"),
    (r"[a-\d]", 3, "a class cannot end a range"),
    (r"\p{L}\p{^Lu}", 5, "no property"),
    (r"(?P<BYTES>\p{L})", 10, "bytes"),
    ("[[:nope:]]", 1, "POSIX"),
    ("[a[:^Alpha:]]", 2, "POSIX"),
    (r"\N{NO SUCH NAME}", 0, "name"),
    (r"\N", 0, "name"),
    (r"\N{DIGIT ONE", 0, "name"),
    ("(?i)a\ud800", 5, "surrogate"),
    ("(?i)[\ud800]", 5, "surrogate"),
    ("\ud800", 0, "surrogate"),
    ("ab\udfff", 2, "surrogate"),
    ("[\ud800]", 1, "surrogate"),
    (r"a\ud800", 1, "surrogate"),
    (r"[\udfff]", 1, "surrogate"),
    (r"\U0000dabc", 0, "surrogate"),
    ("(a", 0, "never closed"),
    ("b(?:a", 1, "never closed"),
    ("a)", 1, "never opened"),
    ("[a", 0, "never closed"),
    ("a[]", 1, "never closed"),
    ("[^]", 0, "never closed"),
    ("a(?#b", 1, "never closed"),
    ("(a|b(c)", 0, "never closed"),
    ("[b-a]", 2, "range"),
    (r"[a-\d]", 3, "class"),
    ("a(?i)b", 1, "at its start"),
    ("(?-i)a", 0, "at its start"),
    ("()(?i)", 2, "at its start"),
    ("(?L)a", 2, "flag L"),
    ("(?z)a", 2, "flag z"),
    ("(?i-z:a)", 4, "flag z"),
    ("(?P<1a>x)", 4, "identifier"),
    ("(?P<>x)", 4, "identifier"),
    ("(?'n'a)", 0, "unknown"),
    ("(?<n>a)", 0, "unknown"),
    ("(?P<AND>a)", 0, "two groups"),
    ("(?P<AND>(?:a)(?:b)(?:c))", 0, "two groups"),
    ("x(?P<MINUS>(?:a)|(?:b))", 1, "two groups"),
    ("(?P<BYTES>a€)", 11, "byte"),
    ("(?P<BYTES>[a€])", 10, "byte"),
    (r"(?P<BYTES>\u0100)", 10, "byte"),
]


@pytest.mark.parametrize(("pattern", "position", "reason"), REFUSED)
def test_what_is_refused_is_refused_with_place_and_reason(pattern: str, position: int, reason: str) -> None:
    with pytest.raises(PatternError, match=reason) as caught:
        parse(pattern)
    error = caught.value
    assert (error.pattern, error.position) == (pattern, position)
    assert reason in error.reason
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.reason, copy.pattern, copy.position, str(copy)) == (error.reason, pattern, position, str(error))


@given(st.text(r"ab()[]{}|*+?^$\.-,:<>=!#PiNx0129d", max_size=12))
@settings(max_examples=500)
def test_any_text_is_a_pattern_or_is_refused(pattern: str) -> None:
    try:
        expr = parse(pattern)
    except PatternError as error:
        assert 0 <= error.position <= len(pattern)  # noqa: PT017 (most examples raise)
        return
    assume(expr.size < 1000)
    try:
        expected = language_by_re(pattern, 3)
    except re.error as error:
        # Python also refuses to name two groups alike, which changes no language, and what only this front end has.
        assert re.search(r"redefinition|look-behind requires|bad escape .[pPc]", str(error))  # noqa: PT017
        return
    assert accepted(compile_expr(expr), b"abc", 3) == expected, pattern


def test_nesting_has_no_limit() -> None:
    depth = 20_000
    assert parse("(" * depth + "a" + ")" * depth) == parse("a")
    assert compiled("(?:" * 300 + "a" + ")?" * 300).accepts(b"a")


def test_messages_show_a_part_of_long_patterns() -> None:
    pattern = "a" * 30_000 + "(" + "b" * 30_000
    with pytest.raises(PatternError) as raised:
        parse(pattern)
    assert len(str(raised.value)) < 600
    assert "a(b" in str(raised.value)
    assert raised.value.pattern == pattern
