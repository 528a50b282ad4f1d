"""Strings: spellings compared with what `json.loads` reads, and statements with Python's `re` and with brute force."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata import PatternError, SchemaError, UnsupportedSchema, compile_expr, equivalent
from automata import expressions as ex
from automata.algebra.elimination import to_expr
from automata.algebra.operations import alternation, difference
from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.visibly_pushdown import CountedPaths, CountedUnits
from constraints import json_schema
from constraints.json_schema.formulas.connectives import (
    FALSE,
    TRUE,
    And,
    Formula,
    Not,
    Or,
    conjunction,
    negation,
    truth,
)
from constraints.json_schema.formulas.statements import Format, IsInteger, Matches, Pattern, StringIn, TextLength
from constraints.json_schema.strings import (
    counted_language,
    plain_spellings,
    string_is_empty,
    string_language,
    string_matches,
)
from constraints.json_schema.strings.content import combinations, content, with_one_length
from constraints.json_schema.strings.formats import INEXACT_FORMATS
from constraints.json_schema.strings.lengths import counted_texts, length_automaton, length_spellings
from constraints.json_schema.strings.lists import spellings_besides, spellings_of
from constraints.json_schema.strings.spelling import spelled

_WORDS = StringIn(frozenset(["", 'a"', "\\", "é", "😀", "\n", "\x01", "/u"]))
_FORMULAS = [
    TRUE,
    FALSE,
    _WORDS,
    Not(_WORDS),
    Pattern("^[a-zé]+$"),
    Pattern('^"'),
    TextLength(1, 2),
    TextLength(2, None),
    Or(Not(TextLength(1, 2)), Pattern("[😀-😂]")),
    And(Pattern("u"), Not(Pattern("d")), TextLength(0, 3)),
    And(_WORDS, TextLength(1, 1)),
]


def _accepts(formula: Formula, text: str) -> bool:
    language = string_language(formula)
    assert isinstance(language, ByteAutomaton)
    return language.accepts(text.encode())


def _read(text: str) -> str | None:
    """The string that a text spells; None where it spells none, or one with half of a surrogate pair."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) and not re.search("[\ud800-\udfff]", value) else None


def _expected(formula: Formula, text: str) -> bool:
    value = _read(text)
    return value is not None and string_matches(formula, value)


@pytest.mark.parametrize("formula", _FORMULAS)
def test_all_texts_over_a_small_alphabet(formula: Formula) -> None:
    pieces = ['"', "\\", "/", "u", "0", "6", "1", "d", "D8", "\\ude00", "é", "😀", "\x01", "\x7f", "n", "\\u00"]
    for length in range(4):
        for middle in itertools.product(pieces, repeat=length):
            text = '"' + "".join(middle) + '"'
            assert _accepts(formula, text) == _expected(formula, text), text


def test_every_escape_of_one_character() -> None:
    # All texts of one escape with four digits: the last two digits of a few rows, in both cases.
    rows = ["00", "0a", "0E", "d7", "d8", "DB", "dC", "df", "e0", "ff"]
    digits = "0123456789abcdefABCDEFg"
    for formula in (TRUE, Pattern("[\\u00a0-\\ud7ff]"), Not(Pattern("[^\\x00-\\u0eff]"))):
        for row, third, last in itertools.product(rows, digits, digits):
            text = f'"\\u{row}{third}{last}"'
            assert _accepts(formula, text) == _expected(formula, text), text


def test_surrogate_pairs() -> None:
    formula = Pattern("^[\\u{1f5ff}-\\u{1f601}\\u{10ffff}]$")
    for high, low in itertools.product(
        ["d83c", "D83d", "d83e", "dbff", "dc00"], ["dDFF", "de00", "de01", "dfff", "d800"]
    ):
        text = f'"\\u{high}\\u{low}"'
        assert _accepts(formula, text) == _expected(formula, text), text
    assert not _accepts(TRUE, '"\\ud83d"')
    assert not _accepts(TRUE, '"\\ude00"')
    assert string_is_empty(StringIn(frozenset(["\ud83d"])))
    assert not string_matches(Pattern(""), "\ud83d")


