"""Token automata with a register, for repetitions with large bounds (`automata.counted`).

counted_classes     what tokens do to places and register                classes
with_counted_...    the start of a text                                  beginning
Counted             the transitions, behind the interface of all         transitions
CountedTokenAutomaton    the automaton, and distances                         automaton
"""
