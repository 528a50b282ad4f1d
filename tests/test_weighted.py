"""Weighted languages: costs of texts as brute force finds them, over bytes and along tokens."""

from __future__ import annotations

import itertools
import math
import pickle
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokenfst
from automata import ExpressionError, LimitExceeded, Limits, WeightedLanguage, compile_expr, parse
from automata import expressions as ex
from automata.acceptor_tables import Semiring
from automata.expressions import Alternation, Concatenation, Expr, Literal, Repetition, Weighted
from automata.limits import Work
from automata.weighted import WeightedByteAutomaton, compile_weighted
from automata.weighted.construction import acceptor_of
from constraints import choice, json_schema, sequence
from tokenfst import Vocabulary
from tokenfst.weighted.automaton import WeightedTokenAutomaton

TEXTS = [b"".join(letters) for n in range(6) for letters in itertools.product([b"a", b"b", b"c"], repeat=n)]
COSTS = st.integers(-8, 40).map(lambda n: n / 8)


def either(semiring: Semiring, costs: list[float]) -> float:
    """The cost of several paths together."""
    finite = [cost for cost in costs if cost < math.inf]
    if not finite:
        return math.inf
    return min(finite) if semiring == "tropical" else -math.log(sum(math.exp(-cost) for cost in finite))


def brute(expr: Expr, text: bytes, semiring: Semiring) -> float:
    """The cost of a text by the meaning of each node; infinity where it does not match."""
    if semiring == "log" and not _has_weight(expr):
        return 0.0 if re.fullmatch(str(expr).encode(), text) else math.inf
    match expr:
        case Literal(value):
            return 0.0 if value == text else math.inf
        case Weighted(inner, cost, _):
            return brute(inner, text, semiring) + cost
        case Alternation(parts):
            return either(semiring, [brute(part, text, semiring) for part in parts])
        case Concatenation(parts):
            return _chain(list(parts), text, semiring)
        case Repetition(inner, 0, None):
            whole = [0.0] if not text else []
            return either(semiring, whole + _splits(inner, expr, text, semiring))
    raise AssertionError(expr)


def _chain(parts: list[Expr], text: bytes, semiring: Semiring) -> float:
    if len(parts) == 1:
        return brute(parts[0], text, semiring)
    cuts = range(len(text) + 1)
    first = [brute(parts[0], text[:cut], semiring) for cut in cuts]
    return either(semiring, [first[cut] + _chain(parts[1:], text[cut:], semiring) for cut in cuts])


def _splits(inner: Expr, star: Expr, text: bytes, semiring: Semiring) -> list[float]:
    cuts = range(1, len(text) + 1)
    return [brute(inner, text[:cut], semiring) + brute(star, text[cut:], semiring) for cut in cuts]


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
        if "without bound" not in str(error):
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
    @settings(max_examples=150, deadline=None)
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


@settings(max_examples=80, deadline=None)
@given(weighted_exprs("tropical"), weighted_exprs("tropical"))
def test_intersections_add_costs_and_differences_keep_them(left: Expr, right: Expr) -> None:
    plain = parse("[ab]*c?[ab]*")
    for expr, cost in (
        (left & right, lambda text: brute(left, text, "tropical") + brute(right, text, "tropical")),
        (left & plain, lambda text: brute(left, text, "tropical") if text.count(b"c") < 2 else math.inf),
        (left - plain, lambda text: math.inf if text.count(b"c") < 2 else brute(left, text, "tropical")),
    ):
        automaton = compiled(expr)
        if automaton is not None:
            for text in TEXTS:
                assert automaton.weight(text) == pytest.approx(cost(text), abs=1e-6), text


@settings(max_examples=60, deadline=None)
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


def test_states_with_equal_rests_are_one() -> None:
    suffixes = parse("[ab]{3}x|[ab]{3}y").weighted(1)
    assert compile_weighted(suffixes).num_states == compile_expr(parse("[ab]{3}[xy]")).num_states
    hot = (ex.ANY_CHAR | ex.literal("hot").weighted(-2)).star()
    automaton = compile_weighted(hot)
    assert automaton.weight("a hot, hot day") == -4
    assert automaton.weight("cold") == 0