def test_every_character_has_its_spellings() -> None:
    for code in [*range(0x300), *range(0x2000, 0x2040), *range(0xD700, 0x11000, 7), *range(0x1F5F0, 0x1F610), 0x10FFFF]:
        if 0xD800 <= code <= 0xDFFF:
            continue
        formula = StringIn(frozenset([chr(code)]))
        for ascii_only in (False, True):
            text = json.dumps(chr(code), ensure_ascii=ascii_only)
            assert _accepts(formula, text)
            assert _accepts(formula, re.sub(r"\\u(.{4})", lambda found: "\\u" + found[1].upper(), text))
        assert not _accepts(formula, json.dumps(chr(code ^ 1)))


_ALPHABET = 'ab\\"/é\u2028😀'
_STRINGS = st.text(_ALPHABET, max_size=5)
_LEAVES = st.one_of(
    st.just(TRUE),
    st.frozensets(_STRINGS, max_size=3).map(StringIn),
    st.sampled_from(["a", "^a*$", "b$", "^[^a]", "(ab|é)+", '["/]', "^.{2,3}$", "\\\\", "[😀é]"]).map(Pattern),
    st.tuples(st.integers(0, 3), st.none() | st.integers(0, 4)).map(lambda bounds: TextLength(*bounds)),
)
_ANY_FORMULA = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(*parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(*parts)),
    ),
    max_leaves=5,
)


def _brute(formula: Formula, text: str) -> bool:
    """Whether a formula holds, by Python's `re` and nothing of ours."""
    if isinstance(formula, StringIn):
        return text in formula.texts
    if isinstance(formula, Pattern):
        # ECMA-262's dot does not match a line separator.
        source = formula.source.replace("$", "\\Z").replace(".", "[^\n\u2028]")
        return re.search(source, text) is not None
    if isinstance(formula, TextLength):
        return formula.low <= len(text) and (formula.high is None or len(text) <= formula.high)
    if isinstance(formula, Not):
        return not _brute(formula.part, text)
    if isinstance(formula, And | Or):
        return (all if isinstance(formula, And) else any)(_brute(part, text) for part in formula.parts)
    return formula == TRUE


@settings(max_examples=40, deadline=None)
@given(_ANY_FORMULA, st.lists(_STRINGS, max_size=20))
def test_combinations(formula: Formula, texts: list[str]) -> None:
    texts += [chars + more for chars in ("", "a", "é", "ab", '"') for more in ("", "😀", "b")]
    for text in texts:
        assert string_matches(formula, text) == _brute(formula, text)
        for ascii_only in (False, True):
            assert _accepts(formula, json.dumps(text, ensure_ascii=ascii_only)) == _brute(formula, text)
        spelled_out = "".join(f"\\u{unit:04X}" for unit in memoryview(text.encode("utf-16-le")).cast("H"))
        assert _accepts(formula, f'"{spelled_out}"') == _brute(formula, text)
    assert string_is_empty(formula) == content(formula).is_empty
    if string_is_empty(formula):
        assert not any(_brute(formula, text) for text in texts)


def test_lists_side_by_side() -> None:
    lists = ["a", "é"], ["", "ab", "\ud800"], ["😀", "a"]
    formula = Or(Pattern("^b"), *(StringIn(frozenset(words)) for words in lists))
    automaton = content(formula)
    for length in range(4):
        for chars in itertools.product("abé😀", repeat=length):
            assert automaton.accepts("".join(chars)) == _brute(formula, "".join(chars))


@settings(max_examples=40, deadline=None)
@given(_ANY_FORMULA, st.lists(_ANY_FORMULA, min_size=1, max_size=3), st.lists(_STRINGS, max_size=20))
def test_combinations_are_those_that_strings_have(whole: Formula, formulas: list[Formula], texts: list[str]) -> None:
    found = combinations(whole, formulas, 100_000)
    assert found == sorted(found, reverse=True)
    assert len(set(map(tuple, found))) == len(found)
    for text in [*texts, *(chars + more for chars in ("", "a", "é", "ab", '"') for more in ("", "😀", "b"))]:
        assert not _brute(whole, text) or [_brute(formula, text) for formula in formulas] in found
    for way in found:
        assert not content(conjunction([whole, *map(_signed, formulas, way)])).is_empty


def _signed(formula: Formula, holds: bool) -> Formula:
    return formula if holds else negation(formula)


