"""The dialect of ECMA-262, against an engine of that dialect (regress), and the semantics of searching."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pattern_cases import CHARACTERS, in_utf8
from py_mini_racer import MiniRacer
from regress import Regex, RegressError
from strategies import LAZY, accepted, strings, up_to

from automata import ByteAutomaton, PatternError, compile_expr, parse
from automata.pattern.characters import SIMPLE_CASE, ignore_case

# Where case is ignored, regress takes the Kelvin sign for none of these, and the standard and V8 take it for one.
NEGATED_TWICE = r"[^\W_]"
# Characters that line ends, classes and case tell apart.
ALPHABET = "aA-_ \n\r\u2028é0ſkK\u212aß\ufeff\U0001f600"


def compiled(pattern: str, *, search: bool = False) -> ByteAutomaton:
    return compile_expr(parse(pattern, dialect="ecma", search=search))


def check(pattern: str, texts: list[str], *, flags: str = "u", search: bool = False) -> None:
    find = Regex(pattern if search else f"^(?:{pattern})$", flags).find
    automaton = compiled(pattern, search=search)
    for text in texts:
        assert automaton.accepts(text.encode()) == (find(text) is not None), (pattern, text)


SHORT = [text.decode() for text in strings(b"ab\n", 4)]


def test_every_small_pattern() -> None:
    for pattern in up_to(3, atoms=("a", "b", "[^a]", "", ".", "^", "$", r"\b", r"\B", "(?=a)", "(?<!ab)")):
        try:
            check(pattern.replace("{,2}", "{0,2}"), SHORT)
        except RegressError:
            with pytest.raises(PatternError, match="nothing to repeat"):
                compiled(pattern)


def test_searching_for_every_small_pattern() -> None:
    for pattern in up_to(3, atoms=("a", "b", "", "^", "$", r"\b"), quantifiers=("*", "?")):
        check(pattern, SHORT, search=True)
    for pattern in ("^a|b$", "(^|[^b])a", "a(?!b)", "(?<=a)b", "^$", "", "[]", "(?m:^a$)", "a$\n", "^(a|b){2}$"):
        check(pattern, SHORT, search=True)


NAMES_AND_FLAGS = {
    True: [
        "(?<a>x)|(?<a>y)",
        "(?:(?<a>x)|(?<a>y))(?<b>z)",
        "(?<a>x)|(?:b(?<a>y))",
        "(?i-:a)",
        "(?-i:a)",
        "(?i-s:a)",
        "\\0\u0663",
    ],
    False: [
        "(?<a>x)(?<a>y)",
        "(?<a>(?<a>b))",
        "(?:(?<a>x)|(?<a>y))(?<a>z)",
        "(?<b>(?<a>x)|(?<a>y)|(?<b>z))",
        "(?i-i:a)",
        "(?ii:a)",
        "(?i-mm:a)",
        "(?-:a)",
        "\\01",
    ],
}


@pytest.mark.parametrize("is_valid", [True, False])
def test_names_of_groups_and_flags(is_valid: bool) -> None:
    """ECMA-262, section 22.2.1.1, as V8 reads it, and Python's `re` of what both write alike."""
    judge = MiniRacer()
    judge.eval("const valid = (text) => { try { new RegExp(text, 'u'); return true } catch (e) { return false } }")
    for pattern in NAMES_AND_FLAGS[is_valid]:
        assert judge.call("valid", pattern) == is_valid, pattern
        if is_valid:
            compiled(pattern)
        else:
            with pytest.raises(PatternError):
                compiled(pattern)
    for pattern in ("(?P<a>x)|(?P<a>y)", "(?P<a>x)(?P<b>y)", "(?i-i:a)", "(?ii:a)", "(?i-:a)", "(?i-ss:a)", "(?i-s:a)"):
        try:
            re.compile(pattern)
        except re.error:
            with pytest.raises(PatternError):
                parse(pattern)
        else:
            parse(pattern)


PIECES = [
    *(
        "a",
        "A",
        "k",
        "ß",
        ".",
        "[^]",
        "[]",
        r"[^a]",
        r"[\w-]",
        NEGATED_TWICE,
        r"[a-k]",
        r"\/",
        r"\.",
        r"[\-\]\^\\]",
        "^",
        "$",
    ),
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", r"[\s\S]", r"[\d\D]", r"\n", r"\cJ", r"\0", r"[\b]"),
    *(r"\x41", r"\u0041", r"\u{1F600}", r"\ud83d\ude00", r"[\ud83d\ude00]", r"[^\u{1F600}]", r"[\u2028-\u{10ffff}]"),
    *(r"\p{L}", r"\P{Lu}", r"\p{Script=Greek}", r"[\p{Ll}\d]", r"[^\p{L}]", r"\p{Emoji}", r"\p{ASCII}", r"\p{Any}"),
    *("(?:a|-)", "(-)", "(?<name>a)", "(?=.)", "(?!-)", "(?<=a)", "(?<!a)", "(?<$x>a)"),
]


def pieces_of(most: int) -> st.SearchStrategy[list[str]]:
    """Pieces of a pattern, in which no name stands for two groups."""
    return st.lists(st.sampled_from(PIECES), min_size=1, max_size=most).filter(
        lambda pieces: all(pieces.count(piece) < 2 for piece in pieces if piece.startswith(("(?<name>", "(?<$x>")))
    )


@given(pieces_of(4), st.lists(st.text(ALPHABET, max_size=4), min_size=8))
def test_random_patterns(pieces: list[str], texts: list[str]) -> None:
    check("".join(pieces), texts)
    check("|".join(pieces), texts, search=True)


