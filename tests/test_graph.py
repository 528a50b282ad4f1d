"""Graph algorithms against brute force on small graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata import LimitExceeded, _native
from automata.graph import bottom_up, components, distances, reachable
from automata.limits import Limits, Work

graphs = st.integers(0, 7).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, max(size - 1, 0)), max_size=4), min_size=size, max_size=size)
)


def edges_of(successors: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(source, target) for source, row in enumerate(successors) for target in row]
    source, target = np.array(pairs, np.int32).reshape(-1, 2).T
    return source, target


def reached_from(successors: list[list[int]], node: int) -> set[int]:
    return reachable(successors[node], successors.__getitem__)


@given(graphs)
def test_components_are_the_nodes_that_reach_each_other(successors: list[list[int]]) -> None:
    found = components(successors)
    assert sorted(node for members in found for node in members) == [*range(len(successors))]
    place = {node: number for number, members in enumerate(found) for node in members}
    for node, row in enumerate(successors):
        returning = {other for other in reached_from(successors, node) if node in reached_from(successors, other)}
        assert found[place[node]] == sorted({node} | returning)
        assert all(place[target] <= place[node] for target in row)


@given(graphs)
def test_nodes_are_ordered_from_the_bottom_up(successors: list[list[int]]) -> None:
    order = bottom_up(len(successors), *edges_of(successors)).tolist()
    on_cycle = {node for node in range(len(successors)) if node in reached_from(successors, node)}
    assert set(order) == {
        node for node in range(len(successors)) if not ({node} | reached_from(successors, node)) & on_cycle
    }
    place = {node: at for at, node in enumerate(order)}
    assert all(place[target] < place[node] for node in order for target in successors[node])


@given(graphs, st.data())
def test_distances_are_the_least_numbers_of_edges(successors: list[list[int]], data: st.DataObject) -> None:
    goal = np.array([data.draw(st.booleans()) for _ in successors], np.bool_)
    found = distances(*edges_of(successors), goal).tolist()
    layer, expected = set(np.flatnonzero(goal).tolist()), dict[int, int]()
    for length in range(len(successors) + 1):
        expected |= {node: length for node in layer if node not in expected}
        layer = {node for node, row in enumerate(successors) if layer & set(row)}
    assert found == [expected.get(node, -1) for node in range(len(successors))]


def test_a_path_of_a_million_nodes_is_no_recursion() -> None:
    size = 1_000_000
    assert components([[node + 1] for node in range(size - 1)] + [[]])[0] == [size - 1]


def test_components_are_charged() -> None:
    with pytest.raises(LimitExceeded):
        components([[node] for node in range(1_000_000)], Work(Limits(memory=1 << 20)))


@pytest.mark.parametrize(
    ("offsets", "targets"), [([], []), ([0, 1], []), ([0, 2, 1], [0]), ([0, 1], [1]), ([0, 1], [-1])]
)
def test_what_is_no_graph_is_refused(offsets: list[int], targets: list[int]) -> None:
    with pytest.raises(ValueError):
        _native.components(np.array(offsets, np.int32), np.array(targets, np.int32), Work().budget)
