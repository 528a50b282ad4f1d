"""Mail: email is the Mailbox of RFC 5321, section 4.1.2; idn-email has the extensions of RFC 6531, section 3.3, too.

Mailbox          local-part "@" (domain | address-literal)
local-part       atoms with dots between them, or a quoted string
domain           labels of letters, digits and inner hyphens, with dots between them; in idn-email also the names of
                 `international`
address-literal  an IPv4 address, or "IPv6:" and an IPv6 address, in brackets; `::` stands for two groups or more

By this grammar the numbers of an IPv4 address may begin with zeros. Some readers take such numbers as octal, some take
them as decimal, and some refuse them, so they are left out here.
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.pattern import parse
from constraints.json_schema.strings.formats import addresses, international

_ATOM = "-A-Za-z0-9!#$%&'*+/=?^_`{|}~"
_QUOTED = r" !#-\[\]-~"
_BEYOND_ASCII = r"\x80-\U0010ffff"


def email() -> Expr:
    return _mailbox("", _domain())


def email_at_most() -> Expr:
    """Return all mailboxes, also those with zeros before the numbers of an IPv4 address."""
    number = parse("0{0,2}[0-9]|0?[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]")
    return _mailbox("", _domain(), number + ("." + number).repeat(3, 3))


def idn_email() -> Expr:
    """Return the mailboxes in which any character beyond ASCII may stand in the local part, and some in the domain."""
    return _mailbox(_BEYOND_ASCII, _domain() | international.names(ex.literal(".")))


def idn_email_at_most() -> Expr:
    """Return all texts with something before and after an @."""
    return parse("(?s:.+@.+)")


def _domain() -> Expr:
    label = "[A-Za-z0-9](?:-*[A-Za-z0-9])*"
    return parse(rf"{label}(?:\.{label})*")


def _mailbox(beyond: str, domain: Expr, quad: Expr | None = None) -> Expr:
    atom, quoted = f"[{_ATOM}{beyond}]+", f"[{_QUOTED}{beyond}]"
    local = parse(rf'{atom}(?:\.{atom})*|"(?:{quoted}|\\[ -~])*"')
    quad = quad or addresses.ipv4()
    literal = ex.concat("[", quad | parse("[iI][pP][vV]6:") + addresses.ipv6(zeros=2, quad=quad), "]")
    return local + "@" + (domain | literal)
