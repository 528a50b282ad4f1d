"""Languages rewritten from one form into another.

    replacing       expression                  -> the same with some nodes replaced
    expressions     visibly pushdown grammar    -> an expression for each exit of each rule
    rules           visibly pushdown grammar    -> rules of a general grammar
    liveness        visibly pushdown grammar    -> the exits that some text reaches

This package knows neither JSON nor any syntax of grammars; the packages that do are built on it.
"""
