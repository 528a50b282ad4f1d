"""Weighted languages: a cost for every text, as a deterministic automaton over bytes.

A cost is a negative logarithm of a probability, or any number that is subtracted from the score of a text. Along a path
costs are added. Of several paths with one text, the tropical semiring takes the least cost, and the log semiring the
negative logarithm of the sum of probabilities (Mohri, "Weighted Automata Algorithms", 2009).

    construction    expression  -> an NFA with costs
    compile         NFA         -> deterministic, with costs pushed to the front, minimal
    automaton       WeightedByteAutomaton, the result
    to_fst          the acceptor of OpenFst
    units           costs as whole numbers
"""

from automata.weighted.automaton import WeightedByteAutomaton
from automata.weighted.compile import compile_weighted

__all__ = ["WeightedByteAutomaton", "compile_weighted"]
