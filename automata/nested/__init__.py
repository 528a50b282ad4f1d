"""Bracketed languages: networks of rules that begin behind one byte and end with one.

NestedNetwork           the rules, as they are built                        network
Counted                 units of a language, one after the other              counted
compile_nested          the automaton of a network                          compile -> ByteAutomaton, PushdownAutomaton
"""

from automata.nested.compile import compile_nested
from automata.nested.counted import Counted
from automata.nested.network import Language, NestedCall, NestedNetwork, NestedRule

__all__ = ["Counted", "Language", "NestedCall", "NestedNetwork", "NestedRule", "compile_nested"]
