"""Languages rewritten from one form into another.

    replacing       expression  -> the same with some nodes replaced
    expressions     network     -> an expression for each exit of each rule
    rules           network     -> rules of a grammar
    liveness        network     -> the exits that some text reaches

Networks are those of `automata.visibly_pushdown`. This package knows neither JSON nor any syntax of grammars; the
packages that do are built on it.
"""
