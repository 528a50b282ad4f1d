"""Composition of automata with transducers: the images of languages.

tables_of       a byte automaton as tables, for composition
composed        the NFA of the texts that a transducer writes
"""

from __future__ import annotations

import numpy as np

from automata import _native
from automata.acceptor_tables import AcceptorTables, ArcCosts, CostArray, Semiring
from automata.arrays import IntArray
from automata.byte_automaton import ByteAutomaton
from automata.compile.nfa import FIRST_LABEL, NfaBuilder
from automata.epsilon_cycles import check_epsilon_cycles
from automata.errors import WeightedLanguage
from automata.limits import Work
from automata.transducer_tables import TransducerTables

_NO_COSTS = np.zeros(0)


def tables_of(automaton: ByteAutomaton) -> AcceptorTables:
    """Return an automaton as an NFA without weights."""
    fragment = NfaBuilder()
    fragment.copy_of(automaton, 0, 1)
    arcs, epsilon = fragment.tables()
    return AcceptorTables(fragment.num_states, arcs, epsilon, tuple(sorted(fragment.labels)))


def composed(tables: AcceptorTables, transducer: TransducerTables, work: Work) -> AcceptorTables:
    """Return the NFA of the texts that a transducer can write when it reads a text of an acceptor.

    The costs of both sides are added; a side without weights costs nothing. Labels match labels of the same name.

    Raises:
        WeightedLanguage: the semirings of the two sides differ.
        FstError: a cycle of epsilon arcs of the result has a negative cost or, in the log semiring, no finite sum.
        LimitExceeded: there are more pairs of states than allowed, or a limit of memory or time was exceeded.
        Cancelled: the compilation was cancelled.
    """
    semiring = _common_semiring(tables, transducer)
    labels = tuple(sorted({*tables.labels, *transducer.labels}))
    num_states, arcs, epsilon, arc_costs, epsilon_costs = _native.image(
        tables.num_states,
        _renamed(tables.arcs, slice(1, 3), tables.labels, labels),
        np.ascontiguousarray(tables.epsilon),
        *_costs(tables.costs),
        transducer.num_states,
        _renamed(transducer.arcs, slice(1, 5), transducer.labels, labels),
        np.ascontiguousarray(transducer.epsilon),
        *_costs(transducer.costs),
        len(labels),
        semiring is not None,
        semiring == "log",
        max(work.limits.states, 2 * (tables.num_states + transducer.num_states)),
        work.budget,
    )
    costs = ArcCosts(semiring, arc_costs, epsilon_costs) if semiring else None
    found = AcceptorTables(num_states, arcs, epsilon, labels, costs)
    check_epsilon_cycles(found, "the image", work)
    return found


def _common_semiring(tables: AcceptorTables, transducer: TransducerTables) -> Semiring | None:
    semirings = {side.costs.semiring for side in (tables, transducer) if side.costs is not None}
    if len(semirings) > 1:
        raise WeightedLanguage("a language and a transducer have weights in different semirings, tropical and log")
    return semirings.pop() if semirings else None


def _costs(costs: ArcCosts | None) -> tuple[CostArray, CostArray]:
    return (_NO_COSTS, _NO_COSTS) if costs is None else (costs.arcs, costs.epsilon)


def _renamed(arcs: IntArray, columns: slice, names: tuple[str, ...], labels: tuple[str, ...]) -> IntArray:
    """Return arcs in which the labels of `names` are renumbered: by their indices in `labels`, which ascend."""
    arcs = np.ascontiguousarray(arcs)
    if names == labels:
        return arcs
    place = {name: number for number, name in enumerate(labels)}
    number_of = np.array([place[name] for name in names], np.int32)
    arcs = arcs.copy()
    symbols = arcs[:, columns]
    is_label = symbols >= FIRST_LABEL
    symbols[is_label] = number_of[symbols[is_label] - FIRST_LABEL] + FIRST_LABEL
    return arcs
