"""Pushdown automata over tokens: what each token does to a state and a stack, in one look-up.

actions     what is done to a stack: sequences of symbols popped and pushed
effects     what prefixes of tokens do to a state and a stack
walk        the walk over the vocabulary: classes of tokens with equal effects
terminals   labels, which are tokens taken by name
beginning   tokens that are a text by themselves
trim        what is left where the vocabulary lacks bytes
contexts    context trees from the effects
sharing     equal nodes of context trees made one
tables      the effects of all classes of tokens, as context trees
stack       stacks that are never changed
paths       the nodes of a context tree that a stack picks
completion  the fewest tokens to the end
distance    bounds on that which add up over the stack
automaton   PushdownTokenAutomaton: masks and steps
compile     from a pushdown automaton over bytes to one over tokens
storage     files
"""

from tokenfst.pushdown.automaton import PushdownTokenAutomaton

__all__ = ["PushdownTokenAutomaton"]
