"""Automata that are all sparse, and names by the thousand."""

from __future__ import annotations

import random

from hypothesis import settings
from strategies import all_sparse

from automata import (
    ByteAutomaton,
    Expr,
    compile_expr,
)

FEW = settings(max_examples=60)


def sparse(expr: Expr) -> ByteAutomaton:
    with all_sparse():
        automaton = compile_expr(expr)
    assert automaton.is_sparse
    return automaton


def names_of(count: int) -> list[str]:
    """Names of two words, from as many made-up words as people have first and last names."""
    generator = random.Random(7)

    def word() -> str:
        onsets = (generator.choice(("b", "d", "k", "l", "m", "n", "r", "s", "t", "br", "st")) for _ in range(3))
        return "".join(onset + generator.choice(("a", "e", "i", "o", "u", "é", "an", "er")) for onset in onsets)

    first, last = ([word().capitalize() for _ in range(number)] for number in (500, 20_000))
    return sorted({f"{generator.choice(first)} {generator.choice(last)}" for _ in range(count)})
