"""Automata that leave as FSTs and come back; labels of FSTs."""

from __future__ import annotations

import pynini
from hypothesis import given, settings
from strategies import exprs, relabelled

from automata import Expr, byte_set, compile_expr, equivalent, from_fst
from automata.expressions import Acceptor


@settings(max_examples=40, deadline=None)
@given(exprs())
def test_an_automaton_that_leaves_as_an_fst_comes_back(expr: Expr) -> None:
    for language in (expr, relabelled(expr), expr | byte_set([0, 1, 255])):
        automaton = compile_expr(language)
        if not automaton.is_empty:
            again = compile_expr(from_fst(automaton.fst()))
            assert again.labels == automaton.labels
            assert again.range_arcs().target.tolist() == automaton.range_arcs().target.tolist()
            assert equivalent(again, automaton)


def test_only_symbols_that_occur_are_labels() -> None:
    # pynini numbers generated symbols for the whole process.
    pynini.accep("[NOT_HERE]")
    named, plain = from_fst(pynini.accep("a[HERE]")), from_fst(pynini.accep("a"))
    assert isinstance(named, Acceptor)
    assert isinstance(plain, Acceptor)
    assert named.tables.labels == ("HERE",)
    assert plain.tables.labels == ()
