"""Headroom: how much stack the rest of a text needs.

    headroom of a state       the least number of symbols above the present top with which the rules at hand can be
                              ended: those of the state, and of its local stacks
    headroom of a symbol      the same, after the symbol has been popped

A configuration is safe under a depth limit D if its height plus the headroom of its state is at most D, and so is, for
each of its symbols, the height below the symbol plus the headroom of the symbol. From a safe configuration there is a
step to a safe one that is nearer to the end of the text: some element of the state has a derivation that stays within
D; what the automaton pushes at any time is at most what this derivation has pushed.

With words this is not certain: the longest match may forbid the derivation that needs least, and then a text that
stays below D may need more than the number says.

The number for a state of the network is the least, over its ways to an end of its rule, of the greatest, over the
calls on the way, of one more than the number for the start of the rule that is called and the number for the state
that the call returns to; a tail call pushes nothing (`native/automata/pushdown/headroom.h`).
"""

from __future__ import annotations

from array import array

import numpy as np

from automata import _native
from automata.limits import Work
from automata.pushdown.places import Places, Stack


def headrooms(places: Places, work: Work) -> list[int]:
    """The headroom of each state of the network."""
    source, column = np.nonzero(places.go >= 0)
    edges = np.stack([source, places.go[source, column]], axis=1).astype(np.int32)
    # Neighbouring columns mostly lead to the same state.
    edges = edges[np.append(True, (edges[1:] != edges[:-1]).any(axis=1))[: len(edges)]]
    words, calls = array("i"), array("i")
    for state in work.watched(range(len(places.final))):
        for _, target in places.words[state]:
            words.extend((state, target))
        for rule, back in places.calls[state]:
            calls.extend((state, places.rule_start[rule], back, not places.returns_at_once[back]))
    ends = [state for state, final in enumerate(places.final) if final or state == places.end_state]
    found: list[int] = _native.headrooms(
        len(places.final),
        np.concatenate([edges, np.array(words).reshape(-1, 2)]),
        np.array(calls).reshape(-1, 4),
        np.array(ends, np.int32),
        work.budget,
    ).tolist()
    return found


def needed(room: list[int], stack: Stack, state: int) -> int:
    """The headroom of an element."""
    if not stack:
        return max(room[state], 0)
    return max(len(stack) + room[state], *(height + room[symbol] for height, symbol in enumerate(stack)), 0)
