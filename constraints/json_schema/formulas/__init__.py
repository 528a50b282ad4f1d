"""Formulas: what a schema says about a value.

connectives -> statements      the parts of formulas, and the functions that traverse them
restriction                    a formula, simplified for values of one kind
outlines                       a quick upper bound on the values of a formula; which formulas exclude each other
finite                         all values of a formula, if they are few
notation                       a formula in a short notation, for pictures
"""
