"""The front end reads patterns as Python's `re` does, or refuses them with the place and the reason."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pattern_cases import CLASSES, compiled, in_utf8, language_by_re
from strategies import ATOMS, LAZY, QUANTIFIERS, accepted, all_patterns, strings, up_to

from automata import PatternError, parse
from automata.queries import random_strings


def check_against_re(pattern: str, length: int) -> None:
    assert accepted(compiled(pattern), b"abc", length) == language_by_re(pattern, length), pattern


# Every small pattern, every short string


def test_every_pattern_of_up_to_four_nodes() -> None:
    for pattern in up_to(4):
        check_against_re(pattern, 4)


def test_every_pattern_of_five_nodes_with_the_basic_operators() -> None:
    for pattern in all_patterns(5, atoms=("a", "b"), quantifiers=("*", "?", "{2}")):
        check_against_re(pattern, 5)


def test_lazy_forms_describe_the_same_language() -> None:
    for pattern in up_to(3, quantifiers=(*LAZY, "{2,}?")):
        check_against_re(pattern, 4)


def test_quantifiers_and_atoms_without_a_group() -> None:
    for atom, mark, tail in product(
        ATOMS[:-1], (*QUANTIFIERS, *LAZY), ("", "b", "|b", "a*", "{", "{,", "{b}", "]", "}")
    ):
        check_against_re(atom + mark + tail, 4)
        check_against_re("c" + atom + mark + tail, 4)
        check_against_re(f"c(?:{tail or 'a'}){mark}", 4)


@pytest.mark.parametrize(
    "form",
    [
        "^{}$",
        r"\A{}\Z",
        "^(?:{})",
        "(?:{})$",
        "(^{}$)",
        "^^{}$$",
        "b|^{}$",
        "^{}$|ab",
        "(^{}|a)b",
        "b({}$|a)",
        "(?:^{})?",
        "(?:{}$)?",
        "(?:(^){})",
        "{}($)",
    ],
)
def test_anchors_at_the_ends(form: str) -> None:
    for pattern in up_to(3, quantifiers=("*", "?")):
        check_against_re(form.format(pattern), 4)


@given(st.data(), st.sampled_from(up_to(4)))
def test_anchors_anywhere_mean_what_re_means(data: st.DataObject, pattern: str) -> None:
    for anchor in data.draw(st.lists(st.sampled_from(["^", "$", r"\A", r"\Z", r"\b"]), min_size=1, max_size=3)):
        place = data.draw(st.integers(0, len(pattern)))
        pattern = pattern[:place] + anchor + pattern[place:]
    try:
        expected = language_by_re(pattern, 4)
    except re.error:
        with pytest.raises(PatternError):
            parse(pattern)
        return
    assert accepted(compiled(pattern), b"abc", 4) == expected, pattern


# Random patterns


ALPHABET = "abAZz09_ \n\t.-]^\\é\u00c9ß€ſKİ\U0001f600\x00\x7f\x85\u2028"


_ESCAPES = [
    r"\n",
    r"\t",
    r"\.",
    r"\\",
    r"\]",
    r"\-",
    r"\x41",
    r"\u00e9",
    r"\U0001f600",
    r"\N{EURO SIGN}",
    r"\0",
    r"\101",
    r"\a",
]


def _escaped(char: str) -> str:
    return re.escape(char)


def _sets(classes: bool) -> st.SearchStrategy[str]:
    single = st.sampled_from(ALPHABET).map(lambda c: "\\" + c if c in "]^-\\" else c)
    ranges = st.tuples(st.sampled_from("aZ0é"), st.sampled_from("zé€\U0001f600")).map(lambda p: f"{min(p)}-{max(p)}")
    named = st.sampled_from([*_ESCAPES, r"\b", *(CLASSES if classes else [])])
    body = st.lists(st.one_of(single, ranges, named), min_size=1, max_size=4).map("".join)
    return st.tuples(st.sampled_from(["[", "[^"]), body).map(lambda pair: f"{pair[0]}{pair[1]}]")


def regexes(classes: bool) -> st.SearchStrategy[str]:
    """Patterns of the whole grammar; without classes for what ASCII and Unicode classes would tell apart."""
    leaves = st.one_of(
        st.text(ALPHABET, min_size=1, max_size=3).map(_escaped),
        st.sampled_from([*_ESCAPES, ".", *(CLASSES if classes else [])]),
        _sets(classes),
    )

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        group = st.sampled_from(["(?:%s)", "(%s)", "(?s:%s)", "(?-s:%s)"])
        marks = st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{,1}", "{1,}", "*?", "+?", "??"])
        return st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map("|".join).map(lambda p: f"(?:{p})"),
            st.tuples(group, inner, marks).map(lambda p: (p[0] % p[1]) + p[2]),
        )

    return st.recursive(leaves, larger, max_leaves=6)


def check_near(pattern: str, oracle: re.Pattern[str], texts: list[str]) -> None:
    """Compares on given texts, on members of the language, and on members with a character changed."""
    automaton = compiled(pattern)
    generator = random.Random(0)
    members = [] if automaton.is_empty else random_strings(automaton, 12, seed=1, max_length=8)
    for member in members:
        text = member.decode()
        assert oracle.fullmatch(text), (pattern, text)
        place = generator.randrange(len(text) + 1)
        texts += [text[:place] + text[place + 1 :], text[:place] + generator.choice(ALPHABET) + text[place:]]
    for text in texts:
        assert automaton.accepts(text.encode()) == bool(oracle.fullmatch(text)), (pattern, text)


TEXTS = st.lists(st.text(ALPHABET, max_size=5), max_size=10)


@given(regexes(classes=True), TEXTS, st.sampled_from(["", "s"]))
def test_random_patterns(pattern: str, texts: list[str], flag: str) -> None:
    prefix = f"(?{flag})" if flag else ""
    check_near(prefix + pattern, re.compile(prefix + pattern, re.ASCII), texts)


@given(regexes(classes=True), TEXTS)
@settings(max_examples=60)
def test_random_patterns_with_unicode_classes(pattern: str, texts: list[str]) -> None:
    check_near(f"(?u){pattern}", re.compile(pattern), texts)


@given(regexes(classes=False), TEXTS)
def test_random_patterns_ignoring_case(pattern: str, texts: list[str]) -> None:
    swapped = [text.swapcase() for text in texts]
    check_near(f"(?i){pattern}", re.compile(pattern, re.IGNORECASE), texts + swapped)


@given(regexes(classes=True), TEXTS)
@settings(max_examples=60)
def test_random_patterns_ignoring_ascii_case(pattern: str, texts: list[str]) -> None:
    check_near(f"(?ia){pattern}", re.compile(pattern, re.IGNORECASE | re.ASCII), texts)


@given(st.data())
@settings(max_examples=60)
def test_texts_that_re_matches_are_accepted(data: st.DataObject) -> None:
    pattern = data.draw(regexes(classes=True))
    oracle = re.compile(pattern, re.ASCII)
    text = data.draw(st.from_regex(oracle, fullmatch=True))
    # Surrogates are not text.
    assume(not re.search("[\ud800-\udfff]", text))
    assert compiled(pattern).accepts(text.encode()), (pattern, text)


VERBOSE = [
    " a b ",
    "a # comment\n b",
    "[ab #]+ c",
    r"a\ b",
    "a{2} b",
    "a {2}",
    "(?: a | b ) # end",
    "\\# [#]",
    "a #",
    "ab *",
    "aa {0,2}",
    "ab # two\n {2}",
    "ab(?#c) +",
    "a#\\\nb\nb",
    "a#\\",
    "a\\\n",
    "( ?:a)",
]


@pytest.mark.parametrize("pattern", VERBOSE)
def test_verbose_patterns(pattern: str) -> None:
    try:
        oracle = re.compile(pattern, re.VERBOSE | re.ASCII)
    except re.error:
        with pytest.raises(PatternError):
            parse(f"(?x){pattern}")
        return
    for prefix, suffix in (("(?x)", ""), ("(?x:", "\n)")):
        automaton = compiled(prefix + pattern + suffix)
        expected = {s for s in strings(b"ab #\n", 4) if oracle.fullmatch(s.decode())}
        assert accepted(automaton, b"ab #\n", 4) == expected


def test_what_is_skipped_stands_between_an_item_and_its_quantifier() -> None:
    texts = [text.decode() for text in strings(b"ab", 4)]
    for prefix, length in product(("", "(?x)"), range(5)):
        for pieces in product(("a", "ab", "*", "{2}", " ", "#\n", "(?#b)"), repeat=length):
            pattern = prefix + "".join(pieces)
            try:
                oracle = re.compile(pattern)
            except re.error:
                with pytest.raises(PatternError):
                    parse(pattern)
                continue
            automaton = compiled(pattern)
            for text in texts:
                assert automaton.accepts(text.encode()) == bool(oracle.fullmatch(text)), (pattern, text)


@pytest.mark.parametrize("space", " \t\n\r\v\f\x1c\x1f\x85\xa0\u2028\u3000")
def test_white_space_that_is_skipped_is_ascii(space: str) -> None:
    for pattern in (f"(?x)a{space}b", f"(?x)a{space}{{0,2}}"):
        for text in ("ab", f"a{space}b", "a", "aa", f"a{space}", f"a{space}{space}"):
            assert compiled(pattern).accepts(text.encode()) == bool(re.fullmatch(pattern, text)), (pattern, text)


@pytest.mark.parametrize("pattern", [r"(?#\)a(?#\))b", r"(?#\\)b", r"a(?#\\\)\)b(?#)"])
def test_a_backslash_in_a_comment_takes_a_character_along(pattern: str) -> None:
    for text in ("", "b", "ab", "a"):
        assert compiled(pattern).accepts(text.encode()) == bool(re.fullmatch(pattern, text)), (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [r"(?u)(?a:\d)\d", r"(?a)\d(?u:\d)", r"(?u)(?a:\w\b)", "(?ia)(?u:é)é", "(?iu)(?a:é)é", r"(?a:(?u:\d)\d)(?u:\d)"],
)
def test_flags_a_and_u_unset_one_another(pattern: str) -> None:
    texts = [*map("".join, product("2٣éÉ", repeat=2)), "é", "É", "٣", "2", "2٣2", "٣2٣"]
    for text in texts:
        assert compiled(pattern).accepts(text.encode()) == bool(re.fullmatch(pattern, text)), (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i:a)b",
        "(?i)a(?-i:b)",
        "(?i:a(?-i:b)A)",
        "(?i)[a-b]B",
        "(?i)[^a]",
        "(?is:a.)",
        "(?s)a(?-s:.).",
        "(?i:[^b])a|B",
    ],
)
def test_flags_of_groups(pattern: str) -> None:
    match = re.compile(pattern).fullmatch
    assert accepted(compiled(pattern), b"abAB\n", 4) == {s for s in strings(b"abAB\n", 4) if match(s.decode())}


def test_a_comment_is_nothing() -> None:
    assert parse("a(?#b*)*c") == parse("a*c")
    assert parse("(?#only)") == parse("")


def test_a_group_s_flags_end_with_it() -> None:
    assert parse("(?i:a)a") == parse("[aA]a")
    assert parse("((?i:a))a") == parse("[aA]a")


# What only this front end has


def test_the_named_operations() -> None:
    every = set(strings(b"abc", 4))
    a, b = (accepted(compiled(p), b"abc", 4) for p in ("(?:a|b)*a", "a(?:.)*"))
    assert accepted(compiled("(?P<AND>(?:(?:a|b)*a)(?:a(?:.)*))"), b"abc", 4) == a & b
    assert accepted(compiled("(?P<MINUS>(?:(?:a|b)*a)(?:a(?:.)*))"), b"abc", 4) == a - b
    assert accepted(compiled("(?P<NOT>a(?:.)*)"), b"abc", 4) == every - b
    assert accepted(compiled("(?P<NOT>b|a(?:.)*)?"), b"abc", 4) == every - b - {b"b"} | {b""}


def test_bytes_stand_for_themselves() -> None:
    assert accepted(compiled(r"(?P<BYTES>[\x80-\xff]a\xe9)é"), b"a\xc3\xa9\xe9", 5) == {
        bytes([first]) + b"a\xe9\xc3\xa9" for first in b"\xc3\xa9\xe9"
    }
    assert in_utf8(compiled("(?P<BYTES>.)"))[1:3] == [255, 0]
    assert in_utf8(compiled("(?P<BYTES>(?s:.))"))[1:3] == [256, 0]
    assert in_utf8(compiled(r"(?P<BYTES>[^a])"))[1:3] == [255, 0]
    assert in_utf8(compiled(r"(?P<BYTES>\D)"))[1:3] == [246, 0]


def test_named_groups_are_groups() -> None:
    assert parse("(?P<year>[0-9]{4})x") == parse("[0-9]{4}x")


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("[]a]", r"[\]a]"),
        ("[^]a]", r"[^\]a]"),
        ("[a-]", r"[a\-]"),
        ("[-a]", r"[a\-]"),
        ("[a-c-e]", r"[abc\-e]"),
        ("a{", r"a\{"),
        ("a{x}", r"a\{x\}"),
        ("}", r"\}"),
        ("]", r"\]"),
        ("[[]", r"\["),
        ("[$^.*]", r"[*.\^$]"),
        (r"[\b]", r"\x08"),
        ("a{,}", "a*"),
        ("a{,3}", "a{0,3}"),
        (r"\/\-\ ", "/- "),
        (r"\07", r"\x07"),
    ],
)
def test_characters_that_mean_themselves(pattern: str, same: str) -> None:
    assert parse(pattern) == parse(same)
    for char in map(chr, range(128)):
        assert compiled(pattern).accepts(char.encode()) == bool(re.fullmatch(pattern, char))
