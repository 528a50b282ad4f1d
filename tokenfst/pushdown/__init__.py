"""Pushdown automata over tokens: what each token does to a state and a stack, in one look-up.

trees       what a text does to a state and a stack: trees of what is popped, shared
following   a tree and one more byte
planting    trees from paths, and back
effects     what prefixes of tokens do: functions from states to trees
walk        the walk over the vocabulary: classes of tokens with equal effects
terminals   labels, which are tokens taken by name
beginning   tokens that are a text by themselves
trim        what is left where the vocabulary lacks bytes
contexts    context trees: the trees of all classes side by side
tables      the effects of all classes of tokens, as context trees
stack       stacks that are never changed
paths       the nodes of a context tree that a stack picks
distance    the fewest tokens to the end, whatever is on the stack
stack_distance  the same for stacks at hand
completion  whether there is an end at all
automaton   PushdownTokenAutomaton: masks and steps
compile     from a pushdown automaton over bytes to one over tokens
storage     files
"""

from tokenfst.pushdown.automaton import PushdownTokenAutomaton

__all__ = ["PushdownTokenAutomaton"]
