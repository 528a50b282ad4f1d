"""Operations on compiled languages, and the conversion back to expressions.

operations      the operators of `ByteAutomaton`; an operand may also be an expression
derivative      what is left of a language after a prefix
elimination     an automaton as an expression
"""
