"""Mail: email is the Mailbox of RFC 5321, section 4.1.2; idn-email has the extensions of RFC 6531, section 3.3, too.

Mailbox          local-part "@" (domain | address-literal)
local-part       atoms with dots between them, or a quoted string
domain           labels of letters, digits and inner hyphens, with dots between them
address-literal  an IPv4 address, or "IPv6:" and an IPv6 address, in brackets; `::` stands for two groups or more
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.pattern import parse
from constraints.json_schema.strings.formats import addresses
from constraints.json_schema.strings.formats.international import LEFT_TO_RIGHT

_ATOM = "-A-Za-z0-9!#$%&'*+/=?^_`{|}~"
_QUOTED = r" !#-\[\]-~"
_BEYOND_ASCII = r"\x80-\U0010ffff"


def email() -> Expr:
    return _mailbox("", parse("[A-Za-z0-9]"), ex.EMPTY)


def idn_email() -> Expr:
    """Any character beyond ASCII may stand in a local part. Labels are not held to Normalization Form C here, nor to a
    length, and have the characters of `international` that are written from left to right, and diacritics."""
    letter = ex.char_set((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), *LEFT_TO_RIGHT)
    return _mailbox(_BEYOND_ASCII, letter, ex.char_set((0x300, 0x33F)))


def idn_email_at_most() -> Expr:
    """Return all texts with something before and after an @."""
    return parse("(?s:.+@.+)")


def _mailbox(beyond: str, letter: Expr, mark: Expr) -> Expr:
    atom, quoted = f"[{_ATOM}{beyond}]+", f"[{_QUOTED}{beyond}]"
    local = parse(rf'{atom}(?:\.{atom})*|"(?:{quoted}|\\[ -~])*"')
    label = letter + (mark | ex.literal("-").star() + letter).star()
    literal = ex.concat("[", addresses.ipv4() | parse("[iI][pP][vV]6:") + addresses.ipv6(zeros=2), "]")
    return local + "@" + (label + ("." + label).star() | literal)
