"""Sets of characters by property, POSIX class and case, against `unicodedata`, `regex` and an ECMA engine."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import pytest
import regex
from pattern_cases import CHARACTERS, by_length, in_utf8
from regress import Regex

from automata import ByteAutomaton, compile_expr, parse
from automata.expressions.ranges import Ranges
from automata.pattern.characters import PYTHON_CASE, ignore_case
from automata.pattern.unicode_properties import property_ranges

# The characters of Python's version of Unicode: those that came later have no properties there.
ASSIGNED = [char for char in CHARACTERS if unicodedata.category(char) != "Cn"]


def compiled(pattern: str) -> ByteAutomaton:
    return compile_expr(parse(pattern))


def members(ranges: Ranges | None) -> set[str]:
    assert ranges is not None
    return {chr(code) for low, high in ranges for code in range(low, high + 1)}


def check(pattern: str, expected: Iterable[str]) -> None:
    """A pattern of one character accepts exactly these."""
    chars, automaton = list(expected), compiled(pattern)
    assert in_utf8(automaton) == by_length(chars), pattern
    assert all(automaton.accepts(char.encode()) for char in chars[:: max(1, len(chars) // 500)])


def test_general_categories() -> None:
    """As `unicodedata` has them, but for the few characters that a later version puts elsewhere."""
    names = sorted({unicodedata.category(char) for char in ASSIGNED} - {"Cs"})
    of_category = {name: {c for c in ASSIGNED if unicodedata.category(c) == name} for name in names}
    moved: set[str] = set()
    for name in names:
        found = members(property_ranges(name))
        moved |= of_category[name] - found
        assert not any((found & of_category[other]) - moved for other in names if other < name), name
    assert len(moved) < 30
    assert members(property_ranges("L")) >= of_category["Lu"] | of_category["Lo"]
    assert property_ranges("Lu") == property_ranges("Uppercase_Letter") == property_ranges("gc=Lu")


@pytest.mark.parametrize(
    "name",
    [
        *("ASCII", "Any", "Alphabetic", "White_Space", "Emoji", "ID_Start", "ID_Continue", "Lowercase", "Uppercase"),
        *("Hex_Digit", "Math", "Dash", "Ideographic", "XID_Start", "Emoji_Presentation", "Assigned", "Letter", "Nd"),
        *(
            "Script=Greek",
            "sc=Latn",
            "Script=Han",
            "Script_Extensions=Greek",
            "scx=Hira",
            "scx=Latin",
            "punct",
            "digit",
        ),
    ],
)
def test_properties_are_what_an_ecma_engine_takes_them_for(name: str) -> None:
    find, found = Regex(rf"^\p{{{name}}}$", "u").find, members(property_ranges(name))
    for char in ASSIGNED[:0x3000] + ASSIGNED[0x3000::23]:
        assert (char in found) == (find(char) is not None), (name, char)


@pytest.mark.parametrize(
    "name", ["Lu", "Letter", "Greek", "Script=Cyrillic", "scx=Deva", "Emoji", "Any", "Cn", "InBasicLatin"]
)
def test_a_property_and_its_complement_in_patterns(name: str) -> None:
    held = set(regex.findall(rf"\p{{{name}}}", "".join(CHARACTERS)))
    check(rf"\p{{{name}}}", held)
    rest = [char for char in CHARACTERS if char not in held]
    check(rf"\P{{{name}}}", rest)
    check(rf"[^\p{{{name}}}]", rest)
    check(rf"[\p{{{name}}}é]", held | {"é"})
    check(rf"[^\P{{{name}}}]", held)


def test_names_of_properties_are_taken_loosely() -> None:
    for name in ("lowercase_letter", "Lowercase Letter", "LOWERCASELETTER", "gc=ll", "General_Category=Ll"):
        assert property_ranges(name) == property_ranges("Ll")
    assert parse(r"\pL\PN") == parse(r"\p{L}\P{N}")
    assert parse(r"\p{L}+") == parse(r"(?:\p{L})+")
    for name in ("", "Nope", "^Lu", "L}", r"L}\p{N", "Script=Nope", "é"):
        assert property_ranges(name) is None


def test_surrogates_are_in_no_set() -> None:
    assert property_ranges("Cs") == ()
    assert compiled(r"\p{Cs}").is_empty
    assert parse(r"\p{Any}") == parse("(?s:.)") == parse(r"\P{Cs}")


POSIX = ["alpha", "digit", "alnum", "upper", "lower", "space", "blank", "punct", "cntrl", "graph", "xdigit", "word"]


@pytest.mark.parametrize("name", [*POSIX, "print"])
def test_posix_classes(name: str) -> None:
    match = regex.compile(f"[[:{name}:]]", regex.ASCII).fullmatch
    ascii_only = {chr(code) for code in range(128) if match(chr(code))}
    check(f"[[:{name}:]]", ascii_only)
    check(f"[[:^{name}:]]", [char for char in CHARACTERS if char not in ascii_only])
    match = regex.compile(f"[[:{name}:]]").fullmatch
    automaton, negated = compiled(f"(?u)[[:{name}:]]"), compiled(f"(?u)[^-[:{name}:]]")
    for char in CHARACTERS[:0x600] + CHARACTERS[0x600::97]:
        assert automaton.accepts(char.encode()) == bool(match(char)), char
        assert negated.accepts(char.encode()) == (not match(char) and char != "-"), char


def test_brackets_that_make_no_posix_class_are_characters() -> None:
    for pattern in ("[[:alpha]", "[:alpha:]", "[[:]", "[a[:b]", "[[.a.]", "[:]"):
        automaton, match = compiled(pattern), regex.compile(pattern.replace("[[", r"[\[")).fullmatch
        for char in "[:alphb.]x":
            assert automaton.accepts(char.encode()) == bool(match(char)), (pattern, char)


@pytest.mark.parametrize("pattern", [r"\p{Lu}", r"[\p{Lu}]", r"[^\p{Lu}]", r"\P{Lu}", r"[\P{Lu}]", r"[[:upper:]]"])
def test_properties_and_classes_ignoring_case(pattern: str) -> None:
    """As `regex` has it: the other cases of what is named are in, and out of the complement."""
    match, automaton = regex.compile(pattern, regex.IGNORECASE).fullmatch, compiled(f"(?i){pattern}")
    for char in map(chr, range(128)):
        assert automaton.accepts(char.encode()) == bool(match(char)), char
    assert parse(r"(?i)[\p{Ll}]") == parse(r"(?i)\p{Ll}")


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        *((r"\u{1F600}", "\U0001f600"), (r"\u{41}", "A"), (r"\u{00000041}", "A"), (r"[\u{41}-\u{43}]", "[A-C]")),
        *((r"\cJ", "\n"), (r"\cj", "\n"), (r"[\cA-\cZ]", r"[\x01-\x1a]"), (r"\cI*", r"\t*"), (r"(?i)\u{e9}", "[éÉ]")),
    ],
)
def test_characters_by_number(pattern: str, same: str) -> None:
    assert parse(pattern) == parse(same)


def test_ignoring_case_adds_and_never_takes_away() -> None:
    for ranges in (((0x41, 0x5A),), ((0x61, 0x1F600),), ((0x3C3, 0x3C3), (0x1E9E, 0x1E9E)), ()):
        found = ignore_case(ranges, PYTHON_CASE)
        assert members(found) >= members(ranges)
        assert ignore_case(found, PYTHON_CASE) == found