MISUSE = [
    (lambda: compile_weighted(~parse("a").weighted(1)), WeightedLanguage, "a complement has no weights"),
    (lambda: compile_weighted(parse("a") - parse("a|b").weighted(1)), WeightedLanguage, "what is subtracted"),
    (lambda: compile_weighted(parse("a?").weighted(-1).star()), ExpressionError, "epsilon arcs lowers the cost"),
    (lambda: compile_weighted(parse("a?").weighted(0, "log").star()), ExpressionError, "epsilon arcs lowers the cost"),
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
    (lambda: compile_weighted(parse("(ab)*c|a").weighted(1e9)), ExpressionError, "cost of 1e.09 is beyond"),
    (lambda: compile_expr(parse("a").weighted(1)), WeightedLanguage, "a<cost 1> has weights"),
    (lambda: parse("a").weighted(math.nan), ValueError, "a cost is finite"),
    (lambda: parse("a").weighted(1, "real"), ValueError, "a semiring is 'tropical' or 'log'"),
    (lambda: compile_weighted("a"), TypeError, "expected an expression"),
]


@pytest.mark.parametrize(("make", "error", "message"), MISUSE)
def test_what_cannot_be_is_an_error(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()  # type: ignore[operator]


def test_weights_that_never_end_are_stopped_by_the_limit_of_states() -> None:
    twins = (ex.literal("a").weighted(1).star() + "b") | (ex.literal("a").weighted(2).star() + "c")
    with pytest.raises(
        LimitExceeded, match=r"deterministic automaton of .* with its weights has more than 1,000 states"
    ):
        compile_weighted(twins, Work(Limits(states=1000)))


# Over tokens


def vocabulary_of(seed: int) -> Vocabulary:
    rng = random.Random(seed)
    tokens = [b"a", b"b", b"c"] + [bytes(rng.choices(b"abc", k=rng.randint(2, 4))) for _ in range(12)] + [b"", b""]
    return Vocabulary(tokens, len(tokens) - 1, special_tokens={"<x>": len(tokens) - 2})


def random_tokens(automaton: tokenfst.TokenAutomaton, rng: random.Random, budget: int = 12) -> list[int]:
    """Tokens of a random text, with the end token."""
    state, tokens = automaton.start, []
    while state != automaton.end_state:
        allowed = np.flatnonzero(automaton.mask(state, max(budget - len(tokens), automaton.min_tokens(state))))
        tokens.append(int(rng.choice(allowed.tolist())))
        state = automaton.advance(state, tokens[-1])
    return tokens


def check_telescopes(automaton: tokenfst.TokenAutomaton, weighted: WeightedByteAutomaton, rng: random.Random) -> None:
    """Costs along random tokens add up to the weight of the text."""
    for _ in range(5):
        tokens = random_tokens(automaton, rng)
        state, total = automaton.start, automaton.initial_cost
        for token in tokens:
            costs = automaton.costs(state)
            assert (np.isfinite(costs) == automaton.mask(state)).all()
            total += float(costs[token])
            state = automaton.advance(state, token)
        text = automaton.vocabulary.detokenize(tokens)
        assert total == pytest.approx(weighted.weight(text), abs=1e-5)
        assert automaton.weight(tokens) == pytest.approx(weighted.weight(text), abs=1e-9)
        assert automaton.weight(tokens[:-1]) == automaton.weight(tokens)


@pytest.mark.parametrize("semiring", ["tropical", "log"])
def test_costs_of_tokens_add_up(semiring: Semiring) -> None:
    @settings(max_examples=60, deadline=None)
    @given(weighted_exprs(semiring), st.integers(0, 1000))
    def check(expr: Expr, seed: int) -> None:
        weighted = compiled(expr)
        if weighted is None:
            return
        automaton = tokenfst.compile(expr.weighted(0, semiring), vocabulary_of(seed))
        assert automaton.is_weighted
        rng = random.Random(seed)
        check_telescopes(automaton, weighted, rng)
        check_telescopes(automaton.complete(), weighted, rng)

    check()


def test_free_text_with_hot_words_costs_what_they_earn() -> None:
    vocabulary = vocabulary_of(1)
    hot = (ex.ANY_CHAR | ex.literal("abc").weighted(-2)).star()
    automaton = tokenfst.compile(hot, vocabulary)
    for token, cost in enumerate(automaton.costs(automaton.start).tolist()):
        text = vocabulary.tokens[token]
        # A word earns with its first letter what it has to give back where it is not finished.
        earned = text.count(b"abc") + text.endswith((b"a", b"ab"))
        assert cost == (-2 * earned if text or token in vocabulary.eos_ids else math.inf)


def test_labels_have_costs() -> None:
    vocabulary = vocabulary_of(3)
    expr = (ex.Label("<x>").weighted(1.5) | ex.literal("a").weighted(0.5)).star() + "b"
    automaton = tokenfst.compile(expr, vocabulary)
    number = vocabulary.special_tokens["<x>"]
    for complete in (automaton, automaton.complete()):
        assert complete.costs(complete.start)[number] == 1.5
        assert complete.weight([number, 0, number, 1]) == 3.5
    with pytest.raises(WeightedLanguage, match=r"labels \(X\) for tokens that write text"):
        tokenfst.compile(ex.Label("X").weighted(1), vocabulary, terminals={"X": [0]})


def test_scale_multiplies_costs() -> None:
    vocabulary = vocabulary_of(2)
    expr = ex.literal("ab").weighted(1) | ex.literal("ac").weighted(3)
    for scale in (0.0, 0.5, 2.0):
        automaton = tokenfst.compile(expr, vocabulary, scale=scale)
        assert automaton.weight("ac") == 3 * scale
        state = automaton.advance(automaton.start, 0)
        assert automaton.costs(state)[[1, 2]].tolist() == [0, 2 * scale]
    for scale in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="scale is 0 or more"):
            tokenfst.compile(expr, vocabulary, scale=scale)


