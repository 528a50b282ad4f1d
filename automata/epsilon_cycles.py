"""Check that cycles of epsilon arcs leave every text with a cost.

A path may go around a cycle of epsilon arcs any number of times without reading anything, so a text has infinitely many
paths. In the tropical semiring, the least cost exists unless a cycle costs less than 0. In the log semiring, the sum of
probabilities converges if the matrix of each component has a spectral radius below 1. For a nonnegative matrix A, this
holds exactly if (I - A) x = 1 has a solution x >= 1. In large components, the ratios of Collatz and Wielandt give
bounds on the radius instead.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from automata.acceptor_tables import AcceptorTables, CostArray
from automata.arrays import IntArray
from automata.errors import FstError
from automata.graph import bottom_up, components
from automata.limits import Work

# Costs may have been rounded to 4-byte floats.
_TOLERANCE: Final = 1e-5
_MAX_ROUNDS: Final = 10_000
# The maximum number of states of a component whose equations are solved.
_MAX_SOLVED: Final = 1_000


def check_epsilon_cycles(tables: AcceptorTables, what: str, work: Work) -> None:
    """Raise if epsilon arcs leave a text without a cost.

    Args:
        tables: an automaton whose states are all on a path from the start to the end.
        what: a name for the automaton, for the message.
        work: the limits.

    Raises:
        FstError: a cycle of epsilon arcs has a negative cost (tropical), or its paths have no finite sum (log).
        LimitExceeded, Cancelled: the compilation has to stop.
    """
    if tables.costs is None or not len(tables.epsilon):
        return
    semiring = tables.costs.semiring
    for edges, costs in _cycles(tables.num_states, tables.epsilon, tables.costs.epsilon, work):
        if semiring == "tropical" and _least(edges, costs, work) is None:
            raise FstError(f"{what} has a cycle of epsilon arcs with a negative cost, so that no cost is the least")
        if semiring == "log" and _diverges(edges, costs, work):
            raise FstError(
                f"{what} has a cycle of epsilon arcs whose probabilities have no finite sum in the log semiring, "
                "or one that takes too long to find"
            )


def _cycles(num_states: int, epsilon: IntArray, costs: CostArray, work: Work) -> list[tuple[IntArray, CostArray]]:
    """Return the epsilon arcs within each strongly connected component, over states from 0, and their costs."""
    for source, target in ((0, 1), (1, 0)):  # drop arcs that lead to no cycle, then those that come from none
        acyclic = np.zeros(num_states, bool)
        acyclic[bottom_up(num_states, epsilon[:, source], epsilon[:, target], work)] = True
        kept = ~acyclic[epsilon].any(axis=1)
        epsilon, costs = epsilon[kept], costs[kept]
    states, edges = np.unique(epsilon, return_inverse=True)
    edges = edges.reshape(-1, 2).astype(np.int32)
    successors: list[list[int]] = [[] for _ in states]
    for source, target in work.watched(edges.tolist()):
        successors[source].append(target)
    component = np.zeros(len(states), np.int32)
    for number, members in enumerate(found := components(successors, work)):
        component[members] = number
    of = component[edges]
    result = []
    for number in range(len(found)):
        within = (of == number).all(axis=1)
        _, own = np.unique(edges[within], return_inverse=True)
        if within.any():
            result.append((own.reshape(-1, 2).astype(np.int32), costs[within]))
    return result


def _least(edges: IntArray, costs: CostArray, work: Work) -> CostArray | None:
    """Return the least cost of a path to each state, from anywhere; None if a cycle has a negative cost (Bellman
    1958)."""
    num_states = int(edges.max()) + 1
    distance = np.zeros(num_states)
    if (costs >= 0).all():
        return distance
    for _ in range(num_states):
        work.check()
        shorter = distance.copy()
        np.minimum.at(shorter, edges[:, 1], distance[edges[:, 0]] + costs)
        if (shorter > distance - _TOLERANCE).all():
            return distance
        distance = shorter
    return None


def _diverges(edges: IntArray, costs: CostArray, work: Work) -> bool:
    """Return whether the probabilities of the paths within a component have no finite sum.

    With the identity added, the matrix is aperiodic, and the least and the greatest ratio of a vector to its successor
    come ever closer to the spectral radius.
    """
    least, size = _least(edges, costs, work), int(edges.max()) + 1
    if least is None:
        return True
    # Shifted in this way, no cost is negative, and cycles cost the same.
    weights = np.exp(-(costs + least[edges[:, 0]] - least[edges[:, 1]]))
    if size <= _MAX_SOLVED:
        matrix = np.eye(size)
        np.subtract.at(matrix, (edges[:, 0], edges[:, 1]), weights / (1 - _TOLERANCE))
        try:
            return bool((np.linalg.solve(matrix, np.ones(size)) < 1 - _TOLERANCE).any())
        except np.linalg.LinAlgError:
            return True
    vector = np.ones(size)
    for _ in range(_MAX_ROUNDS):
        work.check()
        following = vector.copy()
        np.add.at(following, edges[:, 0], weights * vector[edges[:, 1]])
        ratios = following / vector - 1
        if ratios.max() < 1 - _TOLERANCE:
            return False
        if ratios.min() >= 1 - _TOLERANCE:
            return True
        vector = following / following.max()
    return True
