"""Weighted languages: costs of texts as brute force finds them, over bytes and along tokens."""

from __future__ import annotations

import itertools
import math
import pickle
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pynini
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_fsts import fst_of

from automata import (
    ExpressionError,
    LimitExceeded,
    Limits,
    WeightedLanguage,
    compile_expr,
    from_fst,
    image,
    parse,
    preimage,
)
from automata import expressions as ex
from automata.acceptor_tables import Semiring
from automata.expressions import Alternation, Concatenation, Expr, Literal, Repetition, Weighted
from automata.limits import Work
from automata.weighted import WeightedByteAutomaton, compile_weighted
from automata.weighted.construction import acceptor_of
from constraints import choice

TEXTS = [b"".join(letters) for n in range(6) for letters in itertools.product([b"a", b"b", b"c"], repeat=n)]
COSTS = st.integers(-8, 40).map(lambda n: n / 8)


def either(semiring: Semiring, costs: list[float]) -> float:
    """The cost of several paths together."""
    finite = [cost for cost in costs if cost < math.inf]
    if not finite:
        return math.inf
    return min(finite) if semiring == "tropical" else -math.log(sum(math.exp(-cost) for cost in finite))


@lru_cache(1 << 16)
def brute(expr: Expr, text: bytes, semiring: Semiring) -> float:
    """The cost of a text by the meaning of each node; infinity where it does not match.

    In the log semiring, neighbours without weights are one language, in which a text counts once.
    """
    if semiring == "log" and not _has_weight(expr):
        return 0.0 if re.fullmatch(str(expr).encode(), text) else math.inf
    match expr:
        case Literal(value):
            return 0.0 if value == text else math.inf
        case Weighted(inner, cost, _):
            return brute(inner, text, semiring) + cost
        case Alternation(parts):
            return either(semiring, [brute(part, text, semiring) for part in _apart(parts, semiring)])
        case Concatenation(parts):
            return _chain(_runs(parts, semiring), text, semiring)
        case Repetition(inner, 0, None):
            whole = [0.0] if not text else []
            return either(semiring, whole + _splits(inner, expr, text, semiring))
    raise AssertionError(expr)


@lru_cache
def _apart(parts: tuple[Expr, ...], semiring: Semiring) -> list[Expr]:
    plain = [part for part in parts if semiring == "log" and not _has_weight(part)]
    return [part for part in parts if part not in plain] + ([ex.alternation(*plain)] if plain else [])


@lru_cache
def _runs(parts: tuple[Expr, ...], semiring: Semiring) -> list[Expr]:
    runs = [(weighted, list(run)) for weighted, run in itertools.groupby(parts, _has_weight)]
    grouped = [[ex.concat(*run)] if semiring == "log" and not weighted else run for weighted, run in runs]
    return [part for run in grouped for part in run]


def _chain(parts: list[Expr], text: bytes, semiring: Semiring) -> float:
    if len(parts) == 1:
        return brute(parts[0], text, semiring)
    first = [(brute(parts[0], text[:cut], semiring), text[cut:]) for cut in range(len(text) + 1)]
    return either(semiring, [cost + _chain(parts[1:], rest, semiring) for cost, rest in first if cost < math.inf])


def _splits(inner: Expr, star: Expr, text: bytes, semiring: Semiring) -> list[float]:
    first = [(brute(inner, text[:cut], semiring), text[cut:]) for cut in range(1, len(text) + 1)]
    return [cost + brute(star, rest, semiring) for cost, rest in first if cost < math.inf]


def _has_weight(expr: Expr) -> bool:
    return isinstance(expr, Weighted) or any(map(_has_weight, expr.operands()))


def weighted_exprs(semiring: Semiring) -> st.SearchStrategy[Expr]:
    """Expressions with weights whose repetitions read something, so that no loop is free."""
    leaves = st.sampled_from([b"a", b"b", b"c", b"ab", b"ba", b"cc"]).map(ex.literal)
    leaves = leaves | st.tuples(leaves, COSTS).map(lambda pair: pair[0].weighted(pair[1], semiring))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: ex.alternation(*parts)),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: ex.concat(*parts)),
            st.tuples(inner, COSTS).map(lambda pair: pair[0].weighted(pair[1], semiring)),
            inner.map(lambda part: part.star() if not _matches_empty(part) else part),
        ),
        max_leaves=6,
    )


