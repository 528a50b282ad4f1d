"""Costs of tokens: along any tokens they add up to the weight of the text."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pynini
import pytest
import torch
from automaton_files import forge
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file
from test_weighted import TEXTS, compiled, weighted_exprs

import tokenfst
from automata import WeightedLanguage, from_fst, image, parse
from automata import expressions as ex
from automata.acceptor_tables import Semiring
from automata.errors import AutomatonFileError
from automata.expressions import Expr
from automata.weighted import WeightedByteAutomaton, compile_weighted
from constraints import choice, json_schema, sequence
from decoding.arena import Arena
from decoding.inputs.healing import Healed
from tokenfst import TextStart, TokenAutomaton, Vocabulary
from tokenfst.weighted.automaton import WeightedTokenAutomaton


def vocabulary_of(seed: int) -> Vocabulary:
    rng = random.Random(seed)
    tokens = [b"a", b"b", b"c"] + [bytes(rng.choices(b"abc", k=rng.randint(2, 4))) for _ in range(12)] + [b"", b""]
    return Vocabulary(tokens, len(tokens) - 1, special_tokens={"<x>": len(tokens) - 2})


def random_tokens(automaton: tokenfst.TokenAutomaton, rng: random.Random, budget: int = 12) -> list[int]:
    """Tokens of a random text, with the end token."""
    state, tokens = automaton.start, list[int]()
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
    @settings(max_examples=40, deadline=None)
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
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    for labels in ("[]", "[" * 100_000, '{"<x>": 1}'):
        forge(Path(path), load_file(path), {**metadata, "labels": labels})
        with pytest.raises(AutomatonFileError, match="do not fit together"):
            tokenfst.load_automaton(path, vocabulary)


def test_refused_tokens_cost_infinity() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"c", b""], 3)
    automaton = tokenfst.compile(ex.literal("ab").weighted(1) | ex.literal("c").weighted(2), vocabulary)
    assert [automaton.weight(ids) for ids in ([0, 1], [0, 1, 3], [2, 3])] == [1, 1, 2]
    for refused in ([], [0], [0, 3], [3], [1], [0, 1, 1], [2, 3, 3], [2, 0], [4]):
        assert automaton.weight(refused) == math.inf, refused


def forged_weights(expr: Expr, vocabulary: Vocabulary, path: Path, low: int, high: int) -> None:
    """Write a weighted automaton whose weights read other bytes than its masks, shifted by `low` and `high`."""
    tokenfst.compile(expr, vocabulary).save(path)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    arrays = load_file(path)
    arrays["weight_arcs"][:, :2] += np.array([low, high], np.int32)
    forge(path, arrays, metadata)


@pytest.mark.parametrize("expr", [parse("a").weighted(3) | "bb", ex.Label("<x>").weighted(1.5) + "c"])
def test_weights_that_do_not_cover_the_masks_are_refused(expr: Expr, tmp_path: Path) -> None:
    vocabulary, path = vocabulary_of(5), tmp_path / "forged"
    forged_weights(expr, vocabulary, path, -3, -3)
    with pytest.raises(AutomatonFileError, match="do not fit together"):
        tokenfst.load_automaton(path, vocabulary)


def test_weights_that_cover_one_token_of_a_class_are_refused_at_the_next(tmp_path: Path) -> None:
    vocabulary, path = Vocabulary([b"a", b"b", b""], eos_ids=2), tmp_path / "forged"
    forged_weights(parse("[ab]").weighted(1), vocabulary, path, 1, 0)
    automaton = tokenfst.load_automaton(path, vocabulary)
    assert automaton.weight("b") == 1
    with pytest.raises(AutomatonFileError, match="the masks allow token 0, and the weights give it no cost"):
        automaton.advance(automaton.start, 0)


def test_at_the_start_of_a_text_tokens_cost_what_they_write() -> None:
    tokens = ["▁a".replace("▁", " ").encode(), b"a", b"b", b" ", b""]
    vocabulary = Vocabulary(tokens, 4, text_start=TextStart())
    expr = parse("a").weighted(1) + parse(" ?b").weighted(2) | ex.literal("b").weighted(5)
    automaton = tokenfst.compile(expr, vocabulary, at_text_start=True)
    costs = automaton.costs(automaton.start)
    assert costs.tolist()[:3] == [0, 0, 2]
    assert automaton.weight([0, 2]) == automaton.weight([1, 3, 2]) == 3


@pytest.mark.parametrize("seed", range(40))
def test_costs_before_the_text_has_begun_add_up(seed: int) -> None:
    """Tokens that write nothing there may begin the text or not, and labels may come before it."""
    rng = random.Random(seed)
    tokens = [b" ", b" a", b"a", b"b", b" b", b"ab", b" ab ", b" ", b"#", b"", b"", b""]
    rule = TextStart(
        prefix=rng.choice([b"", b"#"]),
        exceptions=rng.choice([{}, {5: b""}, {1: b"b", 2: b""}]),
        ignored=frozenset(rng.sample([0, 4, 7], rng.randrange(3))),
    )
    vocabulary = Vocabulary(tokens, 11, special_tokens={"<s>": 9, "<t>": 10}, text_start=rule)
    writable = {vocabulary.detokenize(rng.choices(range(9), k=rng.randint(1, 4)), at_text_start=True) for _ in range(6)}
    counts = {text.decode(): rng.randint(1, 9) for text in sorted(writable)}
    labels = [ex.Label("<s>"), ex.Label("<t>").star(), ex.Label("<s>").weighted(2) | ex.EPSILON, ex.EPSILON]
    before = rng.choice(labels)
    automaton = tokenfst.compile(before + choice(counts), vocabulary, at_text_start=True)
    total, complete = sum(counts.values()), automaton.complete()
    assert isinstance(automaton, WeightedTokenAutomaton)
    for _ in range(20):
        ids = random_tokens(automaton, rng)
        text = vocabulary.detokenize(ids, at_text_start=True).decode()
        expected = math.log(total / counts[text]) + (2 if before is labels[2] and 9 in ids else 0)
        for each in (automaton, complete):
            state, found = each.start, each.initial_cost
            for token in ids:
                found += float(each.costs(state)[token])
                state = each.advance(state, token)
            assert found == pytest.approx(expected, abs=1e-5)
            assert each.weight(ids) == pytest.approx(expected, abs=1e-9)
    assert isinstance(complete, WeightedTokenAutomaton)
    again = tokenfst.TokenAutomaton.from_fst(complete.fst(), vocabulary)
    for _ in range(20):
        ids = random_tokens(again, rng)
        assert again.weight(ids) == pytest.approx(automaton.weight(ids), abs=1e-6)


def test_where_weights_cannot_be_carried_is_named() -> None:
    vocabulary = vocabulary_of(6)
    with pytest.raises(WeightedLanguage, match="a<cost 1>"):
        tokenfst.compile(sequence(parse("a").weighted(1), json_schema({"type": "null"})), vocabulary)


def test_weights_of_a_transducer_are_those_of_tokens() -> None:
    swap = pynini.union(pynini.cross("a", pynini.accep("b", weight=0.5)), "c").closure().optimize()
    assert tokenfst.compile(image("aa", swap), vocabulary_of(7)).weight("bb") == 1


# FSTs


@pytest.mark.parametrize("semiring", ["tropical", "log"])
def test_weights_leave_with_the_fst_and_come_back(semiring: Semiring) -> None:
    @settings(max_examples=40, deadline=None)
    @given(weighted_exprs(semiring), st.integers(0, 1000))
    def check(expr: Expr, seed: int) -> None:
        weighted = compiled(expr.weighted(0.5, semiring))
        if weighted is None or weighted.is_empty:
            return
        again = compile_weighted(from_fst(weighted.fst()))
        for text in TEXTS[:100]:
            assert again.weight(text) == pytest.approx(weighted.weight(text), abs=1e-4)
        automaton = tokenfst.compile(expr.weighted(0.5, semiring), vocabulary_of(seed))
        fst, rng = automaton.fst(), random.Random(seed)
        assert fst.arc_type() == ("standard" if semiring == "tropical" else "log")
        for _ in range(3):
            tokens = random_tokens(automaton, rng)[:-1]
            names = " ".join(automaton.vocabulary.names[token] for token in tokens)
            path = pynini.accep(names, token_type=fst.input_symbols(), arc_type=fst.arc_type())
            found = pynini.shortestdistance(pynini.compose(path, fst), reverse=True)[0]
            assert float(found) == pytest.approx(automaton.weight(tokens), abs=1e-4)
            again_over_tokens = TokenAutomaton.from_fst(fst, automaton.vocabulary)
            check_over_tokens(again_over_tokens, tokens, automaton.weight(tokens))

    check()


def check_over_tokens(automaton: TokenAutomaton, tokens: list[int], weight: float) -> None:
    """An automaton from an acceptor over tokens has the weights of the one that the acceptor came from."""
    assert automaton.weight(tokens) == pytest.approx(weight, abs=1e-4)
    state, total = automaton.start, automaton.initial_cost
    for token in [*tokens, automaton.vocabulary.eos_ids[0]]:
        costs = automaton.costs(state)
        assert (np.isfinite(costs) == automaton.mask(state)).all()
        total += float(costs[token])
        state = automaton.advance(state, token)
    assert total == pytest.approx(weight, abs=1e-4)


def test_costs_of_tokens_that_openfst_knows(tmp_path: object) -> None:
    vocabulary = vocabulary_of(8)
    # The token "a" costs 1, and any other 0.25; of "ab" the least is that of the token, if there is one.
    tokens = [token for token, text in enumerate(vocabulary.tokens) if text]
    each = [pynini.accep(f"[{token + 1}]", weight=1 if token == 0 else 0.25) for token in tokens]
    automaton = TokenAutomaton.from_fst(pynini.union(*each).closure(1, 4), vocabulary)
    assert automaton.weight([0, 1]) == 1.25
    assert automaton.weight("a") == 1
    assert automaton.weight("bb") == (0.25 if b"bb" in vocabulary.tokens else 0.5)
    assert automaton.weight("d") == math.inf
    path = f"{tmp_path}/tokens.safetensors"
    automaton.save(path)
    assert tokenfst.load_automaton(path, vocabulary).weight([0, 1]) == 1.25
    arena = Arena.of([automaton])
    logits = arena.apply_(torch.zeros(1, len(vocabulary)), arena.starts([1]))
    torch.testing.assert_close(logits[0], -torch.from_numpy(automaton.costs(automaton.start)))
    with pytest.raises(ValueError, match="costs do not follow from their bytes"):
        Healed(automaton, b"a")
