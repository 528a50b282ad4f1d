"""From an automaton over the characters of strings to one over their spellings in JSON text, quotes included.

RFC 8259, section 7: a character may be written as it is, unless it is a control character, a quotation mark or a
backslash; eight of them have short escapes; and all may be written as `\\u` with four hexadecimal digits in either
case, those above U+FFFF as the two halves of their UTF-16 form (`\\ud83d\\ude00`). The native core adds the escapes to
the automaton (`native/constraints/spelling.h`, `escapes.h`).
"""

from __future__ import annotations

from automata.byte_automaton import ByteAutomaton
from automata.errors import LimitExceeded
from automata.limits import Work, current_work
from constraints import _native


def spelled(content: ByteAutomaton, *, usual: bool = False, work: Work | None = None) -> ByteAutomaton:
    """All spellings, in quotes, of the strings that an automaton over UTF-8 accepts.

    Args:
        content: a minimal automaton that accepts nothing but UTF-8; without labels.
        usual: only those that programs write, each character by itself: escapes of what must have one or is beyond
            ASCII, and those short where they can be, and with small letters.
        work: the compilation that it is part of.

    Raises:
        ValueError: the automaton has labels, or accepts something else than UTF-8.
        LimitExceeded: the spellings take too much memory, or the time is up.
        Cancelled: the compilation was cancelled.
    """
    if content.is_empty:
        return content
    try:
        return ByteAutomaton(_native.spelled(content.tables, usual, current_work(work).budget))
    except LimitExceeded as error:
        raise error.of(f"the spellings of {content.num_states:,} states") from None
