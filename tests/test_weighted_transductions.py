"""Costs of images and preimages against OpenFst's composition, in both semirings."""

from __future__ import annotations

import math
from math import inf, isclose, isinf
from typing import Any

import pynini
import pytest
import pywrapfst
from hypothesis import given
from pynini.lib import pynutil
from random_fsts import cost_of, fst_arcs, fst_of, total_cost

from automata import (
    ANY_TEXT,
    FstError,
    WeightedLanguage,
    compile_expr,
    from_fst,
    image,
    literal,
    parse,
    preimage,
    transducer_of,
)
from automata.compile.composition import composed, tables_of
from automata.expressions import Acceptor, Transduction
from automata.limits import Work
from automata.weighted import compile_weighted

COSTS = [0.0, 0.5, 1.0, 2.0, inf]


@pytest.mark.parametrize("arc_type", ["standard", "log64"])
@given(fst_arcs([97, 98], acceptor=True, costs=COSTS), fst_arcs([97, 98], acceptor=False, costs=COSTS))
def test_costs_of_images_are_those_of_openfst(arc_type: str, acceptor_parts: Any, parts: Any) -> None:
    acceptor, fst = (
        # Cycles of epsilon arcs would take OpenFst long to sum up.
        fst_of(size, [arc for arc in arcs if (arc[1] and arc[2]) or arc[0] < arc[4]], final, arc_type)
        for size, arcs, final in (acceptor_parts, parts)
    )
    expr, both = from_fst(acceptor), pywrapfst.compose(acceptor.copy().arcsort("olabel"), fst.copy().arcsort("ilabel"))
    tables = composed(expr.tables, transducer_of(fst), Work()) if isinstance(expr, Acceptor) else None
    for text in (b"", b"a", b"ab", b"bab"):
        expected = total_cost(both, text, arc_type)
        found = cost_of(tables, text) if tables else inf
        assert isclose(found, expected, abs_tol=1e-5) or (isinf(found) and isinf(expected))


@pytest.mark.parametrize("backwards", [False, True])
@given(fst_arcs([97, 98, 99], acceptor=False, costs=[1.0]))
def test_each_symbol_of_a_run_is_a_path(backwards: bool, parts: Any) -> None:
    size, arcs, final = parts
    fst = fst_of(size, [arc for arc in arcs if (arc[1] and arc[2]) or arc[0] < arc[4]], final, "log64")
    # All texts of up to three letters.
    any_letters = [(at, letter, letter, 0.0, at + 1) for at in range(3) for letter in (97, 98, 99)]
    acceptor = fst_of(4, any_letters, dict.fromkeys(range(4), 0.0), "log64")
    if backwards:
        made = preimage(fst, parse("[a-c]{0,3}"))
        both = fst.copy().invert()
    else:
        made, both = image(parse("[a-c]{0,3}"), fst), fst
    assert isinstance(made, Transduction)
    both = pywrapfst.compose(acceptor.arcsort("olabel"), both.arcsort("ilabel"))
    tables = composed(tables_of(compile_expr(parse("[a-c]{0,3}"))), made.transducer, Work())
    for text in (b"", b"a", b"ab", b"bab", b"cc"):
        expected, found = total_cost(both, text, "log64"), cost_of(tables, text)
        assert isclose(found, expected, abs_tol=1e-5) or (isinf(found) and isinf(expected))


def test_a_class_of_digits_costs_nothing() -> None:
    digits = fst_of(2, [(0, 48 + digit, 100, math.log(10), 1) for digit in range(10)], {1: 0.0}, "log")
    assert compile_weighted(image(parse("[0-9]"), digits)).weight("d") == pytest.approx(0, abs=1e-5)
    assert compile_weighted(image(parse("[3-7]|é"), digits)).weight("d") == pytest.approx(math.log(2), abs=1e-5)
    deleted = fst_of(2, [(0, 48 + digit, 0, math.log(10), 1) for digit in range(10)], {1: 0.0}, "log")
    assert compile_weighted(image(ANY_TEXT, deleted)).weight("") == pytest.approx(0, abs=1e-5)
    either = literal("a").weighted(1, "log") | literal("b").weighted(1, "log")
    plain = fst_of(2, [(0, 97, 120, 0.0, 1), (0, 98, 120, 0.0, 1)], {1: 0.0})
    assert compile_weighted(image(either, plain)).weight("x") == pytest.approx(1 - math.log(2), abs=1e-5)


def test_weights_are_not_ignored() -> None:
    weighted = pynutil.add_weight(pynini.cross("a", "b"), 2)
    with pytest.raises(WeightedLanguage, match="has weights"):
        compile_expr(image("a", weighted))
    with pytest.raises(WeightedLanguage, match="has weights"):
        compile_expr(image(pynini.accep("a", weight=1), pynini.cross("a", "b")))
    log = from_fst(fst_of(1, [], {0: 1.0}, "log"))
    assert isinstance(log, Acceptor)
    with pytest.raises(WeightedLanguage, match="weights in different semirings, tropical and log"):
        composed(log.tables, transducer_of(weighted), Work())


def test_cycles_of_what_is_not_written() -> None:
    loop = fst_of(1, [(0, 97, 0, -1.0, 0)], {0: 0.0})
    loops = from_fst(fst_of(1, [(0, 97, 97, 0.5, 0)], {0: 0.0}))
    assert isinstance(loops, Acceptor)
    with pytest.raises(FstError, match="the image has a cycle of epsilon arcs with a negative cost"):
        composed(loops.tables, transducer_of(loop), Work())
