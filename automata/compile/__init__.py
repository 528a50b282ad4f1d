"""From an expression to its minimal byte automaton.

nfa             an expression as an NFA over ranges of bytes (Thompson's construction)
substring       the NFA of all substrings of a text
constructions   determinization and products, in the native core
lifting         an automaton's arcs over characters, for `automata.assertions`
composition     the images of languages under transducers
compiler        the whole compilation: nested expressions, look-around, limits
blame           which part of an expression is too large
"""
