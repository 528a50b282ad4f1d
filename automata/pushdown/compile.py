"""From a grammar, or its network, to a pushdown automaton."""

from __future__ import annotations

from typing import Literal

import numpy as np

from automata.limits import Work, under_way
from automata.errors import LimitExceeded
from automata.openfst import IntArray
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.completion import headrooms, needed
from automata.pushdown.determinize import Determinizer
from automata.pushdown.network import Network
from automata.pushdown.places import Places

Ambiguity = Literal["error", "parallel"]


def compile_network(
    network: Network, *, ambiguity: Ambiguity = "error", max_configurations: int = 8, work: Work | None = None
) -> PushdownAutomaton:
    """The pushdown automaton of a network."""
    with under_way(work) as work:
        found = Determinizer(Places(network), work.limits.states)
        start = found.place(found.places.start)
        found.place(found.places.end_state)
        while found.todo:
            work.check()
            found.expand(found.todo.pop())
        return _tables(found, start)


def _tables(found: Determinizer, start: int) -> PushdownAutomaton:
    places, sequences = found.places, found.steps.sequences
    numbers = np.full(places.end_state + 1, -1, np.int32)
    numbers[list(found.state_of_place)] = list(found.state_of_place.values())
    state, column, pops, pushes, target = found.steps.table(places.go, numbers)
    # The state after the end of the text comes last.
    end, last = int(numbers[places.end_state]), len(found.elements) - 1
    order = np.arange(last + 1, dtype=np.int32)
    order[end:] -= 1
    order[end] = last
    counts = np.zeros((last + 1) * places.num_columns, np.int64)
    key = order[state].astype(np.int64) * places.num_columns + column
    by_key = np.argsort(key, kind="stable")
    counts += np.bincount(key, minlength=len(counts))
    room = headrooms(places)
    headroom = np.zeros(last + 1, np.int32)
    headroom[order] = [min(needed(room, *element) for element in elements) for elements in found.elements]
    symbols = list(sequences.symbol)
    under = [set(places.under[places.rule_of[symbol]]) for symbol in symbols]
    return PushdownAutomaton(
        start=int(order[start]),
        byte_class=places.network.byte_class,
        labels=places.network.labels,
        num_symbols=len(symbols),
        step_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        step_pops=pops[by_key],
        step_pushes=pushes[by_key],
        step_target=order[target[by_key]],
        parent=np.array(sequences.parent, np.int32),
        symbol=np.array(sequences.last, np.int32),
        headroom=headroom,
        symbol_headroom=np.array([room[symbol] for symbol in symbols], np.int32),
        may_lie_under=np.array([[other in each for other in symbols] for each in under], np.bool_).reshape(
            len(symbols), len(symbols)
        ),
    )