def _matches_empty(expr: Expr) -> bool:
    return brute(expr, b"", "tropical") < math.inf


def compiled(expr: Expr) -> WeightedByteAutomaton | None:
    """The automaton of an expression, None where it is too large: determinization with weights need not end."""
    try:
        return compile_weighted(expr, Work(Limits(states=300)))
    except LimitExceeded:
        return None
    except ExpressionError as error:
        if "without bound" not in str(error) and "no finite sum" not in str(error):
            raise
        return None


def check_pushed(automaton: WeightedByteAutomaton) -> None:
    """Every state but for loops that lower the cost has a rest of a text that costs nothing more."""
    tables = automaton.tables
    if (tables.cost < 0).any():
        return
    best = np.where(tables.final == 0, 0, np.iinfo(np.int64).max)
    for _ in range(automaton.num_states):
        for source, (_, _, target), cost in zip(automaton.arc_sources, tables.arcs, tables.cost, strict=True):
            if cost == 0:
                best[source] = min(best[source], best[target])
    assert (best == 0).all()


@pytest.mark.parametrize("semiring", ["tropical", "log"])
def test_costs_of_texts_are_those_of_brute_force(semiring: Semiring) -> None:
    @settings(max_examples=75, deadline=None)
    @given(weighted_exprs(semiring))
    def check(expr: Expr) -> None:
        automaton = compiled(expr)
        if automaton is None:
            return
        for text in TEXTS:
            assert automaton.weight(text) == pytest.approx(brute(expr, text, semiring), abs=1e-6), text
        if semiring == "tropical":
            check_pushed(automaton)

    check()


@settings(max_examples=50, deadline=None)
@given(weighted_exprs("tropical"), weighted_exprs("tropical"))
def test_intersections_add_costs_and_differences_keep_them(left: Expr, right: Expr) -> None:
    plain = parse("[ab]*c?[ab]*")
    cost: Callable[[bytes], float]
    for expr, cost in (
        (left & right, lambda text: brute(left, text, "tropical") + brute(right, text, "tropical")),
        (left & plain, lambda text: brute(left, text, "tropical") if text.count(b"c") < 2 else math.inf),
        (left - plain, lambda text: math.inf if text.count(b"c") < 2 else brute(left, text, "tropical")),
    ):
        automaton = compiled(expr)
        if automaton is not None:
            for text in TEXTS:
                assert automaton.weight(text) == pytest.approx(cost(text), abs=1e-6), text


@settings(max_examples=40, deadline=None)
@given(weighted_exprs("log"))
def test_an_automaton_as_an_acceptor_has_the_same_costs(expr: Expr) -> None:
    automaton = compiled(expr)
    if automaton is None or automaton.is_empty:
        return
    again = compile_weighted(ex.Acceptor(acceptor_of(automaton)))
    assert again.num_states <= automaton.num_states
    for text in TEXTS:
        assert again.weight(text) == pytest.approx(automaton.weight(text), abs=1e-6)
    assert pickle.loads(pickle.dumps(automaton)).weight(b"ab") == automaton.weight(b"ab")


def test_log_costs_are_known_as_sums_of_what_may_follow() -> None:
    words = {"ab": 0.5, "ac": 0.25, "b": 0.25}
    automaton = compile_weighted(
        ex.alternation(*[ex.literal(w).weighted(-math.log(p), "log") for w, p in words.items()])
    )
    tables = automaton.tables
    assert tables.initial == pytest.approx(0, abs=4)
    for state in range(automaton.num_states):
        own = slice(tables.offsets[state], tables.offsets[state + 1])
        ends = [] if tables.final[state] == np.iinfo(np.int64).max else [tables.final[state]]
        assert sum(math.exp(-cost / 2**30) for cost in [*tables.cost[own], *ends]) == pytest.approx(1)


