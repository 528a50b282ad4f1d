"""Costs as whole numbers of units of 2^-30, as in the native core (`native/automata/weighted/weighted_tables.h`)."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from automata.acceptor_tables import CostArray
from automata.errors import ExpressionError

UNITS_PER_ONE = 1 << 30
# The final cost of a state in which no text may end.
NO_COST = (1 << 63) - 1
# Costs from here on are refused. Sums stop at twice this number, so that differences of sums within it are exact.
MAX_COST = 2.0**31

UnitArray = npt.NDArray[np.int64]


def to_units(costs: CostArray) -> UnitArray:
    """Convert finite costs to units, rounded to the nearest.

    Raises:
        ExpressionError: a cost is not below `MAX_COST`.
    """
    most = float(np.abs(costs).max(initial=0.0))
    if not most < MAX_COST:
        raise ExpressionError(f"a cost of {most:g} is not below 2^31")
    return np.rint(costs * UNITS_PER_ONE).astype(np.int64)


@overload
def from_units(units: int) -> float: ...


@overload
def from_units(units: UnitArray) -> CostArray: ...


def from_units(units: Any) -> Any:
    """Convert units to costs."""
    return units / UNITS_PER_ONE
