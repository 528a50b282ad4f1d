"""The examples and library modules that pynini ships as constraints on a model: pynini accepts each text it writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import pynini
import pynini_example_cases
import pynini_library_cases
import pytest
import pywrapfst
import torch
from pynini.examples import dates, g2p, numbers, plurals, t9
from pynini.lib import features
from pynini_cases import Case
from pynini_library_cases import NOUN

import tokenfst
from automata import ANY_TEXT, FstError, WeightedLanguage, from_fst, image, parse, preimage
from automata.errors import UnknownTerminal
from constraints import json_schema
from decoding import bundled_model, generate, vocabulary_of

MODEL, TOKENIZER = bundled_model()
VOCABULARY = vocabulary_of(TOKENIZER)
MAKERS = pynini_example_cases.MAKERS + pynini_library_cases.MAKERS


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """The model is too small to share its work among threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def cost(paths: Any) -> float:
    """Return the cost of the best of some paths, infinite where there is none."""
    if paths.start() == pywrapfst.NO_STATE_ID:
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


def test_strings_in_json_by_rules() -> None:
    decoder = t9.T9(["good", "home", "gone", "hood"])
    word = image("4663", decoder._decoder) & from_fst(decoder._lexicon)
    properties = {
        "word": {"type": "string", "pattern": word},
        "nouns": {"type": "array", "items": {"$ref": "#/$defs/noun"}},
    }
    noun = {"type": "string", "maxLength": 12, "pattern": image(parse("[a-z]{2,9}"), plurals._plural)}
    schema = {"type": "object", "properties": properties, "required": ["word", "nouns"], "$defs": {"noun": noun}}
    for text in generate(MODEL, TOKENIZER, ["JSON: "] * 4, json_schema(schema), max_new_tokens=60, seed=2):
        value = json.loads(text)
        assert decoder.encode(value["word"]) == "4663"
        for noun_text in value["nouns"]:
            assert cost(plurals._plural @ noun_text) == 0


def test_features_are_tokens_by_name() -> None:
    """The module's acceptors read symbols, and each stands for a token of the vocabulary."""
    words = {"case=nom": " the", "case=gen": " and", "case=acc": " in", "num=sg": " of", "num=pl": " to"}
    tokens = {name: TOKENIZER(word)["input_ids"] for name, word in words.items()}
    vector = features.FeatureVector(NOUN, "num=pl")
    with pytest.raises(UnknownTerminal, match="no tokens are known by the name 'case="):
        tokenfst.compile(from_fst(vector.acceptor), VOCABULARY)
    automaton = tokenfst.compile(from_fst(vector.acceptor), VOCABULARY, terminals=tokens)
    names = {word: name for name, word in words.items()}
    texts = generate(MODEL, TOKENIZER, ["On"] * 8, automaton, max_new_tokens=4, temperature=2, seed=0)
    assert len(set(texts)) > 1
    for text in texts:
        symbols = "".join(f"[{names[' ' + word]}]" for word in text.split())
        assert cost(pynini.accep(symbols) @ vector.acceptor) == 0


def test_what_cannot_be_a_constraint() -> None:
    with pytest.raises(FstError, match=r"the FST is a transducer .*: automata\.image\(constraint, fst\) is what"):
        from_fst(g2p._g2p)
    with pytest.raises(TypeError, match=r"automata\.image and automata\.preimage take transducers"):
        tokenfst.compile(plurals._plural, VOCABULARY)
    # The example's first half writes powers of ten, which are symbols of its own and no text.
    with pytest.raises(UnknownTerminal, match=r"no tokens are known by the name 'E1\*?'"):
        tokenfst.compile(image("12", numbers._phi), VOCABULARY)
    # A year is worth 1: what has weights is not subtracted, and no string of a schema.
    dated = preimage(dates._date_matcher, parse("<date>.*</date>"))
    with pytest.raises(WeightedLanguage, match="what is subtracted has no weights"):
        tokenfst.compile(ANY_TEXT - dated, VOCABULARY)
    with pytest.raises(WeightedLanguage, match="has weights"):
        json_schema({"type": "string", "pattern": dated})
    matcher = pynini.arcmap(dates._date_matcher, map_type="rmweight")
    undated = tokenfst.compile(ANY_TEXT - preimage(matcher, parse("<date>.*</date>")), VOCABULARY)
    assert undated.accepts("someday")
    assert not undated.accepts("May 3, 1999")