def check_stochastic(automaton: WeightedByteAutomaton) -> None:
    """In every state, the probabilities of the next bytes and of the end add up to 1."""
    tables = automaton.tables
    for state in range(automaton.num_states):
        own = slice(tables.offsets[state], tables.offsets[state + 1])
        ends = [] if tables.final[state] == np.iinfo(np.int64).max else [tables.final[state]]
        symbols = tables.arcs[own, 1] - tables.arcs[own, 0] + 1
        total = sum(math.exp(-cost / 2**30) for cost in ends) + (symbols * np.exp(-tables.cost[own] / 2**30)).sum()
        assert total == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("cost", [0.02, 0.01, 1e-3, 1e-6])
def test_sums_of_loops_that_are_almost_certain(cost: float) -> None:
    one = compile_weighted(ex.literal("a").weighted(cost, "log").star())
    check_stochastic(one)
    assert one.tables.initial / 2**30 == pytest.approx(math.log(-math.expm1(-round(cost * 2**30) / 2**30)), abs=1e-6)
    check_stochastic(
        compile_weighted((ex.literal("ab").weighted(cost, "log") + parse("[cd]").weighted(0.8, "log")).star())
    )


def test_sums_beyond_single_costs_in_a_larger_text() -> None:
    large = ex.literal("a").weighted(9e4) + ex.literal("b").weighted(9e4)
    for expr, text in (
        ((large & parse("ab")) + "c", "abc"),
        ((large - parse("x")) + "c", "abc"),
        ((large & parse("ab")) | "c", "ab"),
        (from_fst(compile_weighted(large).fst()), "ab"),
    ):
        assert compile_weighted(expr).weight(text) == 180_000
    twice = compile_weighted((large & parse("ab")).star())
    assert twice.weight("abab") == 360_000
    far = compile_weighted((large.weighted(2e9) & parse("ab")) + "c")
    assert far.weight("abc") == pickle.loads(pickle.dumps(far)).weight("abc") == 2_000_180_000


def test_differences_of_sums_are_exact() -> None:
    a, b = ex.literal("a"), ex.literal("b")
    assert compile_weighted((a + a.weighted(-2e9)) | a.weighted(2.1e9)).weight("a") == 2.1e9
    either = (a.weighted(2e9) + b.weighted(-2e9)) | (a.weighted(-2e9) + ex.literal("c"))
    assert compile_weighted(either).weight("ab") == 0
    assert compile_weighted((a | ex.literal("ab").weighted(1.1e9)) + b.weighted(-2e9)).weight("abb") == -0.9e9


@pytest.mark.parametrize("letters", [2, 7, 25, 26])
def test_loops_that_are_certain_have_no_sum_however_costs_are_rounded(letters: int) -> None:
    """Then costs are those of the likeliest rest of a text."""
    loop = ex.byte_set(range(97, 97 + letters)).weighted(math.log(letters), "log")
    assert compile_weighted(loop.star()).tables.initial == 0


def test_sums_of_a_large_loop_that_is_almost_certain() -> None:
    """States in a ring, with shortcuts; the row of each state adds up to a little less than 1."""
    rng, size = np.random.default_rng(3), 40
    share = rng.random((size, 2))
    share *= (1 - 1e-6) / share.sum(1, keepdims=True)
    arcs = [
        (at, byte, byte, -math.log(share[at, way]), (at + 1 + 6 * way) % size)
        for at in range(size)
        for way, byte in enumerate(b"ab")
    ]
    automaton = compile_weighted(from_fst(fst_of(size, arcs, {0: 0.0}, "log64")))
    check_stochastic(automaton)
    matrix = np.eye(size)
    for source, _, _, cost, target in arcs:
        matrix[source, target] -= math.exp(-cost)
    rest = np.linalg.solve(matrix, np.eye(size)[0])
    assert automaton.tables.initial / 2**30 == pytest.approx(-math.log(rest[0]), abs=1e-4)


def test_states_with_equal_rests_are_one() -> None:
    suffixes = parse("[ab]{3}x|[ab]{3}y").weighted(1)
    assert compile_weighted(suffixes).num_states == compile_expr(parse("[ab]{3}[xy]")).num_states
    hot = (ex.ANY_CHAR | ex.literal("hot").weighted(-2)).star()
    automaton = compile_weighted(hot)
    assert automaton.weight("a hot, hot day") == -4
    assert automaton.weight("cold") == 0


