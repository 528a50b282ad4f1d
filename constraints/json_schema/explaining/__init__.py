"""Explaining: errors that name what is to blame, and reasons why a text may not continue.

conflicts     which statements contradict each other in a schema that no value satisfies
keywords      the same by keywords, where the formula no longer says why
limits        which keyword makes a schema too large
position      where the beginning of a JSON text stops
subschemas    which schemas speak of a value, given its path
reasons       which of them, and which keywords, forbid that a text continues
"""
