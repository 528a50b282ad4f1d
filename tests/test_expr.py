"""Expressions denote what set operations on strings say, print as patterns that read back, and are plain values."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
import pickle
import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import UNIVERSE, UNIVERSE_LENGTH, accepted, denotation, exprs, strings, up_to

from automata import (
    ANY_BYTES,
    ANY_CHAR,
    ANY_TEXT,
    EMPTY,
    EPSILON,
    Expr,
    LimitExceeded,
    Limits,
    alternation,
    byte_set,
    char_set,
    compile_expr,
    complement,
    concat,
    difference,
    intersection,
    literal,
    parse,
    repeat,
)
from automata.queries import equivalent


def members(expr: Expr) -> set[bytes]:
    return accepted(compile_expr(expr), UNIVERSE, UNIVERSE_LENGTH)


# Languages


@given(exprs(max_leaves=8))
def test_an_expression_is_the_language_that_it_denotes(expr: Expr) -> None:
    assert members(expr) == denotation(expr)


def test_a_repetition_that_is_repeated_is_each_of_its_numbers_repeated() -> None:
    bounds = [(low, high) for low in range(5) for high in (*range(low, 6), None)]
    for inner in bounds:
        lengths = {n for n in range(40) if n >= inner[0] and (inner[1] is None or n <= inner[1])}
        sums = [{0}]
        for _ in range(40):
            sums.append({one + other for one in sums[-1] for other in lengths if one + other < 40})
        for low, high in bounds:
            expected = set().union(*sums[low : None if high is None else high + 1])
            automaton = compile_expr(repeat(repeat("a", *inner), low, high))
            assert {n for n in range(40) if automaton.accepts(n * b"a")} == expected, (inner, low, high)
    assert repeat(repeat(repeat("a", 1, 100), 1, 100), 1, 100) == repeat("a", 1, 1_000_000)


@given(exprs(), exprs())
def test_operators_are_operations_on_sets(left: Expr, right: Expr) -> None:
    a, b = members(left), members(right)
    assert members(left | right) == a | b
    assert members(left & right) == a & b
    assert members(left - right) == a - b
    assert members(left + right) == {x + y for x in a for y in b if len(x + y) <= UNIVERSE_LENGTH}
    texts = members(ANY_TEXT)
    assert members(~left) == texts - a
    assert members(left.optional()) == a | {b""}
    assert members(left.plus()) == members(left + left.star())


@given(exprs(), exprs())
def test_de_morgan(left: Expr, right: Expr) -> None:
    assert equivalent(~(left | right), ~left & ~right)
    assert equivalent(~(left & right), ~left | ~right)
    assert equivalent(~~left, left & ANY_TEXT)
    assert equivalent(left - right, left - (left & right))


@given(exprs(), exprs(), exprs())
def test_laws_of_regular_languages(a: Expr, b: Expr, c: Expr) -> None:
    assert equivalent((a | b) + c, (a + c) | (b + c))
    assert equivalent((a + b).star() + a, a + (b + a).star())
    assert equivalent((a | b).star(), (a.star() + b.star()).star())
    assert equivalent(a.repeat(1, 3), a + a.repeat(0, 2))


def test_text_and_bytes_stand_for_themselves_in_operators() -> None:
    assert "a" + literal("b") == literal("ab") == literal("a") + b"b"
    assert members("a" | literal("b")) == {b"a", b"b"} == members(literal("a") | b"b")
    assert members(b"a" & literal("a")) == {b"a"}
    assert members("a" - literal("b")) == {b"a"}


# Printing


@given(exprs(max_leaves=8))
def test_a_printed_expression_reads_back_as_the_same_language(expr: Expr) -> None:
    assert equivalent(parse(str(expr)), expr)


@given(st.binary(max_size=8))
def test_printed_bytes_read_back(value: bytes) -> None:
    assert equivalent(parse(str(literal(value))), literal(value))


@pytest.mark.parametrize("char", [chr(code) for code in [*range(0x180), 0x2028, 0xFEFF, 0x1F600, 0x10FFFF]])
def test_every_printed_character_reads_back(char: str) -> None:
    """As Python's `re` reads it, too."""
    for expr in (literal(char), char_set(char, "x-z"), char_set(char, negated=True), literal(char).star()):
        assert equivalent(parse(str(expr)), expr)
        compiled, oracle = compile_expr(expr), re.compile(str(expr), re.ASCII)
        for other in {char, "a", "x", "y", "-", "^", "\\", "]"}:
            assert compiled.accepts(other.encode()) == bool(oracle.fullmatch(other)), str(expr)