@pytest.mark.parametrize("semiring", ["tropical", "log"])
def test_every_loop_that_lowers_the_cost_has_a_hub(semiring: Semiring) -> None:
    cheap = [ex.literal(letter).weighted(-1, semiring).star() for letter in "abc"]
    language = (cheap[0] + "x" + cheap[1] + "y" + cheap[2] + "z").star()
    automaton = compile_weighted(language)
    for text, cost in (("", 0.0), ("xyz", 0.0), ("aaxbycz", -4.0), ("axyzxbbyz", -3.0), ("ax", math.inf)):
        assert automaton.weight(text) == cost


NO_SEMIRING: Any = "real"
NO_EXPRESSION: Any = "a"
MISUSE: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: compile_weighted(~parse("a").weighted(1)), WeightedLanguage, "a complement has no weights"),
    (lambda: compile_weighted(parse("a") - parse("a|b").weighted(1)), WeightedLanguage, "what is subtracted"),
    (lambda: compile_weighted(parse("a?").weighted(-1).star()), ExpressionError, "epsilon arcs lowers the cost"),
    (lambda: compile_weighted(parse("a?").weighted(0, "log").star()), ExpressionError, "no finite sum"),
    (
        lambda: compile_weighted(parse("a").weighted(1) | parse("b").weighted(1, "log")),
        ExpressionError,
        "two semirings.*a<cost 1> has tropical.*b<cost 1>",
    ),
    (
        lambda: compile_weighted(parse("x").weighted(1) + ex.lookahead("b") + ex.ANY_TEXT),
        ExpressionError,
        "look-around and weights",
    ),
    (
        lambda: compile_weighted(parse("(ab)*c|a").weighted(2.0**31)),
        ExpressionError,
        r"cost of 2.14748e\+09 is not below 2\^31",
    ),
    (lambda: compile_expr(parse("a").weighted(1)), WeightedLanguage, "a<cost 1> has weights"),
    (lambda: parse("a").weighted(math.nan), ValueError, "a cost is finite"),
    (lambda: parse("a").weighted(1, NO_SEMIRING), ValueError, "a semiring is 'tropical' or 'log'"),
    (lambda: compile_weighted(NO_EXPRESSION), TypeError, "expected an expression"),
]


