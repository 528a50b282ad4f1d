"""Masks on demand: automata over tokens that do nothing before a mask is asked for (`tokenfst.lazy.automaton`)."""

from tokenfst.lazy.automaton import LazyAutomaton

__all__ = ["LazyAutomaton"]
