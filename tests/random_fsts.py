"""Random FSTs for properties, and slow, plain oracles of what they accept and what that costs."""

from __future__ import annotations

from math import exp, inf, log
from typing import Any

import numpy as np
import numpy.typing as npt
import pynini
import pywrapfst
from hypothesis import strategies as st

from automata.acceptor_tables import AcceptorTables

# Arcs of a random FST: source, input label, output label, cost, target.
FstArcs = list[tuple[int, int, int, float, int]]


@st.composite
def fst_arcs(draw: st.DrawFn, labels: list[int], *, acceptor: bool, costs: list[float]) -> Any:
    """Return the number of states, arcs and final costs of an FST."""
    num_states = draw(st.integers(1, 4))
    state, label, cost = st.integers(0, num_states - 1), st.sampled_from([0, *labels]), st.sampled_from(costs)
    arcs = draw(st.lists(st.tuples(state, label, label, cost, state), max_size=10))
    if acceptor:
        arcs = [(source, read, read, weight, target) for source, read, _, weight, target in arcs]
    return num_states, arcs, draw(st.dictionaries(state, cost, max_size=2))


def fst_of(num_states: int, arcs: FstArcs, final: dict[int, float], arc_type: str = "standard") -> Any:
    """Return the FST of `pywrapfst`."""
    fst = pywrapfst.VectorFst(arc_type)
    fst.add_states(num_states)
    fst.set_start(0)
    for source, read, written, cost, target in arcs:
        fst.add_arc(source, pywrapfst.Arc(read, written, pywrapfst.Weight(fst.weight_type(), cost), target))
    for state, cost in final.items():
        fst.set_final(state, pywrapfst.Weight(fst.weight_type(), cost))
    return fst


def pynini_of(fst: Any) -> Any:
    """Return the same FST, of arcs of type "standard", as pynini's."""
    return pynini.Fst.from_pywrapfst(fst)


def as_string(text: bytes, arc_type: str = "standard") -> Any:
    """Return the acceptor of a text."""
    return fst_of(
        len(text) + 1, [(at, byte, byte, 0.0, at + 1) for at, byte in enumerate(text)], {len(text): 0.0}, arc_type
    )


def total_cost(fst: Any, text: bytes, arc_type: str) -> float:
    """Return what OpenFst says a text costs that an FST writes, infinite where it writes no such text."""
    left, right = fst.copy().arcsort("olabel"), as_string(text, arc_type)
    found = pywrapfst.compose(left, right)
    if found.start() < 0:
        return inf
    distance = pywrapfst.shortestdistance(found, reverse=True, delta=1e-9)
    return float(str(distance[found.start()]).replace("Infinity", "inf"))


def cost_of(tables: AcceptorTables, text: bytes) -> float:
    """Return what a text costs on an automaton, by matrices of the semiring over the states."""
    costs = tables.costs
    is_log = costs is not None and costs.semiring == "log"
    epsilon = np.full((tables.num_states, tables.num_states), inf)
    arc_costs = np.zeros(len(tables.arcs)) if costs is None else costs.arcs
    epsilon_costs = np.zeros(len(tables.epsilon)) if costs is None else costs.epsilon
    for (source, target), cost in zip(tables.epsilon.tolist(), epsilon_costs, strict=True):
        epsilon[source, target] = _plus(epsilon[source, target], float(cost), is_log)
    closure = _closure(epsilon, is_log)
    vector = np.full(tables.num_states, inf)
    vector[0] = 0.0
    vector = _times(vector, closure, is_log)
    for byte in text:
        step = np.full_like(epsilon, inf)
        for (source, low, high, target), cost in zip(tables.arcs.tolist(), arc_costs, strict=True):
            if low <= byte <= high:
                step[source, target] = _plus(step[source, target], float(cost), is_log)
        vector = _times(_times(vector, step, is_log), closure, is_log)
    return float(vector[1])


def _plus(left: float, right: float, is_log: bool) -> float:
    if not is_log or inf in (left, right):
        return min(left, right)
    return -log(exp(-left) + exp(-right))


def _closure(epsilon: npt.NDArray[np.float64], is_log: bool) -> Any:
    size = len(epsilon)
    if is_log:
        with np.errstate(divide="ignore"):
            return -np.log(np.maximum(np.linalg.inv(np.eye(size) - np.exp(-epsilon)), 0))
    closed = np.minimum(epsilon, np.where(np.eye(size, dtype=bool), 0.0, inf))
    for middle in range(size):
        closed = np.minimum(closed, closed[:, [middle]] + closed[[middle]])
    return closed


def _times(vector: npt.NDArray[np.float64], matrix: npt.NDArray[np.float64], is_log: bool) -> Any:
    sums = vector[:, None] + matrix
    with np.errstate(divide="ignore"):
        return -np.log(np.exp(-sums).sum(axis=0)) if is_log else sums.min(axis=0)
