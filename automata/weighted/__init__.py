"""Weighted languages: a cost for every text, as a deterministic automaton over bytes.

    expression          -> WeightedNfa -> deterministic -> pushed -> minimal -> WeightedByteAutomaton

A cost is a negative logarithm of a probability, or any number that is subtracted from the score of a text. Along a path
costs are added. Of several paths with one text, the tropical semiring takes the least cost, and the log semiring the
negative logarithm of the sum of probabilities (Mohri, "Weighted Automata Algorithms", 2009).
"""
