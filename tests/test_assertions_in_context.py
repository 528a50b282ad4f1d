"""What surrounds an assertion: other parts of an expression, searches, limits, lists, counted repetitions."""

from __future__ import annotations

import time

import pytest

from automata import (
    ANY_BYTES,
    ANY_TEXT,
    ExpressionError,
    LimitExceeded,
    Limits,
    PatternError,
    byte_set,
    char_set,
    compile_expr,
    complement,
    concat,
    literal,
    lookahead,
    lookbehind,
    parse,
    whole,
)
from automata.assertions import skeleton
from automata.counted import compile_counted
from automata.expressions import EMPTY, TEXT_END, TEXT_START, Label, Substring
from automata.expressions import strings as strings_of
from automata.limits import Work
from automata.queries import equivalent


def test_what_parse_returns_does_not_depend_on_what_it_is_put_beside() -> None:
    assert equivalent(parse("a$") + "b", literal("ab"))
    left, right = parse("(?:^|,)a"), parse("b(?!c)(?:$|,)")
    assert equivalent(left + right, parse("(?:|,)ab(?:|,)"))
    assert equivalent(parse(r"\bx\b").star(), literal("x").star())


def test_assertions_of_expressions_do_depend_on_it() -> None:
    word = char_set((0x61, 0x7A))
    assert equivalent(lookahead("ab") + word.star(), "ab" + word.star())
    assert equivalent(word.star() + lookbehind("ab") + word, word.star() + "ab" + word)
    assert equivalent(literal("a") + TEXT_END + "b", EMPTY)
    assert equivalent(whole("a" + TEXT_END) + "b", literal("ab"))
    assert equivalent(("a" + TEXT_END) & literal("a"), literal("a"))
    before_c = literal("a") + lookahead("c")
    not_before_b = literal("a") + lookahead("b", negated=True)
    for text in (not_before_b & not_before_b, not_before_b - literal("c"), not_before_b - EMPTY, ~~not_before_b):
        assert equivalent(text + "b", literal("ab"))
    assert equivalent((before_c & before_c) + "c", EMPTY)
    for pattern in ("(?P<AND>(?:a$)(?:a$))b", r"(?P<MINUS>(?:a$)(?:[^\s\S]))b"):
        assert equivalent(parse(pattern), literal("ab"))


def test_texts_of_their_own_stay_so_when_printed() -> None:
    expr = parse(r"(?:a\Z)?").star()
    for each in (whole(expr) + "a", ~expr, (expr & expr) + "a"):
        assert equivalent(parse(str(each)), each)


def test_an_assertion_in_a_large_part_that_occurs_twice() -> None:
    """Parts that are laid out more than once are compiled by themselves, which one with an assertion must not be."""
    part = r"(?:[a-z]{3}[0-9]{3}(?:key|value|other){2}[a-z]{40}[0-9]{20}\b)"
    large = parse(f"{part}{part}")
    unit = "abc123keyvalue" + "x" * 40 + "1" * 20
    assert compile_expr(large).is_empty
    assert compile_expr(parse(f"{part} {part}")).accepts(f"{unit} {unit}".encode())
    # The same part as a text of its own is another matter.
    bare = part.replace(r"\b", "")
    both = parse(f"(?P<AND>{part}{bare}){part} {part}|{part}{part}")
    assert compile_expr(both).accepts(f"{unit}{unit} {unit}".encode())
    assert not compile_expr(both).accepts(f"{unit}{unit}".encode())


def test_labels_are_characters_to_assertions() -> None:
    image = Label("IMAGE")
    for expr, empty in [
        (image + TEXT_END, False),
        ("a" + TEXT_END + image, True),
        (lookahead(char_set("\n", negated=True)) + image, False),
        ("a" + lookahead(char_set("ab"), negated=True) + image, False),
        (image + lookbehind(char_set("ab")) + "a", True),
        (lookahead("a") + image, True),
        (parse(r"a\b") + image, False),
    ]:
        automaton = compile_expr(expr)
        assert automaton.is_empty == empty, str(expr)
        assert empty or automaton.labels == ("IMAGE",)


