"""Questions about languages have exact answers: counted, listed and compared with all strings up to a length."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import islice, pairwise
from operator import add, and_, or_, sub

import pynini
import pytest
import pywrapfst
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import exprs, strings, up_to

import tokenfst
from automata import (
    ANY_BYTES,
    ANY_CHAR,
    ANY_TEXT,
    EMPTY,
    EPSILON,
    EmptyLanguage,
    Expr,
    Grammar,
    InfiniteLanguage,
    Label,
    LabelledLanguage,
    LimitExceeded,
    byte_set,
    compile_expr,
    compile_grammar,
    count,
    counterexample,
    equivalent,
    includes,
    is_empty,
    is_finite,
    literal,
    parse,
    random_strings,
    sample,
    shortest,
)
from automata import enumerate as texts_of
from automata.limits import Limits, Work
from automata.queries.counting import Unranking, total
from automata.weighted import compile_weighted
from tokenfst import Vocabulary

# A language over few bytes has few strings, so all that are short can be looked at.
ALPHABET = b"ab\xc3\xa9"
LENGTH = 4


def over_few_bytes(expr: Expr) -> Expr:
    return expr & byte_set(ALPHABET).star()


def in_order(texts: set[bytes]) -> list[bytes]:
    return sorted(texts, key=lambda text: (len(text), text))


def brute_force(expr: Expr) -> list[bytes]:
    """The strings of a language over few bytes up to LENGTH, by length and then in byte order."""
    automaton = compile_expr(expr)
    return in_order({text for text in strings(ALPHABET, LENGTH) if automaton.accepts(text)})


# Counting and order


@given(exprs())
def test_texts_come_by_length_and_then_in_byte_order(expr: Expr) -> None:
    language = over_few_bytes(expr)
    expected, found = brute_force(language), []
    for text in islice(texts_of(language), len(expected) + 1):
        if len(text) > LENGTH:
            break
        found.append(text)
    assert found == expected


@given(exprs())
def test_counts_are_those_of_all_strings(expr: Expr) -> None:
    language, automaton = over_few_bytes(expr), compile_expr(over_few_bytes(expr))
    expected = brute_force(language)
    for length in range(-1, LENGTH + 1):
        assert count(language, length) == count(automaton, length) == sum(len(text) <= length for text in expected)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_small_patterns_as_python_matches_them(size: int) -> None:
    texts = strings(b"abc", 4)
    for pattern in up_to(size):
        match, only = re.compile(pattern).fullmatch, parse(pattern) & byte_set(b"abc").star()
        expected = in_order({text for text in texts if match(text.decode())})
        assert count(only, 4) == len(expected), pattern
        assert list(islice(texts_of(only), len(expected))) == expected, pattern


@given(exprs())
def test_finite_languages_are_listed_and_counted_whole(expr: Expr) -> None:
    """A language is finite exactly if it has no text as long as its automaton has states, and then it is listed."""
    automaton = compile_expr(over_few_bytes(expr))
    size = automaton.num_states
    endless = count(automaton, 2 * size) > count(automaton, size - 1)
    assert is_finite(automaton) == (not endless)
    if endless:
        with pytest.raises(InfiniteLanguage, match="infinitely many"):
            count(automaton)
        return
    number = count(automaton)
    assert number == count(automaton, size)
    assert [total(automaton, most=most) for most in range(size + 2)] == [min(number, most) for most in range(size + 2)]
    if number < 2000:
        listed = list(texts_of(automaton))
        assert len(listed) == len(set(listed)) == number
        assert all(map(automaton.accepts, listed))
        assert listed == in_order(set(listed))


@pytest.mark.parametrize(("pattern", "length", "number"), [
    ("[a-z]{3}", None, 26**3), ("[ab]*", 1000, 2**1001 - 1), ("a*", 10**4, 10**4 + 1),
    ("(?:[0-9]{20}){20}", None, 10**400),
    (r"(?P<BYTES>[\x00-\xff])*", 63, (256**64 - 1) // 255), (r"[\x00-\U0010ffff]", None, 0x110000 - 0x800),
    (r"[^\x00-\U0010ffff]", None, 0), ("", None, 1), ("(?:aa)*", 7, 4), ("(?:a|ab)(?:c|bcd)d*", 5, 8),
])  # fmt: skip
def test_counts_by_hand(pattern: str, length: int | None, number: int) -> None:
    assert count(parse(pattern), length) == number


def test_counts_that_pass_64_bits_stay_exact() -> None:
    """Fibonacci numbers, by their recurrence: texts over a and b without bb."""
    no_pair = parse("b?(?:ab?)*")
    here, following, total = 1, 2, 0
    for length in range(200):
        total += here
        here, following = following, here + following
        assert count(no_pair, length) == total


def test_characters_are_counted_by_intersection() -> None:
    word = parse("[aé€]+")
    assert count(word & ANY_CHAR.repeat(0, 3)) == 3 + 9 + 27
    assert count(word, 3) == sum(len(text.encode()) <= 3 for text in ["a", "é", "€", "aa", "aé", "éa", "aaa"])


def test_order_is_lazy() -> None:
    assert list(islice(texts_of(ANY_BYTES), 258)) == [b"", *(bytes([b]) for b in range(256)), b"\x00\x00"]
    assert next(texts_of(parse("a{500}b*"))) == b"a" * 500
    assert list(islice(texts_of(parse("(?:a{40})*!")), 3)) == [b"!", b"a" * 40 + b"!", b"a" * 80 + b"!"]
    # Ways that lead to no text of the length are not walked: this one has 2^60 beginnings.
    deep = parse("[ab]{60}c{60}|d{100}")
    assert next(texts_of(deep)) == b"d" * 100
    assert list(texts_of(EMPTY)) == []


# Inclusion


@given(exprs(), exprs())
def test_counterexamples_are_the_first_texts_that_are_lacking(big: Expr, small: Expr) -> None:
    big, small = over_few_bytes(big), over_few_bytes(small)
    lacking = [text for text in brute_force(small) if text not in set(brute_force(big))]
    found = counterexample(big, small)
    assert includes(big, small) == (found is None)
    assert found is not None or not lacking
    if found is not None:
        assert compile_expr(small).accepts(found)
        assert not compile_expr(big).accepts(found)
        assert found == lacking[0] if lacking else len(found) > LENGTH


@given(exprs(), exprs())
def test_openfst_agrees_on_equivalence_and_inclusion(left: Expr, right: Expr) -> None:
    a, b = compile_expr(left), compile_expr(right)
    assert equivalent(left, right) == (includes(a, b) and includes(b, a))
    more = pywrapfst.difference(a.fst(), b.fst().arcsort()).connect()
    assert includes(b, a) == (more.num_states() == 0)
    assert includes(left | right, right)
    assert includes(left, left & right)


def test_inclusion_by_hand() -> None:
    assert counterexample(parse("[a-z]*"), parse("[a-z]+[0-9]?")) == b"a0"
    assert counterexample(parse("[a-z]*"), parse("[a-c]+")) is None
    assert counterexample(ANY_TEXT, ANY_BYTES) == b"\x80"
    assert counterexample(EMPTY, EPSILON) == b""
    assert is_empty(parse("[a-z]+") & parse("[0-9]+"))
    assert not is_empty(EPSILON)
    assert is_finite(EMPTY)


# Random texts


@given(exprs(), st.integers(0, LENGTH), st.integers(0, LENGTH))
def test_numbers_and_texts_are_one_to_one(expr: Expr, low: int, high: int) -> None:
    """So a number drawn uniformly is a text drawn uniformly."""
    language = over_few_bytes(expr)
    numbered = Unranking(compile_expr(language), range(low, high + 1))
    expected = [text for text in brute_force(language) if low <= len(text) <= high]
    assert [numbered.text(number) for number in range(numbered.total)] == expected


def test_no_text_has_a_negative_length() -> None:
    language = parse("a|bb|ccc")
    for lengths, expected in (
        (range(-2, 3), [b"a", b"bb"]),
        (range(3, -3, -1), [b"ccc", b"bb", b"a"]),
        (range(-5, 0), []),
    ):
        numbered = Unranking(compile_expr(language), lengths)
        assert [numbered.text(number) for number in range(numbered.total)] == expected
    with pytest.raises(EmptyLanguage, match="no text of length -1"):
        sample(language, 1, length=-1, seed=0)


@settings(max_examples=35)
@given(exprs(), st.integers(0, 3))
def test_samples_are_texts_of_the_length(expr: Expr, seed: int) -> None:
    automaton = compile_expr(expr)
    for length in (0, 2, range(1, 4)):
        lengths = [length] if isinstance(length, int) else list(length)
        if not any(count(expr, n) - count(expr, n - 1) for n in lengths):
            with pytest.raises(EmptyLanguage):
                sample(expr, 1, length=length, seed=seed)
            continue
        texts = sample(expr, 5, length=length, seed=seed)
        assert all(map(automaton.accepts, texts))
        assert {len(text) for text in texts} <= set(lengths)
        assert texts == sample(automaton, 5, length=length, seed=seed)


def chi_square(texts: list[bytes], choices: int) -> float:
    """In standard deviations from what is expected of a uniform choice."""
    expected = len(texts) / choices
    found = Counter(texts)
    assert len(found) <= choices
    square = sum((found[text] - expected) ** 2 / expected for text in found) + expected * (choices - len(found))
    return float((square - (choices - 1)) / (2 * (choices - 1)) ** 0.5)


def test_samples_are_uniform() -> None:
    language = parse("a{4}|b[ab]{3}|[xé][ab]*")
    number = count(language, 4) - count(language, 3)
    texts = sample(language, 200 * number, length=4, seed=7)
    assert abs(chi_square(texts, number)) < 4
    several = sample(language, 100 * count(language, 4), length=range(5), seed=8)
    assert abs(chi_square(several, count(language, 4))) < 4
    # The measure can tell: uniform over next bytes is another distribution.
    by_arc = [text for text in random_strings(language, 200 * number, seed=7, max_length=4) if len(text) == 4]
    assert chi_square(by_arc, number) > 50


def test_next_bytes_are_uniform() -> None:
    language = parse("a|b[ab]?|c[abc]*")
    texts = random_strings(language, 30_000, seed=3, max_length=1)
    first = Counter(text[:1] for text in texts)
    assert all(abs(number - 10_000) < 4 * (30_000 * 2 / 9) ** 0.5 for number in first.values())
    texts = random_strings(language, 30_000, seed=4)
    second = Counter(text for text in texts if text[:1] == b"b")
    assert all(abs(number - sum(second.values()) / 3) < 4 * (30_000 / 3 * 2 / 9) ** 0.5 for number in second.values())


def test_long_samples_are_exact() -> None:
    """Where floating-point weights would have no digit left for them: one text among 26^300."""
    language = parse("[a-z]{300}|!{300}")
    numbered = Unranking(compile_expr(language), [300])
    assert numbered.total == 26**300 + 1
    assert numbered.text(0) == b"!" * 300
    assert numbered.text(1) == b"a" * 300
    assert numbered.text(26**300) == b"z" * 300
    texts = sample(language, 50, length=300, seed=0)
    assert len(set(texts)) == 50
    assert texts != sample(language, 50, length=300, seed=1)


# Labels


LABELLED = Label("IMAGE") + "a"


@pytest.mark.parametrize("question", [
    shortest, texts_of, count, lambda language: count(language, 3),
    lambda language: sample(language, 1, length=1, seed=0), lambda language: random_strings(language, 1, seed=0),
    lambda language: counterexample(literal("b"), language),
])  # fmt: skip
def test_questions_about_texts_are_refused_where_there_are_labels(question: Callable[[Expr], object]) -> None:
    with pytest.raises(LabelledLanguage, match="IMAGE"):
        question(LABELLED)
    question(parse("a"))


def test_labels_are_symbols_where_no_text_is_asked_for() -> None:
    assert not is_empty(LABELLED)
    assert is_finite(LABELLED)
    assert not is_finite(LABELLED.star())
    assert includes(LABELLED.star(), LABELLED)
    assert not includes(LABELLED, LABELLED.star())
    assert counterexample(LABELLED, LABELLED | "b") == b"b"
    assert not equivalent(LABELLED, literal("a"))


def test_orders_are_strict() -> None:
    texts = list(islice(texts_of(parse("(?:a|bc|[c-e]{3})*")), 3000))
    assert all((len(a), a) < (len(b), b) for a, b in pairwise(texts))


def test_counting_heeds_the_current_work() -> None:
    language = compile_expr(parse("[ab]+"))
    with Work(Limits(memory=1 << 20)).current(), pytest.raises(LimitExceeded, match="memory"):
        sample(language, 1, length=10**12, seed=0)
    with Work(Limits(seconds=0.05)).current(), pytest.raises(LimitExceeded, match="seconds"):
        count(language, 10**12)


def test_lengths_without_texts_take_no_time() -> None:
    assert sample(parse("ab|c"), 1, length=range(2, 10**30), seed=0) == [b"ab"]
    assert sample(parse("ab|c"), 1, length=range(10**30, 1, -1), seed=0) == [b"ab"]
    assert sample(parse("ab|c"), 9, length=range(10**30, -(10**30), -3), seed=0) == [b"c"] * 9


def test_a_number_of_texts_is_not_negative() -> None:
    with pytest.raises(ValueError, match="a number of texts is 0 or more, not -1"):
        sample(parse("a{0,5}"), -1, length=3, seed=0)
    with pytest.raises(ValueError, match="a number of texts is 0 or more, not -1"):
        random_strings(parse("a{0,5}"), -1, seed=0)


def test_half_of_a_surrogate_pair_is_in_no_language() -> None:
    anything = parse("(?s:.)*")
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b""], eos_ids=[256])
    assert not compile_expr(anything).accepts("a\ud800")
    assert not compile_grammar(Grammar({"s": anything}, "s")).accepts("\ud800")
    assert not tokenfst.compile(anything, vocabulary).accepts("\ud800")
    assert compile_weighted(anything.weighted(1)).weight("\ud800") == math.inf


def test_an_fst_beside_an_operator_says_what_is_meant() -> None:
    for operator in (add, or_, and_, sub):
        with pytest.raises(TypeError, match=r"not Fst: automata.from_fst\(fst\) makes an expression"):
            operator(parse("a"), pynini.accep("b"))


def test_costs_are_multiplied_by_what_is_not_negative() -> None:
    automaton = compile_weighted(parse("a").weighted(2))
    assert automaton.scaled(0.5).weight("a") == 1
    assert repr(automaton) == "<WeightedByteAutomaton, 2 states, tropical semiring>"
    for factor in (-1, math.inf, math.nan):
        with pytest.raises(ValueError, match="a factor for costs is 0 or more"):
            automaton.scaled(factor)
