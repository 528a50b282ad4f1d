"""The OpenFst acceptor of a weighted automaton over bytes."""

from __future__ import annotations

import numpy as np

from automata import openfst
from automata._native import WeightedTables
from automata.acceptor_tables import CostArray, Semiring
from automata.arrays import BoolArray, IntArray
from automata.compile.nfa import FIRST_LABEL
from automata.errors import LimitExceeded
from automata.limits import DEFAULT_LIMITS
from automata.openfst import Fst
from automata.weighted.units import NO_COST, from_units

_ARC_BYTES = 16


def to_fst(tables: WeightedTables, labels: tuple[str, ...], semiring: Semiring) -> Fst:
    """Return the acceptor of an automaton; see `WeightedByteAutomaton.fst`."""
    width = tables.arcs[:, 1] - tables.arcs[:, 0] + 1
    num_arcs = int(width.sum(dtype=np.int64))
    if _ARC_BYTES * num_arcs > DEFAULT_LIMITS.memory:
        raise LimitExceeded(
            f"an acceptor of {num_arcs:,} arcs would take more than {DEFAULT_LIMITS.memory:,} bytes (limit `memory`)",
            limit="memory",
        )
    first = np.cumsum(width) - width
    code = np.arange(num_arcs) - np.repeat(first - tables.arcs[:, 0], width)
    symbol = np.where(code < FIRST_LABEL, openfst.symbol_of_byte(code), code)
    sources = np.repeat(np.arange(tables.num_states), np.diff(tables.offsets))
    source, target, cost = (
        np.repeat(column, width) for column in (sources, tables.arcs[:, 2], from_units(tables.cost))
    )
    final = tables.final != NO_COST
    ends = from_units(np.where(final, tables.final, 0))
    fst = weighted_fst(source, symbol, target, cost, final, ends, from_units(tables.initial), semiring)
    if labels:
        table = openfst.byte_symbol_table(labels)
        fst.set_input_symbols(table)
        fst.set_output_symbols(table)
    return fst


def weighted_fst(
    source: IntArray,
    symbol: IntArray,
    target: IntArray,
    cost: CostArray,
    final: BoolArray,
    ends: CostArray,
    initial: float,
    semiring: Semiring,
    start: int = 0,
) -> Fst:
    """Return an acceptor with Q states and A arcs. An initial cost becomes an epsilon arc from a new start.

    Args:
        source, symbol, target, cost: `[A]` each.
        final, ends: `[Q]`, whether a text may end in a state, and at what cost.
        initial: the initial cost, which every text has.
        semiring: the semiring of the costs.
        start: the state where texts begin.
    """
    if initial:
        source, symbol, target = np.append(source, len(final)), np.append(symbol, -1), np.append(target, start)
        cost, start = np.append(cost, initial), len(final)
        final, ends = np.append(final, False), np.append(ends, 0.0)
    source, symbol, target = (column.astype(np.int32) for column in (source, symbol, target))
    return openfst.to_fst(
        start if len(final) else -1,
        final,
        source,
        symbol,
        target,
        final_weight=ends.astype(np.float32),
        weight=cost.astype(np.float32),
        semiring=semiring,
    )
