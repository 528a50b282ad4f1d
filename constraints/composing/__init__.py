"""Constraints composed of others of any kind, and how to read a text back into its pieces and their values.

sequence(*parts)            the parts in order
optional(part)              a text of the part, or the empty text
left | right                a text of either
after(marker, part)         free text up to a marker, and then a text of the part
triggered({marker: ...})    free text in which markers switch constraints on, and their ends switch them off
free_text(*without)         any text in which no marker occurs

    rules       visibly pushdown grammars, possibly with arrays whose items must differ
    part        a constraint as a part of another: an expression, or what an expression calls
    language    parts -> rules, or a general grammar if a part is one
    parsed      `Parsed`, the constraints that read their own texts; `Composed`, those composed of others; `|`
    ends        where a text of a part may end within a longer text
    segments    a text -> the texts of its parts
    sequences   `sequence`, `optional`
    markers     `after`, `triggered`, `free_text`

A composed constraint is one language and is compiled like any other. No code has to watch the text while it is written
to find where a part begins and ends.
"""

from constraints.composing.markers import Marked, after, free_text, triggered
from constraints.composing.parsed import Composed, Parsed
from constraints.composing.part import Composable
from constraints.composing.sequences import optional, sequence

__all__ = ["Composable", "Composed", "Marked", "Parsed", "after", "free_text", "optional", "sequence", "triggered"]
