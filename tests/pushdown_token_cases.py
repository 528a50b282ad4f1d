"""Pushdown automata with vocabularies, and what brute force allows."""

from __future__ import annotations

import numpy as np
from pushdown_cases import naive, to

from automata.expressions.extensions import token
from automata.pushdown.automaton import PushdownAutomaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton

BYTES = [bytes([byte]) for byte in range(256)]


def allowed_tokens(automaton: PushdownTokenAutomaton, state: object) -> set[int]:
    return set(np.flatnonzero(automaton.mask(state)).tolist())


def named_middle(max_configurations: int = 1) -> PushdownAutomaton:
    """t = a t b | <x>; an x token stands in the middle, whatever it writes."""
    return naive({"t": ("a" + to("t") + "b") | token("x")}, "t", max_configurations)
