"""The front end reads patterns as Python's `re` does, or refuses them with the place and the reason."""

from __future__ import annotations

import pickle
import random
import re
import sys
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import ATOMS, LAZY, QUANTIFIERS, accepted, all_patterns, strings, up_to

from automata import ByteAutomaton, PatternError, compile_expr, parse
from automata.queries import random_strings


def compiled(pattern: str) -> ByteAutomaton:
    return compile_expr(parse(pattern))


def language_by_re(pattern: str, length: int, alphabet: bytes = b"abc") -> set[bytes]:
    match = re.compile(pattern, re.ASCII).fullmatch
    return {text for text in strings(alphabet, length) if match(text.decode())}


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
_CLASSES = [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"]
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
    named = st.sampled_from([*_ESCAPES, r"\b", *(_CLASSES if classes else [])])
    body = st.lists(st.one_of(single, ranges, named), min_size=1, max_size=4).map("".join)
    return st.tuples(st.sampled_from(["[", "[^"]), body).map(lambda pair: f"{pair[0]}{pair[1]}]")


def regexes(classes: bool) -> st.SearchStrategy[str]:
    """Patterns of the whole grammar; without classes for what ASCII and Unicode classes would tell apart."""
    leaves = st.one_of(
        st.text(ALPHABET, min_size=1, max_size=3).map(_escaped),
        st.sampled_from([*_ESCAPES, ".", *(_CLASSES if classes else [])]),
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
@settings(max_examples=100)
def test_random_patterns_with_unicode_classes(pattern: str, texts: list[str]) -> None:
    check_near(f"(?u){pattern}", re.compile(pattern), texts)


@given(regexes(classes=False), TEXTS)
def test_random_patterns_ignoring_case(pattern: str, texts: list[str]) -> None:
    swapped = [text.swapcase() for text in texts]
    check_near(f"(?i){pattern}", re.compile(pattern, re.IGNORECASE), texts + swapped)


@given(regexes(classes=True), TEXTS)
@settings(max_examples=100)
def test_random_patterns_ignoring_ascii_case(pattern: str, texts: list[str]) -> None:
    check_near(f"(?ia){pattern}", re.compile(pattern, re.IGNORECASE | re.ASCII), texts)


@given(st.data())
@settings(max_examples=100)
def test_texts_that_re_matches_are_accepted(data: st.DataObject) -> None:
    pattern = data.draw(regexes(classes=True))
    oracle = re.compile(pattern, re.ASCII)
    text = data.draw(st.from_regex(oracle, fullmatch=True))
    # Surrogates are no text.
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


# All of Unicode


def in_utf8(automaton: ByteAutomaton) -> list[int]:
    """How many byte strings of each length up to 6 an automaton accepts."""
    table = automaton.by_byte()
    counts, found = {automaton.start: 1} if automaton.start >= 0 else {}, []
    for _ in range(7):
        found.append(sum(ways for state, ways in counts.items() if automaton.final[state]))
        following: dict[int, int] = {}
        for state, ways in counts.items():
            for target in table[state][table[state] >= 0].tolist():
                following[target] = following.get(target, 0) + ways
        counts = following
    return found


CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [(".", 0), ("(?s).", re.DOTALL), ('[^"]', 0), (r"[^\x00-\x1f\\é-€]", 0), (r"[\ud7ff\ue000\U00010000]", 0)]
    + [(f"(?u){letter}", 0) for letter in _CLASSES]
    + [(letter, re.ASCII) for letter in _CLASSES]
    + [(wide, 0) for wide in ("[a-\U0001f600]", "[\x00-\U0010ffff]", "[^a-\ue000]", r"(?i)[^a-z]", r"(?i)[α-ω]")]
    + [(rf"[^\w{extra}]", re.ASCII) for extra in ("", "é", r"\s")],
)
def test_one_character_patterns_over_all_characters(pattern: str, flags: int) -> None:
    automaton = compiled(pattern)
    match = re.compile(pattern.replace("(?u)", ""), flags).fullmatch
    expected = [char for char in CHARACTERS if match(char)]
    assert all(automaton.accepts(char.encode()) for char in expected)
    # Exactly those: as many byte strings of each length, so no malformed or overlong form and no surrogate.
    lengths = [len(char.encode()) for char in expected]
    assert in_utf8(automaton) == [lengths.count(n) for n in range(7)]


def test_all_characters_that_have_case() -> None:
    cased = [c for c in CHARACTERS if c.lower() != c or c.upper() != c or c.casefold() != c]
    everything = "".join(cased)
    for char in cased:
        expected = re.findall(re.escape(char), everything, re.IGNORECASE)
        automaton = compiled(f"(?i){re.escape(char)}")
        assert all(automaton.accepts(other.encode()) for other in expected), char
        assert sum(in_utf8(automaton)) == len(expected), char


def test_a_character_without_case_is_only_itself() -> None:
    caseless = [c for c in CHARACTERS if c.lower() == c == c.upper() and c.casefold() == c]
    for char in random.Random(0).sample(caseless, 500):
        assert parse(f"(?i){re.escape(char)}") == parse(re.escape(char))


@pytest.mark.parametrize(
    "malformed",
    [
        b"\x80",
        b"\xbf",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xc2",
        b"\xc2A",
        b"\xc2\xc2",
        b"\xe0\x80\x80",
        b"\xe0\x9f\xbf",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xf0\x80\x80\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xf0\x9f\x98",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xff",
        b"\xfe",
        b"\xf8\x88\x80\x80\x80",
    ],
)
@pytest.mark.parametrize("pattern", [r"(?s).", r"(?s).*", '[^"]*', r"(?u)[\w\W]+", "(?P<NOT>a)", "(?P<NOT>(?s:.)*b)"])
def test_malformed_utf8_is_never_accepted(pattern: str, malformed: bytes) -> None:
    automaton = compiled(pattern)
    for text in (malformed, b"a" + malformed, malformed + b"a", "é".encode() + malformed):
        assert not automaton.accepts(text)


@given(st.binary(max_size=6))
def test_any_text_is_exactly_what_decodes(data: bytes) -> None:
    try:
        data.decode()
        is_text = True
    except UnicodeDecodeError:
        is_text = False
    assert compiled("(?s).*").accepts(data) == is_text


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


# Refusals

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
@settings(max_examples=3000)
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
