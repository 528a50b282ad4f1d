"""Proposers add the tokens that they expect to the trees of texts.

    Proposer    adds nodes below the leaves of trees, and is told which tokens were written
    InTurn      several proposers, each of which extends the proposals of those before it

A proposer need not be right, and need not check the constraint: trees refuse tokens that the automaton forbids, and the
verification refuses tokens that the model does not write. So proposers can be combined freely. All nodes after one
place come from one proposer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from decoding.speculation.tree import Tree
from tokenfst.token_automaton import TokenAutomaton


class Proposer(Protocol):
    """Proposes the next tokens of texts.

    Attributes:
        forwards: the number of forward passes of its own model so far.
    """

    @property
    def forwards(self) -> int: ...

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Add nodes after leaves.

        Args:
            trees: one tree for each text that is being written, at least one.
        """

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Learn of a token that was written in a state of an automaton, after another token or as the first one."""


class InTurn:
    """Asks proposers in order; after each one that has added something, the first is asked again."""

    def __init__(self, *proposers: Proposer) -> None:
        self.proposers = proposers

    @property
    def forwards(self) -> int:
        """The number of forward passes of all their models so far."""
        return sum(proposer.forwards for proposer in self.proposers)

    def propose(self, trees: Sequence[Tree[Any]]) -> None:
        """Add the proposals of all proposers, until none adds any more."""
        turn = 0
        while turn < len(self.proposers):
            before = sum(map(len, trees))
            self.proposers[turn].propose(trees)
            turn = 0 if sum(map(len, trees)) > before else turn + 1

    def observe(self, automaton: TokenAutomaton, state: Any, before: int | None, token: int) -> None:
        """Pass the token on to all proposers."""
        for proposer in self.proposers:
            proposer.observe(automaton, state, before, token)
