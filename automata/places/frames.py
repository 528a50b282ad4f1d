"""The state of a walk for one way to read a text: the part that is read next, and what follows it.

    Frame    a part of an expression that is to be read, or is being read, and the frame after it
    Opened   a rule that was called at one position of the text, and all of its callers there

Frames are linked from the inside out and shared between ways, so a way costs one frame for each part that it enters. A
rule that is called at one position is opened once for all callers, as in Earley's algorithm ("An efficient context-free
parsing algorithm", Communications of the ACM 13, 1970). So left recursion terminates, and ambiguity is not copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from automata.byte_automaton import ByteAutomaton
from automata.expressions import Expr

# The kinds of frames: what the walk does at each.
EXPR: Final = 0  # read an expression
READ: Final = 1  # continue in a leaf's automaton, from state `number`
PARTS: Final = 2  # read the parts of a concatenation from part `number` on
LOOP: Final = 3  # round `number` of a repetition has been read
SPAN: Final = 4  # a part of a pattern has been read
RETURN: Final = 5  # a rule has been read
END: Final = 6  # the text may end


@dataclass(slots=True, eq=False)
class Frame:
    """A part of a way.

    Attributes:
        kind: one of the kinds above.
        next: the frame after this one; None for the last of a rule or of the text.
        opened: the rule that the part stands in; None outside of grammars.
        expr: the expression, if the kind has one.
        number: see the kinds.
        since: the position at which the leaf, or the round of a repetition, began.
        automaton: the automaton of a leaf.
    """

    kind: int
    next: Frame | None
    opened: Opened | None
    expr: Expr | None = None
    number: int = 0
    since: int = 0
    automaton: ByteAutomaton | None = None


@dataclass(slots=True, eq=False)
class Opened:
    """A rule that was called at one position of the text.

    Attributes:
        name: the rule.
        begin: the position in the text.
        is_word: whether the rule is lexical.
        callers: the frames after each call.
        is_empty: whether the rule has matched the empty text here.
    """

    name: str
    begin: int
    is_word: bool
    callers: list[Frame] = field(default_factory=list)
    is_empty: bool = False
