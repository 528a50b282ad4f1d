"""Explaining: errors that name their cause, and reasons why a text may not continue.

conflicts     which statements contradict each other in a schema that no value satisfies
keywords      the same by keywords, if the formula no longer shows the reason
wording       formulas in the words of JSON Schema
limits        which keyword makes a schema too large
position      the position of the end of an incomplete JSON text
subschemas    which schemas apply to a value, given its path
reasons       which of these, and which keywords, forbid the text to continue
"""