# Values


@given(exprs(), exprs())
def test_equal_expressions_have_equal_parts_and_hashes(left: Expr, right: Expr) -> None:
    assert left == pickle.loads(pickle.dumps(left)) == copy.deepcopy(left)
    assert hash(left) == hash(pickle.loads(pickle.dumps(left)))
    assert (left == right) == (repr(left) == repr(right))
    if left == right:
        assert hash(left) == hash(right)
    assert left != str(left)


@given(exprs())
def test_expressions_are_immutable(expr: Expr) -> None:
    for name in ("size", "_hash", "value", "other"):
        with pytest.raises(AttributeError):
            setattr(expr, name, 1)
    assert expr.size >= 0


def test_the_normal_form() -> None:
    a, b = literal("a"), char_set("ab")
    assert concat() == EPSILON == literal("") == repeat(a, 0, 0) == repeat(EPSILON, 3)
    assert alternation() == EMPTY == char_set() == byte_set([]) == repeat(EMPTY, 1)
    assert concat("a", concat("b", "c"), "d") == literal("abcd")
    assert alternation(a, alternation(b, a)) == alternation(a, b)
    assert concat(b, EMPTY) == EMPTY
    assert concat(b, EPSILON) == b == alternation(b, b) == repeat(b, 1, 1) == intersection(b, b)
    assert repeat(EMPTY, 0) == EPSILON
    assert b.star() == b.plus().star() == b.star().plus() == b.star().optional()
    assert char_set("é") == literal("é")
    assert byte_set([0x61]) == a
    assert char_set((0, 0x10FFFF)) == ANY_CHAR == char_set(negated=True)
    wrong: Any
    for wrong in ((99, 97), (0, 0x110000), (-5, 97)):
        with pytest.raises(ValueError, match="a range is of code points"):
            char_set(wrong)
    for wrong in (5, (1, 2, 3), ("a", "b")):
        with pytest.raises(TypeError, match="an item of a set is a string or a range"):
            char_set(wrong)
    wrong = "ab"
    with pytest.raises(TypeError, match="bytes are integers"):
        byte_set(wrong)
    assert char_set("ab", (0x63, 0x64)) == char_set((0x61, 0x64)) == char_set("dcba")


@pytest.mark.parametrize(("low", "high"), [(-1, None), (-1, 2), (3, 2)])
def test_impossible_repetitions_are_refused(low: int, high: int | None) -> None:
    with pytest.raises(ValueError):
        repeat("a", low, high)


@pytest.mark.parametrize(("low", "high"), [(1.5, 2), (1, 2.0), (0, math.inf), (None, 2), ("1", None)])
def test_numbers_of_repetitions_are_integers(low: Any, high: Any) -> None:
    with pytest.raises(TypeError, match="a number of repetitions is an integer, or None for no upper bound, not"):
        repeat("ab", low, high)
    two: Any = np.int64(2)
    assert repeat("a", two, two) == repeat("a", 2, 2)


def test_limits_are_those_of_a_compilation() -> None:
    limits: Any = Limits()
    with pytest.raises(TypeError, match=r"the work of a compilation is Work\(limits\), not Limits"):
        compile_expr(literal("a"), limits)


@pytest.mark.parametrize("values", [[-1], [256], [0, 300]])
def test_what_is_no_byte_is_refused(values: list[int]) -> None:
    with pytest.raises(ValueError):
        byte_set(values)


def test_text_that_utf8_cannot_write_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        literal("\ud800")
    assert char_set((0xD800, 0xDFFF)) == EMPTY


# Compiling


def test_automata_are_minimal() -> None:
    """As many states as there are different non-empty sets of continuations (Myhill and Nerode)."""
    prefixes, suffixes = strings(b"ab", 4), strings(b"ab", 5)
    for pattern in up_to(3, atoms=("a", "b", "[ab]", "")):
        match = re.compile(pattern).fullmatch
        texts = {text for text in strings(b"ab", 9) if match(text.decode())}
        continuations = {frozenset(s for s in suffixes if prefix + s in texts) for prefix in prefixes}
        assert compile_expr(parse(pattern)).num_states == len(continuations - {frozenset()}), pattern


