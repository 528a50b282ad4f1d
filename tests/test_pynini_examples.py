"""The examples and library modules that pynini ships as constraints on a model: pynini accepts each text it writes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pynini
import pynini_example_cases
import pynini_library_cases
import pytest
from pynini_cases import Case

import tokenfst
from decoding import bundled_model, generate, vocabulary_of

MODEL, TOKENIZER = bundled_model()
VOCABULARY = vocabulary_of(TOKENIZER)
MAKERS = pynini_example_cases.MAKERS + pynini_library_cases.MAKERS


def cost(paths: Any) -> float:
    """The cost of the best of some paths, infinite where there is none."""
    if paths.start() == pynini.NO_STATE_ID:
        return inf
    return float(pynini.shortestdistance(paths, reverse=True)[paths.start()])


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_pynini_accepts_what_the_model_writes(make: Callable[[], Case]) -> None:
    case = make()
    automaton = tokenfst.compile(case.constraint, VOCABULARY)
    texts = generate(
        MODEL, TOKENIZER, [case.prompt] * 8, automaton, max_new_tokens=case.max_new_tokens, temperature=1.5, seed=1
    )
    assert len(set(texts)) >= case.least
    for text in set(texts):
        assert automaton.weight(text) == pytest.approx(cost(case.paths(text)), abs=1e-4), text
        assert case.agrees(text), text
        wrong = text + "\x01"
        assert automaton.weight(wrong) == inf
        assert cost(case.paths(wrong)) == inf