def test_what_may_lack_an_inexact_format_is_in_no_combination() -> None:
    name = min(INEXACT_FORMATS)
    certain, lacking = Format(name), Not(Format(name))
    assert combinations(TRUE, [certain], 10_000) == [[True], [False]]
    assert combinations(certain, [certain], 10_000) == [[True]]
    assert combinations(lacking, [certain], 10_000) == [[False]]
    unknown = difference(difference(content(TRUE), content(certain)), content(lacking))
    assert not unknown.is_empty
    assert combinations(Matches(to_expr(unknown)), [certain], 10_000) == []


def test_combinations_of_many_large_patterns_are_refused_early() -> None:
    patterns = [Pattern(f"a.{{{number}}}b") for number in range(200)]
    with pytest.raises(LimitExceeded, match="which patterns match a string takes more than 1,000 states"):
        combinations(TRUE, patterns, 1_000)
    few = [Pattern(f"a{letter}") for letter in "bcdefghijklm"]
    with pytest.raises(LimitExceeded, match="takes more than 1,000 states"):
        combinations(TRUE, few, 1_000)
    assert len(combinations(TRUE, few, 100_000)) == 1 << len(few)


def _same(left: ByteAutomaton, right: ByteAutomaton) -> bool:
    """Whether two automata have the same arcs, as minimal ones of one language have."""
    return (
        all(np.array_equal(a, b) for a, b in zip(left.range_arcs(), right.range_arcs(), strict=True))
        and np.array_equal(left.final, right.final)
        and left.start == right.start
    )


@pytest.mark.parametrize("formula", [*_FORMULAS, Pattern("\\p{L}"), Format("date"), Format("iri")])
def test_spellings_are_minimal(formula: Formula) -> None:
    language = string_language(formula)
    assert isinstance(language, ByteAutomaton)
    # The union with itself is determinized and minimized by the general way.
    assert _same(language, alternation(language, language))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text('ab\\"/é\u2028😀\n\x01\x7f7fdDJ\ud7ff\ue000\U0010ffff', max_size=4), max_size=6), st.booleans())
def test_lists_and_all_strings_besides_them(texts: list[str], usual: bool) -> None:
    expected = spelled(difference(ex.ANY_TEXT, ex.strings(texts) if texts else ex.EMPTY), plain=usual)
    assert _same(spellings_besides(texts, plain=usual), expected)
    assert _same(spellings_of(texts), spelled(compile_expr(ex.strings(texts) if texts else ex.EMPTY)))


def test_long_lists() -> None:
    texts = [f"{number * 7919 % 1000} {'word' * (number % 5)}" for number in range(1000)]
    assert _same(spellings_besides(texts), spelled(difference(ex.ANY_TEXT, ex.strings(texts))))
    assert _same(spellings_of(texts), spelled(compile_expr(ex.strings(texts))))
    with pytest.raises(LimitExceeded, match="of 3 strings"):
        spellings_besides(["a" * 3_000_000, "b", "c"])
    excluded = And(Not(StringIn(frozenset(["a", "\ud83d"]))), Not(StringIn(frozenset(["b"]))))
    assert string_language(excluded) is not string_language(Not(StringIn(frozenset(["a", "b"]))))
    language = string_language(excluded)
    assert isinstance(language, ByteAutomaton)
    assert _same(spellings_besides(["b", "a"]), language)
    assert not string_is_empty(excluded)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (0, 1), (1, 1), (2, 5), (3, 2), (0, None), (1, None), (3, None), (7, 40)]
)
def test_lengths_are_repetitions(low: int, high: int | None) -> None:
    expected = compile_expr(ex.repeat(ex.ANY_CHAR, low, high) if high is None or low <= high else ex.EMPTY)
    assert _same(length_automaton(low, high), expected)
    assert _same(length_spellings(low, high), spelled(expected))


def test_long_lengths() -> None:
    language = string_language(TextLength(0, 3000))
    assert isinstance(language, ByteAutomaton)
    assert language.accepts(b'"' + 2999 * b"a" + b'\\u0041"')
    assert not language.accepts(b'"' + 3000 * b"a" + b'\\n"')
    assert _same(language, spelled(length_automaton(0, 3000)))
    for bound in (100_001, 2_147_483_647, 10**18):
        for formula in (TextLength(0, bound), TextLength(bound, None), TextLength(bound, bound)):
            with pytest.raises(LimitExceeded, match=f"counting to {bound:,} "):
                string_language(formula)


