"""Subset program: a network of nested rules as a program whose states are made on demand (`tokenfst.lazy.subsets`)."""

from __future__ import annotations

import numpy as np

from automata.errors import EmptyLanguage
from automata.limits import Work
from automata.nested.inlining import check_calls
from automata.nested.laying import lay_out
from automata.nested.network import NestedNetwork
from automata.transition.nested import chains_of, copies_of
from tokenfst.lazy.net import NET_STATES, net_of
from tokenfst.lazy.program import Machine, Program, class_members
from tokenfst.lazy.sets import grown, new_sets
from tokenfst.lazy.subsets import first_sets

# For how many sets there is room at first: a power of two.
_LEAST_ROOM, _MOST_ROOM = 1 << 10, 1 << 14


def subset_program(network: NestedNetwork, work: Work) -> Program | None:
    """The program of a network, None where subsets would not be exact.

    Raises:
        EmptyLanguage: the network has no text.
        LimitExceeded: it has more arcs than allowed, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    check_calls(network)
    laid = lay_out(network, frozenset(), work, written=False)
    if laid.labels:
        return None
    layout = laid.tables
    exact, has_text, net, byte_class, num_classes = net_of(
        layout.num_states,
        chains_of(layout),
        copies_of(layout),
        layout.epsilon.copy(),
        layout.starts.copy(),
        layout.first_exit.copy(),
        layout.calls.copy(),
        layout.targets.copy(),
        layout.ends.copy(),
        layout.counters.copy(),
        layout.numbers.copy(),
    )
    if not has_text:
        raise EmptyLanguage("the rules have no text")
    if not exact:
        return None
    num_states, num_rules = int(net[NET_STATES]), len(layout.starts)
    room = min(_MOST_ROOM, max(_LEAST_ROOM, 1 << num_states.bit_length()))
    most_exits = int(np.diff(layout.first_exit).max())
    machine = Machine(
        np.empty((room, num_classes), np.int32),
        byte_class,
        class_members(byte_class, num_classes),
        np.empty(room, np.int32),
        np.empty((room, 6), np.int32),
        np.empty(room, np.int32),
        net,
        new_sets(net, num_rules, room, 8 * room),
        np.empty((room, most_exits), np.int32),
    )
    while (start := first_sets(layout.starts.copy(), machine)) < 0:
        machine = grown(machine)
    return Program(machine, start, most_pushed=1, counts=len(layout.counters) > 0)
