"""What the lazy side still takes as arrays of a layout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from automata._native import NestedLayout
from automata.arrays import ByteArray, IntArray
from automata.jit import plain_kernel


class Chains(NamedTuple):
    text: ByteArray
    offsets: IntArray
    source: IntArray
    target: IntArray


class Copies(NamedTuple):
    piece: IntArray
    source: IntArray
    target: IntArray
    num_states: IntArray
    arc_offsets: IntArray
    arcs: IntArray
    epsilon_offsets: IntArray
    epsilon: IntArray


def chains_of(layout: NestedLayout) -> Chains:
    return Chains(layout.text.copy(), layout.text_offsets.copy(), *np.ascontiguousarray(layout.chains.T))


def copies_of(layout: NestedLayout) -> Copies:
    return Copies(
        *np.ascontiguousarray(layout.copies.T),
        layout.piece_states.copy(),
        layout.piece_arc_offsets.copy(),
        layout.piece_arcs.copy(),
        layout.piece_epsilon_offsets.copy(),
        layout.piece_epsilon.copy(),
    )


@plain_kernel
def leads_on(count: int, low: int, high: int, least: int, most: int) -> bool:
    return (high < 0 or count + least <= high) and count + most >= low