@given(pieces_of(3), st.lists(st.text(ALPHABET, max_size=4), min_size=8))
@settings(max_examples=60)
def test_flags_of_groups(pieces: list[str], texts: list[str]) -> None:
    for flags in "ims":
        kept = [piece for piece in pieces if flags != "i" or piece != NEGATED_TWICE]
        check(f"(?{flags}:{''.join(kept)})a?", texts)


def test_a_class_negated_twice_that_ignores_case() -> None:
    automaton, judge = compiled(f"(?i:{NEGATED_TWICE})"), MiniRacer()
    for character in ALPHABET:
        expected = judge.eval(f"/^{NEGATED_TWICE}$/iu.test({json.dumps(character)})")
        assert automaton.accepts(character.encode()) == expected, character


@pytest.mark.parametrize("flags", ["", "i"])
@pytest.mark.parametrize(
    "pattern", [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", ".", "[^]", r"[^\w\s]", r"[^a-z]", r"\P{Lu}", r"[^\P{Ll}]"]
)
def test_one_character_patterns_over_all_characters(pattern: str, flags: str) -> None:
    scoped = f"(?i:{pattern})" if flags else pattern
    automaton, find = compiled(scoped), Regex(f"^{pattern}$", f"u{flags}").find
    # Some letters got another case only lately, which not every version of Unicode knows of.
    checked = CHARACTERS[:0x180] + CHARACTERS[0x370:0x500] + CHARACTERS[0x1E00:0x2200]
    if "{" not in pattern:
        checked += CHARACTERS[::11] + CHARACTERS[0xF700:0xF800]
    for char in checked:
        assert automaton.accepts(char.encode()) == (find(char) is not None), (pattern, char)


def test_all_characters_that_have_case() -> None:
    """Simple case folding, which makes ß and ẞ one, and neither İ nor ı another i."""
    cased = [c for c in CHARACTERS[:0x1E944] if c.lower() != c or c.upper() != c or c.casefold() != c]
    for char in cased[::3]:
        find = Regex(char, "iu").find
        found = {
            ord(other) for other in {char, *map(str.swapcase, char), char.lower(), char.upper()} if len(other) == 1
        }
        for code in found:
            held = any(low <= code <= high for low, high in ignore_case(((ord(char),) * 2,), SIMPLE_CASE))
            assert held == (find(chr(code)) is not None), (char, chr(code))
    for char in "kKsSßẞiIİıσςΣµμΜΩΩåÅÅθΘϴĸǅǆǄᾳᾼΐΐΰΰﬅﬆ":
        find = Regex(char, "iu").find
        expected = [other for other in cased if find(other)] or [char]
        automaton = compiled(f"(?i:{char})")
        assert sum(in_utf8(automaton)) == len(expected), (char, expected)
        assert all(automaton.accepts(other.encode()) for other in expected)


def test_lazy_forms_describe_the_same_language() -> None:
    for pattern in up_to(2, quantifiers=LAZY):
        check(pattern, SHORT)


@pytest.mark.parametrize("pattern", [r"\-\@\_\"", "a{", "}", "]", "a{,2}", "x{a}", r"\ "])
def test_what_has_one_meaning_without_the_flag_u_has_it(pattern: str) -> None:
    with pytest.raises(RegressError):
        Regex(pattern, "u")
    check(pattern, ['-@_"', "a{", "}", "]", "a{,2}", "x{a}", " ", "a", "aa", ""], flags="")


def test_operations_are_in_both_dialects() -> None:
    texts = accepted(compiled(r"(?P<AND>(?:[^]*a)(?:(?P<NOT>b[^]*)))"), b"ab", 3)
    assert texts == {text for text in strings(b"ab", 3) if text.endswith(b"a") and not text.startswith(b"b")}


REFUSED = [
    (r"(a)\1", 3, "back-reference"),
    (r"(?<n>a)\k<n>", 7, "back-reference"),
    ("(?>a)", 0, "atomic"),
    ("a++", 2, "possessive"),
    ("(?P<n>a)", 0, "unknown"),
    ("(?#a)", 0, "unknown"),
    ("(?i)a", 0, "whole pattern"),
    ("(?x:a)", 2, "flag x"),
    ("(?u:a)", 2, "flag u"),
    ("(?<1>a)", 3, "identifier"),
    (r"\a", 0, "unknown"),
    (r"\A", 0, "unknown"),
    (r"\Z", 0, "unknown"),
    (r"\N{BULLET}", 0, "unknown"),
    (r"\U00000041", 0, "unknown"),
    (r"\01", 0, "unknown"),
    (r"\c0", 0, "letter"),
    (r"\ud83d", 0, "surrogate"),
    (r"\ude00\ud83d", 0, "surrogate"),
    (r"[\ud800-\udfff]", 1, "surrogate"),
    (r"\u{110000}", 0, "no code point"),
    (r"\p{Nope}", 0, "no property"),
    ("(?=a)*", 5, "nothing to repeat"),
    ("(?<!a)?", 6, "nothing to repeat"),
    ("^*", 1, "nothing to repeat"),
    ("[b-a]", 2, "range"),
    ("[", 0, "never closed"),
    ("(", 0, "never closed"),
    (")", 0, "never opened"),
]


@pytest.mark.parametrize(("pattern", "position", "reason"), REFUSED)
def test_what_is_refused_is_refused_with_place_and_reason(pattern: str, position: int, reason: str) -> None:
    with pytest.raises(PatternError, match=reason) as caught:
        parse(pattern, dialect="ecma")
    assert caught.value.position == position


def test_sets_of_posix_are_not_in_it() -> None:
    check("[[:a:]-]", ["[-]", ":-]", "a-]", "b-]", "a", ""], flags="")


def test_an_unknown_dialect_is_refused() -> None:
    dialect: Any = "perl"
    with pytest.raises(ValueError, match="'perl' is not one of python, ecma"):
        parse("a", dialect=dialect)