def test_two_labels_are_apart_from_characters() -> None:
    either = Label("A") | Label("B")
    for char in "b\U0010ffff":
        assert compile_expr(either + lookbehind(char_set(char)) + "a").is_empty
    assert equivalent(either + lookbehind("b", negated=True) + "a", either + "a")
    automaton = compile_expr(parse(r"a\b") + either)
    assert automaton.labels == ("A", "B")
    assert equivalent(automaton, "a" + either)


def test_a_complement_beyond_an_anchor_may_be_empty() -> None:
    other = complement("a")
    for expr in (
        concat(other, TEXT_START, "b"),
        concat("b", TEXT_END, other),
        concat("b", lookahead(other)),
        concat(lookbehind(other), "b"),
    ):
        assert equivalent(expr, literal("b")), str(expr)


def test_assertions_and_raw_bytes() -> None:
    assert equivalent(TEXT_START + byte_set([0x80]) + TEXT_END, byte_set([0x80]))
    assert equivalent(parse(r"^(?P<BYTES>\xff)$"), literal(b"\xff"))
    for expr in (lookahead("a") + ANY_BYTES, byte_set([1, 0x80]) + lookbehind("a"), lookahead(b"\xff") + ANY_TEXT):
        with pytest.raises(ExpressionError, match="raw bytes"):
            compile_expr(expr)
    for pattern, position in ((r"a\b(?P<BYTES>[\x80-\xff])", 3), (r"(?P<BYTES>a\b)", 11), ("(?P<BYTES>(?=a))", 10)):
        with pytest.raises(PatternError, match="bytes") as caught:
            parse(pattern)
        assert caught.value.position == position


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("^a$", "a"),
        (r"\Aa*\Z", "a*"),
        ("^^a$$", "a"),
        ("b|^a$", "b|a"),
        ("(^a$)|b", "a|b"),
        ("(?m)^ab$", "ab"),
        ("a*^b", "b"),
        ("a^b", r"[^\x00-\U0010ffff]"),
        ("(?<!x)a(?!x)", "a"),
        ("(?<=x)a", r"[^\x00-\U0010ffff]"),
        ("(?=a*)", ""),
        ("(?=a)*b", "b"),
        ("(?:)(?=)b", "b"),
    ],
)
def test_assertions_that_are_decided_where_they_stand_vanish(pattern: str, same: str) -> None:
    assert parse(pattern) == parse(same)


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("(?=ab)[a-z]*", "(?P<AND>(?:[a-z]*)(?:ab(?s:.)*))"),
        ("^(?!ab)[a-z]*$", "(?P<MINUS>(?:[a-z]*)(?:ab(?s:.)*))"),
        ("[a-z]*(?<!ab)$", "(?P<MINUS>(?:[a-z]*)(?:(?s:.)*ab))"),
        ("[a-z]*(?<=ab)", "(?P<AND>(?:[a-z]*)(?:(?s:.)*ab))"),
    ],
)
def test_assertions_at_the_ends_are_operations(pattern: str, same: str) -> None:
    assert parse(pattern) == parse(same)


def test_searching_resolves_anchors_at_the_ends() -> None:
    anything = "(?s:.)*"
    assert parse("^a", search=True) == parse(f"a{anything}")
    assert parse("^a|b|c", search=True) == parse(f"{anything}(?:b|c){anything}|a{anything}")
    assert parse("^a$", search=True, dialect="ecma") == literal("a")
    assert equivalent(parse("^a$", search=True), parse("a\n?"))


def test_passwords() -> None:
    automaton = compile_expr(parse(r"^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?!.*(.)(?<=x)).{8,}$"))
    for text in ("abcDEF12", "Abcdefg1", "1Aaaaaaaaaaa"):
        assert automaton.accepts(text.encode())
    for text in ("abcdef12", "ABCDEF12", "abcDEFGH", "aB1", "abcDEF12x"):
        assert not automaton.accepts(text.encode())


