"""Constraints made of others of any kind, and the way back from a text to its pieces and their values.

sequence(*parts)            one after the other
optional(part)              a text of the part, or none
left | right                either
after(marker, part)         free text up to a marker, and then a constraint
triggered({marker: ...})    free text in which markers switch constraints on, and their ends switch them off
free_text(*without)         any text in which no marker occurs

    part        a constraint as it stands in another: an expression, or what an expression calls
    language    parts -> a visibly pushdown grammar, or a general grammar where a part is one
    parsed      `Parsed`, the constraints that read their own texts; `Composed`, those made of others; `|`
    ends        where texts of a part may end in a text
    segments    a text -> the texts of its parts
    sequences   `sequence`, `optional`
    markers     `after`, `triggered`, `free_text`

A composed constraint is one language and is compiled as any other: no code has to watch the text while it is written to
find where a part begins and ends.
"""

from constraints.composing.markers import Marked, after, free_text, triggered
from constraints.composing.parsed import Composed, Parsed
from constraints.composing.part import Composable
from constraints.composing.sequences import optional, sequence

__all__ = ["Composable", "Composed", "Marked", "Parsed", "after", "free_text", "optional", "sequence", "triggered"]
