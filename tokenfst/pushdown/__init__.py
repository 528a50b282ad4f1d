"""Pushdown automata over tokens: what each token does to a state and a stack, in one look-up.

actions     what is done to a stack: sequences of symbols popped and pushed
effects     what prefixes of tokens do to a state and a stack
walk        the walk over the vocabulary: classes of tokens with equal effects
contexts    context trees from the effects
tables      the effects of all classes of tokens, as context trees
stack       stacks that are never changed
automaton   PushdownTokenAutomaton: masks and steps
compile     from a pushdown automaton over bytes to one over tokens
"""

from tokenfst.pushdown.automaton import PushdownTokenAutomaton

__all__ = ["PushdownTokenAutomaton"]
