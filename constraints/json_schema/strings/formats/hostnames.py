"""Host names: hostname is that of RFC 1123, section 2.1, with the lengths of RFC 1034, section 3.1.

    name     labels with dots between them, 253 characters at most
    label    letters, digits and inner hyphens, 63 characters at most

The size of a label, with the dot after it, is rounded up to a multiple of sixteen, and a name with its last dot has at
most 254 characters. So the automaton needs a state for each place in a label and each multiple of sixteen, and not for
each number of characters, and a few names with more than 15 labels or more than 190 characters are left out.

A label that begins with `xn--` is valid only if the rest is the encoding of a valid label (RFC 5890, section 2.3.2.1).
No automaton of reasonable size can tell, since Punycode is arithmetic with numbers up to the size of Unicode, so all
such labels are left out.
"""

from __future__ import annotations

from typing import NamedTuple

from automata import expressions as ex
from automata.byte_automaton import ByteAutomaton
from automata.compile.compiler import Compiler
from automata.compile.nfa import NfaBuilder
from automata.expressions import Expr
from automata.expressions import ranges as rg
from automata.limits import current_work
from automata.pattern import parse

MAX_IN_LABEL = 63
_SIXTEEN, _SIXTEENS = 16, 15

_LETTERS_AND_DIGITS = ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))
_HYPHEN, _DOT = 0x2D, 0x2E
_PREFIX = ("Xx", "Nn", "-", "-")


def hostname() -> ByteAutomaton:
    return Compiler(current_work()).determinize(ex.EPSILON, _host_names())


def hostname_at_most() -> Expr:
    """Return all host names, and more."""
    return parse(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")


def ascii_label(first: str = "A-Za-z0-9") -> Expr:
    """Return the labels without two hyphens in third and fourth place (RFC 5890, section 2.3.1 reserves those)."""
    rest = "[A-Za-z0-9-]"
    return parse(rf"[{first}](?:{rest}{{0,{MAX_IN_LABEL - 2}}}[A-Za-z0-9])?") - parse(f"{rest}{{2}}--{rest}*")


class _Place(NamedTuple):
    """A place in a name: the size of the labels before, in sixteens, the number of characters of this label, whether
    the last one is a hyphen, and whether they are the beginning of `xn--`."""

    before: int
    size: int = 0
    after_hyphen: bool = False
    encoded: bool = True


def _host_names() -> NfaBuilder:
    fragment, numbers = NfaBuilder(), {_Place(0): 0}
    waiting = [_Place(0)]

    def arc(source: int, low: int, high: int, target: _Place) -> None:
        if target not in numbers:
            numbers[target] = fragment.state()
            waiting.append(target)
        fragment.arcs += (source, low, high, numbers[target])

    while waiting:
        place = waiting.pop()
        source, size = numbers[place], place.size + 1
        if size <= MAX_IN_LABEL and place.before + size // _SIXTEEN < _SIXTEENS:
            begins = _PREFIX[place.size] if place.encoded and place.size < len(_PREFIX) else ""
            for code in map(ord, begins):
                if code != _HYPHEN:
                    arc(source, code, code, _Place(place.before, size))
            for low, high in rg.subtract(_LETTERS_AND_DIGITS, rg.from_sorted(map(ord, begins))):
                arc(source, low, high, _Place(place.before, size, encoded=False))
            if place.size and not (place.encoded and size == len(_PREFIX)):
                arc(source, _HYPHEN, _HYPHEN, _Place(place.before, size, True, begins == "-"))
        if place.size and not place.after_hyphen:
            fragment.epsilon += (source, 1)
            used = place.before + place.size // _SIXTEEN + 1
            if used < _SIXTEENS:
                arc(source, _DOT, _DOT, _Place(used))
    return fragment
