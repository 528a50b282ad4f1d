"""Formulas: what a schema says of a value.

connectives -> statements      what formulas are made of, and the functions that go through them
restriction                    what is left of a formula if the value is known to be of one kind
outlines                       which values a formula allows at most, at a glance; which formulas exclude each other
finite                         all values of a formula, where they are few
wording                        a formula in words, for pictures
"""
