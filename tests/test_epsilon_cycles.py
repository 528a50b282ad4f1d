"""Cycles of epsilon arcs leave every text with a cost, or the FST is refused."""

from __future__ import annotations

from math import expm1, log
from typing import Any

import pytest
from random_fsts import fst_of

from automata import FstError, from_fst
from automata.weighted import compile_weighted


def test_cycles_of_epsilons() -> None:
    def cycle(there: float, back: float, arc_type: str, final: int = 1) -> Any:
        return fst_of(2, [(0, 0, 0, there, 1), (1, 0, 0, back, 0), (0, 97, 97, 0.0, 1)], {final: 0.0}, arc_type)

    with pytest.raises(FstError, match="the FST has a cycle of epsilon arcs with a negative cost"):
        from_fst(cycle(1.0, -1.5, "standard"))
    for costs in ((1.5, -1.5), (0.25, 0.0)):
        from_fst(cycle(*costs, "standard"))
    with pytest.raises(FstError, match="epsilon arcs whose probabilities have no finite sum in the log semiring"):
        from_fst(cycle(1.0, -1.0, "log"))
    from_fst(cycle(0.25, 0.0, "log"))
    # Each of two loops converges, and both together do not.
    loop = (0, 0, 0, 0.6, 0)
    from_fst(fst_of(1, [loop], {0: 0.0}, "log"))
    with pytest.raises(FstError, match="no finite sum"):
        from_fst(fst_of(1, [loop, loop], {0: 0.0}, "log"))
    # Cycles that are slow to converge.
    ring = [(at, 0, 0, 0.005, (at + 1) % 200) for at in range(200)]
    slow = compile_weighted(from_fst(fst_of(200, ring, {199: 0.0}, "log")))
    assert slow.weight("") == pytest.approx(0.995 + log(-expm1(-1)), abs=1e-5)
    again = compile_weighted(from_fst(fst_of(1, [(0, 0, 0, 1e-4, 0)], {0: 0.0}, "log64")))
    assert again.weight("") == pytest.approx(log(-expm1(-1e-4)), abs=1e-4)
    # Costs whose probabilities are beyond all floats.
    for costs, is_finite in (((-720.0, 721.0), True), ((-720.0, 720.0), False), ((-1000.0, 1.0), False)):
        there, back = ((0, 0, 0, costs[0], 1), (1, 0, 0, costs[1], 0))
        far = fst_of(2, [there, back], {0: 0.0}, "log64")
        if is_finite:
            assert compile_weighted(from_fst(far)).weight("") == pytest.approx(log(-expm1(-1)), abs=1e-6)
        else:
            with pytest.raises(FstError, match="no finite sum"):
                from_fst(far)
    # Without costs at all any cycle will do, and so it will where no text goes.
    from_fst(cycle(0.0, 0.0, "log"))
    from_fst(fst_of(3, [(0, 97, 97, 1.0, 1), (0, 98, 98, 0.0, 2), (2, 0, 0, -1.0, 2)], {1: 0.0}))
