"""Explaining: errors that name what is to blame.

conflicts     which statements contradict each other in a schema that no value satisfies
keywords      the same by keywords, where the formula no longer says why
limits        which keyword makes a schema too large
"""
