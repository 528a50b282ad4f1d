"""Masks on demand: automata over tokens that do nothing before a mask is asked for (`tokenfst.lazy.automaton`)."""

from typing import Protocol, runtime_checkable

from automata.nested.network import NestedNetwork
from tokenfst.lazy.automaton import LazyAutomaton


@runtime_checkable
class Layered(Protocol):
    """What has a network of nested rules, which a lazy automaton takes as it is."""

    def to_network(self) -> NestedNetwork:
        """The rules."""
        ...


__all__ = ["Layered", "LazyAutomaton"]
