"""Bracketed languages: networks of rules that begin behind one byte and end with one; see `automata.nested.network`."""

from automata.nested.network import Language, NestedCall, NestedNetwork, NestedRule

__all__ = ["Language", "NestedCall", "NestedNetwork", "NestedRule"]