@pytest.mark.parametrize(("make", "error", "message"), MISUSE)
def test_what_cannot_be_is_an_error(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_weights_that_never_end_are_stopped_by_the_limit_of_states() -> None:
    twins = (ex.literal("a").weighted(1).star() + "b") | (ex.literal("a").weighted(2).star() + "c")
    with pytest.raises(
        LimitExceeded, match=r"deterministic automaton of .* with its weights has more than 1,000 states"
    ):
        compile_weighted(twins, Work(Limits(states=1000)))


# Choices by counts


def test_choices_by_counts_cost_the_logarithm_of_their_shares() -> None:
    counts = {"Ada": 120, "Adam": 30, "Bob": 3, "": 1, "Ünal": 46}
    names = compile_weighted(choice(counts))
    assert sum(math.exp(-names.weight(name)) for name in counts) == pytest.approx(1)
    for name, count in counts.items():
        assert names.weight(name) == pytest.approx(-math.log(count / 200), abs=1e-8)
    assert names.weight("Ad") == math.inf
    assert names.support.accepts("Ünal")
    # The cost of a name is known as soon as it is the only one that is left.
    assert names.tables.final.max(initial=0, where=names.tables.final < 2**62) < 2**33


def test_a_lexicon_of_many_words_is_minimal() -> None:
    words = {f"{first}{last}": 1.0 for first in range(100, 400) for last in range(1000, 1100)}
    names = compile_weighted(choice(words))
    # Pushed to the front, equal counts make equal rests.
    assert names.num_states == compile_expr(choice(list(words))).num_states
    assert names.weight("1001000") == pytest.approx(math.log(30000), abs=1e-8)


@pytest.mark.parametrize(
    ("counts", "message"), [({"a": 0}, "count of 'a' is 0"), ({"a": -1.0}, "finite and above 0"), ({}, "at least one")]
)
def test_counts_that_are_none_are_refused(counts: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choice(counts)


# Transducers


def test_images_cost_what_the_text_and_the_arcs_cost() -> None:
    swap = pynini.union(pynini.cross("a", pynini.accep("b", weight=0.5)), pynini.accep("b"), "c").closure().optimize()
    language = (ex.literal("ab").weighted(1) | ex.literal("aa").weighted(3)).star()
    automaton = compile_weighted(image(language, swap))
    for text, cost in (("bb", 1.5), ("bbbb", 3.0), ("", 0.0), ("ab", math.inf)):
        assert automaton.weight(text) == cost
    # Both sides without weights: those of the transducer alone, and of the language alone.
    assert compile_weighted(image(parse("a{3}"), swap)).weight("bbb") == 1.5
    plain = pynini.cross("a", "b").closure()
    assert compile_weighted(image(ex.literal("aa").weighted(2), plain)).weight("bb") == 2
    assert compile_weighted(preimage(swap, ex.literal("bb").weighted(2))).weight("ab") == 2.5
    with pytest.raises(WeightedLanguage, match="which only expressions carry"):
        compile_expr(image("aa", swap))


def test_weighted_acceptors_of_openfst_keep_their_weights() -> None:
    fst = pynini.string_map([("color", "color", "0.5"), ("colour", "colour", "1.25")]).project("input")
    for arc_type, semiring in (("standard", "tropical"), ("log", "log"), ("log64", "log")):
        mapped = pynini.arcmap(fst, map_type=f"to_{'std' if arc_type == 'standard' else arc_type}")
        automaton = compile_weighted(from_fst(mapped))
        assert automaton.semiring == semiring
        assert automaton.weight("colour") == pytest.approx(1.25)


def test_parts_without_weights_count_once_however_they_are_grouped() -> None:
    some, rest = ex.literal("ab") | ex.literal("ab").star(), ex.literal("b").weighted(1, "log")
    for either in (
        some.weighted(0, "log") | rest,
        some | rest,
        rest | some,
        ex.literal("ab") | (ex.literal("ab").star() | rest),
    ):
        assert compile_weighted(either).weight(b"ab") == 0
    first, second = ex.literal("a") | "ab", ex.literal("b") | "bb"
    for row in ((first + second).weighted(0, "log") + rest, first + second + rest, first + (second + rest)):
        assert compile_weighted(row).weight(b"abbb") == 1
    assert compile_weighted(rest | ex.literal("b").weighted(1, "log")).weight(b"b") == pytest.approx(
        1 - math.log(2), abs=1e-6
    )


def test_large_parts_with_weights_beside_many_words_keep_them() -> None:
    costly = ex.weighted("b", 1.5) + parse("(?:[cd]e?){40}")
    words = ex.alternation(*[ex.literal(f"w{number}") for number in range(40)], "q" + costly)
    automaton = compile_weighted(costly.optional() + "-" + words + "-" + costly.star())
    assert automaton.weight("-qb" + "c" * 40 + "-") == 1.5
    assert automaton.weight("b" + "c" * 40 + "-w7-" + ("b" + "d" * 40) * 2) == 4.5


@pytest.mark.parametrize(
    "counts", [{"a": 10**400, "b": 3 * 10**400}, {"a": 4e307, "b": 1.2e308}, {"a": 1e-320, "b": 3e-320}]
)
def test_counts_may_be_beyond_all_floats(counts: dict[str, float]) -> None:
    names = compile_weighted(choice(counts))
    assert [names.weight(text) for text in "ab"] == pytest.approx([math.log(4), math.log(4 / 3)], rel=1e-2)


def test_what_is_no_count_or_no_text_is_named() -> None:
    for count in (Decimal("1.5"), "1"):
        wrong: Any = {"a": count}
        with pytest.raises(TypeError, match="counts are int or float"):
            choice(wrong)
    with pytest.raises(ValueError, match=r"half of a surrogate pair is not text: 'x.ud800'"):
        choice(["x\ud800"])
