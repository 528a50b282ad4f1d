"""What proposers are: whoever has an idea how texts go on adds it to their trees.

    Proposer    adds nodes below the leaves of trees, and is told what came of it
    InTurn      several of them, each going on where the one before stopped

A proposer never has to be right, nor to look at the constraint: trees refuse what the automaton forbids, and the
verification what the model does not write. So proposers mix freely. All nodes after one place come from one proposer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from decoding.speculation.tree import Tree
from tokenfst.token_automaton import TokenAutomaton


class Proposer(Protocol):
    """Proposes how texts go on.

    Attributes:
        forwards: how many forward passes of a model of its own it has taken so far.
    """

    @property
    def forwards(self) -> int: ...

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Adds nodes after leaves, where it has something to say.

        Args:
            trees: one for each text that is being written, not empty.
        """

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Is told of a token that has been written in a state of an automaton, and of the token before it in the
        text."""


class InTurn:
    """Proposers in order: after each that has added something, the first is asked again."""

    def __init__(self, *proposers: Proposer) -> None:
        self.proposers = proposers

    @property
    def forwards(self) -> int:
        """Forward passes of all their models so far."""
        return sum(proposer.forwards for proposer in self.proposers)

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Adds what they have, until none of them adds anything."""
        turn = 0
        while turn < len(self.proposers):
            before = sum(map(len, trees))
            self.proposers[turn].propose(trees)
            turn = 0 if sum(map(len, trees)) > before else turn + 1

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Tells them all."""
        for proposer in self.proposers:
            proposer.observe(automaton, state, before, token)