def test_equal_large_parts_are_laid_out_once() -> None:
    line = parse(r"(?:key_[a-z]{3,9}|other_[0-9]{2,7}|third_\w{1,5}); ")
    automaton = compile_expr(line.repeat(50, 50))
    assert automaton.num_states == 50 * (compile_expr(line).num_states - 1) + 1
    assert automaton.accepts(b"key_abc; " * 50)
    assert not automaton.accepts(b"key_abc; " * 49)


@settings(max_examples=60)
@given(
    st.lists(st.text("ab.[é", max_size=4), min_size=28, max_size=50),
    st.lists(st.sampled_from(["[ab]", "a[ab]b", "[^a]", "a(b|c)*d", "é+", "a{2,3}b", "(?:ab|a)b"]), min_size=6),
    st.sampled_from(["(?:{})", "[ab]*(?:{})", "(?:(?:{})é)*", "a(?:{})?"]),
)
def test_many_alternatives_are_those_of_re(words: list[str], patterns: list[str], around: str) -> None:
    pattern = around.format("|".join(map(re.escape, words)) + "|" + "|".join(patterns))
    automaton, match = compile_expr(parse(pattern)), re.compile(pattern).fullmatch
    for text in map("".join, itertools.chain.from_iterable(itertools.product("ab.é", repeat=n) for n in range(6))):
        assert automaton.accepts(text) == bool(match(text)), text


def test_large_alternatives_beside_many_words_are_laid_out_once() -> None:
    large = "x(?:[ab]?[cd]?){2000}"
    part = ["|".join([*(f"{place}_{number}" for number in range(40)), large]) for place in range(60)]
    automaton = compile_expr(parse("".join(f"(?:{words});" for words in part)))
    assert automaton.accepts("".join(f"{place}_7;" for place in range(59)) + "xabcd;")
    assert not automaton.accepts("x;" * 59 + "xx;")


def test_a_search_for_many_words_takes_time_in_proportion_to_their_number() -> None:
    words = [f"{number * 7919 % 1_000_003:x}" for number in range(10_000)]
    started = time.perf_counter()
    automaton = compile_expr(parse(r"[^\n]*(?:" + "|".join(words) + r")[^\n]*"))
    assert time.perf_counter() - started < 8  # 15 s and more if each word began at every byte
    assert all(automaton.accepts(f"zz{word}zz") for word in words[::97])
    assert not automaton.accepts("zzz")


def test_alternatives_joined_one_by_one_take_time_in_proportion_to_their_number() -> None:
    words = [f"w{number}" for number in range(8_000)]
    grouped = "(?:" * len(words) + "w" + "".join(f"|{word})" for word in words)
    started = time.perf_counter()
    from_left = functools.reduce(operator.or_, map(literal, words))
    from_right = functools.reduce(lambda joined, word: literal(word) | joined, words, EMPTY)
    automata = [compile_expr(expr) for expr in (from_left, from_right, parse(grouped))]
    assert time.perf_counter() - started < 15  # 20 s for each, if every step copied all alternatives
    for automaton in automata:
        assert all(map(automaton.accepts, words[::97]))
        assert not automaton.accepts("w8000")
    assert pickle.loads(pickle.dumps(from_left)) == from_left  # pickling recurses, and so may not go too deep


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(LimitExceeded, match="more than"):
        compile_expr(parse("(?:(?:a{1000}b){1000}c){1000}"))


def test_everything_and_nothing() -> None:
    assert compile_expr(EMPTY).is_empty
    assert compile_expr(ANY_BYTES - ANY_BYTES).is_empty
    assert compile_expr(~ANY_TEXT).is_empty
    assert compile_expr(ANY_BYTES).num_states == 1
    assert members(EPSILON) == {b""} == members(complement(ANY_TEXT.optional() - EPSILON) & ANY_TEXT)
    assert equivalent(difference(ANY_TEXT, EMPTY), ANY_TEXT)
