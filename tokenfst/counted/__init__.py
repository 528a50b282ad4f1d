"""Token automata with a register, for repetitions with large bounds (`automata.counted`).

classes      classes of tokens with equal effects on control states and the register
beginning    the start of a text
automaton    CountedTokenAutomaton, its distances, and its compilation
storage      loading from files

`tokenfst.finite.transitions.Counted` defines the transitions.
"""
