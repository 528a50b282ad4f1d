"""Constraints made of others, of any kind, with text between them.

sequence(*parts)            one after the other
after(marker, part)         free text up to a marker, and then a constraint
triggered({marker: ...})    free text in which markers switch constraints on, and their ends switch them off
free_text(*without)         any text in which no marker occurs

    part        a constraint as it stands in another: an expression, or what an expression calls
    composed    parts -> a network of nested rules, or a grammar where some part is one
    markers     free text and what it may not hold

All of it is one language, which is compiled as any other: nobody has to look at the text while it is written, to find
where a constraint begins and ends.
"""

from constraints.composing.composed import Composed, sequence
from constraints.composing.markers import after, free_text, triggered
from constraints.composing.part import Composable

__all__ = ["Composable", "Composed", "after", "free_text", "sequence", "triggered"]