@pytest.mark.parametrize(
    "pattern", ["b$", "(ab|é)+", "^(?:\\S+\\s+){0,4}\\S+$", "^(ab)*$", "^(a|bbb)$", "^$|^..+$", "^a{3}(b|cc)*$"]
)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 5), (1, None), (4, None), (2, 2), (3, 7)])
def test_counted_texts_are_the_intersection(pattern: str, low: int, high: int | None) -> None:
    language, expected = string_language(Pattern(pattern)), content(And(TextLength(low, high), Pattern(pattern)))
    assert isinstance(language, ByteAutomaton)
    counted = counted_texts(language, low, high)
    if counted is None:
        has_gaps = pattern in ("^(ab)*$", "^$|^..+$") and low > 0 and high is not None
        assert has_gaps or expected.is_empty
    else:
        assert _same(counted.expanded(), spelled(expected))


@pytest.mark.parametrize(
    ("formula", "is_counted"),
    [
        (TextLength(0, 40), True),
        (TextLength(40, None), True),
        (TextLength(0, 5), False),
        (Pattern("^[a-z/\\u00e9\\n]{1,60}$"), True),
        (And(Pattern("^[^b-y]+$"), TextLength(2, 40)), True),
        (And(Pattern("^[ab]{50}$"), TextLength(2, 40)), False),
        (And(Pattern("^[ab]*$"), Pattern("^[bc]{0,50}$")), False),
        (Pattern("[ab]{40,50}"), False),
        (Pattern("^a{1,3}[ab]{40}$"), False),
        (And(TextLength(0, 40), Not(StringIn(frozenset(["a"])))), True),
        (And(TextLength(33, 40), Not(Pattern("^[ab]*$")), Pattern("é")), True),
        (And(TextLength(0, 40), Pattern("^(ab)*$")), True),
        (And(TextLength(3, 40), Pattern("^(ab)*$")), False),
        (And(TextLength(0, 40), StringIn(frozenset(["a"]))), False),
        (And(TextLength(50, 60), Pattern("^a{1,40}$")), False),
    ],
)
def test_what_is_counted_is_the_same_language(formula: Formula, is_counted: bool) -> None:
    language, expected = counted_language(formula), string_language(formula)
    assert isinstance(expected, ByteAutomaton)
    if is_counted:
        assert isinstance(language, CountedUnits | CountedPaths)
        assert _same(language.expanded(), expected)
    else:
        assert language is expected


def test_plain_spellings() -> None:
    texts = ["a", 'é"', "\x01\n/", "\ud800"]
    language = compile_expr(plain_spellings(texts))
    expected = {json.dumps(text, ensure_ascii=flag).encode() for text in texts[:3] for flag in (True, False)}
    assert equivalent(language, ex.strings(expected))


def test_plain_spellings_of_formulas() -> None:
    for code in [*range(0x200), 0x2028, 0xD7FF, 0xE000, 0x1F600, 0x10FFFF]:
        char = chr(code)
        expected = {json.dumps(char), json.dumps(char, ensure_ascii=False)}
        units = "".join(f"\\u{unit:04x}" for unit in memoryview(char.encode("utf-16-le")).cast("H"))
        for text in {*expected, f'"{units}"', f'"{char}"', f'"{units}"'.upper().replace("U", "u")}:
            for formula in (TRUE, Not(StringIn(frozenset(["a", "é", "\n\n"])))):
                language = string_language(formula, plain=True)
                assert isinstance(language, ByteAutomaton)
                assert language.accepts(text.encode()) == (text in expected and string_matches(formula, char)), text
    words = frozenset(f"{number * 7919} words" for number in range(200))
    every, usual = (string_language(Not(StringIn(words)), plain=flag) for flag in (False, True))
    assert isinstance(every, ByteAutomaton)
    assert isinstance(usual, ByteAutomaton)
    assert usual.num_states < every.num_states / 4
    assert _same(usual, alternation(usual, usual))


