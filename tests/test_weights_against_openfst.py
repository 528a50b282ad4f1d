"""Weights of acceptors, images and tokens, with OpenFst as the judge: path weights equal `shortestdistance`."""

from __future__ import annotations

import itertools
import math
import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from encoder_cases import tekken
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_fsts import as_string, fst_arcs, fst_of, pynini_of, total_cost
from test_weighted_tokens import random_tokens

import tokenfst
from automata import ExpressionError, FstError, LimitExceeded, Limits, from_fst, image, parse, preimage
from automata import expressions as ex
from automata.expressions import Expr
from automata.limits import Work
from automata.weighted import WeightedByteAutomaton, compile_weighted
from automata.weighted.units import from_units
from decoding import bundled_model, vocabulary_of
from tokenfst import Vocabulary
from tokenfst.weighted.automaton import WeightedTokenAutomaton

LABELS = [97, 98, 99]
# Multiples of 1/64 are exact in OpenFst's floats.
TROPICAL = [0.0, 0.25, 1.0, 2.0, 3.140625]
LOG = [0.75, 1.0, 2.0, 3.0]
TEXTS = [bytes(letters) for length in range(4) for letters in itertools.product(LABELS, repeat=length)]


def compiled(language: Expr) -> WeightedByteAutomaton | None:
    """None where there is none: determinization does not end, or a cycle reads nothing and costs too little."""
    try:
        return compile_weighted(language, Work(Limits(states=500)))
    except LimitExceeded:
        return None
    except ExpressionError as error:
        if "without bound" not in str(error) and "no finite sum" not in str(error):
            raise
        return None


def read(fst: Any) -> Expr:
    """The language of an acceptor, or no example where OpenFst itself would give no number."""
    try:
        return from_fst(fst)
    except FstError:
        assume(False)
        raise


@settings(max_examples=70, deadline=None)
@given(fst_arcs(LABELS, acceptor=True, costs=TROPICAL))
def test_tropical_acceptors(made: Any) -> None:
    fst = fst_of(*made)
    automaton = compiled(read(fst).weighted(0))
    if automaton is not None:
        for text in TEXTS:
            assert automaton.weight(text) == pytest.approx(total_cost(fst, text, "standard"), abs=1e-6)


@settings(max_examples=70, deadline=None)
@given(fst_arcs(LABELS, acceptor=True, costs=LOG))
def test_log_acceptors(made: tuple[int, Any, dict[int, float]]) -> None:
    fst = fst_of(*made, arc_type="log64")
    automaton = compiled(read(fst).weighted(0, "log"))
    if automaton is not None:
        for text in TEXTS[:15]:
            assert automaton.weight(text) == pytest.approx(total_cost(fst, text, "log64"), abs=1e-5, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    fst_arcs(LABELS, acceptor=True, costs=TROPICAL),
    fst_arcs(LABELS, acceptor=False, costs=TROPICAL),
    st.booleans(),
)
def test_images_and_preimages(acceptor: Any, transducer: Any, forwards: bool) -> None:
    language, fst = fst_of(*acceptor), fst_of(*transducer)
    left, right = pynini_of(language), pynini_of(fst)
    if forwards:
        made, composed = image(read(language), fst), (left @ right).project("output")
    else:
        made, composed = preimage(fst, read(language)), (right @ left).project("input")
    automaton = compiled(made.weighted(0))
    if automaton is not None:
        for text in TEXTS[:20]:
            assert automaton.weight(text) == pytest.approx(total_cost(composed, text, "standard"), abs=1e-6)


@cache
def real_vocabularies() -> dict[str, Vocabulary]:
    return {"bundled": vocabulary_of(bundled_model()[1]), "tekken": tekken().vocabulary}


def languages() -> dict[str, Expr]:
    rng = random.Random(5)
    names = ["".join(rng.choices("abcdeéñ日 ", k=rng.randint(1, 9))) for _ in range(200)]
    counted = ex.alternation(*[ex.literal(name).weighted(rng.randrange(640) / 64) for name in names])
    return {
        "names": counted,
        "hot words": (ex.ANY_CHAR | ex.literal("the").weighted(-1.5) | ex.literal(" of").weighted(0.25)).repeat(0, 30),
        "probabilities": (
            (parse("[a-m]").weighted(0.5, "log") | parse("[k-z]").weighted(1.5, "log")).repeat(1, 12)
            + parse("[.!]").weighted(2, "log")
        ),
        "record": '{"name": "' + counted + '"}',
    }


@pytest.mark.parametrize("name", ["names", "hot words", "probabilities", "record"])
@pytest.mark.parametrize("vocabulary", ["bundled", "tekken"])
def test_costs_along_tokens_of_real_vocabularies(vocabulary: str, name: str) -> None:
    language = languages()[name]
    automaton = tokenfst.compile(language, real_vocabularies()[vocabulary])
    assert isinstance(automaton, WeightedTokenAutomaton)
    weighted = compile_weighted(language)
    arc_type = "standard" if weighted.semiring == "tropical" else "log"
    fst, rng = weighted.fst(), random.Random(7)
    for _ in range(12):
        tokens = random_tokens(automaton, rng, 20)
        text = automaton.vocabulary.detokenize(tokens)
        # OpenFst's weights have 24 bits; ours are compared exactly.
        assert weighted.weight(text) == pytest.approx(total_cost(fst, text, arc_type), rel=1e-5, abs=1e-5)
        state, total = automaton.start, automaton.initial_cost
        for token in tokens:
            found = automaton.table.costs(state.byte_state)
            at = np.flatnonzero(found.tokens == token)
            total += from_units(int(found.units[at].sum()))
            state = automaton.advance(state, token)
        assert total == pytest.approx(weighted.weight(text), abs=1e-6)
        assert automaton.weight(tokens) == weighted.weight(text) < math.inf


def test_the_judge_is_openfst() -> None:
    """The oracle of these tests is not this project's code: a string composed with the FST, and its shortest path."""
    assert total_cost(fst_of(2, [(0, 97, 97, 1.5, 1), (0, 97, 97, 2.0, 1)], {1: 0.25}), b"a", "standard") == 1.75
    assert as_string(b"ab").num_states() == 3
