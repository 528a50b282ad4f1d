"""Weighted languages: a cost for every text, as a deterministic automaton over bytes.

A cost is the negative logarithm of a probability, or any number that is subtracted from the score of a text. Costs are
added along a path. If several paths read the same text, the tropical semiring takes the least cost, and the log
semiring the negative logarithm of the sum of the probabilities (Mohri, "Weighted Automata Algorithms", 2009).

    construction    expression  -> an NFA with costs
    compile         NFA         -> a minimal deterministic automaton, with costs pushed to the front
    automaton       WeightedByteAutomaton, the result
    to_fst          the automaton as an OpenFst acceptor
    units           costs as whole numbers
"""

from automata.weighted.automaton import WeightedByteAutomaton
from automata.weighted.compile import compile_weighted

__all__ = ["WeightedByteAutomaton", "compile_weighted"]