def test_lengths_in_a_conjunction_are_one() -> None:
    bounds = And(TextLength(0, None), Not(TextLength(0, 2)), TextLength(1, 9), Not(TextLength(8, None)))
    assert string_language(bounds) is string_language(TextLength(3, 7))
    assert string_is_empty(And(TextLength(3, None), Not(TextLength(2, None))))
    assert string_language(And(TextLength(0, None), Pattern("a"))) is string_language(Pattern("a"))
    for length in range(9):
        assert _accepts(And(Not(TextLength(2, 4)), TextLength(1, 6)), f'"{length * "a"}"') == (length in (1, 5, 6))


def test_lengths_settle_what_is_said_of_lengths_beside_them() -> None:
    within, digits = TextLength(1025, 32767), Pattern("^[0-9]*$")
    assert with_one_length(And(within, Or(Not(TextLength(1, None)), Not(TextLength(0, 1024))))) == within
    assert with_one_length(And(within, Or(TextLength(32768, None), digits))) == And(within, digits)
    assert with_one_length(And(TextLength(0, 4), Or(TextLength(2, None), TextLength(6, 8)))) == TextLength(2, 4)
    assert with_one_length(And(TextLength(0, 4), Or(TextLength(5, None), TextLength(6, 8)))) == FALSE


@pytest.mark.parametrize(("low", "high"), [(0, 2), (2, 3), (3, 3), (1, None)])
def test_lengths_in_a_conjunction_mean_the_same(low: int, high: int | None) -> None:
    bounds = [TextLength(least, most) for least in range(4) for most in (*range(least, 5), None)]
    for one, other in itertools.product(bounds, [FALSE, *bounds]):
        formula = And(TextLength(low, high), Or(Not(one), other, Pattern("1")))
        for text in ("", *(length * letter for length in range(1, 7) for letter in "1x")):

            def holds(part: Formula, text: str = text) -> bool:
                if isinstance(part, TextLength):
                    return part.low <= len(text) <= (9 if part.high is None else part.high)
                return "1" in text

            assert truth(with_one_length(formula), holds) == truth(formula, holds)


def test_long_lists_have_plain_spellings() -> None:
    words = frozenset(f"word {number}" for number in range(1000))
    for formula in (StringIn(words), And(Pattern("[0-8]$"), StringIn(words))):
        automaton = string_language(formula)
        assert isinstance(automaton, ByteAutomaton)
        assert automaton.accepts(b'"word 8"')
        assert automaton.accepts(b'"word 9"') == isinstance(formula, StringIn)
        assert not automaton.accepts(b'"\\u0077ord 8"')
    assert _accepts(Not(StringIn(words)), '"\\u0057ord 9"')
    assert not _accepts(Not(StringIn(words)), '"\\u0077ord 9"')


def test_errors() -> None:
    with pytest.raises(PatternError, match="unknown"):
        string_language(Pattern("(?P<AND>(?:a)(?:b))"))
    with pytest.raises(PatternError, match="back-reference"):
        string_language(Pattern("(a)\\1"))
    with pytest.raises(TypeError, match="IsInteger"):
        string_language(And(TRUE, IsInteger()))
    assert string_matches(Pattern("[(?P<a>]"), "<")


def test_a_pattern_that_is_not_regular_is_a_keyword_that_cannot_be_held() -> None:
    schema = {"properties": {"x": {"type": "string", "pattern": "^(a|b)\\1$"}}}
    with pytest.raises(UnsupportedSchema) as refused:
        json_schema(schema)
    assert (refused.value.pointer, refused.value.keyword) == ("/properties/x/pattern", "pattern")
    made = json_schema(schema, unsupported="relax")
    assert [note.pointer for note in made.dropped] == ["/properties/x/pattern"]
    assert (made.allows('{"x": "ab"}'), made.allows('{"x": 1}')) == (True, False)
    with pytest.raises(SchemaError, match="never closed"):
        json_schema({"pattern": "(a"}, unsupported="relax")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"properties": {"x": {"pattern": "(a"}}}, r"never closed .*at /properties/x/pattern"),
        ({"patternProperties": {"[b-a]": {"type": "null"}}}, r"before it starts .*at /patternProperties/\[b-a\]"),
        ({"items": {"pattern": "(a)\\1"}}, r"back-reference.*at /items/pattern"),
    ],
)
def test_a_broken_pattern_is_named_with_its_place(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        json_schema(schema)