def test_masks_are_those_without_weights() -> None:
    vocabulary = vocabulary_of(4)
    weighted = tokenfst.compile(parse("(a|bc)*").weighted(1) + "b", vocabulary)
    plain = tokenfst.compile("(a|bc)*b", vocabulary)
    assert not plain.is_weighted
    rng = random.Random(0)
    for _ in range(10):
        one, other = weighted.start, plain.start
        for token in random_tokens(plain, rng):
            assert (weighted.mask(one) == plain.mask(other)).all()
            assert (plain.costs(other) == np.where(plain.mask(other), 0, np.inf)).all()
            one, other = weighted.advance(one, token), plain.advance(other, token)
    assert plain.weight("bcb") == 0
    assert plain.weight("c") == math.inf


def test_automata_with_costs_are_saved(tmp_path: object) -> None:
    path = f"{tmp_path}/weighted.safetensors"
    vocabulary = vocabulary_of(5)
    expr = (ex.Label("<x>").weighted(1.5) | parse("[ab]+").weighted(0.25)).star() + "c"
    automaton = tokenfst.compile(expr, vocabulary)
    automaton.save(path)
    again = tokenfst.load_automaton(path, vocabulary)
    assert isinstance(again, WeightedTokenAutomaton)
    rng = random.Random(5)
    for _ in range(20):
        tokens = random_tokens(automaton, rng)
        assert again.weight(tokens) == automaton.weight(tokens)


def test_at_the_start_of_a_text_tokens_cost_what_they_write() -> None:
    from tokenfst.vocabulary import TextStart

    tokens = ["▁a".replace("▁", " ").encode(), b"a", b"b", b" ", b""]
    vocabulary = Vocabulary(tokens, 4, text_start=TextStart())
    expr = parse("a").weighted(1) + parse(" ?b").weighted(2) | ex.literal("b").weighted(5)
    automaton = tokenfst.compile(expr, vocabulary, at_text_start=True)
    costs = automaton.costs(automaton.start)
    assert costs.tolist()[:3] == [0, 0, 2]
    assert automaton.weight([0, 2]) == automaton.weight([1, 3, 2]) == 3


def test_where_weights_cannot_be_carried_is_named() -> None:
    vocabulary = vocabulary_of(6)
    with pytest.raises(WeightedLanguage, match="a<cost 1>"):
        tokenfst.compile(sequence(parse("a").weighted(1), json_schema({"type": "null"})), vocabulary)


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
    ("counts", "message"), [({"a": 0}, "count of 'a' is 0"), ({"a": -1.0}, "counts are above 0"), ({}, "at least one")]
)
def test_counts_that_are_none_are_refused(counts: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choice(counts)
