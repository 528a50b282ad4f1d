"""Operations on languages that are compiled already, and the way back to expressions.

operations      the operators of `ByteAutomaton`, also with expressions beside it
derivative      what is left of a language after a prefix
elimination     an automaton as an expression
"""
