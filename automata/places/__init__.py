"""Places: the position of a text in an expression or in a grammar, for explanations.

place       Place: a part of the expression that reads next, its rules, and what it reads
spans       a pattern as an expression that records where its parts are in the pattern
frames      the state of a walk for one way to read a text
walk        Walk: reads a text byte by byte and follows all ways to read it side by side

Automata do not keep places: determinization loses the structure of the expression. A walk follows the expression
itself, so places cost nothing until someone asks for them.
"""

from automata.places.place import Place
from automata.places.spans import Spanned, spanned_pattern
from automata.places.walk import Walk, walk_through

__all__ = ["Place", "Spanned", "Walk", "spanned_pattern", "walk_through"]
