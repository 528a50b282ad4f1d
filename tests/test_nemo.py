"""Grammars of NVIDIA's `nemo_text_processing` as constraints: OpenFst accepts each form that the model writes."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import pynini
import pytest
import pywrapfst
import torch

import tokenfst
from automata import Expr, compile_expr, equivalent, from_fst, image, includes, literal, parse, preimage, transducer_of
from automata import enumerate as texts_of
from decoding import bundled_model, generate, vocabulary_of
from tokenfst import TokenAutomaton

DATA = Path(__file__).parent / "data"
# The grammars delete any amount of blanks, and breaks that are none.
SINGLE_BLANKS = parse("[!-~]+( [!-~]+)*")
TIMES = ["5:30 p.m.", "12:00", "9 a.m.", "9:15", "11:45 pm", "7:05 am est"]
SPOKEN_TIMES = ["05:30 p.m.", "12:00", "09:15", "10:45 a.m.", "11:58", "02:10 p.m. gmt"]
ORDINALS = ["1st", "12th", "23rd", "40th", "101st", "1002nd"]
AMOUNTS = ["$12.50", "€1.01", "$0.99", "$2,500.75", "£42.10"]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """The model is too small to share its work among threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def grammar(name: str) -> Any:
    return pynini.Fst.read_from_string(lzma.decompress((DATA / f"{name}.fst.xz").read_bytes()))


def without_weights(name: str) -> Any:
    return pynini.arcmap(grammar(name), map_type="rmweight")


def cost(read: str, name: str, written: str) -> float:
    """Return the cost of two texts by OpenFst, infinite where the grammar does not relate them."""
    paths = pynini.compose(pynini.compose(pynini.escape(read), grammar(name)), pynini.escape(written))
    if paths.start() == pywrapfst.NO_STATE_ID:
        return inf
    return float(pynini.shortestdistance(paths, reverse=True)[paths.start()])


def forms(constraints: list[Expr], each: int) -> Iterator[tuple[int, TokenAutomaton, str]]:
    """Have the model write some forms under each constraint; yield the constraint's number too."""
    model, tokenizer = bundled_model()
    vocabulary = vocabulary_of(tokenizer)
    automata = [tokenfst.compile(constraint, vocabulary) for constraint in constraints for _ in range(each)]
    texts = generate(model, tokenizer, ["It is "] * len(automata), automata, max_new_tokens=64, seed=1)
    for at, (automaton, text) in enumerate(zip(automata, texts, strict=True)):
        yield at // each, automaton, text


@pytest.mark.parametrize(("name", "written"), [("itn_time", SPOKEN_TIMES), ("itn_ordinal", ORDINALS)])
def test_what_is_said_for_what_is_written(name: str, written: list[str]) -> None:
    tables = transducer_of(grammar(name))
    constraints = [preimage(tables, text) & SINGLE_BLANKS for text in written]
    different = set()
    for number, automaton, form in forms(constraints, each=4):
        expected = cost(form, name, written[number])
        assert expected < inf, (form, written[number])
        assert automaton.weight(form) == pytest.approx(expected, abs=1e-4)
        different.add(form)
    assert len(different) > len(written)


@pytest.mark.parametrize(("name", "written"), [("tn_time", TIMES), ("tn_ordinal", ORDINALS), ("tn_money", AMOUNTS)])
def test_how_what_is_written_is_said(name: str, written: list[str]) -> None:
    tables = transducer_of(grammar(name))
    for number, automaton, form in forms([image(text, tables) for text in written], each=2):
        expected = cost(written[number], name, form)
        assert expected < inf, (written[number], form)
        assert automaton.weight(form) == pytest.approx(expected, abs=1e-4)


def test_any_ordinal_in_words() -> None:
    ordinals = pynini.union(*map(str, range(1, 2000))) + pynini.union("st", "nd", "rd", "th")
    ordinals.optimize()
    different = set()
    for _, _, form in forms([image(ordinals, grammar("tn_ordinal"))], each=16):
        assert pynini.compose(ordinals, grammar("tn_ordinal") @ form).num_states() > 0, form
        different.add(form)
    assert len(different) > 4


def test_spoken_forms_of_an_amount() -> None:
    spoken = compile_expr(image("$12.50", without_weights("tn_money")))
    assert list(texts_of(spoken)) == [b"twelve dollars fifty cents", b"twelve us dollars fifty cents"]


@pytest.mark.parametrize("name", ["itn_time", "itn_ordinal", "tn_time", "tn_ordinal", "tn_money"])
def test_languages_are_those_of_openfst(name: str) -> None:
    fst = without_weights(name)
    for seed in range(1, 6):
        path = pynini.randgen(fst, seed=seed, max_length=400)
        read, written = (pynini.escape(pynini.project(path, side).rmepsilon().string()) for side in ("input", "output"))
        ours = image(pynini.accep(read), fst), preimage(fst, pynini.accep(written))
        theirs = pynini.compose(read, fst).project("output"), pynini.compose(fst, written).project("input")
        for mine, other in zip(ours, theirs, strict=True):
            assert equivalent(mine, from_fst(other.optimize()))


def test_there_and_back() -> None:
    """What one grammar says, its inverse understands."""
    for text in ORDINALS:
        heard = image(image(text, without_weights("tn_ordinal")), without_weights("itn_ordinal"))
        assert includes(heard, literal(text))


def test_a_grammar_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "time.fst"
    grammar("tn_time").write(str(path))
    assert image("9:15", path) == image("9:15", grammar("tn_time"))
