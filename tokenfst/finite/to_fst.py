"""The OpenFst acceptor of an automaton over tokens: one arc for each token, instead of one for each class."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata import openfst
from automata.acceptor_tables import CostArray, Semiring
from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.limits import DEFAULT_LIMITS
from automata.openfst import Fst
from automata.weighted.to_fst import weighted_fst
from tokenfst.finite.classes import END
from tokenfst.finite.transitions import Counted, Transitions
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.detokenizer import token_symbols


class Prices(NamedTuple):
    """The costs of an automaton with Q states.

    Attributes:
        of_arcs: returns the costs of arcs, `[A]`, by their states and tokens.
        ends: `[Q]`, the cost of ending in each state where a text may end.
        initial: the cost of every text before its first token.
        semiring: the semiring of the costs.
    """

    of_arcs: Callable[[IntArray, IntArray], CostArray]
    ends: CostArray
    initial: float
    semiring: Semiring


# The memory of one of OpenFst's arcs, and of a state without its arcs.
_ARC_BYTES, _STATE_BYTES = 16, 64


def to_fst(
    vocabulary: Vocabulary,
    start: int,
    num_states: int,
    is_final: Callable[[int], bool],
    transitions: Transitions,
    token_class: IntArray,
    prices: Prices | None = None,
) -> Fst:
    """Return the trim acceptor over tokens; see `TokenAutomaton.fst`.

    Args:
        vocabulary: the tokens.
        start: the state before the first token.
        num_states: the number of states, without the one after the end, which is the last.
        is_final: returns whether the text may end in a state.
        transitions: the transitions by state and class.
        token_class: `[V]` int32, the class of each token.
        prices: the costs of arcs and ends; None without weights.

    Raises:
        LimitExceeded: the arcs or the states take more than `DEFAULT_LIMITS.memory`.
    """
    sizes = np.bincount(token_class, minlength=END + 1)
    _check_size(num_states, transitions, np.where(np.arange(len(sizes)) == END, 1, sizes))
    source, number, target = transitions.edges()
    source, number, target = (column[number != END] for column in (source, number, target))
    final = np.fromiter(map(is_final, range(num_states)), np.bool_, num_states)
    tokens, times = np.argsort(token_class, kind="stable").astype(np.int32), sizes[number]
    # The tokens of a class are neighbours in `tokens`; each edge takes all those of its class.
    before = np.cumsum(times) - times
    at = np.arange(times.sum()) + np.repeat((np.cumsum(sizes) - sizes)[number] - before, times)
    arcs = np.repeat(source, times), tokens[at], np.repeat(target, times)
    if prices is None:
        fst = openfst.to_fst(start, final, *arcs)
    else:
        cost, ends = prices.of_arcs(arcs[0], arcs[1]), np.where(final, prices.ends, 0.0)
        fst = weighted_fst(*arcs, cost, final, ends, prices.initial, prices.semiring, start)
    table = token_symbols(vocabulary)
    fst.set_input_symbols(table)
    fst.set_output_symbols(table)
    return fst.connect().arcsort()


def _check_size(num_states: int, transitions: Transitions, sizes: npt.NDArray[np.int64]) -> None:
    """Raise if the arcs and states take too much memory, before any is made."""
    if isinstance(transitions, Counted):
        num_arcs = int(((transitions.high - transitions.low + 1) * sizes[transitions.edge_class]).sum())
    else:
        num_arcs = int(sizes[transitions.edges()[1]].sum())
    amount = _ARC_BYTES * num_arcs + _STATE_BYTES * num_states
    if amount > DEFAULT_LIMITS.memory:
        raise LimitExceeded(
            f"an acceptor over tokens of {num_states:,} states and {num_arcs:,} arcs would take {amount:,} bytes, more "
            f"than {DEFAULT_LIMITS.memory:,} (limit `memory`)",
            limit="memory",
        )
