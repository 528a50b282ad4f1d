"""Pushdown automata over tokens: one table look-up gives the effect of a token on a state and a stack.

The native core builds and runs them (`native/tokenfst/pushdown/`). Its parts, in the order of construction:

    trees            the effects of texts on a state and a stack, as shared trees over the popped symbols; tree_builder
    stack_effects    the effects of prefixes of tokens, as functions from states to trees
    token_effects    the walk over the vocabulary: classes of tokens with equal effects
    trim             the removal of dead ends, for vocabularies that lack bytes
    contexts         context trees, which combine the trees of all classes
    tables           the tables of the context trees
    stack, state     immutable stacks, and the states of an automaton
    kinds            the classes of nodes and moves that are equally far from the end
    pop_distances    the least number of tokens that pop a symbol; saturation: their fixed point
    distance         the least number of tokens to the end, by context of the stack
    stack_distance   the same for a given stack
    automaton        masks and steps

This package adds:

    terminals   labels, which stand for sets of tokens
    beginning   the start of a text
    tables      PushdownTables
    distance    distances by context, as arrays
    automaton   PushdownTokenAutomaton
    compile     the pipeline from a pushdown automaton over bytes
    storage     loading from files
"""
