"""Places: where a text stands in an expression or in a grammar, for explanations.

place       Place: a part that reads next, with its rules and what it reads
spans       a pattern as an expression that knows where its parts stand in the pattern
walk        Walk: reads a text byte by byte, all ways to read it side by side

Automata keep nothing of this: what an expression looked like is gone once it is determinized. A walk follows the
expression itself, so it costs nothing until somebody asks.
"""

from automata.places.place import Place
from automata.places.spans import Spanned, spanned_pattern
from automata.places.walk import Walk, walk_through

__all__ = ["Place", "Spanned", "Walk", "spanned_pattern", "walk_through"]