def test_what_grows_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeleton, "MAX_STATES", 1000)
    patterns = (r"a*\b(?:a|b)*a(?:a|b){40}\bc?", r".*(?<=a.{30})y.*", r"(?:a{999}\bb){900}")
    for pattern in patterns:
        with pytest.raises(LimitExceeded, match=r"assertions of .{10,200} more than 1,000 states .*limit `states`"):
            compile_expr(parse(pattern))
    work = Work(Limits(states=20))
    with pytest.raises(LimitExceeded, match="20 states over characters"):
        compile_expr(parse(r"a?\b[ab]{19}"), work)


def test_resolving_stops_when_the_time_is_up() -> None:
    begun = time.process_time()
    work = Work(Limits(seconds=0.05))
    with pytest.raises(LimitExceeded, match=r"0\.05 seconds"):
        compile_expr(parse(r"a*\b(?:a|b)*a(?:a|b){40}\bc?"), work)
    assert time.process_time() - begun < 5


def test_deep_nesting_neither_recurses_to_a_crash_nor_hangs() -> None:
    depth = 3000
    assert compile_expr(parse("(?:" * depth + r"a\b" + ")?" * depth)).accepts(b"a")
    assert compile_expr(parse(r"(?:b" * depth + r"a\b" + ")?" * depth)).accepts(b"b" * depth + b"a")
    assert parse("(?=" * depth + "a" + ")" * depth + "b*") == parse("(?=a)b*")
    assert compile_expr(parse("(?=.*a)" * 300 + "a|b")).accepts(b"a")
    for pattern in ("(?=a" * depth + ")" * depth + "a*", "b?(?=a" * depth + ")" * depth + "a*"):
        with pytest.raises(LimitExceeded, match="nested too deeply"):
            compile_expr(parse(pattern))


def test_lists_substrings_and_automata_beside_assertions() -> None:
    names = strings_of(["anna", "é", "éa", ""])
    for expr, same in [
        (names + lookbehind("a") + char_set("ab"), "(?:anna|éa)[ab]"),
        (char_set("aé") + lookbehind("é") + names, "é(?:anna|éa?|)"),
        (lookahead("éa") + names + "b", "éab"),
        (names + TEXT_END, "(?:anna|éa?|)"),
        (literal("x").optional() + lookbehind("x", negated=True) + names, "(?:anna|éa?|)"),
        (Substring("aéb", False) + lookbehind("é") + "b", "a?éb"),
        (lookbehind(Substring("ab", False), negated=True) + "a", r"[^\x00-\U0010ffff]"),
    ]:
        assert equivalent(expr, parse(same)), str(expr)
    automaton = compile_expr(parse("[ab]*é"))
    assert equivalent(automaton + (lookbehind("bé") + literal("c")), parse("[ab]*béc"))
    assert equivalent(automaton | (lookahead("c") + ANY_TEXT), parse("[ab]*é|c(?s:.*)"))
    assert equivalent(compile_expr(EMPTY) | (literal("a") + lookbehind("a") + "b"), parse("ab"))


def test_counted_repetitions_beside_assertions() -> None:
    for pattern, texts, others, is_counted in [
        (r"^(?=.*\d).{8,10000}$", ["1" + "a" * 9999], ["a" * 10_000, "1" + "a" * 10_000], True),
        (r"(?=.*\bb\b).{1,1000}", ["a b" + " " * 997], ["a b" + " " * 998, "ab"], True),
        (r"x?\b\w{1,400}\b", ["x" * 400, "a"], ["x" * 401, ""], False),
    ]:
        counted = compile_counted(parse(pattern))
        assert (counted is not None) == is_counted, pattern
        for automaton in (counted or compile_expr(parse(pattern)), compile_expr(parse(pattern))):
            assert all(automaton.accepts(text.encode()) for text in texts), pattern
            assert not any(automaton.accepts(text.encode()) for text in others), pattern
