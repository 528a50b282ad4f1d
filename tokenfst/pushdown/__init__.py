"""Pushdown automata over tokens: what each token does to a state and a stack, in one look-up.

tables      the effects of all classes of tokens, as context trees
"""
