"""Mail: email is the Mailbox of RFC 5321, section 4.1.2.

Mailbox          local-part "@" (domain | address-literal)
local-part       atoms with dots between them, or a quoted string
domain           labels of letters, digits and inner hyphens, with dots between them
address-literal  an IPv4 address, or "IPv6:" and an IPv6 address, in brackets
"""

from __future__ import annotations

from automata import expr as ex
from automata.expr import Expr
from automata.pattern import parse
from constraints.json_schema.strings.formats import addresses

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"


def email() -> Expr:
    local = parse(rf"{_ATOM}(?:\.{_ATOM})*|{_QUOTED}")
    domain = parse(rf"{_LABEL}(?:\.{_LABEL})*")
    literal = ex.concat("[", addresses.ipv4() | "IPv6:" + addresses.ipv6(), "]")
    return local + "@" + (domain | literal)
