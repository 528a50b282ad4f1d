"""Pushdown automata over tokens: what each token does to a state and a stack, in one look-up.

The native core does the work (`native/tokenfst/pushdown/`); in the order in which things are made:

    trees            what a text does to a state and a stack: trees of what is popped, shared
    stack_effects    what prefixes of tokens do: functions from states to trees
    token_effects    the walk over the vocabulary: classes of tokens with equal effects
    trim             what is left where the vocabulary lacks bytes
    contexts         context trees: the trees of all classes side by side
    tables           the effects of all classes of tokens, as context trees
    stack, state     stacks that are never changed, and states of an automaton
    ways, saturation how many tokens it takes to pop a symbol
    distance         the fewest tokens to the end, whatever is on the stack
    stack_distance   the same for stacks at hand
    automaton        masks and steps

and here is what surrounds it:

    terminals   labels, which are tokens taken by name
    beginning   tokens that are a text by themselves
    tables      PushdownTables
    distance    distances as tensors want them
    automaton   PushdownTokenAutomaton
    compile     from a pushdown automaton over bytes to one over tokens
    storage     files
"""
